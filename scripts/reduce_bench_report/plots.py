"""An experiment as a figure for a column of a paper: 3.4 inches wide, 7 with several panels.

A line joins the medians of verified points and breaks where one is missing. A point without a
verified time is a mark on the bottom edge, whose kind says why, beside its series' hollow marker.
The legend, and a subplot without any value, say what is missing. Whiskers span the 25th to the
75th percentile. Published values are drawn where the axis is a ratio, never as times. Predictions
of cache-sim have the colour and the hollow marker of the series that they predict.
"""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    NullFormatter,
    NullLocator,
    PercentFormatter,
)
from matplotlib.transforms import ScaledTranslation

from reduce_bench_report.evaluate import (
    Evaluation,
    Panel,
)
from reduce_bench_report.experiments import Experiment
from reduce_bench_report.figures import fix_layout
from reduce_bench_report.identity import x_text
from reduce_bench_report.measures import MEASURES, RATIOS, SIMULATED_MEASURE, heading
from reduce_bench_report.simulation import MODELS
from reduce_bench_report.styles import COLOURS, DASHES, MARKERS, NO_SERIES, cycled, outcome_marker

SINGLE_IN = 3.4
DOUBLE_IN = 7.0
AXES_HEIGHT_IN = 2.3
LINE_IN = 0.135  # of the title and the legend
FONT_POINTS = 7.0
TITLE_POINTS = 8.0
TITLE_PER_IN = 15.5  # characters of a title per inch
LEGEND_POINTS = 6.0
LEGEND_CHARACTER_IN = 0.041
HANDLE_IN = 0.42
TICK_CHARACTER_IN = 0.05
TICK_ROTATION = 40
MOST_TICKS = 9
CHARACTERS_SIDE_BY_SIDE = 40
FEW_DECADES = 100  # an axis whose largest over smallest value is below has labels within decades

SIMULATED_STYLES = {"sequential": "--", "pipelined": ":"}  # of simulation.MODELS

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Style = dict[str, Any]


def draw(evaluation: Evaluation) -> Figure:
    """One subplot for each measure and panel, one legend for all."""
    experiment = evaluation.experiment
    panels, measures = evaluation.panels, evaluation.measures
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns) * len(measures)
    width_in = DOUBLE_IN if columns == 2 else SINGLE_IN
    figure = Figure(layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    styles = _styles(panels)
    cells = [
        (measure, panel) if panel else None
        for measure in measures
        for panel in [*panels, *[None] * (-len(panels) % columns)]
    ]
    for axes, cell in zip(grid.flat, cells, strict=True):
        if cell:
            _draw_panel(axes, evaluation, cell[1], cell[0], styles)
        else:
            axes.set_axis_off()
    title = textwrap.wrap(f"{experiment.id}: {experiment.title}", int(width_in * TITLE_PER_IN))
    figure.suptitle("\n".join(title), fontsize=TITLE_POINTS)
    legend_lines = _legend(figure, width_in, evaluation.missing)
    lines = legend_lines + len(title)
    ticks_in = _rotated_ticks_in(panels)
    figure.set_size_inches(width_in, rows * (AXES_HEIGHT_IN + ticks_in) + LINE_IN * lines)
    fix_layout(figure)
    return figure


def _legend(figure: Figure, width_in: float, missing: Sequence[str]) -> int:
    """Below the subplots, in as many columns as fit; returns its lines."""
    said = f"Missing: {', '.join(missing)}" if missing else ""
    title = textwrap.wrap(said, int(width_in / LEGEND_CHARACTER_IN) - 4)
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    unmeasured = {
        str(line.get_label()).removeprefix("_")
        for axes in figure.axes
        for line in axes.lines
        if line.get_gid() == "no-result"
    }
    for outcome in sorted(unmeasured):
        handles[outcome] = Line2D(
            [],
            [],
            color="0.3",
            marker=outcome_marker(outcome).matplotlib,
            linestyle="",
            markersize=4,
        )
    longest = max(len(label) for label in handles)
    columns = max(1, int(width_in / (HANDLE_IN + longest * LEGEND_CHARACTER_IN)))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=columns,
        fontsize=LEGEND_POINTS,
        frameon=False,
        handlelength=3,
        columnspacing=1,
        labelspacing=0.3,
        title="\n".join(title) or None,
        title_fontsize=LEGEND_POINTS,
    )
    return math.ceil(len(handles) / columns) + len(title)


