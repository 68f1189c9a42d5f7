"""Which variant is recommended, on made-up results."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_up
import pytest
from made_up import point, unmeasured
from reduce_bench_report.loader import Results
from reduce_bench_report.points import Measured
from reduce_bench_report.recommend import (
    HIGHEST_SHARE,
    Recommendation,
    excess,
    recommendations,
    tie,
)

Loaded = Callable[..., Results]
KEYED: Any = {"operation": "multireduce", "labels": {"name": "uniform"}}


def keyed(variant: str, buckets: int, time_ns: float, **changes: Any) -> made_up.Json:
    return point(variant, 1 << 20, time_ns, buckets=buckets, **KEYED | changes)


def refused(variant: str, buckets: int, **changes: Any) -> made_up.Json:
    return unmeasured(
        variant, 1 << 20, "skipped", "too many buckets", buckets=buckets, **KEYED | changes
    )


def made(run: Results) -> dict[int, Recommendation]:
    """Those of the only problem, by buckets, or by n where there are none."""
    (found,) = recommendations(Measured(each, run) for each in run.points).values()
    return {each.size.buckets or each.size.n: each for each in found}


def test_what_lies_between_runs_makes_a_tie_of_two_runs_alone(loaded: Loaded) -> None:
    one = loaded([keyed("a/x", 16, 100.0), keyed("b/x", 16, 104.0)])
    other = loaded([keyed("c/x", 16, 104.0)])
    a, b, c = (
        Measured(each, run, between_runs=0.05) for run in (one, other) for each in run.points
    )
    assert not tie(a, b)
    assert tie(a, c)


def absent(each: Recommendation) -> list[str]:
    return [missing.variant for missing in each.absent]


def test_fastest_of_a_size_where_all_were_measured(loaded: Loaded) -> None:
    run = loaded([keyed("a/x", 16, 10.0), keyed("cub/y", 16, 20.0), keyed("b/z", 16, 15.0)])
    at = made(run)[16]
    assert [each.point.variant for each in at.ranked] == ["a/x", "b/z", "cub/y"]
    assert at.runner_up is at.ranked[1]
    assert at.library is at.ranked[2]
    assert absent(at) == []
    assert not at.is_tie


def test_points_on_several_devices_are_not_recommended(loaded: Loaded) -> None:
    several = point("peers/reduce", 1 << 20, 5.0, params={"devices": "2"})
    one = point("peers/reduce", 1 << 20, 11.0, params={"devices": "1"})
    at = made(loaded([point("onepass/reduce", 1 << 20, 10.0), several, one]))[1 << 20]
    assert [each.point.time_ns() for each in at.ranked] == [10.0, 11.0]


def test_library_contends_by_the_variants_that_it_launches(loaded: Loaded) -> None:
    ours = [keyed("onepass/x", buckets, 10.0) for buckets in (16, 256)]
    calls = [keyed("library/x", 16, 5.0), keyed("library/x", 1024, 5.0)]
    found = made(loaded([*ours, *calls]))
    assert [each.point.variant for each in found[16].ranked] == ["onepass/x"]
    assert absent(found[256]) == []
    assert 1024 not in found


def test_variant_that_wins_around_a_size_is_absent_there(loaded: Loaded) -> None:
    run = loaded(
        [
            *(keyed("fast/x", buckets, 10.0) for buckets in (256, 1024)),
            *(keyed("middling/x", buckets, 20.0) for buckets in (256, 1024)),
            *(keyed("slow/x", buckets, 30.0) for buckets in (4, 256, 512, 1024)),
        ]
    )
    found = made(run)
    assert absent(found[512]) == ["fast/x"]  # middling/x would not win
    assert found[512].absent[0].nearest.point.buckets == 256
    assert absent(found[4]) == ["fast/x"]  # to one side alone
    assert absent(found[256]) == []


def test_variant_that_refused_a_size_is_no_contender_beyond(loaded: Loaded) -> None:
    points = [
        *(keyed("fast/x", buckets, 10.0) for buckets in (16, 256)),
        *(keyed("slow/x", buckets, 30.0) for buckets in (16, 256, 4096, 1 << 20)),
    ]
    assert absent(made(loaded(points))[4096]) == ["fast/x"]
    found = made(loaded([*points, refused("fast/x", 4096)]))
    assert absent(found[4096]) == []
    assert absent(found[1 << 20]) == []


def test_refusal_holds_for_elements_as_wide(loaded: Loaded) -> None:
    points = [
        keyed("fast/x", 16, 10.0, type="f32"),
        *(keyed("slow/x", buckets, 30.0, type="f32") for buckets in (16, 4096)),
    ]
    for type_, expected in (("i32", []), ("f64", ["fast/x"])):
        run = loaded([*points, refused("fast/x", 4096, type=type_)])
        found = recommendations(Measured(each, run) for each in run.points)
        (f32,) = (each for problem, each in found.items() if problem.type == "f32")
        assert absent(f32[1]) == expected


def test_variant_that_loses_where_it_was_measured_is_no_contender(loaded: Loaded) -> None:
    """At 2^15 the winner is faster than what wins at 2^16, which it refuses."""
    run = loaded(
        [
            keyed("few/x", 1 << 15, 20.0), refused("few/x", 1 << 16),
            keyed("many/x", 1 << 16, 35.0),
            *(keyed("cub/x", buckets, 90.0) for buckets in (1 << 15, 1 << 16)),
        ]
    )  # fmt: skip
    assert [absent(each) for each in made(run).values()] == [[], []]


def test_neighbours_along_n(loaded: Loaded) -> None:
    points = [
        *(point("fast/x", n, n / 8) for n in (1 << 10, 1 << 20)),
        *(point("slow/x", n, n / 4) for n in (1 << 10, 1 << 15, 1 << 20)),
    ]
    found = made(loaded(points))
    assert [absent(each) for each in found.values()] == [[], ["fast/x"], []]


@pytest.mark.parametrize(
    ("other_ns", "tie"), [(100.0, True), (101.0, True), (101.9, True), (103.0, False)]
)
def test_tie_where_intervals_overlap(loaded: Loaded, other_ns: float, tie: bool) -> None:
    run = loaded([point("a/x", 1024, 100.0), point("b/x", 1024, other_ns)])  # each within 1 %
    assert made(run)[1024].is_tie == tie


def test_tie_within_the_noise_of_the_backend(loaded: Loaded) -> None:
    run = loaded([point("a/x", 1024, 100.0), point("b/x", 1024, 105.0)])
    (pair,) = run.document["noise_floor"]["aa"]
    assert not made(run)[1024].is_tie
    pair["ratio"] = 0.94
    assert made(run)[1024].is_tie
    pair["backend"] = "cpu"
    assert not made(run)[1024].is_tie


def test_size_without_a_verified_time(loaded: Loaded) -> None:
    run = loaded([unmeasured("a/x", 64, "failed", "crashed"), point("a/x", 128)])
    assert made(run)[64].fastest is None
    assert not made(run)[64].is_tie


@pytest.mark.parametrize(("share", "factor"), [(None, None), (1.05, None), (2.47, 2.47)])
def test_excess_over_the_ceiling(share: float | None, factor: float | None) -> None:
    assert excess(share) == factor


@pytest.mark.parametrize(
    ("path", "stated"),
    [
        ("apps/reduce-bench/results/table.cpp", r"kHighestShare = (1\.\d+);"),
        ("README.md", r"`!` marks more than (\d+) %"),
        ("docs/reproduce.md", r"share above (\d+) % is marked"),
    ],
)
def test_tables_report_and_pages_mark_the_same_shares(path: str, stated: str) -> None:
    text = (Path(__file__).parents[2] / path).read_text(encoding="utf-8")
    (number,) = re.findall(stated, text)
    share = float(number) if "." in number else float(number) / 100
    assert share == HIGHEST_SHARE
