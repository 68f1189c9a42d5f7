"""Figures over n: bandwidth, share of the measured ceiling, and time.

A line goes through medians of verified points alone and breaks where one is missing; such a point
is a cross on the bottom edge and is listed in the caption. Whiskers span the 25th to the 75th
percentile.
"""

import io
import math
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, PercentFormatter

from reduce_bench_report.loader import ELEMENT_BYTES, InputError, Point, Results
from reduce_bench_report.select import Panel, size_text

FORMATS = ("svg", "png", "pdf")
DATES = {"svg": "Date", "pdf": "CreationDate"}  # left out, so that files can be compared

# Okabe and Ito's palette without yellow, which is too faint on white. The cycle lengths are
# coprime, so that families that share a colour differ in marker and line style.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")
LINE_STYLES = ("-", "--", "-.", ":")

PANEL_WIDTH_IN = 6.4
PANEL_HEIGHT_IN = 4.6
CAPTION_POINTS = 7

# (low, middle, high) of a ranked point, in the unit of the axis; None where it has no such value
Interval = tuple[float, float, float]


def _time_interval(point: Point) -> Interval:
    return point.time_ns("p25_ns"), point.time_ns(), point.time_ns("p75_ns")


def _inverse_time_interval(point: Point, middle: float | None) -> Interval | None:
    if middle is None:
        return None
    low, median, high = _time_interval(point)
    return middle * median / high, middle, middle * median / low


def _gb_per_s(point: Point) -> Interval | None:
    return _inverse_time_interval(point, point.gb_per_s)


def _share(point: Point) -> Interval | None:
    return _inverse_time_interval(point, point.ceiling_share)


@dataclass(frozen=True)
class FigureKind:
    title: str
    y_label: str
    interval: Callable[[Point], Interval | None]
    draw_limits: Callable[[Axes, Panel, Results], None]


def _draw_bandwidth_limits(axes: Axes, panel: Panel, results: Results) -> None:
    ceiling = read_ceiling(results, panel.backend)
    sizes = [byte_count / ELEMENT_BYTES[panel.type] for byte_count, _ in ceiling]
    style: dict[str, Any] = {"color": "0.65", "linewidth": 4, "solid_capstyle": "butt", "zorder": 1}
    if len(ceiling) == 1:
        axes.axhline(ceiling[0][1], label="read ceiling", **style)
    elif ceiling:
        axes.plot(sizes, [value for _, value in ceiling], label="read ceiling", **style)
    gpu = results.environment["gpu"]
    if panel.backend == "cuda" and gpu and gpu["peak_gb_per_s"]:
        axes.axhline(
            gpu["peak_gb_per_s"], color="0.4", linestyle=(0, (1, 3)), label="datasheet peak"
        )
    axes.set_ylim(bottom=0)


def _draw_share_limit(axes: Axes, panel: Panel, results: Results) -> None:
    axes.axhline(1, color="0.65", linewidth=4, zorder=1, label="read ceiling at this size")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))


def _draw_time_limit(axes: Axes, panel: Panel, results: Results) -> None:
    launch_ns = results.document["ceilings"].get(panel.backend, {}).get("empty_launch_ns")
    if launch_ns:
        axes.axhline(launch_ns, color="0.65", linewidth=4, zorder=1, label="empty launch")
    axes.set_yscale("log")


FIGURES = {
    "reduce-gbs": FigureKind("Bandwidth", "GB/s", _gb_per_s, _draw_bandwidth_limits),
    "reduce-share": FigureKind(
        "Share of the measured read ceiling", "share of ceiling", _share, _draw_share_limit
    ),
    "reduce-time": FigureKind("Time", "median time, ns", _time_interval, _draw_time_limit),
}


def read_ceiling(results: Results, backend: str) -> list[tuple[int, float]]:
    """(bytes, GB/s) of the best shape at each size, by ascending size."""
    best: dict[int, float] = {}
    for entry in results.document["ceilings"].get(backend, {}).get("read", []):
        best[entry["bytes"]] = max(best.get(entry["bytes"], 0.0), entry["gb_per_s"])
    return sorted(best.items())


