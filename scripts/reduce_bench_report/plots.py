"""An experiment as a figure for a column of a paper: 3.4 inches wide, 7 with several panels.

A line joins the medians of verified points and breaks where one is missing. A point without a
verified time is a mark on the bottom edge, whose kind says why, beside its series' hollow marker.
The legend, and a subplot without any value, say what is missing. Whiskers span the 25th to the
75th percentile. Published values are drawn where the axis is a ratio, never as times. Predictions
of cache-sim have the colour and the hollow marker of the series that they predict.
"""

import itertools
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
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
    Roofs,
    Series,
)
from reduce_bench_report.experiments import Experiment
from reduce_bench_report.figures import fix_layout
from reduce_bench_report.grids import constants
from reduce_bench_report.identity import DEVICE, fact_text, x_text
from reduce_bench_report.measures import MEASURES, RATIOS, SIMULATED_MEASURE, TIME_NS, heading
from reduce_bench_report.more_devices import MACHINES
from reduce_bench_report.simulation import MODELS
from reduce_bench_report.styles import COLOURS, DASHES, MARKERS, NO_SERIES, of_lines, outcome_marker
from reduce_bench_report.styles import Style as Look
from reduce_bench_report.texts import time_text

SINGLE_IN = 3.4
DOUBLE_IN = 7.0
AXES_HEIGHT_IN = 2.3
LINE_IN = 0.135  # of the title and the legend
FONT_POINTS = 7.0
TITLE_POINTS = 8.0
TITLE_PER_IN = 15.5  # characters of a title per inch
LEGEND_POINTS = 6.0
LEGEND_CHARACTER_IN = 0.041
SAID_CHARACTER_IN = 0.048  # in sentences, where digits and capitals are many
HANDLE_IN = 0.42
TICK_CHARACTER_IN = 0.05
TICK_ROTATION = 40
MOST_TICKS = 9
MOST_LINES = 7  # of a subplot
MOST_STACKED = 4  # subplots of a measure each; more of them lie in two columns
MOST_NAMED = 16  # variants of a plane that can be told apart
BAR_IN = 0.2
BARS_ASIDE_IN = 0.55  # the axis below bars
CHARACTERS_SIDE_BY_SIDE = 40
FEW_DECADES = 100  # an axis whose largest over smallest value is below has labels within decades

PREDICTED_STYLES = ("--", ":", "-.")  # of more_devices.MACHINES
SIMULATED_STYLES = {"sequential": "--", "pipelined": ":"}  # of simulation.MODELS

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Style = dict[str, Any]


@dataclass(frozen=True)
class Subplot:
    """A measure of a panel, or of as many of its series as one subplot can show."""

    panel: Panel
    measure: str
    series: Sequence[Series]
    log_y: bool
    title: str

    @property
    def heading(self) -> str:
        """The title, above which two subplots of the same values name their scales."""
        scale = f"{'logarithmic' if self.log_y else 'linear'} scale"
        above = [scale] if self.panel.experiment.log_too else []
        return "\n".join(filter(None, [*above, self.title]))

    @property
    def is_bars(self) -> bool:
        """Names of variants are long, so bars lie beside them; other values of x stand below."""
        experiment = self.panel.experiment
        return experiment.x == "variant" and not experiment.plane

    @property
    def has_value(self) -> bool:
        return any(
            self.panel.value(series, x, self.measure)
            for series in self.series
            for x in self.panel.xs
        )


def draw(evaluation: Evaluation, *, titled: bool = True) -> Figure:
    """One subplot for each measure and panel, or several where it has many lines; one legend.

    Without a title where the page that shows the figure has it as a heading.
    """
    return _drawn(evaluation, _subplots(evaluation), titled=titled)


def draw_apart(evaluation: Evaluation) -> list[Figure]:
    """Each subplot as a figure of its own, without a title, for pages that stack them."""
    shown, _ = _with_values(_subplots(evaluation))
    return [_drawn(evaluation, [each], titled=False) for each in shown]


