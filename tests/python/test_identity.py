"""What pairs points of different runs, how it is written and in what order."""

import dataclasses

from conftest import Loaded
from made_up import point
from reduce_bench_report.identity import PointIdentity


def test_points_pair_whatever_was_measured_of_them(loaded: Loaded) -> None:
    (one,) = loaded([point("a/x", 8, 100.0)]).points
    (other,) = loaded([point("a/x", 8, 900.0, finish="host")]).points
    assert one.identity == other.identity
    assert len({one.identity, other.identity}) == 1


def test_every_member_tells_points_apart(loaded: Loaded) -> None:
    (one,) = loaded([point("a/x", 8)]).points
    for each in dataclasses.fields(PointIdentity):
        assert dataclasses.replace(one, **{each.name: "other"}).identity != one.identity


def test_order_and_texts(loaded: Loaded) -> None:
    given = [
        point("a/10", 8),
        point("a/9", 1 << 20, params={"block": "1024"}),
        point(
            "a/9",
            16,
            params={"block": "128"},
            operation="multireduce",
            buckets=1024,
            labels={"name": "uniform"},
        ),
        point("a/9", 8, params={"block": "128"}),
        point("a/11", 8, operation="multireduce", buckets=1, labels={"name": "uniform"}),
    ]
    ordered = sorted((each.identity for each in loaded(given).points), key=lambda each: each.order)
    assert [f"{each.form}, {each.size}" for each in ordered] == [
        "a/9 block=128, 8",
        "a/9 block=128, 16, 2^10 buckets",
        "a/9 block=1024, 2^20",
        "a/10, 8",
        "a/11, 8, 1 bucket",
    ]
