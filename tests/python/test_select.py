"""Which points are kept, and how sizes and times are written."""

import pytest
from conftest import Loaded
from made_up import point
from reduce_bench_report.loader import InputError
from reduce_bench_report.select import filter_points, size_text, time_text


def test_filter(loaded: Loaded) -> None:
    results = loaded([point("a/x", 8), point("a/x", 8, type="f32"), point("a/x", 8, op="min")])
    other = loaded([point("a/x", 8, type="f64")])
    kept, none = filter_points([results.points, other.points], ["type=i32", "op=min,max"])
    assert [(each.type, each.op) for each in kept] == [("i32", "min")]
    assert none == []


@pytest.mark.parametrize("condition", ["type", "colour=red", "type=f64", "buckets=4"])
def test_filter_that_cannot_be_met(loaded: Loaded, condition: str) -> None:
    results = loaded([point("a/x", 8)])
    with pytest.raises(InputError, match=condition):
        filter_points([results.points], [condition])


def test_texts() -> None:
    assert [size_text(n) for n in (0, 8, 1024, 1025, 1 << 30)] == [
        "0", "8", "2^10", "1,025", "2^30",
    ]  # fmt: skip
    assert [time_text(t) for t in (12.5, 2500, 3.2e6, 1.5e9)] == [
        "12.5 ns", "2.5 µs", "3.2 ms", "1.5 s",
    ]  # fmt: skip
