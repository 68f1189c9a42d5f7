"""What the pages show is of the committed results, and what they link to exists."""

import re
import resource
import shutil
from collections.abc import Sequence
from pathlib import Path

import made_up
import pytest
from made_up import known_wrong, point, points_of, unmeasured
from reduce_bench_report import readme
from reduce_bench_report.__main__ import main
from reduce_bench_report.claim_registry import load_registry
from reduce_bench_report.experiments import EXPERIMENTS, KERNELS, KEYED
from reduce_bench_report.loader import (
    SIMULATED,
    Device,
    InputError,
    Results,
    committed_results,
    load,
    load_devices,
    with_tuning,
)

ROOT = Path(__file__).parents[2]
FRAMEWORKS = EXPERIMENTS["frameworks-time"].config
IDS_OF_KEYED = [each.id for each in KEYED]
OF_CPU = EXPERIMENTS["eilers-F2.8"].config
OWN_CONFIGS = {EXPERIMENTS[name].config for name in readme.FIGURES} - {None}
PAGES = sorted({block.page for block in readme.BLOCKS.values()})
LINKED = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")], key=str
)


def empty(page: Path) -> str:
    """A page as it is before anything was generated."""
    names = (name for name, block in readme.BLOCKS.items() if block.page == page)
    return "# Title\n\n" + "".join(
        f"<!-- begin: {name} -->\nformer\n<!-- end: {name} -->\n\n" for name in names
    )