def _subplots(evaluation: Evaluation) -> list[Subplot]:
    """In the order in which they are read, row by row."""
    experiment = evaluation.experiment
    log_y = "y" in experiment.log
    made = []
    for measure in evaluation.measures[1 if experiment.plane else 0 :]:
        for alike in _alike(evaluation.panels):
            parts = [_parts(panel) for panel in alike]
            for number in range(max(map(len, parts))):
                for panel, of_panel in zip(alike, parts, strict=True):
                    if number >= len(of_panel):
                        continue
                    part = [f"{number + 1} of {len(of_panel)}"] if len(of_panel) > 1 else []
                    series, title = of_panel[number], _title(panel, part)
                    made.append(Subplot(panel, measure, series, log_y, title))
                    if experiment.log_too:
                        made.append(Subplot(panel, measure, series, True, title))
    return made


def _alike(panels: Sequence[Panel]) -> list[list[Panel]]:
    """The panels that differ by their device alone together: they stand side by side."""
    groups: dict[tuple[str, ...], list[Panel]] = {}
    for panel in panels:
        groups.setdefault(_without_device(panel), []).append(panel)
    return list(groups.values())


def _without_device(panel: Panel) -> tuple[str, ...]:
    return tuple(panel.facts_but_device.values())


def _title(panel: Panel, part: Sequence[str]) -> str:
    """The panel's facts and which part it is; a device's name stands on a line of its own."""
    facts = (fact_text(key, value) for key, value in panel.facts_but_device.items())
    rest = ", ".join([*facts, *part])
    return "\n".join(filter(None, [panel.facts.get(DEVICE, ""), rest]))


def _parts(panel: Panel) -> list[Sequence[Series]]:
    """The series in as few parts as have lines that can be told apart, of about one length."""
    count = math.ceil(len(panel.series) / MOST_LINES)
    if not _is_numeric(panel):
        count = 1  # they lie beside one another
    ends = [round(number * len(panel.series) / count) for number in range(count + 1)]
    return [panel.series[begin:end] for begin, end in itertools.pairwise(ends)]


def _with_values(subplots: Sequence[Subplot]) -> tuple[list[Subplot], list[str]]:
    """The subplots that have a value, and what is said of the others; all where none has."""
    shown = [each for each in subplots if each.has_value]
    if not shown:
        return list(subplots), []
    left_out = dict.fromkeys(
        ": ".join(filter(None, [each.title.replace("\n", ", "), _why_empty(each)]))
        for each in subplots
        if not each.has_value
    )
    return shown, list(left_out)


