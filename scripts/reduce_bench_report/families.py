"""Families of variants: how one is named, and which points stand for it where it has one line."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from reduce_bench_report.loader import Point

Timed = TypeVar("Timed")
CPU_FAMILY = "cpu"  # its variants are the baselines of others


def finish(points: Iterable[Point]) -> list[str]:
    """The mark of points that are timed until the result is on the host, where any of them is."""
    return ["(host)"] if any(point.finish == "host" for point in points) else []


def own_name(point: Point) -> str:
    """The family; of the CPU the variant."""
    return point.variant if point.family == CPU_FAMILY else point.family


def contender(point: Point) -> str:
    """What has a line of its own: one that finishes on the host is no rival of another."""
    return " ".join([own_name(point), *finish([point])])


def fastest_at_the_largest(
    timed: Iterable[Timed], x: Callable[[Timed], float], time_ns: Callable[[Timed], float]
) -> Timed:
    """Of a family's timed points the one whose variant and parameters stand for it at every x.

    A run measures some variants at few sizes: the fastest at each x would jump between variants.
    """
    return min(timed, key=lambda each: (-x(each), time_ns(each)))
