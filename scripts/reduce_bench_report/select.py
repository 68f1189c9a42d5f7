"""Which points are kept, and how sizes and times are written."""

from collections.abc import Sequence

from reduce_bench_report.loader import InputError, Point

# multiples of the unit that the records' times have, the largest first
TIME_SCALES = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0}
FILTER_KEYS = (
    "backend", "type", "op", "operation", "buckets", "labels", "distribution", "mode",
)  # fmt: skip


def filter_points(runs: Sequence[Sequence[Point]], conditions: Sequence[str]) -> list[list[Point]]:
    """Of each run, the points that meet every `key=value[,value]` condition."""
    kept = [list(points) for points in runs]
    for condition in conditions:
        key, separator, values = condition.partition("=")
        if not separator or key not in FILTER_KEYS:
            raise InputError(
                f"condition '{condition}' is not KEY=VALUE[,VALUE] with KEY one of "
                f"{', '.join(FILTER_KEYS)}; give one such as type=i32,f32"
            )
        present = sorted({point.axis_text(key) or "none" for points in kept for point in points})
        wanted = values.split(",")
        kept = [[p for p in points if (p.axis_text(key) or "none") in wanted] for points in kept]
        if not any(kept):
            raise InputError(
                f"no point has {condition}; the results have {key} {', '.join(present) or 'none'}"
            )
    return kept


def size_text(n: int) -> str:
    """`2^20` for powers of two from 2^10, else digits in groups."""
    if n >= 1024 and n & (n - 1) == 0:
        return f"2^{n.bit_length() - 1}"
    return f"{n:,}"


def time_text(time_ns: float) -> str:
    fitting = (unit for unit, scale in TIME_SCALES.items() if time_ns >= scale)
    unit = next(fitting, "ns")
    return f"{time_ns / TIME_SCALES[unit]:.4g} {unit}"
