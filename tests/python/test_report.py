"""What the report's file holds; test_report_in_browser.py opens it."""

import base64
import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import made_up
import pytest
from made_up import known_wrong, point, points_of, unmeasured
from reduce_bench_report import recommend, report, variants
from reduce_bench_report.__main__ import main
from reduce_bench_report.claims import Verdict
from reduce_bench_report.loader import SCHEMA_PATH, InputError, load
from reduce_bench_report.paths import PAGE

VOID = {"meta", "img", "br", "hr", "input", "link"}
RAW = {"script", "style"}

DESCRIBED = [
    {
        "id": "cub/reduce",
        "title": "library",
        "operation": "reduce",
        "fidelity": "baseline",
        "source": "CUB",
        "description": "cub/reduce: library\n\nIdea: one call <b>.\n",
        "params": [{"name": "block", "default": "1", "allowed": ["1", "2"], "meaning": "threads"}],
    }
]


class Page(HTMLParser):
    """The page's elements, and what a browser would load for them."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.scripts: list[str] = []
        self.texts: dict[str, list[str]] = {}  # by the id of the section
        self.policy = ""
        self.data: Any = None
        self._section = ""
        self._script: dict[str, str | None] | None = None
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "section":
            self._section = str(given["id"])
        if tag == "script":
            self._script = given
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(given["content"])
        if tag == "a":
            self.links.append(str(given["href"]))
        elif tag == "link":
            self.loaded.append(str(given))
        self.loaded += [str(given[name]) for name in ("src", "srcset") if name in given]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in ("td", "th", "caption", "summary", "li", "p"):
            self.texts.setdefault(self._section, []).append(" ")
        self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            if self._script.get("type") == "application/json":
                self.data = json.loads(data)
            else:
                self.scripts.append(data)
        elif self.open and self.open[-1] not in RAW:
            self.texts.setdefault(self._section, []).append(data)

    def text(self, section: str) -> str:
        return " ".join("".join(self.texts[section]).split())

    def column(self, group: str, name: str) -> list[Any]:
        """As report.js reads it."""
        column = self.data[group][name]
        if "constant" in column:
            return [column["constant"]] * self.data["count"]
        if "index" in column:
            return [column["values"][place] for place in column["index"]]
        return list(column["values"])


def save(tmp_path: Path, name: str, points: list[made_up.Json], **changes: Any) -> Path:
    gpu = changes.pop("gpu", True)
    return made_up.write(made_up.results(points, gpu=gpu) | changes, tmp_path / name)


def made(tmp_path: Path, *results: Path, **options: Any) -> Page:
    """The page of these results, without figures, which take long."""
    described = {each["id"]: each for each in options.pop("described", DESCRIBED)}
    output = tmp_path / "report.html"
    runs = [load(path) for path in results]
    output.write_text(report.page(runs, described, [], **options), encoding="utf-8")
    return Page(output)


POINTS = [
    point("harris/0", 1024, 100.0, params={"block": "128"}),
    point("harris/0", 1 << 20, 4000.0, params={"block": "128"}),
    point("cub/reduce", 1024, 50.0),
    point("cub/reduce", 1 << 20, 2000.0),
    known_wrong("racy/x", 1024, 1.0),
    unmeasured("amp/x", 1024, "skipped", "too small"),
    point("amp/x", 1 << 20, 3000.0, finish="host"),
]


def test_loads_nothing_and_runs_only_its_own_programs(tmp_path: Path) -> None:
    page = made(tmp_path, save(tmp_path, "r.json", POINTS))
    assert page.loaded == []
    assert page.policy.startswith("default-src 'none';")
    digests = [base64.b64encode(sha256(each.encode()).digest()).decode() for each in page.scripts]
    assert len(digests) == 2
    allowed = re.search(r"script-src ([^;]*)$", page.policy)
    assert allowed is not None
    assert allowed.group(1).split() == [f"'sha256-{digest}'" for digest in digests]


def test_every_identifier_is_unique_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    page = made(tmp_path, save(tmp_path, "r.json", POINTS))
    assert len(set(page.ids)) == len(page.ids)
    assert all(link.startswith("#") for link in page.links)
    targets = {link[1:] for link in page.links}
    records = {f"point-{place}" for place in range(page.data["count"])}
    assert targets - records <= set(page.ids)
    assert targets & records


def test_data_holds_every_field_of_every_point(tmp_path: Path) -> None:
    points = [
        *POINTS,
        point("a/x", 1 << 20, 10.0, type="f32", operation="multireduce", buckets=256,
              labels={"name": "zipf", "exponent": 1.2}),
    ]  # fmt: skip
    page = made(tmp_path, save(tmp_path, "r.json", points))
    assert page.data["count"] == len(points)
    document = made_up.results(points)
    for path, values in (
        ("variant", [each["variant"] for each in document["points"]]),
        ("index", list(range(len(points)))),
        ("buckets", [*[None] * len(POINTS), 256]),
        ("reason", [each["reason"] for each in points]),
        ("params.block", ["128", "128", *[None] * (len(points) - 2)]),
        ("launch.grid", [264] * len(points)),
        ("verification.passed_before", [True] * 4 + [False, None, True, True]),
        ("labels.exponent", [*[None] * len(POINTS), 1.2]),
    ):
        assert page.column("record", path) == values, path
    medians = [each["timing"].get("cold", {}).get("median_ns") for each in points]
    assert page.column("record", "timing.cold.median_ns") == medians
    assert page.column("derived", "labels")[-1] == "zipf(exponent=1.2)"
    assert page.column("derived", "outcome")[4:6] == ["wrong (known)", "skipped"]
    assert page.column("derived", "right")[3:6] == [True, False, False]


def test_a_hover_tells_what_was_counted(tmp_path: Path) -> None:
    counters = made_up.gpu_counters(1024, instructions_issued=2048, bank_conflicts=0)
    points = [point("a/x", 1024, counters=counters), point("a/x", 2048, counters=None)]
    page = made(tmp_path, save(tmp_path, "r.json", points))
    assert page.column("derived", "counted") == [
        "counted: 2 instructions, 2 bytes of device memory, 0 bank conflicts per input",
        "",
    ]
    assert page.column("record", "counters.bank_conflicts.count") == [0, None]


def test_a_variant_has_what_was_counted_of_its_points(tmp_path: Path) -> None:
    counters = made_up.gpu_counters(
        1024,
        instructions_issued=2048,
        stalled_wait=512,
        stalled_barrier=0,
        stalled_long_scoreboard=256,
        stalled_membar=1,
        warp_cycles=1024,
        warp_slot_cycles=4096,
    )
    page = made(tmp_path, save(tmp_path, "r.json", [point("a/x", 1024, counters=counters)]))
    assert "What the GPU counted of a call" in page.text("variants")
    assert "wait 50%, long scoreboard 25%, membar 0%" in page.text("variants")
    uncounted = [point("a/x", 1024, counters=None)]
    assert "What the GPU" not in made(tmp_path, save(tmp_path, "s.json", uncounted)).text(
        "variants"
    )


def test_fits_of_many_sizes_stand_below_the_charts(tmp_path: Path) -> None:
    points = [point("a/x", 2**bits, 3000 + 2**bits / 1000) for bits in range(10, 28, 3)]
    text = made(tmp_path, save(tmp_path, "r.json", points)).text("charts")
    assert "1 fit" in text
    assert "a/x i32 sum, uniform values, cuda, cold 6, to 2^25 3 µs 4,000 0 %" in text
    assert "fit" not in made(tmp_path, save(tmp_path, "s.json", points[1:])).text("charts")


def test_titles_and_units_are_the_schemas_alone(tmp_path: Path) -> None:
    point, summary, verification = (
        json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))["definitions"][name]["properties"]
        for name in ("point", "summary", "verification")
    )
    page = made(tmp_path, save(tmp_path, "r.json", POINTS))
    shown = page.data["fields"]
    for name, said in (
        ("gb_per_s", point),
        ("ns_per_item", point),
        ("ceiling_share", point),
        ("median_ns", summary),
        ("error_ulp", verification),
    ):
        title, unit = said[name]["title"], said[name].get("unit")
        heading = f"{title}, {unit}" if unit else title
        assert shown[name] == {"title": title, "unit": unit, "heading": heading}, name
    assert page.data["time_scales"][-1] == [shown["median_ns"]["unit"], 1.0]
    program = page.scripts[-1]
    assert "MEASURES" in program
    texts = re.findall(r'"[^"\n]*"|`[^`]*`', program)
    literals = [part for text in texts for part in re.split(r"\$\{[^}]*\}|,", text.strip('"`'))]
    words = {each[key] for each in shown.values() for key in ("title", "unit")} - {None}
    units = {unit for unit, _ in page.data["time_scales"]}
    assert not {literal.strip() for literal in literals} & (words | units)


def test_columns_keep_values_and_types() -> None:
    for values in (
        [1, 1.0, True, "1", None],
        [None, None],
        [0, False] * 3,
        [1.23456789e-7] * 3 + [5] * 3 + ["x"],
        list(range(10)),
    ):
        column = report._column(values)
        read = (
            [column["constant"]] * len(values)
            if "constant" in column
            else [column["values"][i] for i in column["index"]]
            if "index" in column
            else column["values"]
        )
        assert [type(each) for each in read] == [type(each) for each in values]
        for value, other in zip(values, read, strict=True):
            assert other == (pytest.approx(value, rel=1e-6) if type(value) is float else value)


def test_fastest_of_each_size_is_right_verified_and_next_to_another_variant(
    tmp_path: Path,
) -> None:
    points = [*POINTS, point("cub/reduce", 1024, 60.0, params={"block": "2"})]
    page = made(tmp_path, save(tmp_path, "r.json", points))
    text = page.text("summary")
    assert "2^10 cub/reduce 2 50 ns 81.92 2 % harris/0 block=128 2.00 ×" in text
    assert "2^20 cub/reduce 3 2 µs 2,097 52 % amp/x (host) 1.50 ×" in text
    assert "racy/x" not in text
    assert "8 points: 6 ok, 1 wrong (known), 1 skipped." in page.text("environment")


def test_sizes_without_a_verified_time_say_so(tmp_path: Path) -> None:
    points = [unmeasured("a/x", 1024, "failed", "crashed"), point("a/x", 2048)]
    text = made(tmp_path, save(tmp_path, "r.json", points)).text("summary")
    assert "2^10 no verified time" in text


def test_operations_with_labels_are_compared_by_buckets(tmp_path: Path) -> None:
    labelled: dict[str, Any] = {"operation": "histogram", "op": "none", "type": "u32"}
    labelled["labels"] = {"name": "uniform"}
    points = [
        point(variant, 1 << 20, time_ns, buckets=buckets, **labelled)
        for variant, buckets, time_ns in (
            ("a/x", 256, 10.0), ("b/x", 256, 20.0), ("a/x", 4096, 40.0), ("b/x", 4096, 30.0),
        )
    ]  # fmt: skip
    runs = [load(save(tmp_path, "r.json", points))]
    measured = recommend.one_run_each(runs)
    (comparison,) = report._comparisons(recommend.recommendations(measured))
    assert comparison.title == "histogram u32, uniform values, uniform labels, cuda, cold"
    best = [(each.size.buckets, each.ranked[0].point.variant) for each in comparison.sizes]
    assert best == [(256, "a/x"), (4096, "b/x")]


def test_point_of_several_runs_counts_once_by_the_run_with_most_variants_beside_it(
    tmp_path: Path,
) -> None:
    older = save(tmp_path, "older.json", [point("a/x", 1024, 10.0), point("b/x", 1024, 30.0)])
    few_document = made_up.results([point("a/x", 1024, 40.0)])
    few_document["environment"]["date_utc"] = "2026-03-01T00:00:00Z"
    few = made_up.write(few_document, tmp_path / "few.json")
    newer_document = made_up.results([point("a/x", 1024, 20.0), point("b/x", 1024, 35.0)])
    newer_document["environment"]["date_utc"] = "2026-02-01T00:00:00Z"
    newer = made_up.write(newer_document, tmp_path / "newer.json")
    for order in ((older, newer, few), (few, newer, older)):
        page = made(tmp_path, *order)
        text = page.text("summary")
        assert "2^10 a/x 2 20 ns" in text
        runs = page.text("environment")
        assert "5 points: 5 ok. 3 points of which another run counts, since it measured" in runs
        current = dict(
            zip(
                page.column("record", "timing.cold.median_ns"),
                page.column("derived", "current"),
                strict=True,
            )
        )
        assert current == {20.0: True, 35.0: True, 10.0: False, 30.0: False, 40.0: False}


def test_first_rounds_count_and_the_card_heads_the_page_whatever_is_newer(tmp_path: Path) -> None:
    first = save(tmp_path, "r.json", [point("a/x", 1024, 10.0), point("b/x", 1024, 15.0)])
    beside = made_up.results([point("cpu/x", 1024, 90.0, backend="cpu")], gpu=False)
    second = made_up.results([point("a/x", 1024, 20.0), point("b/x", 1024, 15.0)])
    (tmp_path / "again").mkdir()
    paths = [tmp_path / "again" / "r.json", tmp_path / "r-cpu.json"]
    for path, document in zip(paths, (second, beside), strict=True):
        document["environment"]["date_utc"] = "2026-02-01T00:00:00Z"
        made_up.write(document, path)
    page = made(tmp_path, first, *paths)
    assert "2^10 a/x 2 10 ns" in page.text("summary")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>reduce-bench: NVIDIA Imaginary 1</title>" in text


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = [
        point(f"harris/{number}", 1 << 22, 8000.0 / (number + 1), params={"block": "128"})
        for number in range(7)
    ]
    figure = points_of("configs/papers/report7-T1.json")
    results = [save(tmp_path, "table.json", table), save(tmp_path, "figure.json", figure)]
    described = tmp_path / "variants.json"
    described.write_text(json.dumps(DESCRIBED), encoding="utf-8")
    output = tmp_path / "report.html"
    files = [str(path) for path in results]
    assert main(["report", *files, "-o", str(output), "--variants", str(described)]) == 0
    assert capsys.readouterr().out == f"{output}\n"
    page = Page(output)
    assert "Idea: one call <b>." in page.text("variants")
    assert {"figure-jradi-T1", "figure-report7-F3", "claim-1", "claim-75"} <= set(page.ids)
    text = page.text("figures")
    assert "jradi-T1: Harris's kernels 1 to 7" in text
    assert "harris/0 title of harris/0 0.008 8.054 2097 2.083" in text
    place = page.column("record", "variant").index("harris/3")
    assert f'<a href="#point-{place}">0.002</a>' in output.read_text(encoding="utf-8")
    assert f"figures --results {results[1]} --only report7-F3" in text
    made_by = f"reduce_bench_report report {' '.join(files)}"
    assert made_by in page.text("environment")
    assert "eilers-F4.4: not drawn: " in text
    images = re.findall(
        r'<img data-source="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)" width="(\d+)',
        output.read_text(encoding="utf-8"),
    )
    # report7-F1 to F3, and the sweeps
    assert len({title.partition(", panel ")[0] for _, title, _ in images}) == 6
    for image, title, width in images:
        assert base64.b64decode(image).decode().startswith("<svg ")
        assert title
        assert int(width) > 100
    assert "Claim 1: " in page.text("claims")
    assert "harris/1 block=128, 2^22" in page.text("claims")


def test_facts_have_their_units_and_grouped_digits(tmp_path: Path) -> None:
    text = made(tmp_path, save(tmp_path, "r.json", POINTS)).text("environment")
    for fact in (
        "gpu: l2, bytes 52,428,800", "gpu: sm clock max, MHz 1,980", "gpu: memory bus, bits 6,144",
        "gpu: peak, GB/s 4,800", "git: dirty no", "seed 1",
    ):  # fmt: skip
        assert fact in text
    assert "mhz" not in text and "False" not in text


def test_each_of_several_devices_has_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [point("cub/reduce", n, n / 1000 + 5) for n in (1024, 4096, 1 << 20)]
    points += [point("onepass/reduce", n, n / 2000 + 5) for n in (1024, 4096, 1 << 20)]
    one = save(tmp_path, "one.json", points)
    document = made_up.results([each | {"ceiling_share": 0.25} for each in points])
    document["environment"]["gpu"]["name"] = "NVIDIA <Imaginary> 2"
    two = made_up.write(document, tmp_path / "two.json")
    output = tmp_path / "r.html"
    assert main(["report", str(one), str(two), "-o", str(output)]) == 0
    pages = [tmp_path / f"r-nvidia-imaginary-{number}.html" for number in (1, 2)]
    assert capsys.readouterr().out.splitlines() == [*map(str, pages), str(output)]
    text = output.read_text(encoding="utf-8")
    for page in pages:
        assert page.exists()
        assert f'<a href="{page.name}">' in text
    assert "NVIDIA &lt;Imaginary&gt; 2" in text and "<Imaginary>" not in text
    assert "<script" not in text and "script-src" not in text
    shown = Page(output)
    assert "onepass/reduce (25%)" in shown.text("best")
    figures_text = shown.text("figures")
    assert "reduce-share: Share of the read ceiling against input size" in figures_text
    assert "median time" not in figures_text
    assert "not testable here" in shown.text("claims")


def test_facts_of_opencl_have_their_units(tmp_path: Path) -> None:
    document = made_up.results([point("a/x", 8, backend="opencl")])
    document["environment"]["opencl"] |= {"timer_resolution_ns": 1000}
    page = made(tmp_path, made_up.write(document, tmp_path / "r.json"))
    assert "opencl: timer resolution, ns 1,000" in page.text("environment")


def test_variants_are_explained_with_their_verification(tmp_path: Path) -> None:
    inexact = made_up.verification() | {"error_ulp": 2.0, "error_abs": 1e-3, "bound_abs": 4e-3}
    points = [
        point("a/x", 1024, type="f32", verification=inexact | {"deterministic": False}),
        point("a/x", 2048, type="f32", verification=inexact | {"error_ulp": 1.0}),
        unmeasured("a/x", 7, "wrong", "it races (got 1, expected 2 within 0)"),
        unmeasured("a/x", 9, "wrong", "it races (got -3, expected 2 within 0)"),
    ]
    page = made(tmp_path, save(tmp_path, "r.json", points))
    text = page.text("variants")
    assert "cub/reduce: library" in text
    assert "Idea: one call <b>." in text
    assert "These results have no points of this variant." in text
    assert "block 1 1, 2 threads" in text
    assert "a/x: title of a/x" in text
    assert "No description: the driver does not know this variant." in text
    assert "4 points: 2 ok, 2 wrong." in text
    assert "Largest error: 2 ulp." in text
    assert "Nearest to its error bound: 0.25 of it." in text
    assert "the same bits at 3 points, and other bits at 1 point." in text
    assert "wrong at 2 points: it races" in text
    assert {"variant-a/x", "variant-cub/reduce"} <= set(page.ids)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    whole = made(tmp_path, save(tmp_path, "r.json", POINTS)).text("environment")
    assert "interrupted" not in whole
    assert "GPU measurements" not in whole
    interrupted = save(
        tmp_path, "i.json", [point("cpu/x", 8, backend="cpu")], gpu=False, interrupted=True
    )
    empty = save(tmp_path, "e.json", [], gpu=False)
    text = made(tmp_path, interrupted, empty).text("environment")
    assert (
        "i.json was interrupted and holds only 1 of its points; run the same command with --resume"
        in text
    )
    assert "e.json has no points." in text
    assert "GPU measurements: these runs had no GPU" in text
    nothing = save(tmp_path, "n.json", [unmeasured("cpu/x", 8, "failed", "crashed")], gpu=False)
    assert "Times: no point has a verified one." in made(tmp_path, nothing).text("environment")


def test_no_driver_and_a_driver_that_fails(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run make build"):
        variants.from_driver(tmp_path / "none")
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    failing.chmod(0o755)
    with pytest.raises(InputError, match="failed"):
        variants.from_driver(failing)
    answering = tmp_path / "answering"
    answering.write_text(f"#!/bin/sh\ncat <<'E'\n{json.dumps(DESCRIBED)}\nE\n", encoding="utf-8")
    answering.chmod(0o755)
    assert variants.from_driver(answering)["cub/reduce"]["title"] == "library"
    results = save(tmp_path, "r.json", POINTS)
    page = made(tmp_path, results, described=[], no_variants="no driver here")
    assert "Descriptions of the variants: no driver here." in page.text("environment")
    assert "No description: no driver here." in page.text("variants")


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"a": 1}', '[{"name": "x"}]'])
def test_other_files_than_a_list_of_variants(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    other.write_text(content, encoding="utf-8")
    arguments = ["report", str(save(tmp_path, "r.json", POINTS)), "--variants", str(other)]
    assert main([*arguments, "-o", str(tmp_path / "r.html")]) == 2
    assert "list --json" in capsys.readouterr().err


def test_scorecard_links_to_the_records_of_its_numbers(tmp_path: Path) -> None:
    first = save(tmp_path, "one.json", POINTS)
    document = made_up.results([point("b/y", 64, 5.0)])
    document["environment"]["date_utc"] = "2026-02-01T00:00:00Z"
    second = made_up.write(document, tmp_path / "two.json")
    scorecard = SCORECARD | {"results": [{"file": "x/one.json"}, {"file": "x/two.json"}]}
    page = made(tmp_path, first, second, scorecard=scorecard)
    text = page.text("claims")
    assert "As printed: 1 ✓ reproduced, 1 – not testable here." in text
    assert "In the source's regime: 1 ✗ not reproduced, 1 – not testable here." in text
    assert "Not reproduced: the hardware changed: 1 Not testable here: 1" in text
    assert "Not reproduced: the hardware changed (1) Only the card is left. claim says" in text
    assert (
        "1 kernel 2 is faster <2.33 ✓ reproduced 2 (1.9 to 2.1) ✗ not reproduced 1.5 "
        "by elimination jradi T1"
    ) in text
    assert "Claim 1: as printed ✓ reproduced, in the source's regime ✗ not reproduced" in text
    assert "In the source's regime: Any n that is large. time of a over b: fails." in text
    assert "Cause: the hardware changed; by elimination." in text
    assert "The source: “Kernel 2 is fast.” Fast is a ratio." in text
    assert "2 (1.9 to 2.1), limit at least 1.8: holds; of harris/0 block=128, 2^20, b/y, 64" in text
    assert "Missing: no point of a/b." in text
    # the newer run comes first: b/y is point 0 of the report, and harris/0 point 1 of the other
    assert {"#point-2", "#point-0"} <= set(page.links)
    assert "claim-2" in page.ids


SCORECARD: Any = {
    "totals": {"reproduced": 1, "undecided": 0, "not testable here": 1},
    "totals_in_regime": {"not reproduced": 1, "not testable here": 1},
    "groups": [
        {"title": "not reproduced: the hardware changed", "why": "Only the card is left.",
         "claims": [1]},
        {"title": "not testable here", "why": "", "claims": [2]},
    ],
    "claims": [
        {
            "number": number,
            "paper": "jradi",
            "section": "T1",
            "wording": "kernel 2 is faster",
            "verdict": verdict,
            "published": [{"value": "<2.33", "source": "jradi-T1"}],
            "published_conditions": "Tesla C2075",
            "measured_conditions": "n 1024",
            "configurations": ["configs/papers/jradi-T1.json"],
            "measured": here,
            "checks": checks,
            "missing": missing,
            "regime": {
                "meaning": "Any n that is large.", "verdict": in_regime, "measured": "1.5",
                "checks": [check | {"outcome": "fails", "cases": []} for check in checks],
                "missing": [],
            },
            "cause": cause,
            "reading": cause and {"sentence": "Kernel 2 is fast.", "why": "Fast is a ratio."},
            "note": None,
        }
        for number, verdict, in_regime, cause, here, checks, missing in (
            (1, "reproduced", "not reproduced",
             {"title": "the hardware changed", "evidence": "by elimination"}, "2 (1.9 to 2.1)", [
                {"what": "time of a over b", "role": "measures", "outcome": "holds", "cases": [
                    {"text": "2 (1.9 to 2.1), limit at least 1.8: holds", "points": [
                        {"file": "x/one.json", "index": 1}, {"file": "x/two.json", "index": 0}]},
                ]},
            ], []),
            (2, "not testable here", "not testable here", None, "no points", [],
             ["no point of a/b"]),
        )
    ],
}  # fmt: skip


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    hostile = "</script><script>window.hacked = 1</script><img src=x onerror=hacked()>"
    document = made_up.results(
        [unmeasured("a/x", 8, "failed", hostile), point("b/x", 8, title=hostile, paper=hostile)]
    )
    document["environment"]["host"] = hostile
    document["environment"]["gpu"]["name"] = hostile
    document["environment"]["command_line"] = [hostile]
    path = made_up.write(document, tmp_path / "r.json")
    described = [DESCRIBED[0] | {"description": hostile, "title": hostile}]
    page = made(tmp_path, path, described=described)
    assert len(page.scripts) == 2
    assert page.loaded == []
    assert page.column("record", "reason")[0] == hostile
    assert hostile in page.text("environment")
    assert hostile in page.text("variants")


def test_fastest_of_few_is_not_recommended_between_sizes_that_a_rival_wins(tmp_path: Path) -> None:
    points = [
        *(point("fast/x", n, 10.0) for n in (1 << 10, 1 << 20)),
        *(point("slow/x", n, 20.0) for n in (1 << 10, 1 << 15, 1 << 20)),
    ]
    text = made(tmp_path, save(tmp_path, "r.json", points)).text("summary")
    assert "2^15 not all contenders were measured here: fast/x was not" in text


def test_shares_above_the_ceiling_say_by_how_much_it_was_measured_too_low(tmp_path: Path) -> None:
    points = [point("a/x", 1024, ceiling_share=1.05), point("a/x", 2048, ceiling_share=2.47)]
    text = made(tmp_path, save(tmp_path, "r.json", points)).text("summary")
    assert text.count("▲ ceiling measured too low") == 1
    assert "247 % ▲ ceiling measured too low, by 2.47 × or more" in text
    assert "At 1 point a variant took less than 95 % of the time" in text


def test_every_verdict_has_a_sign_and_a_colour() -> None:
    assert set(report.VERDICTS) == set(Verdict)
    assert len({sign for sign, _ in report.VERDICTS.values()}) == len(Verdict)
    style = (PAGE / "report.css").read_text(encoding="utf-8")
    assert all(f".verdict.{colour} " in style for _, colour in report.VERDICTS.values())
