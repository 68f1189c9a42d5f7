"""Fits t0 + bytes / B to the times of each variant: what a call costs, and what a byte does.

The bytes are those that the variant declares to move. The fit is that of least squares of relative
errors, because times span six decades. Neither part can be negative.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reduce_bench_report.identity import PointIdentity
from reduce_bench_report.loader import Point

LEAST_SIZES = 6


@dataclass(frozen=True)
class Fit:
    """`residual` is the root mean square of (fitted - measured) / measured."""

    points: Sequence[Point]  # by size
    start_ns: float
    gb_per_s: float | None  # None where time does not grow with the bytes
    residual: float

    @property
    def largest(self) -> Point:
        return self.points[-1]


def fit_all(points: Iterable[Point]) -> list[Fit]:
    """A fit for each series of points that differ by nothing but n and have times at six sizes or
    more, in the order of the variants' names."""
    series: dict[tuple[object, ...], dict[int, Point]] = {}
    for point in points:
        if point.ranked and point.bytes:
            series.setdefault(_series_of(point), {})[point.n] = point
    fitted = [
        _fit([by_size[n] for n in sorted(by_size)])
        for by_size in series.values()
        if len(by_size) >= LEAST_SIZES
    ]
    return sorted(fitted, key=lambda fit: (fit.largest.operation, fit.largest.order))


def _series_of(point: PointIdentity) -> tuple[object, ...]:
    return (
        point.variant, point.params, point.operation, point.backend, point.buckets, point.type,
        point.op, point.distribution, point.labels, point.mode,
    )  # fmt: skip


def _fit(points: Sequence[Point]) -> Fit:
    sizes = [float(point.bytes or 0) for point in points]
    times = [point.time_ns() for point in points]
    start, slope = _least_squares(sizes, times)
    errors = [(start + slope * size - time) / time for size, time in zip(sizes, times, strict=True)]
    residual = math.sqrt(sum(error * error for error in errors) / len(errors))
    return Fit(points, start, 1 / slope if slope > 0 else None, residual)


def _least_squares(sizes: Sequence[float], times: Sequence[float]) -> tuple[float, float]:
    """The start and the slope that make the sum of ((start + slope * size) / time - 1)^2 least."""
    ones = [1 / time for time in times]
    rates = [size / time for size, time in zip(sizes, times, strict=True)]
    aa = sum(each * each for each in ones)
    ab = sum(one * rate for one, rate in zip(ones, rates, strict=True))
    bb = sum(each * each for each in rates)
    determinant = aa * bb - ab * ab
    if determinant > 0:
        start = (bb * sum(ones) - ab * sum(rates)) / determinant
        slope = (aa * sum(rates) - ab * sum(ones)) / determinant
        if start >= 0 and slope >= 0:
            return start, slope
    if sum(rates) / bb * sum(rates) >= sum(ones) / aa * sum(ones):  # the better of either alone
        return 0.0, sum(rates) / bb
    return sum(ones) / aa, 0.0
