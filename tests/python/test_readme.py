"""The README's figures, table and scorecard are those of the committed results."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import made_up
import pytest
from made_up import known_wrong, point, points_of, unmeasured
from reduce_bench_report import readme
from reduce_bench_report.__main__ import main
from reduce_bench_report.experiments import EXPERIMENTS
from reduce_bench_report.loader import SIMULATED, InputError, Results, load_runs

ROOT = Path(__file__).parents[2]
OF_CPU = EXPERIMENTS["eilers-F2.8"].config
OWN_CONFIGS = {EXPERIMENTS[name].config for name in readme.FIGURES} - {None}
BLOCKS = ("figures", "reduce-table", "keyed-tables", "scorecard", "simulated")
EMPTY = "# Title\n\n" + "".join(
    f"<!-- begin: {name} -->\nformer\n<!-- end: {name} -->\n\n" for name in BLOCKS
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
    folder.mkdir()
    (folder / "README.md").write_text(EMPTY, encoding="utf-8")
    return folder


def runs_of(tmp_path: Path, *of_points: Sequence[made_up.Json]) -> list[Results]:
    paths = []
    for number, points in enumerate(of_points):
        asked = {key: sorted({p[key] for p in points}) for key in ("n", "type", "op")}
        document = made_up.results(list(points)) | {
            "config": {"schema": 1, "sweeps": [{"variants": ["*"], **asked}]}
        }
        paths.append(made_up.write(document, tmp_path / f"{number}.json"))
    return load_runs(paths)


def predicted_runs(folder: Path) -> list[Results]:
    """A processor's results, which every model takes half of the time for."""
    points = points_of("configs/papers/eilers-F2.8.json")
    per_input = [p["ns_per_item"] / 2 for p in points]
    made_up.save_simulations(
        folder / "0.json",
        [made_up.simulated(p, ns, ns) for p, ns in zip(points, per_input, strict=True)],
    )
    return load_runs([made_up.write(made_up.results(points, gpu=False), folder / "0.json")])


