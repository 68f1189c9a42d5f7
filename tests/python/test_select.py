"""Which points a command keeps."""

import pytest
from conftest import Loaded
from made_up import point
from reduce_bench_report.loader import InputError
from reduce_bench_report.select import filter_points


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