def draw(name: str, panels: Sequence[Panel], results: Results, redraw_command: str) -> Figure:
    """The figure `name` (a key of FIGURES) with one subplot for each panel."""
    kind = FIGURES[name]
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    width_in = PANEL_WIDTH_IN * columns
    figure = Figure(figsize=(width_in, PANEL_HEIGHT_IN * rows + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    # over all points, so that a family looks the same whatever part of the results is drawn
    families = sorted({point.family for point in results.points})
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, kind, panel, results, families)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    figure.suptitle(f"{kind.title} against input size, by family", fontsize=11)
    figure.supxlabel(
        _caption(panels, results, redraw_command, width_in),
        x=0.01,
        ha="left",
        fontsize=CAPTION_POINTS,
        parse_math=False,
    )
    fix_layout(figure)
    return figure


def fix_layout(figure: Figure) -> None:
    """Lays the figure out now, once for all formats."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _draw_panel(
    axes: Axes, kind: FigureKind, panel: Panel, results: Results, families: Sequence[str]
) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=12))
    crosses: dict[int, int] = {}  # crosses already at this n, stacked to stay apart
    same_family: dict[str, int] = {}
    for line in panel.shown:
        index = families.index(line.family)
        # a second line of one family keeps the colour and changes the rest
        shift = same_family.get(line.family, 0)
        same_family[line.family] = shift + 1
        colour = COLOURS[index % len(COLOURS)]
        marker = MARKERS[(index + 5 * shift) % len(MARKERS)]
        points = [point for point in line.points if point.n > 0]  # 0 is not on a log axis
        intervals = [kind.interval(point) if point.ranked else None for point in points]
        low, middle, high = (
            np.array(
                [interval or (math.nan, math.nan, math.nan) for interval in intervals], dtype=float
            )
            .reshape(-1, 3)
            .T
        )
        axes.errorbar(
            [point.n for point in points],
            middle,
            yerr=(middle - low, high - middle),
            label=line.label,
            color=colour,
            marker=marker,
            linestyle=LINE_STYLES[(index + shift) % len(LINE_STYLES)],
            markersize=4.5,
            linewidth=1.3,
            elinewidth=0.8,
            capsize=2,
        )
        for point in points:
            if not point.ranked:
                height = 0.02 + 0.03 * crosses.get(point.n, 0)
                crosses[point.n] = crosses.get(point.n, 0) + 1
                axes.plot(
                    [point.n],
                    [height],
                    transform=axes.get_xaxis_transform(),
                    color=colour,
                    marker="x",
                    markersize=5,
                    linestyle="",
                    clip_on=False,
                    gid="no-result",
                )
    sizes = [n for n in panel.sizes if n > 0]
    if sizes:
        axes.set_xlim(min(sizes) / 1.5, max(sizes) * 1.5)
    kind.draw_limits(axes, panel, results)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel("n, elements")
    axes.set_ylabel(kind.y_label)
    axes.grid(True, color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=3,
        fontsize=7.5,
        frameon=False,
        handlelength=3.5,
    )


def unranked_notes(panel: Panel) -> list[str]:
    """One clause for each line and reason that left crosses, and for each family left out."""
    sizes: dict[tuple[str, str, str], list[str]] = {}
    for line, point in panel.unranked:
        key = (line.label, point.outcome, point.reason or "")
        sizes.setdefault(key, []).append(size_text(point.n))
    notes = [
        f"{label} at n = {', '.join(at)}: {outcome}" + (f" ({reason})" if reason else "")
        for (label, outcome, reason), at in sizes.items()
    ]
    for family in panel.families_without_time:
        outcomes = {
            point.outcome for line in panel.lines if line.family == family for point in line.points
        }
        notes.append(f"{family}: no line, every point is {' or '.join(sorted(outcomes))}")
    return notes


def _caption(
    panels: Sequence[Panel], results: Results, redraw_command: str, width_in: float
) -> str:
    paragraphs = [
        "Medians; whiskers: 25th to 75th percentile."
        + (" Crosses: no verified time." if any(panel.unranked for panel in panels) else "")
        + (
            " (host): timed until the result is on the host."
            if any(line.label.endswith("(host)") for panel in panels for line in panel.shown)
            else ""
        )
    ]
    panels_with: dict[str, list[str]] = {}
    for panel in panels:
        for note in unranked_notes(panel):
            panels_with.setdefault(note, []).append(panel.title)
    for note, titles in panels_with.items():
        where = "" if len(titles) == len(panels) else f" [{'; '.join(titles)}]"
        paragraphs.append(note + where + ".")
    paragraphs.append(results.provenance)
    paragraphs.append(redraw_command)
    characters = int(width_in * 72 / (0.54 * CAPTION_POINTS))
    return "\n".join(textwrap.fill(paragraph, characters) for paragraph in paragraphs)


def save(
    figure: Figure, target: Path | BinaryIO, extension: str, about: str = "", dpi: int = 150
) -> None:
    """Writes the figure with `about` in its metadata; the same input gives the same bytes."""
    metadata: dict[str, str | None] = {}
    if about:
        metadata["Subject" if extension == "pdf" else "Description"] = about
    if extension in DATES:
        metadata[DATES[extension]] = None
    with matplotlib.rc_context({"svg.hashsalt": "reduce-bench", "pdf.fonttype": 42}):
        figure.savefig(target, format=extension, dpi=dpi, metadata=metadata)


def svg_element(figure: Figure) -> str:
    """The figure as an SVG element to stand in an HTML page."""
    buffer = io.BytesIO()
    save(figure, buffer, "svg")
    text = buffer.getvalue().decode()
    return text[text.index("<svg") :]


def save_all(
    panels: Sequence[Panel],
    results: Results,
    folder: Path,
    formats: Sequence[str],
    redraw_command: str,
    names: Iterable[str] = FIGURES,
) -> list[Path]:
    """Writes the figures in every format and returns the paths."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return in_parallel(
            _save_sweep,
            [(name, panels, results, folder, formats, redraw_command) for name in names],
        )
    except OSError as error:
        raise InputError(
            f"cannot write figures to '{folder}': {error.strerror}; give a folder that can be "
            "written with -o"
        ) from error


def _save_sweep(
    name: str,
    panels: Sequence[Panel],
    results: Results,
    folder: Path,
    formats: Sequence[str],
    redraw_command: str,
) -> list[Path]:
    figure = draw(name, panels, results, redraw_command)
    written = [folder / f"{name}.{extension}" for extension in formats]
    for path, extension in zip(written, formats, strict=True):
        save(figure, path, extension)
    return written


def in_parallel(
    save_one: Callable[..., list[Path]], arguments: Sequence[tuple[Any, ...]]
) -> list[Path]:
    """Everything that the calls write, in order; drawing takes a second a figure."""
    if len(arguments) < 2:
        return [path for each in arguments for path in save_one(*each)]
    with ProcessPoolExecutor(min(len(arguments), os.cpu_count() or 1)) as pool:
        running = [pool.submit(save_one, *each) for each in arguments]
        return [path for each in running for path in each.result()]