def _styles(panels: Sequence[Panel]) -> dict[str, Style]:
    """Matplotlib's words for the look of each series, by label: the same in every panel."""
    labels = dict.fromkeys(series.label for panel in panels for series in panel.series)
    dashed = not panels[0].experiment.simulated  # dashes then tell models from measurements
    looks = [cycled(index, dashed=dashed) for index in range(len(labels))]
    return {
        label: {
            "color": COLOURS[look.colour],
            "marker": MARKERS[look.marker].matplotlib,
            "linestyle": DASHES[look.dashes].matplotlib,
        }
        for label, look in zip(labels, looks, strict=True)
    }


def _draw_panel(
    axes: Axes, evaluation: Evaluation, panel: Panel, measure: str, styles: dict[str, Style]
) -> None:
    experiment = evaluation.experiment
    numeric = all(x.isdecimal() for x in panel.xs)
    places = {
        x: float(x) if numeric else float(index)
        for index, x in enumerate(panel.xs)
        if not (numeric and "x" in experiment.log and x == "0")  # not on a log axis
    }
    marks: dict[str, int] = {}  # of points without a time at this x, stacked to stay apart
    for index, series in enumerate(panel.series):
        style = styles[series.label]
        aside = 0.0 if numeric else _aside(index, len(panel.series))
        own = [x for x in places if series.outcome(x)]
        values = [panel.value(series, x, measure) or (math.nan,) * 3 for x in own]
        axes.errorbar(
            [places[x] + aside for x in own],
            [middle for _, middle, _ in values],
            yerr=(
                [middle - low for low, middle, _ in values],
                [high - middle for _, middle, high in values],
            ),
            label=series.label,
            **(style if numeric else style | {"linestyle": ""}),
            markersize=3,
            linewidth=0.9,
            elinewidth=0.6,
            capsize=1.5,
        )
        for x in own:
            if series.outcome(x) != "ok":
                height = 0.02 + 0.035 * marks.get(x, 0)
                marks[x] = marks.get(x, 0) + 1
                _draw_outcome(axes, places[x] + aside, height, series.outcome(x), style)
    if measure == SIMULATED_MEASURE:
        _draw_simulated(axes, panel, places, styles)
    if measure in RATIOS:
        _draw_published(axes, panel, measure, places, numeric, styles)
    if experiment.ranges and measure == experiment.ranges.measure:
        _draw_ranges(axes, evaluation)
    _draw_ceilings(axes, panel, measure, places, numeric)
    _scale(axes, evaluation, panel, measure, places, numeric)
    if not any(panel.value(series, x, measure) for series in panel.series for x in places):
        _say_why_empty(axes, panel, measure, places, numeric)
    axes.set_title(panel.title, fontsize=FONT_POINTS)
    axes.set_xlabel(experiment.x_label or _axis_label(experiment.x), fontsize=FONT_POINTS)
    axes.set_ylabel(_value_label(experiment, measure), fontsize=FONT_POINTS)
    axes.tick_params(width=0.6, length=2.5)
    axes.tick_params(which="both", labelsize=FONT_POINTS - 0.5)
    axes.grid(True, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


def _draw_outcome(axes: Axes, x: float, height: float, outcome: str, style: Style) -> None:
    at_the_edge = axes.get_xaxis_transform()
    beside = ScaledTranslation(5 / 72, 0, axes.figure.dpi_scale_trans)
    common = {"color": style["color"], "linestyle": "", "clip_on": False}
    axes.plot(
        [x],
        [height],
        transform=at_the_edge,
        marker=outcome_marker(outcome).matplotlib,
        markersize=3.5,
        gid="no-result",
        label=f"_{outcome}",  # for the legend, once for all series
        **common,
    )
    axes.plot(
        [x],
        [height],
        transform=at_the_edge + beside,
        marker=style["marker"],
        markerfacecolor="white",
        markersize=2.5,
        markeredgewidth=0.6,
        gid="no-result-of",
        **common,
    )


def _say_why_empty(
    axes: Axes, panel: Panel, measure: str, places: dict[str, float], numeric: bool
) -> None:
    """Puts the reason into the subplot and takes the numbers off its axes."""
    if not any(point.ranked for series in panel.series for point in series.points.values()):
        why = "no verified time"
    elif measure == "speed_up":
        why = f"no time of {' '.join(panel.experiment.base.values())}"
    else:
        why = "the results do not have it"
    axes.text(
        0.5,
        0.5,
        f"no {MEASURES[measure].title}:\n{why}",
        transform=axes.transAxes,
        ha="center",
        va="center",
        fontsize=FONT_POINTS,
    )
    if not any(each.get_gid() == "published" for each in axes.get_children()):
        axes.yaxis.set_major_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
    if numeric:
        low, high = min(places.values()), max(places.values())
        if axes.get_xscale() == "log":
            wider = max(1.5, (high / low) ** 0.05)
            axes.set_xlim(low / wider, high * wider)
        else:
            axes.set_xlim(low - 1, high + 1)


def _aside(index: int, count: int) -> float:
    """How far the series lies beside its category, in categories: they must not overlap."""
    return 0.0 if count == 1 else 0.7 * (index / (count - 1) - 0.5)


def _axis_label(key: str) -> str:
    return {"n": "n, elements", "buckets": "m, buckets", "labels": "labels"}.get(key, key)


def _value_label(experiment: Experiment, measure: str) -> str:
    over = f" over {' '.join(experiment.base.values())}" if measure == "speed_up" else ""
    return heading(experiment, measure) + over


def _draw_simulated(
    axes: Axes, panel: Panel, places: dict[str, float], styles: dict[str, Style]
) -> None:
    """Draws each model's line in the colour of its series; the legend has one entry per model."""
    models = [
        model for model in MODELS if any(model in series.simulated for series in panel.series)
    ]
    if models:
        axes.plot([], [], color="0.3", linewidth=0.9, label="measured")
    for model in models:
        for series in panel.series:
            values = series.simulated.get(model, {})
            axes.plot(
                [places[x] for x in places if series.outcome(x)],
                [values.get(x, math.nan) for x in places if series.outcome(x)],
                **styles[series.label] | {"linestyle": SIMULATED_STYLES[model]},
                markerfacecolor="white",
                markersize=2.5,
                markeredgewidth=0.6,
                linewidth=0.9,
                gid=f"simulated {model} {series.label}",
            )
        axes.plot(
            [],
            [],
            color="0.3",
            linestyle=SIMULATED_STYLES[model],
            linewidth=0.9,
            label=f"simulated, {MODELS[model]}",
        )


def _draw_published(
    axes: Axes,
    panel: Panel,
    measure: str,
    places: dict[str, float],
    numeric: bool,
    styles: dict[str, Style],
) -> None:
    """Hollow, with the marker of the series that measures the same."""
    for series in panel.published:
        measured = next((each for each in panel.series if series.is_of(each)), None)
        values = {x: panel.published_value(series, x, measure) for x in places}
        known = {x: value for x, value in values.items() if value is not None}
        if known and not panel.is_base(series):
            axes.plot(
                [places[x] for x in known],
                list(known.values()),
                label=series.label,
                color="0.45",
                marker=styles[measured.label]["marker"] if measured else NO_SERIES,
                markerfacecolor="white",
                linestyle=(0, (1, 1.5)) if numeric else "",
                markersize=3.5,
                linewidth=0.8,
                gid="published",
            )


def _draw_ranges(axes: Axes, evaluation: Evaluation) -> None:
    """Draws a ratio that the source states for all sizes together: a band, or a line."""
    assert evaluation.published is not None
    for name, (low, high) in evaluation.ranges.items():
        if low == high:
            axes.axhline(low, color="0.45", linestyle=":", linewidth=1, gid="published")
        else:
            axes.axhspan(low, high, color="0.9", zorder=0.5, gid="published")
        values = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        axes.text(  # here, as it would make the legend one wide column
            0.02,
            high,
            f"{name} {values}, published ({evaluation.published.hardware})",
            transform=axes.get_yaxis_transform(),
            va="bottom" if low == high else "top",
            fontsize=LEGEND_POINTS - 1,
            color="0.3",
        )


def _draw_ceilings(
    axes: Axes, panel: Panel, measure: str, places: dict[str, float], numeric: bool
) -> None:
    ceilings = panel.ceilings(measure)
    for backend, at in ceilings.items():
        label = "read ceiling" if len(ceilings) == 1 else f"read ceiling ({backend})"
        grey = "0.75" if backend == "cuda" else "0.85"
        if len(at) == 1:
            axes.axhline(next(iter(at.values())), color=grey, linewidth=3, zorder=1, label=label)
            continue
        axes.plot(
            [places[x] for x in at if x in places],
            [ceiling for x, ceiling in at.items() if x in places],
            label=label,
            color=grey,
            linewidth=3,
            # between categories there are no values, so it must not slope
            drawstyle="default" if numeric else "steps-mid",
            solid_capstyle="butt",
            zorder=1,
            gid="ceiling",
        )


def _scale(
    axes: Axes,
    evaluation: Evaluation,
    panel: Panel,
    measure: str,
    places: dict[str, float],
    numeric: bool,
) -> None:
    experiment = evaluation.experiment
    if numeric and "x" in experiment.log:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    if "y" in experiment.log and math.isfinite(axes.dataLim.minposy):  # without a value: linear
        axes.set_yscale("log")
        if axes.dataLim.y1 < FEW_DECADES * axes.dataLim.minposy:
            axes.yaxis.set_major_formatter(FuncFormatter(_one_two_five))
            axes.yaxis.set_minor_formatter(FuncFormatter(_one_two_five))
        else:
            axes.yaxis.set_major_formatter(FuncFormatter(_decade))
            axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    if measure.endswith("_share"):
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    as_powers = numeric and max(places.values()) >= 1024
    powers = [x for x in places if as_powers and int(x).bit_count() == 1]
    ticks = powers or list(places)
    shown = ticks[:: math.ceil(len(ticks) / MOST_TICKS) if numeric else 1]
    axes.xaxis.set_major_locator(FixedLocator([places[x] for x in shown]))
    names = {places[x]: _tick(experiment.x, x, as_powers) for x in shown}
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: names.get(place, "")))
    if not numeric:
        margin = 0.6
        axes.set_xlim(min(places.values()) - margin, max(places.values()) + margin)
        if _rotated_ticks_in([panel]):
            axes.tick_params(axis="x", labelrotation=TICK_ROTATION)
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("right")
                label.set_rotation_mode("anchor")