def test_it_is_of_the_committed_results(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    code = main(["readme", "--check"])
    assert code == 0, capsys.readouterr()


def test_committed_results_are_clean() -> None:
    """Made by a committed revision, on the device that their folder names, without raw samples."""
    files = sorted((ROOT / "results").glob("*/**/*.json"))
    committed = [
        file for file in files if "local" not in file.parts and file.parent.suffix != SIMULATED
    ]
    assert committed
    for file in committed:
        text = file.read_text(encoding="utf-8")
        assert re.search(r'"revision": "[0-9a-f]{40}"', text), file
        assert re.search(r'"dirty": false', text), file
        assert "samples_ns" not in text, file
        assert len(text) < 5_000_000, file


def test_a_device_measured_twice_has_results_of_one_revision() -> None:
    """Once each of its files has a second round."""
    for device in load_devices(committed_results(ROOT)):
        tuned = with_tuning(device)
        if all(run.again for run in tuned.runs):
            assert len({run.revision for run in tuned.rounds}) == 1, device.name


def sums(factor: float = 1.0) -> list[made_up.Json]:
    """Two families at all sizes of the table but the largest, which one does not have."""
    points = []
    for size in map(int, readme.SIZES):
        points.append(point("cub/reduce", size, factor * size / 100))
        points.append(
            point("amp/x", size, size / 10, finish="host")
            if size < 1 << 30
            else unmeasured("amp/x", size, "skipped", "too large", finish="host")
        )
    return points


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    for page in PAGES:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(empty(page), encoding="utf-8")
    return folder


def runs_of(tmp_path: Path, *of_points: Sequence[made_up.Json]) -> list[Results]:
    paths = []
    for number, points in enumerate(of_points):
        asked = {key: sorted({p[key] for p in points}) for key in ("n", "type", "op")}
        document = made_up.results(list(points)) | {
            "config": {"schema": 1, "sweeps": [{"variants": ["*"], **asked}]}
        }
        paths.append(made_up.write(document, tmp_path / f"{number}.json"))
    return [load(path) for path in paths]


def predicted_runs(folder: Path) -> list[Results]:
    """A processor's results, which every model takes half of the time for."""
    configs = ("eilers-F2.8", "eilers-F2.8-bits-claims")
    points = points_of(*(f"configs/papers/{name}.json" for name in configs))
    per_input = [p["ns_per_item"] / 2 for p in points]
    made_up.save_simulations(
        folder / "0.json",
        [made_up.simulated(p, ns, ns) for p, ns in zip(points, per_input, strict=True)],
    )
    return [load(made_up.write(made_up.results(points, gpu=False), folder / "0.json"))]


def generated(root: Path, *of_devices: Sequence[Results]) -> readme.Generated:
    return readme.Generated.of(root, [Device(runs) for runs in of_devices])


def text_of(root: Path, page: Path = readme.README) -> str:
    return (root / page).read_text(encoding="utf-8")


def test_blocks_are_replaced_and_nothing_else(tmp_path: Path, root: Path) -> None:
    runs = runs_of(tmp_path, sums())
    made = generated(root, runs)
    written = made.update()
    assert written == [
        Path("docs/figures/reduce-share.svg"),
        readme.README,
        readme.COURSE,
        readme.RESULTS,
        readme.COUNTED,
        readme.ROUNDS,
        readme.PLUGINS,
        readme.PEERS,
        readme.SIMULATOR,
        *(readme.KERNELS / f"partition-{name}.md" for name in ("multireduce", "histogram")),
    ]
    text = text_of(root)
    assert text.startswith("# Title\n\n<!-- begin: figure -->\n<img src=")
    assert text.endswith("<!-- end: best -->\n\n")
    for page in PAGES:
        assert "former" not in text_of(root, page)
    assert made.stale() == []
    assert made.update() == []


def test_pages_that_cannot_grow_stay_as_they_were(tmp_path: Path, root: Path) -> None:
    made = generated(root, runs_of(tmp_path, sums()))
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(InputError, match=r"cannot write .*share\.svg': File too large; "):
            made.update()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_everything_stale_is_named(tmp_path: Path, root: Path) -> None:
    runs = runs_of(tmp_path, sums())
    made = generated(root, runs)
    share = made.update()[0]
    for name, block in readme.BLOCKS.items():
        whole = text_of(root, block.page)
        at = whole.index(f"<!-- end: {name} -->") - 2
        (root / block.page).write_text(f"{whole[:at]}?{whole[at + 1 :]}", encoding="utf-8")
        assert made.stale() == [block.page], name
        (root / block.page).write_text(whole, encoding="utf-8")
    # other numbers: the figure says of which file it is
    assert generated(root, runs_of(tmp_path, sums(2.0))).stale() == [
        share,
        readme.README,
        readme.RESULTS,
    ]
    # another curve under the same description
    drawing = (root / share).read_text(encoding="utf-8")
    altered = re.sub(r'(<path d="M \d+)', r"\g<1>1", drawing, count=1)
    assert altered != drawing
    (root / share).write_text(altered, encoding="utf-8")
    assert made.stale() == [share]
    (root / share).write_text("<svg></svg>", encoding="utf-8")
    assert made.stale() == [share]
    (root / share).unlink()
    assert made.stale() == [share]


def test_check_writes_nothing(
    tmp_path: Path,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [run.path for run in runs_of(tmp_path, sums())]
    (tmp_path / "cpu").mkdir()
    of_cpu = [run.path for run in predicted_runs(tmp_path / "cpu")]
    (tmp_path / "other").mkdir()
    of_another = [run.path for run in runs_of(tmp_path / "other", sums(2.0))]

    def committed() -> list[Path]:
        return [*paths, *of_another, *of_cpu]

    monkeypatch.setattr("reduce_bench_report.__main__.committed_results", committed)
    monkeypatch.setattr("reduce_bench_report.__main__.ROOT", root)
    assert main(["readme", "--check"]) == 1
    captured = capsys.readouterr()
    figures = ["docs/figures/reduce-share.svg", "docs/figures/eilers-F2.8.svg"]
    pages = [
        readme.README,
        readme.COURSE,
        readme.RESULTS,
        readme.COUNTED,
        readme.ROUNDS,
        readme.PLUGINS,
        readme.PEERS,
        readme.SIMULATOR,
        *(readme.KERNELS / f"partition-{name}.md" for name in ("multireduce", "histogram")),
    ]
    assert captured.out.splitlines() == [*figures, *map(str, pages)]
    assert "run make readme" in captured.err
    for page in pages:
        assert text_of(root, page) == empty(page)
    assert not (root / readme.FOLDER).exists()
    assert main(["readme"]) == 0
    assert main(["readme", "--check"]) == 0


def test_figures_without_results_are_said_to_be_missing(tmp_path: Path, root: Path) -> None:
    old = root / "docs" / "figures" / "multiscan-time.svg"
    old.parent.mkdir(parents=True)
    old.write_text("<svg/>", encoding="utf-8")
    runs = runs_of(tmp_path, sums())
    made = generated(root, runs)
    assert old.relative_to(root) in made.stale()
    made.update()
    assert text_of(root).count("<img ") == 1
    text = text_of(root, readme.RESULTS)
    assert "<img " not in text
    assert not old.exists()
    pages = (readme.COUNTED, readme.PLUGINS, readme.PEERS)
    said = text + "".join(text_of(root, page) for page in pages)
    for config in OWN_CONFIGS:
        assert f"not drawn, because no committed result has points of `{config}`." in said
    keyed = [
        p for p in points_of(*map(str, OWN_CONFIGS - {FRAMEWORKS})) if p["operation"] != "reduce"
    ]
    part = [p for p in keyed if p["variant"] != "onepass/multireduce"]
    made = generated(root, runs_of(tmp_path, part))
    made.update()
    text = text_of(root, readme.RESULTS)
    assert 'src="figures/multireduce-time.svg"' in text
    assert 'src="figures/multiscan-time.svg"' in text
    assert "Missing: every point of onepass/multireduce." in text
    assert "Measured: multireduce, n = 2^26, i32, sum, uniform labels, uniform values." in text
    assert "No table, because no reduce has points at 3 or more n." in text
    assert "No example, because no reduce has points at 3 or more n." in text_of(root)
    assert not (root / "docs" / "figures" / "reduce-share.svg").exists()
    assert made.stale() == []


def test_simulations_are_shown_of_the_processor_alone(tmp_path: Path, root: Path) -> None:
    on_gpu = runs_of(tmp_path, sums())
    (tmp_path / "cpu").mkdir()
    of_cpu = predicted_runs(tmp_path / "cpu")
    figure = Path("docs/figures/eilers-F2.8.svg")
    made = generated(root, on_gpu, of_cpu)
    assert figure in made.update()
    block = text_of(root, readme.SIMULATOR).partition("<!-- begin: simulated -->")[2]
    assert '<img src="figures/eilers-F2.8.svg"' in block
    assert (
        "Simulated on hierarchy made up over measured time, each access waits: 0.50 in the "
        "geometric mean of 28 points, 0.50 at worst; pipelined: 0.50 in the geometric mean of 28 "
        "points, 0.50 at worst."
    ) in block
    assert f"{readme.origin(of_cpu)}." in block
    assert of_cpu[0].device == "Imaginary CPU"
    assert made.stale() == []
    # one other time, though the results are the same
    made = made_up.simulated(of_cpu[0].points[0].raw, 9.0, 9.0)
    made_up.write(made, tmp_path / "cpu" / "0.simulated" / "0.json")
    assert generated(root, on_gpu, of_cpu).stale() == [figure, readme.SIMULATOR]
    # a card's results are no processor's
    generated(root, [*on_gpu, *of_cpu]).update()
    assert f"no committed result has points of `{OF_CPU}`" in text_of(root, readme.SIMULATOR)
    assert not (root / figure).exists()


def test_a_figure_without_a_value_says_why(tmp_path: Path, root: Path) -> None:
    forbidden = {"all": {"count": None, "unavailable": "counting is forbidden"}}
    points = [p | {"counters": forbidden} for p in points_of("configs/counted.json")]
    (tmp_path / "other").mkdir()
    uncounted = runs_of(tmp_path / "other", points)
    generated(root, runs_of(tmp_path, sums()), uncounted).update()
    text = text_of(root, readme.COUNTED)
    title = EXPERIMENTS["roofline"].title
    assert f"{title}: not drawn, because no point has a value (counting is forbidden)." in text
    assert "no committed result has points of `configs/energy.json`" in text


def test_a_figure_of_processors_is_of_one_of_them(tmp_path: Path, root: Path) -> None:
    (tmp_path / "cpu").mkdir()
    first = predicted_runs(tmp_path / "cpu")
    (tmp_path / "other").mkdir()
    few = [p.raw for p in first[0].points if p.variant == "cpu/multireduce"]
    document = made_up.results(few, gpu=False)
    document["environment"]["cpu"]["model"] = "Other CPU"
    other = [load(made_up.write(document, tmp_path / "other" / "0.json"))]
    for devices in ([first, other], [other, first]):
        generated(root, *devices).update()
        block = text_of(root, readme.SIMULATOR).partition("<!-- begin: simulated -->")[2]
        assert f"{readme.origin(first)}." in block
        assert "Other CPU" not in block


def test_table(tmp_path: Path) -> None:
    points = sums()
    points[2] = known_wrong("cub/reduce", 1 << 13, 1.0)
    block = readme.table_block(runs_of(tmp_path, points))
    rows = [line for line in block.splitlines() if line.startswith("|")]
    assert rows[0].startswith("| variant | 2^10 | 2^13 |")
    assert rows[1].startswith("| --- | ---: |")
    assert rows[2].startswith("| cub/reduce | **400 (10%)** | wrong (known) | **400 (10%)** |")
    assert rows[3].startswith("| amp/x (host) | 40 (1%) | **40 (1%)** | 40 (1%) |")
    assert rows[3].endswith("| 40 (1%) | skipped |")
    assert "NVIDIA Imaginary 1" in block
    assert "sha256" not in block
    assert "Each row is the variant of its family that is fastest at the largest size" in block


def test_example_has_the_cells_of_the_table(tmp_path: Path) -> None:
    lines = readme.example_block(runs_of(tmp_path, sums())).splitlines()
    assert lines[2].split() == ["variant", "2^10", "2^19", "2^28"]
    assert lines[3].split() == ["cub/reduce", *["400", "(10%)"] * 3]
    assert len({len(line) for line in lines[2:4]}) == 1


def rows_of(block: str) -> list[list[str]]:
    lines = [line for line in block.splitlines() if line.startswith("|")]
    return [line.strip("| ").split(" | ") for line in lines[2:]]


def test_best_needs_a_library_and_another(tmp_path: Path) -> None:
    size = 1 << 20
    own = [point("onepass/reduce", size, 1000.0), point("harris/7", size, 1500.0)]
    libraries = [point("cub/reduce", size, 3000.0), point("thrust/reduce", size, 4000.0)]
    assert readme.best_block(runs_of(tmp_path, own)).startswith("No table")
    assert readme.best_block(runs_of(tmp_path, libraries)).startswith("No table")
    assert rows_of(readme.best_block(runs_of(tmp_path, own, libraries))) == [
        ["sum of i32", "n = 2^20", "onepass/reduce", "4", "1", "105%", "cub/reduce", "3"]
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_best_is_of_the_run_with_most_variants_and_then_the_newest(
    tmp_path: Path, order: Sequence[int]
) -> None:
    size = 1 << 20
    own = [point(f"harris/{number}", size, 1000.0 + number) for number in range(3)]
    many = [point("cub/reduce", size, 3000.0), point("onepass/reduce", size, 900.0), *own]
    newer = [point("cub/reduce", size, 2000.0), point("onepass/reduce", size, 950.0), *own]
    few = [point("cub/reduce", size, 1000.0), point("onepass/reduce", size, 2000.0)]
    runs = runs_of(tmp_path, many, newer, few)
    for day, run in enumerate(runs, start=1):
        run.environment["date_utc"] = f"2026-01-0{day}T00:00:00Z"
    block = readme.best_block([runs[place] for place in order])
    ((_, _, best, measured, us, _, library, library_us),) = rows_of(block)
    assert (best, us, measured) == ("onepass/reduce", "0.95", "5")
    assert (library, library_us) == ("cub/reduce", "2")
    assert "2026-01-02" in block


def test_best_are_two_where_the_noise_is_larger(tmp_path: Path) -> None:
    size = 1 << 20
    points = [point("cub/reduce", size, 1000.0), point("onepass/reduce", size, 1000.1)]
    ((_, _, best, *_),) = rows_of(readme.best_block(runs_of(tmp_path, points)))
    assert best == "cub/reduce or onepass/reduce"
    points[1] = point("onepass/reduce", size, 1500.0)
    ((_, _, best, *_),) = rows_of(readme.best_block(runs_of(tmp_path, points)))
    assert best == "cub/reduce"


def test_best_is_right_and_may_be_a_library(tmp_path: Path) -> None:
    size = 1 << 20
    points = [
        point("cub/reduce", size, 3000.0),
        point("harris/6", size, 3500.0),
        known_wrong("harris/7", size, 1000.0),
        unmeasured("harris/5", size, "failed", "crashed"),
        point("harris/4", size, 500.0, primary_mode="hot"),
        point("harris/4", size, 500.0, distribution={"name": "ones"}),
        point("harris/4", size, 500.0, op="max"),
        point("cpu/sequential", size, 500.0, backend="cpu"),
    ]
    assert rows_of(readme.best_block(runs_of(tmp_path, points))) == [
        ["sum of i32", "n = 2^20", "cub/reduce", "2", "3", "35%", "cub/reduce", "3"]
    ]


def test_best_is_of_the_labels_and_buckets_of_the_problem(tmp_path: Path) -> None:
    def keyed(variant: str, time_ns: float, labels: str = "uniform", m: int = 256) -> made_up.Json:
        return point(
            variant,
            readme.KEYED_N,
            time_ns,
            operation="multiscan",
            buckets=m,
            labels={"name": labels},
            params={"scan": "exclusive"},
        )

    points = [
        keyed("onepass/multiscan", 3000.0),
        keyed("cub/sort-scan-by-key-scatter", 4000.0),
        keyed("partition/multiscan", 1000.0, labels="sorted"),
        keyed("partition/multiscan", 1000.0, m=16),
        keyed("onepass/multiscan", 900.0, m=16),
        keyed("partition/multiscan", 1000.0) | {"params": {"scan": "inclusive"}},
    ]
    ((what, size, best, measured, *_),) = rows_of(readme.best_block(runs_of(tmp_path, points)))
    assert (what, size) == ("multiscan, sum of i32", "n = 2^26, m = 256")
    assert (best, measured) == ("onepass/multiscan", "2")
    points[4] = keyed("onepass/multiscan", 5000.0, m=16)  # which partition/multiscan wins there
    ((_, _, best, measured, *_),) = rows_of(readme.best_block(runs_of(tmp_path, points)))
    missing = "not all contenders were measured: partition/multiscan is missing"
    assert (best, measured) == (missing, "-")


def test_course_has_the_gain_of_each_step(tmp_path: Path) -> None:
    times = [8000.0, 4000.0, 2000.0, 1000.0, 500.0, 400.0, 250.0, 250.0]
    steps = [
        point(variant, readme.COURSE_PROBLEM.n, time)
        for variant, time in zip(readme.COURSE_VARIANTS, times, strict=True)
    ]
    assert readme.course_block(runs_of(tmp_path, steps[1:])).startswith("No table")
    rows = rows_of(readme.course_block(runs_of(tmp_path, steps)))
    assert [row[0] for row in rows] == readme.COURSE_VARIANTS
    assert rows[0][1] == "title of harris/0"
    assert [row[3] for row in rows] == ["-", *["2.00"] * 4, "1.25", "1.60", "1.00"]


def test_every_problem_is_in_the_committed_results() -> None:
    block = readme.best_block(load_devices(committed_results())[0].runs)
    assert len(rows_of(block)) == len(readme.PROBLEMS)


def test_origin_is_short(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, sums(), sums(2.0))
    assert readme.origin(runs) == readme.origin(runs[:1])
    assert readme.origin(runs[:1]) == (
        f"NVIDIA Imaginary 1, {runs[0].environment['date_utc'][:10]}, revision {runs[0].revision}"
    )
    other = runs[1].environment
    other["date_utc"] = "2030-01-01T00:00:00Z"
    other["git"] = {"revision": "ab" * 20, "dirty": False}
    assert " to 2030-01-01, revisions " in readme.origin(runs)
    assert readme.origin(runs).endswith(", ababababab")


def test_provenance_names_every_file(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, sums(), sums(2.0))
    rows = rows_of(readme.provenance_block([Device(runs)], tmp_path))
    assert [row[0] for row in rows] == ["0.json", "1.json"]
    assert [row[-1] for row in rows] == [run.sha256[:12] for run in runs]


def anchors(text: str) -> set[str]:
    """The ids that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src="([^"]+)"', text)
    for link in links:
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        file = page.parent / target if target else page
        assert file.exists(), link
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file.read_text(encoding="utf-8")), link


def test_keyed_tables_have_the_slowest_labels(tmp_path: Path) -> None:
    points = [p for p in points_of("configs/keyed.json") if p["variant"] != "atomic/global"]
    for each in points:
        time = each["timing"]["cold"]
        if each["labels"]["name"] == "zipf" and each["variant"] == "onepass/multireduce":
            time.update({key: 7000.0 for key in time if key.endswith("_ns")})
    block = readme.tables_block(IDS_OF_KEYED, runs_of(tmp_path, points))
    rows = [line for line in block.splitlines() if line.startswith("|")]
    ours = "onepass/multireduce | partition/multireduce | onepass/multireduce-split"
    assert rows[0] == f"| m | cub/sort-reduce-by-key | {ours} |"
    assert rows[2] == "| 16 | 1 | 7 | - | - |"
    ordered = "eilers/sort-global | onepass/multireduce-ordered | partition/multireduce-ordered"
    assert f"| m | {ordered} |" in rows
    libraries = "cub/sort-index-scan-by-key | cub/sort-scan-by-key-scatter"
    ours = "onepass/multiscan | twopass/multiscan | partition/multiscan"
    assert f"| m | {libraries} | {ours} |" in rows
    histograms = block.partition("**Histogram on its slowest labels**")[2]
    of_bytes, of_words = histograms.partition("\nu8:\n")[2].split("\nu32:\n")
    assert "\n| 256 |" in of_bytes and "| 2^12 |" not in of_bytes
    assert "\n| 2^12 |" in of_words
    assert "(histogram, cuda, n = 2^26, uniform labels)" in of_words  # no operator, no values
    assert "Multireduce on its slowest labels: no table" in readme.tables_block(
        IDS_OF_KEYED, runs_of(tmp_path, sums())
    )


def test_tables_by_labels_have_a_column_for_each(tmp_path: Path) -> None:
    points = points_of("configs/keyed.json")
    kind = {"variant": "partition/histogram", "type": "u32", "buckets": 1 << 20}
    for each in points:
        if kind.items() <= each.items() and each["labels"]["name"] == "sorted":
            time = each["timing"]["cold"]
            time.update({key: 7000.0 for key in time if key.endswith("_ns")})
    block = readme.tables_block(["partition-histogram"], runs_of(tmp_path, points))
    ours = block.partition("\npartition/histogram:\n")[2]
    labels = "uniform | degenerate | zipf(exponent=1) | sorted | runs(length=64)"
    assert f"| m | {labels} |" in ours
    assert "| 2^20 | 1 | 1 | 1 | 7 | 1 |" in ours
    for experiment in KERNELS:  # of which keyed.json has every cell
        assert "Missing" not in readme.tables_block([experiment.id], runs_of(tmp_path, points))


def another(tmp_path: Path, name: str, *of_points: Sequence[made_up.Json]) -> list[Results]:
    """Runs of another card."""
    (tmp_path / "another").mkdir()
    runs = runs_of(tmp_path / "another", *of_points)
    for run in runs:
        run.environment["gpu"]["name"] = name
    return runs


def test_scorecard_counts_every_claim_once_for_each_device(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    devices = [
        Device(runs_of(tmp_path, sums())),
        Device(another(tmp_path, "Other", points_of("configs/papers/jradi-T1.json"))),
        Device(predicted_runs(tmp_path / "cpu")),
    ]
    block = readme.scorecard_block(devices)
    counts, verdicts = (
        [
            [cell.strip() for cell in line[1:-1].split(" | ")]
            for line in part.splitlines()
            if line.startswith("|")
        ]
        for part in block.split("The first sign")
    )
    everything = [str(claim["number"]) for claim in load_registry().claims]
    assert counts[0] == ["claims", "NVIDIA Imaginary 1", "Other", "Imaginary CPU"]
    for column in (1, 2, 3):
        assert sum(int(row[column] or 0) for row in counts[2:]) == len(everything)
    assert verdicts[0][-3:] == counts[0][1:]
    assert [row[0] for row in verdicts[2:]] == everything
    of_cpu = {row[0]: row[-1] for row in verdicts[2:]}
    assert of_cpu["39"] != "– –" and of_cpu["1"] == "– –"
    of_cards = {row[0]: row[-3:-1] for row in verdicts[2:]}
    assert of_cards["39"] == ["– –", "– –"]
    assert of_cards["1"][0] == "– –" and of_cards["1"][1] != "– –"
    assert "claims lack points or counters on Other" in block


def test_shares_of_two_cards_stand_side_by_side(tmp_path: Path, root: Path) -> None:
    other = another(
        tmp_path,
        "Other",
        [each | ({"ceiling_share": 0.5} if each["timing"] else {}) for each in sums()],
    )
    own = runs_of(tmp_path, sums())
    figure = Path("docs/figures/reduce-share-of-cards.svg")
    made = generated(root, own, other)
    assert figure in made.update()
    drawing = (root / figure).read_text(encoding="utf-8")
    assert "<!-- NVIDIA Imaginary 1 -->" in drawing and "<!-- Other -->" in drawing
    block = text_of(root, readme.RESULTS).partition("begin: side-by-side-figures")[2]
    assert "NVIDIA Imaginary 1" in block and "Other" in block.partition("<!-- end")[0]
    assert figure in generated(root, own).update()  # without another card, there is none
    assert not (root / figure).exists()


def test_a_figure_is_of_the_card_that_lacks_least_of_it(tmp_path: Path, root: Path) -> None:
    """Not all machines have several GPUs, by which some figures are."""
    other = another(tmp_path, "Other", sums())
    own = runs_of(tmp_path, [point("cub/reduce", 8)])
    generated(root, own, other).update()
    block = text_of(root).partition("begin: figure")[2].partition("<!-- end")[0]
    assert "Other, " in block and "NVIDIA Imaginary 1" not in block
    generated(root, runs_of(tmp_path, sums()), other).update()
    block = text_of(root).partition("begin: figure")[2].partition("<!-- end")[0]
    assert "NVIDIA Imaginary 1, " in block and "Other" not in block
    keyed = points_of(EXPERIMENTS["multireduce-time"].config)
    part = [p for p in keyed if p["variant"] != "onepass/multireduce"]
    (tmp_path / "keyed").mkdir()
    other = another(tmp_path / "keyed", "Other", keyed)
    generated(root, runs_of(tmp_path, part), other).update()
    block = text_of(root, readme.RESULTS).partition("begin: keyed-figures")[2]
    assert "Other, " in block.partition("<!-- end")[0]


def test_best_of_two_cards_has_shares_and_no_times(tmp_path: Path) -> None:
    size = 1 << 20
    points = [point("onepass/reduce", size, 1000.0), point("cub/reduce", size, 3000.0)]
    faster = [points[0] | {"ceiling_share": 0.5}, point("cub/reduce", size, 10.0)]
    other = [each | {"ceiling_share": 0.25} for each in faster]
    devices = [Device(runs_of(tmp_path, points)), Device(another(tmp_path, "Other", other))]
    block = readme.best_shares_block(devices)
    assert rows_of(block) == [
        ["sum of i32", "n = 2^20", "onepass/reduce (105%)", "cub/reduce (25%)"]
    ]
    assert "µs" not in block


README_BLOCK = empty(readme.README)


@pytest.mark.parametrize(
    "text",
    [
        "",
        README_BLOCK.replace("<!-- end: figure -->", ""),
        README_BLOCK.replace("<!-- begin: best -->", "<!-- begin: figure -->"),
        README_BLOCK.replace("begin: figure", "x").replace("end: figure", "begin: figure"),
    ],
)
def test_a_page_without_its_markers(tmp_path: Path, root: Path, text: str) -> None:
    (root / "README.md").write_text(text, encoding="utf-8")
    made = generated(root, runs_of(tmp_path, sums()))
    with pytest.raises(InputError, match="<!-- begin: "):
        made.update()
    assert text_of(root) == text
    assert not (root / readme.FOLDER).exists()


def test_what_cannot_be_read_or_written(tmp_path: Path, root: Path) -> None:
    made = generated(root, runs_of(tmp_path, sums()))
    (root / readme.FOLDER).write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="figures"):
        made.update()
    assert text_of(root) == empty(readme.README)
    shutil.rmtree(root)
    with pytest.raises(InputError, match="README"):
        made.update()


def counted(read: int, written: int, **changes: object) -> made_up.Json:
    """A point that declares to read 400 MB and to write 100, of which a GPU counted so much."""
    counters = made_up.gpu_counters(
        0,
        dram_read_bytes=read,
        dram_written_bytes=written + 30_000_000,
        flush_written_bytes=30_000_000,
        l2_read_sectors=20_000_000,
    )
    declared = {"bytes": 500_000_000, "bytes_read": 400_000_000, "bytes_written": 100_000_000}
    return point("a/x", 100_000_000, 1e5, **declared, counters=counters, **changes)


def counted_rows(tmp_path: Path, *points: made_up.Json) -> list[str]:
    text = readme.counted_block(runs_of(tmp_path, points))
    return [line for line in text.splitlines() if line.startswith("| a/x")]


def test_counted_bytes_stand_beside_declared_ones(tmp_path: Path) -> None:
    (row,) = counted_rows(tmp_path, counted(404_000_000, 101_000_000))
    assert row == (
        "| a/x | reduce, i32, n = 100,000,000 | 400.0 | 404.0 | 100.0 | 101.0 | 1.01 | 640.0 |"
    )


@pytest.mark.parametrize(
    ("read", "ratio"),
    [(449_000_000, "1.10"), (451_000_000, "**1.10**"), (349_000_000, "**0.90**")],
)
def test_what_is_off_by_a_tenth_is_bold(tmp_path: Path, read: int, ratio: str) -> None:
    (row,) = counted_rows(tmp_path, counted(read, 100_000_000))
    assert f"| {ratio} |" in row


def test_of_several_types_the_row_shows_that_whose_bytes_differ_most(tmp_path: Path) -> None:
    near, far = counted(404_000_000, 101_000_000), counted(345_000_000, 100_000_000)
    (row,) = counted_rows(tmp_path, near, far | {"type": "f32"}, near | {"type": "f64"})
    assert row.startswith("| a/x | reduce, f32,") and "| **0.89** |" in row


def test_bytes_are_compared_only_where_they_were_counted_beyond_l2(tmp_path: Path) -> None:
    uncounted = counted(1, 1) | {"counters": {"all": {"count": None, "unavailable": "forbidden"}}}
    small = counted(1, 1) | {"bytes": 1000, "n": 250}
    warm = counted(1, 1, primary_mode="hot") | {"type": "f32"}
    older = counted(1, 1) | {"type": "f64"}
    del older["counters"]["flush_written_bytes"]
    assert counted_rows(tmp_path, uncounted, small, warm, older) == []
    text = readme.counted_block(runs_of(tmp_path, [uncounted]))
    assert text == "No table, because no committed result has counters of inputs beyond L2."
