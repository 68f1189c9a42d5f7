"""Markdown tables of bandwidth, and the one that the README keeps between markers."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np

from reduce_bench_report.loader import InputError, Point, Results
from reduce_bench_report.select import Line, Panel, size_text

MARKERS = ("<!-- begin: reduce-table -->", "<!-- end: reduce-table -->")
DEFAULT_COLUMNS = 6


def markdown(
    panels: Sequence[Panel],
    results: Results,
    sizes: Sequence[int] | None = None,
) -> str:
    """One table for each panel: representatives by row, sizes by column, `GB/s (share)` cells."""
    parts = [_panel_table(panel, sizes or spread(panel.sizes)) for panel in panels]
    footer = (
        "Cells: GB/s by the median, with the share of the read ceiling measured at that size; bold "
        "is the shortest time of a column. One row for the best variant of each family, ordered by "
        "the last column; (host) marks those timed until the result is on the host.\n"
        f"From {results.provenance}."
    )
    return "\n\n".join([*parts, footer]) + "\n"


def spread(sizes: Sequence[int], count: int = DEFAULT_COLUMNS) -> list[int]:
    """At most `count` of the sizes, evenly spread, both ends included."""
    picks = np.linspace(0, len(sizes) - 1, min(count, len(sizes))).round().astype(int)
    return [sizes[index] for index in picks]


def _panel_table(panel: Panel, sizes: Sequence[int]) -> str:
    best = {n: min((_time_ns(line, n) for line in panel.shown), default=inf) for n in sizes}
    rows = sorted(panel.shown, key=lambda line: _time_ns(line, sizes[-1]))
    lines = [
        f"**{panel.title}**",
        "",
        "| variant | " + " | ".join(size_text(n) for n in sizes) + " |",
        "| --- |" + " ---: |" * len(sizes),
    ]
    lines += [
        f"| {line.label} | " + " | ".join(_cell(_at(line, n), best[n]) for n in sizes) + " |"
        for line in rows
    ]
    return "\n".join(lines)


def _at(line: Line, n: int) -> Point | None:
    return next((point for point in line.points if point.n == n), None)


def _time_ns(line: Line, n: int) -> float:
    """Not GB/s, which rise with the bytes that a variant moves beyond its input."""
    point = _at(line, n)
    return point.time_ns() if point is not None and point.ranked else inf


def _cell(point: Point | None, best_ns: float) -> str:
    if point is None:
        return "-"
    if not point.ranked:
        return point.outcome
    if point.gb_per_s is None:
        return "-"
    share = "" if point.ceiling_share is None else f" ({point.ceiling_share:.0%})"
    text = f"{point.gb_per_s:.4g}{share}"
    return f"**{text}**" if point.time_ns() == best_ns else text


def with_table(text: str, table: str, path: Path) -> str:
    """The README's text with the table between its markers."""
    begin, end = MARKERS
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise InputError(
            f"'{path}' does not have the line '{begin}' once and the line '{end}' once after it; "
            "add the two lines where the table belongs"
        )
    before = text[: text.index(begin)]
    after = text[text.index(end) :]
    return f"{before}{begin}\n{table}{after}"