def text_of(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def test_blocks_are_replaced_and_nothing_else(tmp_path: Path, root: Path) -> None:
    runs = runs_of(tmp_path, sums())
    written = readme.update(runs, root)
    assert written == [Path("docs/figures/reduce-share.svg"), Path("README.md")]
    text = text_of(root)
    assert text.startswith("# Title\n\n<!-- begin: figures -->\n<img src=")
    assert text.endswith("<!-- end: simulated -->\n\n")
    assert "former" not in text
    assert readme.stale(runs, root) == []
    assert readme.update(runs, root) == []


def test_everything_stale_is_named(tmp_path: Path, root: Path) -> None:
    runs = runs_of(tmp_path, sums())
    share, page = readme.update(runs, root)
    for name in BLOCKS:
        whole = text_of(root)
        begin = whole.index(f"<!-- begin: {name} -->")
        digit = re.search(r"[0-9]", whole[begin:])
        assert digit
        at = begin + digit.start()
        changed = whole[:at] + str((int(whole[at]) + 1) % 10) + whole[at + 1 :]
        (root / page).write_text(changed, encoding="utf-8")
        assert readme.stale(runs, root) == [page], name
        (root / page).write_text(whole, encoding="utf-8")
    # other numbers: the figure says of which file it is
    assert readme.stale(runs_of(tmp_path, sums(2.0)), root) == [share, page]
    runs = runs_of(tmp_path, sums())
    # another curve under the same description
    drawing = (root / share).read_text(encoding="utf-8")
    altered = re.sub(r'(<path d="M \d+)', r"\g<1>1", drawing, count=1)
    assert altered != drawing
    (root / share).write_text(altered, encoding="utf-8")
    assert readme.stale(runs, root) == [share]
    (root / share).write_text("<svg></svg>", encoding="utf-8")
    assert readme.stale(runs, root) == [share]
    (root / share).unlink()
    assert readme.stale(runs, root) == [share]


def test_check_writes_nothing(
    tmp_path: Path,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [run.path for run in runs_of(tmp_path, sums())]
    (tmp_path / "cpu").mkdir()
    of_cpu = [run.path for run in predicted_runs(tmp_path / "cpu")]

    def committed(under: str = "results") -> list[Path]:
        return {"results": paths, "results/cpu": of_cpu}[under]

    monkeypatch.setattr("reduce_bench_report.__main__.committed_results", committed)
    monkeypatch.setattr("reduce_bench_report.__main__.ROOT", root)
    assert main(["readme", "--check"]) == 1
    captured = capsys.readouterr()
    figures = ["docs/figures/reduce-share.svg", "docs/figures/eilers-F2.8.svg"]
    assert captured.out.splitlines() == [*figures, "README.md"]
    assert "run make readme" in captured.err
    assert text_of(root) == EMPTY
    assert not (root / "docs").exists()
    assert main(["readme"]) == 0
    assert main(["readme", "--check"]) == 0


def test_figures_without_results_are_said_to_be_missing(tmp_path: Path, root: Path) -> None:
    old = root / "docs" / "figures" / "multiscan-time.svg"
    old.parent.mkdir(parents=True)
    old.write_text("<svg/>", encoding="utf-8")
    runs = runs_of(tmp_path, sums())
    assert old.relative_to(root) in readme.stale(runs, root)
    readme.update(runs, root)
    text = text_of(root)
    assert text.count("<img ") == 1
    assert not old.exists()
    for config in OWN_CONFIGS:
        assert f"not drawn, because no committed result has points of `{config}`." in text
    keyed = points_of(*map(str, OWN_CONFIGS))
    part = [p for p in keyed if p["variant"] != "onepass/multireduce"]
    runs = runs_of(tmp_path, part)
    readme.update(runs, root)
    text = text_of(root)
    assert "not drawn, because no point has type=i32" not in text
    assert 'src="docs/figures/multireduce-time.svg"' in text
    assert 'src="docs/figures/multiscan-time.svg"' in text
    assert "Missing: every point of onepass/multireduce." in text
    assert "(multireduce, n = 2^26, i32, sum, uniform labels, uniform values)" in text
    assert "No table, because no reduce has points at 3 or more n." in text
    assert not (root / "docs" / "figures" / "reduce-share.svg").exists()
    assert readme.stale(runs, root) == []


def test_simulations_are_shown_of_the_processor_alone(tmp_path: Path, root: Path) -> None:
    on_gpu = runs_of(tmp_path, sums())
    (tmp_path / "cpu").mkdir()
    of_cpu = predicted_runs(tmp_path / "cpu")
    figure = Path("docs/figures/eilers-F2.8.svg")
    assert figure in readme.update(on_gpu, root, of_cpu)
    block = text_of(root).partition("<!-- begin: simulated -->")[2]
    assert f'<img src="{figure}"' in block
    assert (
        "Simulated on hierarchy made up over measured time, each access waits: 0.50 in the "
        "geometric mean of 28 points, 0.50 at worst; pipelined: 0.50 in the geometric mean of 28 "
        "points, 0.50 at worst."
    ) in block
    assert f"From Imaginary CPU, {of_cpu[0].provenance.partition(', ')[2]}." in block
    assert readme.stale(on_gpu, root, of_cpu) == []
    # one other time, though the results are the same
    made = made_up.simulated(of_cpu[0].points[0].raw, 9.0, 9.0)
    made_up.write(made, tmp_path / "cpu" / "0.simulated" / "0.json")
    assert readme.stale(on_gpu, root, of_cpu) == [figure, Path("README.md")]
    # a card's results are no processor's
    readme.update([*on_gpu, *of_cpu], root)
    assert f"no committed result has points of `{OF_CPU}`" in text_of(root)
    assert not (root / figure).exists()


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
    assert runs_of(tmp_path, points)[0].sha256[:12] in block


def test_keyed_tables_have_the_slowest_labels(tmp_path: Path) -> None:
    points = [p for p in points_of("configs/keyed.json") if p["variant"] != "atomic/global"]
    for each in points:
        time = each["timing"]["cold"]
        if each["labels"]["name"] == "zipf" and each["variant"] == "onepass/multireduce":
            time.update({key: 7000.0 for key in time if key.endswith("_ns")})
    block = readme.keyed_block(runs_of(tmp_path, points))
    rows = [line for line in block.splitlines() if line.startswith("|")]
    assert rows[0] == (
        "| m | cub/sort-reduce-by-key | onepass/multireduce | partition/multireduce |"
    )
    assert rows[2] == "| 16 | 1 | 7 | - |"
    ordered = "eilers/sort-global | onepass/multireduce-ordered | partition/multireduce-ordered"
    assert f"| m | {ordered} |" in rows
    assert "| m | cub/sort-scan-by-key-scatter | onepass/multiscan | partition/multiscan |" in rows
    histograms = block.partition("**Histogram on its slowest labels**")[2]
    of_bytes, of_words = histograms.partition("\nu8:\n")[2].split("\nu32:\n")
    assert "\n| 256 |" in of_bytes and "| 2^12 |" not in of_bytes
    assert "\n| 2^12 |" in of_words
    assert "(histogram, cuda, n = 2^26, uniform labels)" in of_words  # no operator, no values
    assert "Multireduce on its slowest labels: no table" in readme.keyed_block(
        runs_of(tmp_path, sums())
    )


def test_scorecard_counts_every_claim_once(tmp_path: Path) -> None:
    block = readme.scorecard_block(runs_of(tmp_path, sums()))
    rows = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("|")]
    (claims, *totals) = rows[-1]
    assert claims == "all 75"
    assert sum(map(int, totals)) == 75
    assert "claims lack points" in block


@pytest.mark.parametrize(
    "text",
    [
        "",
        EMPTY.replace("<!-- end: figures -->", ""),
        EMPTY.replace("<!-- begin: scorecard -->", "<!-- begin: figures -->"),
        EMPTY.replace("begin: figures", "x").replace("end: figures", "begin: figures"),
    ],
)
def test_a_readme_without_its_markers(tmp_path: Path, root: Path, text: str) -> None:
    (root / "README.md").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="<!-- begin: "):
        readme.update(runs_of(tmp_path, sums()), root)
    assert text_of(root) == text
    assert not (root / "docs").exists()


def test_what_cannot_be_read_or_written(tmp_path: Path, root: Path) -> None:
    runs = runs_of(tmp_path, sums())
    (root / "docs").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="docs"):
        readme.update(runs, root)
    assert text_of(root) == EMPTY
    shutil.rmtree(root)
    with pytest.raises(InputError, match="README"):
        readme.update(runs, root)
