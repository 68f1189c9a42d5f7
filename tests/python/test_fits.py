"""Fits t0 + bytes / B to made-up times."""

from collections.abc import Callable, Sequence
from pathlib import Path

import made_up
import pytest
from made_up import known_wrong, point
from reduce_bench_report.fits import LEAST_SIZES, Fit, fit_all
from reduce_bench_report.loader import Results, load

SIZES = [2**bits for bits in range(10, 28, 2)]


@pytest.fixture
def fitted(tmp_path: Path) -> Callable[[Sequence[made_up.Json]], list[Fit]]:
    def fit(points: Sequence[made_up.Json]) -> list[Fit]:
        document = made_up.results(list(points))
        results: Results = load(made_up.write(document, tmp_path / "r.json"))
        return fit_all(results.points)

    return fit


def test_a_call_and_a_byte_are_told_apart(
    fitted: Callable[[Sequence[made_up.Json]], list[Fit]],
) -> None:
    (fit,) = fitted([point("a/x", n, 3000 + 4 * n / 4000) for n in SIZES])
    assert fit.start_ns == pytest.approx(3000)
    assert fit.gb_per_s == pytest.approx(4000)
    assert fit.residual == pytest.approx(0, abs=1e-9)
    assert fit.largest.n == SIZES[-1]


def test_errors_are_relative(fitted: Callable[[Sequence[made_up.Json]], list[Fit]]) -> None:
    """A tenth more at the largest size, and a tenth less at the smallest, weigh the same."""
    times = [3000 + 4 * n / 4000 for n in SIZES]
    times[0] *= 0.9
    times[-1] *= 1.1
    (fit,) = fitted([point("a/x", n, time) for n, time in zip(SIZES, times, strict=True)])
    assert fit.start_ns == pytest.approx(3000, rel=0.05)
    assert fit.gb_per_s == pytest.approx(4000, rel=0.1)
    assert 0.02 < fit.residual < 0.06


def test_neither_part_is_negative(fitted: Callable[[Sequence[made_up.Json]], list[Fit]]) -> None:
    (superlinear,) = fitted([point("a/x", n, 1e-4 * float(n) ** 1.3) for n in SIZES])
    assert superlinear.start_ns == 0
    assert superlinear.gb_per_s is not None
    (constant,) = fitted([point("a/x", n, 5000 - n / 1e6) for n in SIZES])
    assert constant.gb_per_s is None
    assert constant.start_ns == pytest.approx(5000, rel=0.02)


def test_it_takes_six_sizes_of_one_series_that_are_right(
    fitted: Callable[[Sequence[made_up.Json]], list[Fit]],
) -> None:
    few = SIZES[: LEAST_SIZES - 1]
    assert fitted([point("a/x", n) for n in few]) == []
    assert fitted([point("a/x", n) for n in few] + [known_wrong("a/x", SIZES[-1], 1000.0)]) == []
    assert fitted([point("a/x", n) for n in few] + [point("a/x", SIZES[-1], type="f32")]) == []
    both = [point(name, n, params={"block": "128"}) for name in ("b/y", "a/x") for n in SIZES]
    assert [fit.largest.variant for fit in fitted(both)] == ["a/x", "b/y"]
