"""Which points stand for a family where each has one line alone."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from reduce_bench_report.loader import Point

Timed = TypeVar("Timed")


def contender(point: Point) -> str:
    """The family; one that finishes on the host is no rival of one that does not."""
    return " ".join([point.family, *(["(host)"] if point.finish == "host" else [])])


def fastest_at_the_largest(
    timed: Iterable[Timed], x: Callable[[Timed], float], time_ns: Callable[[Timed], float]
) -> Timed:
    """Of a family's timed points the one whose variant and parameters stand for it at every x.

    A run measures some variants at few sizes: the fastest at each x would jump between variants.
    """
    return min(timed, key=lambda each: (-x(each), time_ns(each)))