def _drawn(evaluation: Evaluation, subplots: Sequence[Subplot], *, titled: bool) -> Figure:
    experiment = evaluation.experiment
    shown, left_out = _with_values(subplots)
    of_a_measure = len(shown) // len({each.measure for each in shown})
    columns = 2 if of_a_measure > 1 or len(shown) > MOST_STACKED else 1
    rows = math.ceil(len(shown) / columns)
    width_in = DOUBLE_IN if columns == 2 else SINGLE_IN
    figure = Figure(layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    styles = _styles(evaluation.panels)
    drawn = list(zip(shown, grid.flat, strict=False))
    for subplot, axes in drawn:
        _draw_subplot(axes, evaluation, subplot, styles)
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_axis_off()
    _share_limits(drawn)
    title = textwrap.wrap(f"{experiment.id}: {experiment.title}", int(width_in * TITLE_PER_IN))
    title = title if titled else []
    if title:
        figure.suptitle("\n".join(title), fontsize=TITLE_POINTS)
    said = _said_below(evaluation, left_out, titled=titled)
    lines = len(title) + _legend(figure, width_in, said)
    height_in = max(_height_in(each) for each in shown)
    figure.set_size_inches(width_in, rows * height_in + LINE_IN * lines)
    fix_layout(figure)
    return figure


def _height_in(subplot: Subplot) -> float:
    if subplot.panel.experiment.plane:
        return AXES_HEIGHT_IN
    if subplot.is_bars:
        return BARS_ASIDE_IN + BAR_IN * len(subplot.panel.xs)
    return AXES_HEIGHT_IN + _rotated_ticks_in([subplot.panel])


def _share_limits(drawn: Sequence[tuple[Subplot, Axes]]) -> None:
    """Parts of one panel have one y axis, so that their lines can be compared, and so have panels
    that differ by their device alone."""
    groups: dict[tuple[tuple[str, ...], str, bool], list[Axes]] = {}
    for subplot, axes in drawn:
        if subplot.is_bars:  # whose y axis names variants
            continue
        key = (_without_device(subplot.panel), subplot.measure, subplot.log_y)
        groups.setdefault(key, []).append(axes)
    for (_, measure, _), group in groups.items():
        if len(group) > 1:
            limits = [axes.get_ylim() for axes in group]
            low, high = min(low for low, _ in limits), max(high for _, high in limits)
            for axes in group:
                axes.set_ylim(low, high)
                if axes.get_yscale() == "log" and not measure.endswith("_share"):
                    _label_decades(axes, measure, low, high)


def _said_below(evaluation: Evaluation, left_out: Sequence[str], *, titled: bool) -> list[str]:
    """What a figure that stands alone must say beside its curves. A page that has the title has the
    notes, too, and with them what was measured."""
    return [
        *([f"Measured: {constants(evaluation)}"] if titled else []),
        _ranges_text(evaluation),
        f"Missing: {', '.join(evaluation.missing)}" if evaluation.missing else "",
        f"Left out: {'; '.join(left_out)}" if left_out else "",
    ]


def _legend(figure: Figure, width_in: float, sentences: Sequence[str]) -> int:
    """Below the subplots, under the sentences, in as many columns as fit; returns its lines."""
    wide = int(width_in / SAID_CHARACTER_IN)
    title = [line for said in sentences for line in textwrap.wrap(said, wide)]
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
    longest = max((len(label) for label in handles), default=1)
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
    families = {
        series.label: next(iter(series.points.values())).family
        for panel in panels
        for series in panel.series
    }
    experiment = panels[0].experiment
    dashed = not (experiment.simulated or experiment.predicted)  # dashes then tell models apart
    looks = of_lines(list(families.values()), dashed=dashed)
    return {
        label: {
            "color": COLOURS[look.colour],
            "marker": MARKERS[look.marker].matplotlib,
            "linestyle": DASHES[look.dashes].matplotlib,
        }
        for label, look in zip(families, looks, strict=True)
    }


def _is_numeric(panel: Panel) -> bool:
    return all(x.isdecimal() for x in panel.xs)


def _draw_subplot(
    axes: Axes, evaluation: Evaluation, subplot: Subplot, styles: dict[str, Style]
) -> None:
    if subplot.is_bars:
        _draw_bars(axes, evaluation, subplot)
    elif evaluation.experiment.plane:
        _draw_plane(axes, evaluation, subplot)
    else:
        _draw_lines(axes, evaluation, subplot, styles)
    axes.set_title(subplot.heading, fontsize=FONT_POINTS)
    axes.tick_params(width=0.6, length=2.5)
    axes.tick_params(which="both", labelsize=FONT_POINTS - 0.5)
    axes.grid(True, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


def _draw_bars(axes: Axes, evaluation: Evaluation, subplot: Subplot) -> None:
    """A bar for each variant in its family's colour, the first on top; whiskers span quartiles."""
    panel, measure = subplot.panel, subplot.measure
    shown = [(series, x) for series in panel.series for x in panel.xs if series.outcome(x)]
    looks = of_lines([x.split("/", 1)[0] for _, x in shown])
    for (series, x), look in zip(shown, looks, strict=True):
        y = panel.xs.index(x)
        if value := panel.value(series, x, measure):
            low, middle, high = value
            axes.barh(
                y,
                middle,
                height=0.6,
                color=COLOURS[look.colour],
                xerr=([middle - low], [high - middle]),
                error_kw={"linewidth": 0.6, "capsize": 1.5, "ecolor": "0.4"},
                hatch="" if series is panel.series[0] else "///",
                edgecolor="white",
                linewidth=0,
            )
        else:
            axes.text(
                0.01,
                y,
                series.outcome(x) if series.outcome(x) != "ok" else "not in the results",
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=LEGEND_POINTS,
            )
    if len(panel.series) > 1:
        for series in panel.series:
            hatch = "" if series is panel.series[0] else "///"
            axes.add_patch(
                Rectangle((0, 0), 0, 0, fc="0.5", hatch=hatch, ec="white", label=series.label)
            )
    ceilings = panel.ceilings(measure)
    for backend, at in ceilings.items():
        label = "read ceiling" if len(ceilings) == 1 else f"read ceiling ({backend})"
        places = [panel.xs.index(x) for x in at]
        axes.vlines(
            list(at.values()),
            [place - 0.45 for place in places],
            [place + 0.45 for place in places],
            color="0.6",
            linewidth=2,
            label=label,
            gid="ceiling",
        )
    axes.set_yticks(range(len(panel.xs)), panel.xs)
    axes.set_ylim(len(panel.xs) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel(_value_label(evaluation.experiment, measure), fontsize=FONT_POINTS)
    if measure in TIME_NS:
        axes.xaxis.set_major_formatter(_with_unit(measure, lambda value, _: f"{value:g}"))


def _draw_plane(axes: Axes, evaluation: Evaluation, subplot: Subplot) -> None:
    """A marker for each variant with both values; of many variants, those of a family are alike."""
    experiment, panel = evaluation.experiment, subplot.panel
    across, upwards = experiment.y
    at = {
        x: (first[1], second[1], series.points[x].family)
        for series in subplot.series
        for x in panel.xs
        if (first := panel.value(series, x, across)) and (second := panel.value(series, x, upwards))
    }
    for name, look in _plane_looks(evaluation.panels).items():
        own = [(right, up) for x, (right, up, family) in at.items() if name in (x, family)]
        if not own:
            continue
        axes.plot(
            [right for right, _ in own],
            [up for _, up in own],
            linestyle="",
            color=COLOURS[look.colour],
            marker=MARKERS[look.marker].matplotlib,
            markersize=4,
            label=name,
        )
    if not at:
        _say_why_empty(axes, subplot, {}, numeric=False)
    for scale, place in ((axes.set_xscale, "x"), (axes.set_yscale, "y")):
        if place in experiment.log and at:
            scale("log")
    if evaluation.roofs and at:
        _draw_roofs(axes, evaluation.roofs, [right for right, _, _ in at.values()])
    if "x" not in experiment.log:
        axes.set_xlim(0, 1.08 * axes.dataLim.x1 if at else None)
    if "y" not in experiment.log:
        axes.set_ylim(0, 1.08 * axes.dataLim.y1 if at else None)
    axes.set_xlabel(_value_label(experiment, across), fontsize=FONT_POINTS)
    axes.set_ylabel(_value_label(experiment, upwards), fontsize=FONT_POINTS)
    if across in TIME_NS:
        axes.xaxis.set_major_formatter(_with_unit(across, lambda value, _: f"{value:g}"))


def _plane_looks(panels: Sequence[Panel]) -> dict[str, Look]:
    """The look of each variant, or where they are many of each family: the same in every panel."""
    family_of = {
        x: point.family
        for panel in panels
        for series in panel.series
        for x, point in series.points.items()
    }
    few = len(family_of) <= MOST_NAMED
    names = list(family_of if few else dict.fromkeys(family_of.values()))
    return dict(zip(names, of_lines([family_of.get(name, name) for name in names]), strict=True))


def _draw_roofs(axes: Axes, roofs: Roofs, rights: Sequence[float]) -> None:
    """The lines that no marker lies above: bytes bound on the left of their crossing, instructions
    on its right."""
    crossing = roofs.instructions_per_ns / roofs.bytes_per_ns
    low, high = min(rights) / 2, max(2 * crossing, 2 * max(rights))
    axes.plot(
        [low, crossing, high],
        [low * roofs.bytes_per_ns, roofs.instructions_per_ns, roofs.instructions_per_ns],
        color="0.6",
        linewidth=1.5,
        zorder=1,
        label="read ceiling, then issue of instructions",
        gid="roofs",
    )


def _draw_lines(
    axes: Axes, evaluation: Evaluation, subplot: Subplot, styles: dict[str, Style]
) -> None:
    experiment = evaluation.experiment
    panel, measure = subplot.panel, subplot.measure
    numeric = _is_numeric(panel)
    places = {
        x: float(x) if numeric else float(index)
        for index, x in enumerate(panel.xs)
        if not (numeric and "x" in experiment.log and x == "0")  # not on a log axis
    }
    marks: dict[str, int] = {}  # of points without a time at this x, stacked to stay apart
    for index, series in enumerate(subplot.series):
        style = styles[series.label]
        aside = 0.0 if numeric else _aside(index, len(subplot.series))
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
            # one point alone would lie under the lines that pass it
            markersize=3 if len(own) > 1 else 6,
            markerfacecolor=None if len(own) > 1 else "none",
            zorder=2 if len(own) > 1 else 4,
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
        _draw_simulated(axes, subplot.series, places, styles)
    if experiment.predicted:
        _draw_predicted(axes, subplot, places, styles)
    if measure in RATIOS:
        _draw_published(axes, subplot, places, numeric, styles)
    if experiment.ranges and measure == experiment.ranges.measure:
        _draw_ranges(axes, evaluation)
    _draw_ceilings(axes, panel, measure, places, numeric)
    _scale(axes, evaluation, subplot, places, numeric)
    if not subplot.has_value:
        _say_why_empty(axes, subplot, places, numeric)
    axes.set_xlabel(experiment.x_label or _axis_label(experiment.x), fontsize=FONT_POINTS)
    axes.set_ylabel(_value_label(experiment, measure), fontsize=FONT_POINTS)


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


def _why_empty(subplot: Subplot) -> str:
    panel, measure = subplot.panel, subplot.measure
    if not any(point.ranked for series in subplot.series for point in series.points.values()):
        why = "no verified time"
    elif measure == "speed_up":
        why = f"no time of {' '.join(panel.experiment.base.values())}"
    else:
        why = "the results do not have it"
    return f"no {MEASURES[measure].title}: {why}"


def _say_why_empty(axes: Axes, subplot: Subplot, places: dict[str, float], numeric: bool) -> None:
    """Puts the reason into the subplot and takes the numbers off its axes."""
    axes.text(
        0.5,
        0.5,
        _why_empty(subplot).replace(": ", ":\n", 1),
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
    # the ticks of an axis of times have units of their own
    return (MEASURES[measure].title if measure in TIME_NS else heading(experiment, measure)) + over


def _draw_simulated(
    axes: Axes, shown: Sequence[Series], places: dict[str, float], styles: dict[str, Style]
) -> None:
    """Draws each model's line in the colour of its series; the legend has one entry per model."""
    models = [model for model in MODELS if any(model in series.simulated for series in shown)]
    if models:
        axes.plot([], [], color="0.3", linewidth=0.9, label="measured")
    for model in models:
        for series in shown:
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


def _draw_predicted(
    axes: Axes, subplot: Subplot, places: dict[str, float], styles: dict[str, Style]
) -> None:
    """Draws each machine's line in the colour of its series; the legend has one entry for each, and
    one for the lines that were measured."""
    if any(series.predicted for series in subplot.series):
        points = [point for series in subplot.series for point in series.points.values()]
        counts = sorted({int(point.axis_text("devices") or 1) for point in points})
        label = f"measured: {' and '.join(map(str, counts))} GPUs"
        axes.plot([], [], color="0.3", linewidth=0.9, label=label)
    for machine, dashes in zip(MACHINES, PREDICTED_STYLES, strict=True):
        shown = [series for series in subplot.series if machine in series.predicted]
        for series in shown:
            values = {
                x: subplot.panel.predicted_value(series, machine, x, subplot.measure)
                for x in places
            }
            known = {x: value for x, value in values.items() if value is not None}
            axes.plot(
                [places[x] for x in known],
                list(known.values()),
                color=styles[series.label]["color"],
                linestyle=dashes,
                linewidth=0.9,
                gid=f"predicted {machine.title} {series.label}",
            )
        if shown:
            axes.plot(
                [],
                [],
                color="0.3",
                linestyle=dashes,
                linewidth=0.9,
                label=f"predicted: {machine.title}",
            )


def _draw_published(
    axes: Axes,
    subplot: Subplot,
    places: dict[str, float],
    numeric: bool,
    styles: dict[str, Style],
) -> None:
    """Hollow, with the marker of the series that measures the same, in whose part it is drawn."""
    panel, measure = subplot.panel, subplot.measure
    for series in panel.published:
        measured = next((each for each in panel.series if series.is_of(each)), None)
        if measured is not None and measured not in subplot.series:
            continue
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
    for low, high in evaluation.ranges.values():
        if low == high:
            axes.axhline(low, color="0.45", linestyle=":", linewidth=1, gid="published")
        else:
            axes.axhspan(low, high, color="0.9", zorder=0.5, gid="published")


def _ranges_text(evaluation: Evaluation) -> str:
    """What the bands and dotted lines of `_draw_ranges` are; it stands below, under no curve."""
    if evaluation.published is None or not evaluation.ranges:
        return ""
    said = [
        f"{name} {low:g} (dotted)" if low == high else f"{name} {low:g} to {high:g} (band)"
        for name, (low, high) in evaluation.ranges.items()
    ]
    return f"Published ({evaluation.published.hardware}): {', '.join(said)}"


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
    subplot: Subplot,
    places: dict[str, float],
    numeric: bool,
) -> None:
    experiment, measure = evaluation.experiment, subplot.measure
    if numeric and "x" in experiment.log:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    if subplot.log_y and math.isfinite(axes.dataLim.minposy):  # without a value: linear
        axes.set_yscale("log")
        _label_decades(axes, measure, axes.dataLim.minposy, axes.dataLim.y1)
    else:
        axes.set_ylim(bottom=0)
        if measure in TIME_NS:
            axes.yaxis.set_major_formatter(_with_unit(measure, lambda value, _: f"{value:g}"))
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
        if _rotated_ticks_in([subplot.panel]):
            axes.tick_params(axis="x", labelrotation=TICK_ROTATION)
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("right")
                label.set_rotation_mode("anchor")


def _label_decades(axes: Axes, measure: str, low: float, high: float) -> None:
    """Numbers of a logarithmic y axis of values from `low` to `high`."""
    few = high < FEW_DECADES * low
    axes.yaxis.set_major_formatter(_with_unit(measure, _one_two_five if few else _decade))
    axes.yaxis.set_minor_formatter(_with_unit(measure, _one_two_five) if few else NullFormatter())


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


def _with_unit(measure: str, text: Callable[[float, object], str]) -> FuncFormatter:
    """Labels where `text` does, a time with its unit: `20 ms`, not 2·10⁴ of an axis in µs; a share
    in per cent."""
    if measure.endswith("_share"):
        return FuncFormatter(lambda value, place: text(value, place) and f"{100 * value:g}%")
    if measure not in TIME_NS:
        return FuncFormatter(text)

    def timed(value: float, place: object) -> str:
        if value == 0:
            return "0"
        return text(value, place) and time_text(value * TIME_NS[measure])

    return FuncFormatter(timed)


def _one_two_five(value: float, _: object) -> str:
    """Labels 1, 2 and 5 of each decade: powers of ten alone would leave an axis without numbers."""
    mantissa = value / 10.0 ** math.floor(math.log10(value) + 1e-9)
    return f"{value:g}" if any(math.isclose(mantissa, each) for each in (1, 2, 5)) else ""


def _decade(value: float, _: object) -> str:
    exponent = round(math.log10(value))
    return _power(10, exponent) if math.isclose(value, 10.0**exponent) else ""
