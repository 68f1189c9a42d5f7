"""Which points of the runs a command keeps."""

from collections.abc import Sequence

from reduce_bench_report.loader import InputError, Point

FILTER_KEYS = (
    "backend", "type", "op", "operation", "buckets", "labels", "distribution", "mode",
)  # fmt: skip


def filter_points(runs: Sequence[Sequence[Point]], conditions: Sequence[str]) -> list[list[Point]]:
    """The points of each run that meet every `key=value[,value]` condition.

    `InputError` where a condition is no such thing, or no point of any run meets it.
    """
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
