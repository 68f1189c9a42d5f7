"""Which lines stand for a family, and which points share a panel."""

import pytest
from conftest import Loaded
from made_up import known_wrong, point, unmeasured
from reduce_bench_report.loader import InputError
from reduce_bench_report.select import Panel, filter_points, panels, size_text, time_text


def shown(panel: Panel) -> list[str]:
    return [line.label for line in panel.shown]


def test_representative_is_the_fastest_at_the_largest_size(loaded: Loaded) -> None:
    results = loaded(
        [
            point("harris/a", 1024, 10.0),
            point("harris/a", 4096, 50.0),
            point("harris/b", 1024, 20.0),
            point("harris/b", 4096, 40.0),
        ]
    )
    assert shown(panels(results.points)[0]) == ["harris/b"]


def test_wrong_and_known_wrong_never_represent(loaded: Loaded) -> None:
    results = loaded(
        [
            known_wrong("harris/racy", 4096, 1.0),
            point("harris/lucky", 4096, 1.0, known_wrong=True),
            unmeasured("harris/bad", 4096, "wrong", "differs"),
            point("harris/good", 4096, 40.0),
            known_wrong("racy/only", 4096, 1.0),
        ]
    )
    (panel,) = panels(results.points)
    assert shown(panel) == ["harris/good"]
    assert panel.families_without_time == ["racy"]


def test_a_line_that_reaches_further_represents(loaded: Loaded) -> None:
    results = loaded(
        [
            point("harris/small", 1024, 1.0),
            unmeasured("harris/small", 4096, "skipped", "too large"),
            point("harris/large", 4096, 99.0),
        ]
    )
    assert shown(panels(results.points)[0]) == ["harris/large"]


def test_given_representatives_replace_the_fastest(loaded: Loaded) -> None:
    points = [point("harris/a", 8, 10.0), point("harris/b", 8, 5.0), point("amp/c", 8, 5.0)]
    results = loaded([*points, point("harris/d", 8, 20.0)])
    (panel,) = panels(results.points, ["harris/d", "harris/a"])
    assert shown(panel) == ["amp/c", "harris/a", "harris/d"]


def test_cub_and_onepass_are_always_shown(loaded: Loaded) -> None:
    results = loaded(
        [
            point("cub/reduce", 8, 10.0),
            point("cub/faster", 8, 5.0),
            point("onepass/reduce", 8, 10.0),
            point("onepass/other", 8, 5.0),
        ]
    )
    assert shown(panels(results.points)[0]) == [
        "cub/faster", "cub/reduce", "onepass/other", "onepass/reduce",
    ]  # fmt: skip


def test_label_names_the_parameters_that_vary(loaded: Loaded) -> None:
    results = loaded(
        [
            point("a/x", 8, 10.0, params={"block": "128", "unroll": "2"}),
            point("a/x", 8, 5.0, params={"block": "256", "unroll": "2"}),
            point("b/y", 8, 5.0, params={"block": "256"}, finish="host"),
        ]
    )
    assert shown(panels(results.points)[0]) == ["a/x block=256", "b/y (host)"]


def test_only_comparable_points_share_a_panel(loaded: Loaded) -> None:
    results = loaded(
        [
            point("a/x", 8, type="f64"),
            point("a/x", 8, type="i32"),
            point("a/x", 8, op="min"),
            point("a/x", 8, distribution={"name": "cancelling", "condition": 1e6}),
            point("a/x", 8, backend="cpu"),
            point("a/x", 8, primary_mode="hot"),
        ]
    )
    assert [panel.title for panel in panels(results.points)] == [
        "i32 sum, uniform, cuda, cold",
        "f64 sum, uniform, cuda, cold",
        "i32 min, uniform, cuda, cold",
        "i32 sum, cancelling(condition=1e+06), cuda, cold",
        "i32 sum, uniform, cpu, cold",
        "i32 sum, uniform, cuda, hot",
    ]


def test_filter(loaded: Loaded) -> None:
    results = loaded([point("a/x", 8), point("a/x", 8, type="f32"), point("a/x", 8, op="min")])
    kept = filter_points(results.points, ["type=i32", "op=min,max"])
    assert [(each.type, each.op) for each in kept] == [("i32", "min")]


@pytest.mark.parametrize("condition", ["type", "colour=red", "type=f64"])
def test_filter_that_cannot_be_met(loaded: Loaded, condition: str) -> None:
    results = loaded([point("a/x", 8)])
    with pytest.raises(InputError, match=condition):
        filter_points(results.points, [condition])


def test_texts() -> None:
    assert [size_text(n) for n in (0, 8, 1024, 1025, 1 << 30)] == [
        "0", "8", "2^10", "1,025", "2^30",
    ]  # fmt: skip
    assert [time_text(t) for t in (12.5, 2500, 3.2e6, 1.5e9)] == [
        "12.5 ns", "2.5 µs", "3.2 ms", "1.5 s",
    ]  # fmt: skip
