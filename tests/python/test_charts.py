"""Which charts the page offers, which lines they have, and which of them stand for a family."""

import itertools
import re
from pathlib import Path
from typing import Any

import made_up
import pytest
from conftest import Loaded
from made_up import known_wrong, point, unmeasured
from reduce_bench_report import charts, styles
from reduce_bench_report.charts import Chart

SIZES = (1 << 10, 1 << 14, 1 << 18)


def charts_of(loaded: Loaded, points: list[made_up.Json]) -> list[Chart]:
    results = loaded(points)
    families = sorted({each.family for each in results.points})
    return charts.charts(dict(enumerate(results.points)), families)


def best(chart: Chart, mode: str = "cold") -> list[str]:
    return [each.label for each in chart.best[mode]]


def test_a_line_has_one_variant_and_parameters(loaded: Loaded) -> None:
    points = [
        point("a/10", n, params={"block": block, "form": "x"})
        for n in reversed(SIZES)
        for block in ("256", "128")
    ]
    (chart,) = (
        each for each in charts_of(loaded, [*points, point("a/9", 1 << 10)]) if each.x == "n"
    )
    assert [(line.label, line.key) for line in chart.lines] == [
        ("a/9", "a/9"),
        ("a/10 block=128", "a/10 block=128 form=x"),
        ("a/10 block=256", "a/10 block=256 form=x"),
    ]
    assert chart.lines[1].points == [5, 3, 1]  # by ascending n


def test_what_is_wrong_or_not_timed_is_never_best(loaded: Loaded) -> None:
    points = [
        *(point("a/x", n, 100.0, primary_mode=mode) for n in SIZES for mode in ("cold", "hot")),
        *(point("a/short", n, 10.0) for n in SIZES[:2]),
        *(point("a/slow", n, 900.0) for n in SIZES),
        *(point("a/host", n, 1.0, finish="host") for n in SIZES),
        *(known_wrong("a/wrong", n, 1.0) for n in SIZES),
        *(unmeasured("b/x", n, "skipped", "no") for n in SIZES),
    ]
    (chart,) = charts_of(loaded, points)
    assert best(chart) == ["a/host (host)", "a (best of 2)"]
    assert best(chart, "graph") == []


def test_points_that_lack_their_huge_pages_are_not_best(loaded: Loaded) -> None:
    small = {"pages": {"bytes": 4 << 20, "huge_bytes": 0}}
    points = [
        *(point("a/x", n, 9.0, params={"pages": "small"}) for n in SIZES),
        *(point("a/x", n, 1.0, params={"pages": "huge"}, **small) for n in SIZES),
    ]
    assert best(charts_of(loaded, points)[0]) == ["a/x pages=small"]


@pytest.mark.parametrize(
    ("varying", "axes"),
    [
        ({"n": SIZES}, ["n"]),
        ({"n": SIZES[:1]}, ["n"]),
        ({"n": SIZES[:2], "buckets": (16, 256)}, ["n", "n", "buckets", "buckets"]),
        ({"n": SIZES[:1], "F": ("1", "2.5")}, ["params.F"]),
        ({"n": SIZES[:2], "F": ("1", "auto")}, ["n"]),
    ],
)
def test_the_axes_are_those_along_which_points_vary(
    loaded: Loaded, varying: dict[str, Any], axes: list[str]
) -> None:
    keyed = {"operation": "multireduce", "labels": {"name": "uniform"}}
    points = [
        point("a/x", n, params={"F": f} if f else {}, **(keyed | {"buckets": m} if m else {}))
        for n in varying["n"]
        for m in varying.get("buckets", [None])
        for f in varying.get("F", [None])
    ]
    made = charts_of(loaded, points)
    assert [chart.x for chart in made] == axes
    assert all((chart.n is None) == (chart.x == "n") for chart in made)


def test_the_ceiling_is_of_the_variant_that_moves_least(loaded: Loaded) -> None:
    n = 1 << 20
    points = [
        point("a/x", n, 2000.0, ceiling_share=0.5, bytes=9 * n, bytes_read=8 * n),
        point("a/y", n, 1250.0, ceiling_share=0.8, bytes=5 * n, bytes_read=4 * n),
    ]
    (chart,) = charts_of(loaded, points)
    stream_ns = 1000.0
    assert chart.ceiling == {
        "x": [n],
        "gb_per_s": [4 * n / stream_ns],
        "ns_per_item": [pytest.approx(stream_ns / n)],
        "median_ns": [stream_ns],
        "ceiling_share": [1.0],
    }


def test_a_family_is_shown_by_its_fastest_right_variant_at_each_size(loaded: Loaded) -> None:
    points = [
        *(point("a/few", n, 1.0) for n in SIZES[:2]),
        *(point("a/every", n, 99.0) for n in SIZES),
        *(known_wrong("a/wrong", n, 0.1) for n in SIZES),
    ]
    (chart,) = charts_of(loaded, points)
    (shown,) = chart.best["cold"]
    assert shown.points == [0, 1, 4]
    assert shown.label == "a (best of 2)"


def test_every_family_of_the_catalog_has_a_look_of_its_own() -> None:
    catalog = Path(__file__).parents[2] / "kernels" / "catalog.def"
    families = set(re.findall(r"^[A-Z]+\(([a-z0-9]+)_", catalog.read_text("utf-8"), re.M))
    assert families <= styles.FAMILIES.keys()
    assert len(set(styles.FAMILIES.values())) == len(styles.FAMILIES)


def test_families_of_one_operation_differ_in_hue_and_marker() -> None:
    kernels = Path(__file__).parents[2] / "kernels"
    by_operation: dict[str, list[str]] = {}
    for folder in sorted(kernels.glob("*/*")):
        if folder.is_dir() and folder.name in styles.FAMILIES:
            by_operation.setdefault(folder.parent.name, []).append(folder.name)
    assert by_operation["gather"] == ["cpu", "gpu", "he"]
    alike = [
        (operation, one, other)
        for operation, families in by_operation.items()
        for one, other in itertools.combinations(families, 2)
        for of_one, of_other in zip(styles.FAMILIES[one], styles.FAMILIES[other], strict=True)
        if of_one == of_other
    ]
    assert not alike


def test_a_family_looks_the_same_whatever_stands_beside_it() -> None:
    alone = styles.of_lines(["eilers"])
    for others in (["onepass"], ["cub", "cpu"], ["made-up"]):
        looks = styles.of_lines([*others, "eilers"])
        assert looks[-1:] == alone
        assert len({each.colour // styles.SHADES for each in looks}) == len(looks)
    variants = styles.of_lines(["eilers"] * 20)
    assert len({each.colour // styles.SHADES for each in variants}) == 1
    assert len({(each.marker, each.dashes) for each in variants}) == 20


def test_an_outcome_is_no_marker_of_a_line() -> None:
    every = [*styles.OUTCOMES.values(), styles.OTHER_OUTCOME, *styles.MARKERS]
    for name in ("matplotlib", "plotly", "glyph"):
        assert len({getattr(each, name) for each in every}) == len(every), name
