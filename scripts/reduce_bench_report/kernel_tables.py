"""Tables of docs/kernels: times of one configuration's committed results, problem by problem."""

import dataclasses
from collections.abc import Mapping, Sequence

from reduce_bench_report.grids import markdown_rows
from reduce_bench_report.loader import Point, Results
from reduce_bench_report.texts import number_text, size_text

CONFIG = "keyed.json"  # what the results are named after
N = 1 << 26
LABELS = {
    "uniform": "uniform",
    "zipf": "Zipf",
    "sorted": "sorted",
    "runs": "runs of 64",
    "degenerate": "one for all",
}

# What a row or a column is of: the attributes of its points.
Facts = Mapping[str, object]


@dataclasses.dataclass(frozen=True)
class Table:
    """A cell is the time of the point that has the facts of its row and of its column."""

    headings: Sequence[str]  # of what tells rows apart
    rows: Sequence[tuple[Sequence[str], Facts]]
    columns: Sequence[tuple[str, Facts]]


def table_text(table: Table, runs: Sequence[Results]) -> str:
    """The table, in µs; a point that the results lack is a dash."""
    points = [point for run in runs if run.name == CONFIG for point in run.points]
    headings = [*table.headings, *(heading for heading, _ in table.columns)]
    rows = [
        [*texts, *(_cell(points, {**of_row, **of_column}) for _, of_column in table.columns)]
        for texts, of_row in table.rows
    ]
    return markdown_rows(headings, rows, range(len(table.headings)))


def _cell(points: Sequence[Point], facts: Facts) -> str:
    found = [point for point in points if _has(point, facts) and point.ranked]
    return number_text(found[0].time_ns() / 1000) if found else "-"


def _has(point: Point, facts: Facts) -> bool:
    own = {
        "variant": point.variant,
        "type": point.type,
        "buckets": point.buckets,
        "labels": point.labels.name if point.labels else None,
    }
    return (point.n, point.mode, str(point.distribution)) == (N, "cold", "uniform") and all(
        own[name] == fact for name, fact in facts.items()
    )


def _by_buckets(*bits: int) -> list[tuple[str, Facts]]:
    return [(f"m = {size_text(1 << each)}", {"buckets": 1 << each}) for each in bits]


SUMS = {"variant": "partition/multireduce", "type": "i32"}
COUNTS = {"variant": "partition/histogram", "type": "u32"}
SUM_VARIANTS = ("partition/multireduce", "atomic/global", "cub/sort-reduce-by-key")
COUNT_VARIANTS = ("atomic/histogram", "cub/histogram")

TABLES = {
    "partition-multireduce": Table(
        ["labels"],
        [([text], SUMS | {"labels": name}) for name, text in LABELS.items()],
        _by_buckets(16, 20, 22, 23, 24),
    ),
    "partition-multireduce-wide": Table(
        ["labels", "m"],
        [
            ([LABELS[labels], size_text(buckets)], {"labels": labels, "buckets": buckets})
            for labels in ("uniform", "zipf")
            for buckets in (1 << 20, 1 << 23)
        ],
        [
            (f"{variant}, {type_}", {"variant": variant, "type": type_})
            for variant in SUM_VARIANTS
            for type_ in ("i64", "f64")
        ],
    ),
    "partition-histogram": Table(
        ["labels"],
        [([text], COUNTS | {"labels": name}) for name, text in LABELS.items()],
        _by_buckets(16, 18, 20, 22, 24),
    ),
    "partition-histogram-others": Table(
        ["labels", "variant"],
        [
            ([text, variant], {"labels": name, "variant": variant, "type": "u32"})
            for name, text in LABELS.items()
            for variant in COUNT_VARIANTS
        ],
        _by_buckets(16, 18, 20, 22, 24),
    ),
}
# The pages of docs/kernels and the tables that each has.
PAGES = {
    "partition-multireduce": ("partition-multireduce", "partition-multireduce-wide"),
    "partition-histogram": ("partition-histogram", "partition-histogram-others"),
}