def _rotated_ticks_in(panels: Sequence[Panel]) -> float:
    """How much taller a subplot must be, in inches, for tick labels that do not fit in a row."""
    longest = max(len(x) for panel in panels for x in panel.xs)
    most = max(len(panel.xs) for panel in panels)
    if longest * most <= CHARACTERS_SIDE_BY_SIDE:
        return 0.0
    if all(x.isdecimal() for panel in panels for x in panel.xs):
        return 0.0
    return longest * TICK_CHARACTER_IN * math.sin(math.radians(TICK_ROTATION))


def _tick(key: str, x: str, as_powers: bool) -> str:
    if as_powers and (power := int(x)).bit_count() == 1:
        return _power(2, power.bit_length() - 1)
    return x_text(key, x)


def _power(base: int, exponent: int) -> str:
    """In Unicode: Matplotlib's own superscripts take longer than all the rest of a figure."""
    return f"{base}{str(exponent).translate(SUPERSCRIPTS)}"


def _one_two_five(value: float, _: object) -> str:
    """Labels 1, 2 and 5 of each decade: powers of ten alone would leave an axis without numbers."""
    mantissa = value / 10.0 ** math.floor(math.log10(value) + 1e-9)
    return f"{value:g}" if any(math.isclose(mantissa, each) for each in (1, 2, 5)) else ""


def _decade(value: float, _: object) -> str:
    exponent = round(math.log10(value))
    return _power(10, exponent) if math.isclose(value, 10.0**exponent) else ""
