"""An experiment as a table: Markdown and LaTeX to read, CSV with every value and its quartiles."""

import csv
import io
import math
import re
import statistics
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reduce_bench_report.evaluate import (
    MISSING,
    Evaluation,
    Panel,
    PublishedSeries,
    Series,
)
from reduce_bench_report.identity import DEVICE, fact_text, x_text
from reduce_bench_report.loader import Point
from reduce_bench_report.measures import MEASURES, RATIOS, SIMULATED_MEASURE, TIME_NS, heading
from reduce_bench_report.published import Table
from reduce_bench_report.simulation import MODELS
from reduce_bench_report.texts import number_text, time_text

MOST_MEASURES = 2  # with more, each series has its own table
MOST_COLUMNS = 9  # besides x; a page is not wider
# follows the value of an axis that is the same for all points
CONSTANT_OF = {"labels": " labels", "distribution": " values"}
LATEX_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "µ": r"\textmu{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


@dataclass(frozen=True)
class Grid:
    """A table of texts; `points` has the point behind a cell, by row and column."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int  # columns of text at the left; the others are numbers
    points: Mapping[tuple[int, int], Point] = field(default_factory=dict)


def grids(evaluation: Evaluation) -> list[Grid]:
    """The tables of each panel: a row for each x, a column for each series and measure, with what
    was published beside."""
    return [
        _grid(evaluation, panel, shown)
        for panel in evaluation.panels
        for shown in _side_by_side(evaluation, panel)
    ]


def _side_by_side(evaluation: Evaluation, panel: Panel) -> list[list[Series]]:
    """The series of each table: as many as fit on a page side by side."""
    by_family = evaluation.experiment.best == "family"  # with the name of each form beside
    if by_family or len(evaluation.measures) > MOST_MEASURES:
        return [[series] for series in panel.series]
    tables: list[list[Series]] = []
    for series in panel.series:
        wider = [*tables[-1], series] if tables else []
        if wider and len(list(_columns(evaluation, panel, wider))) <= MOST_COLUMNS:
            tables[-1] = wider
        else:
            tables.append([series])
    return tables


def _grid(evaluation: Evaluation, panel: Panel, shown: Sequence[Series]) -> Grid:
    experiment = evaluation.experiment
    by_variant = experiment.x == "variant"
    columns = list(_columns(evaluation, panel, shown))
    is_part = len(shown) < len(panel.series)
    alone = [shown[0].label] if is_part and len(shown) == 1 else []
    rows: list[Sequence[str]] = []
    points = {}
    for x in panel.xs:
        if is_part and not any(series.outcome(x) for series in shown):
            continue
        title = [_variant_title(panel, x)] if by_variant else []
        for place, (_, cell) in enumerate(columns, 1 + by_variant):
            if isinstance(cell, _Measured) and x in cell.series.points:
                points[len(rows), place] = cell.series.points[x]
        rows.append([x_text(experiment.x, x), *title, *(cell(x) for _, cell in columns)])
    return Grid(
        ", ".join([*([panel.title] if panel.title else []), *alone]),
        [
            _axis_heading(evaluation),
            *(["what it is"] if by_variant else []),
            *(named for named, _ in columns),
        ],
        rows,
        1 + by_variant,
        points,
    )


def _axis_heading(evaluation: Evaluation) -> str:
    return {"buckets": "m"}.get(evaluation.experiment.x, evaluation.experiment.x)


def _variant_title(panel: Panel, x: str) -> str:
    titles = (str(each.points[x].raw["title"]) for each in panel.series if x in each.points)
    return next(titles, "-")


@dataclass(frozen=True)
class _Measured:
    evaluation: Evaluation
    panel: Panel
    series: Series
    measure: str

    def __call__(self, x: str) -> str:
        outcome = self.series.outcome(x)
        if outcome != "ok":
            return outcome or "-"
        value = self.panel.value(self.series, x, self.measure)
        if value is not None:
            return number(value[1], self.measure)
        why = MEASURES[self.measure].unavailable(self.series.points[x])
        return "unavailable" if why else "-"


@dataclass(frozen=True)
class _Printed:
    panel: Panel
    series: PublishedSeries
    measure: str

    def __call__(self, x: str) -> str:
        value = self.panel.published_value(self.series, x, self.measure)
        return "-" if value is None else number(value, self.measure)


@dataclass(frozen=True)
class _Chosen:
    evaluation: Evaluation
    panel: Panel
    chooser: str

    def __call__(self, x: str) -> str:
        return self.evaluation.chosen.get((self.chooser, x, *self.panel.facts.values()), "-")


@dataclass(frozen=True)
class _Simulated:
    series: Series
    model: str

    def __call__(self, x: str) -> str:
        value = self.series.simulated[self.model].get(x)
        return "-" if value is None else number(value, SIMULATED_MEASURE)


Cell = _Measured | _Printed | _Chosen | _Simulated


def _columns(
    evaluation: Evaluation, panel: Panel, shown: Sequence[Series]
) -> Iterator[tuple[str, Cell]]:
    chosen_of: set[str] = set()
    for series in shown:
        chooser = series.chooser
        if any(key[0] == chooser for key in evaluation.chosen) and chooser not in chosen_of:
            chosen_of.add(chooser)
            what = "fastest variant" if evaluation.experiment.best == "family" else "parameters"
            yield f"{chooser}: {what}", _Chosen(evaluation, panel, chooser)
        for measure in evaluation.measures:
            prefix = f"{series.label}: " if len(shown) > 1 else ""
            named = prefix + heading(evaluation.experiment, measure)
            published_named = f"{prefix}published {_published_heading(evaluation, measure)}"
            if cells_are_of_one_measure(evaluation, shown):
                named, published_named = series.label, f"{series.label}, published"
            yield named, _Measured(evaluation, panel, series, measure)
            if measure == SIMULATED_MEASURE:
                for model in series.simulated:
                    yield f"{named}, simulated ({MODELS[model]})", _Simulated(series, model)
            for published in panel.published:
                if published.is_of(series) and panel.measures_published(published, measure):
                    yield published_named, _Printed(panel, published, measure)
    if shown[-1] is not panel.series[-1]:
        return
    for published in panel.published:
        for measure in evaluation.measures:
            of_none = not any(map(published.is_of, panel.series))
            if of_none and panel.measures_published(published, measure):
                yield (
                    f"{published.label}: {_published_heading(evaluation, measure)}",
                    _Printed(panel, published, measure),
                )


def cells_are_of_one_measure(evaluation: Evaluation, shown: Sequence[Series]) -> bool:
    """Whether one note can say what all cells are, so that the columns need not."""
    return len(evaluation.measures) == 1 and len(shown) > 1


def _published_heading(evaluation: Evaluation, measure: str) -> str:
    return heading(evaluation.experiment, measure).removeprefix("median ")


def number(value: float, measure: str) -> str:
    """Four digits without an exponent, or a percentage of a share. A time for which its column's
    unit is too small or too large has its own: `49.35 ms` among µs."""
    if measure.endswith("_share"):
        return f"{value:.1%}"
    text = f"{value:.4g}"
    if "e" not in text:
        return text
    if measure in TIME_NS:
        return time_text(value * TIME_NS[measure])
    return f"{value:,.0f}" if value > 1 else text


def constants(evaluation: Evaluation) -> str:
    """The axes on which all points agree, without those that their operation does not have."""
    shared = evaluation.constants
    absent = {"op"} if shared.get("op") == "none" else set()
    absent |= {"distribution"} if shared.get("operation") == "histogram" else set()
    return _conditions({key: value for key, value in shared.items() if key not in absent})


def measured_text(evaluation: Evaluation) -> str:
    """A sentence on what was measured, but for the devices: for captions, which stand apart from
    the panels' titles."""
    panels = dict.fromkeys(_conditions(panel.facts_but_device) for panel in evaluation.panels)
    if len(panels) == 1:
        return f"Measured: {', '.join(filter(None, [constants(evaluation), *panels]))}."
    return f"Measured: {constants(evaluation)}. Panels: {'; '.join(panels)}."


def _conditions(facts: Mapping[str, str]) -> str:
    return ", ".join(
        fact_text(key, value) + CONSTANT_OF.get(key, "") for key, value in facts.items()
    )


def notes(evaluation: Evaluation) -> list[str]:
    """What a reader must know about the numbers, a sentence each."""
    experiment = evaluation.experiment
    said = [f"{evaluation.source}. Measured: {constants(evaluation)}."]
    if any(cells_are_of_one_measure(evaluation, panel.series) for panel in evaluation.panels):
        said.append(f"Cells: {heading(experiment, evaluation.measures[0])}.")
    if evaluation.published:
        said.append(_published_note(evaluation.published))
    if experiment.simulated:
        said.append(simulation_errors(evaluation))
    if experiment.kind == "figure" and experiment.published and not _is_overlaid(evaluation):
        said.append("Published times stand in the table and are not drawn.")
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for panel in evaluation.panels:
        for series in panel.series:
            for x, point in series.points.items():
                if not point.ranked:
                    who = _on_device(panel, x if experiment.x == "variant" else series.label)
                    reason, _, _ = (point.reason or "").partition(" (got ")
                    key = (who, point.outcome, reason)
                    reasons.setdefault(key, []).append(x_text(experiment.x, x))
                    continue
                for measure in evaluation.measures:
                    why = MEASURES[measure].unavailable(point)
                    if why:
                        key = (MEASURES[measure].title, "unavailable", why)
                        reasons.setdefault(key, []).append(x_text(experiment.x, x))
            if not evaluation.missing:  # which has them
                for x in panel.xs:
                    if x in series.gaps:
                        key = (_on_device(panel, series.label), MISSING, "")
                        reasons.setdefault(key, []).append(x_text(experiment.x, x))
    for (label, outcome, reason), at in reasons.items():
        places = f"{_axis_heading(evaluation)} = {', '.join(dict.fromkeys(at))}"
        where = "" if experiment.x == "variant" else f" at {places}"
        said.append(f"{label}{where}: {outcome}" + (f" ({reason})." if reason else "."))
    if evaluation.missing:
        todo = " and ".join(evaluation.remedies)
        said.append(f"Missing: {', '.join(evaluation.missing)}; run {todo}.")
    if any("(host)" in text for panel in evaluation.panels for text in _labels(panel)):
        said.append("(host): timed until the result is on the host.")
    devices = {panel.facts.get(DEVICE) for panel in evaluation.panels}
    if len(evaluation.runs) > len(devices):
        said.append("The points are of several runs, whose times may have drifted apart.")
    return [_one_line(sentence) for sentence in said]


def _on_device(panel: Panel, what: str) -> str:
    return f"{what} on {panel.facts[DEVICE]}" if DEVICE in panel.facts else what


def simulation_errors(evaluation: Evaluation) -> str:
    """A sentence on how far each model of cache-sim is from the measured times."""
    said = []
    for model, words in MODELS.items():
        errors = evaluation.errors(model)
        if not errors:
            said.append(f"{words}: not simulated")
            continue
        worst = max(errors, key=lambda error: abs(math.log(error)))
        said.append(
            f"{words}: {statistics.geometric_mean(errors):.2f} in the geometric mean of "
            f"{len(errors)} points, {worst:.2f} at worst"
        )
    on = f" on hierarchy {', '.join(evaluation.hierarchies)}" if evaluation.hierarchies else ""
    return f"Simulated{on} over measured time, {'; '.join(said)}."


def _is_overlaid(evaluation: Evaluation) -> bool:
    return any(
        measure in RATIOS and panel.measures_published(published, measure)
        for panel in evaluation.panels
        for published in panel.published
        for measure in evaluation.measures
    )


def _one_line(text: str) -> str:
    """Reasons and names come from files and may hold line breaks."""
    return " ".join(text.splitlines())


def _labels(panel: Panel) -> list[str]:
    return [*panel.xs, *(series.label for series in panel.series)]


def _published_note(table: Table) -> str:
    on = f", on {table.hardware}" if table.hardware else ""
    peak = f" ({table.peak_gb_per_s:g} GB/s by the datasheet)" if table.peak_gb_per_s else ""
    note = f" {table.note}" if table.note else ""
    return (
        f"Published: {table.source}{on}{peak}: compare ratios and shares, never times across "
        f"machines.{note}"
    )


def provenance(evaluation: Evaluation, redraw_command: str) -> list[str]:
    return [_one_line(f"From {run.provenance}.") for run in evaluation.runs] + [
        _one_line(redraw_command)
    ]


def markdown(evaluation: Evaluation, redraw_command: str) -> str:
    experiment = evaluation.experiment
    parts = [f"**{experiment.id}: {experiment.title}**"]
    for grid in grids(evaluation):
        parts += [f"*{markdown_text(grid.title)}*"] if grid.title else []
        parts.append(_markdown_grid(grid))
    statement = _statement(evaluation)
    if statement:
        parts += ["The source says:", _markdown_grid(statement)]
    parts.append(markdown_text(" ".join(notes(evaluation))))
    parts.append(markdown_text("\n".join(provenance(evaluation, redraw_command))))
    return "\n\n".join(parts) + "\n"


def without_html(text: str) -> str:
    """Escapes what Markdown would pass on as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def markdown_text(text: str) -> str:
    """Escapes running text for Markdown; globs of variants have asterisks."""
    return without_html(text).replace("*", r"\*")


def _markdown_grid(grid: Grid) -> str:
    return markdown_rows(grid.headings, grid.rows, range(grid.texts))


def markdown_rows(
    headings: Sequence[str], rows: Sequence[Sequence[str]], texts: Collection[int]
) -> str:
    """A table in Markdown. The columns `texts` are aligned left, the others, numbers, right."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(cell_text, cells)) + " |"

    def cell_text(cell: str) -> str:
        return without_html(_one_line(cell)).replace("|", r"\|")

    rule = "|" + "".join(
        " --- |" if place in texts else " ---: |" for place in range(len(headings))
    )
    return "\n".join([line(headings), rule, *(line(row) for row in rows)])


def _statement(evaluation: Evaluation) -> Grid | None:
    """The published numbers as a table of their own, where none of them has an x."""
    table = evaluation.published
    if table is None or evaluation.experiment.published is not None:
        return None
    headings = [f"{c.name}, {c.unit}" if c.unit else c.name for c in table.columns]
    cells = [
        [
            "-" if cell is None else cell if isinstance(cell, str) else number_text(cell)
            for cell in row
        ]
        for row in table.rows
    ]
    return Grid("", headings, cells, 1)


def latex(evaluation: Evaluation, redraw_command: str) -> str:
    """A tabular of the package booktabs for each panel, to be read in with \\input."""
    experiment = evaluation.experiment
    lines = [f"% {experiment.id}: {experiment.title}"]
    for note in [*notes(evaluation), *provenance(evaluation, redraw_command)]:
        lines += textwrap.wrap(
            note,
            100,
            initial_indent="% ",
            subsequent_indent="%   ",
            break_long_words=False,  # so that commands can be copied
            break_on_hyphens=False,
        )
    for grid in grids(evaluation):
        lines += [f"% {grid.title}"] if grid.title else []
        lines.append(
            rf"\begin{{tabular}}{{{'l' * grid.texts}{'r' * (len(grid.headings) - grid.texts)}}}"
        )
        lines += [r"\toprule", _latex_row(grid.headings), r"\midrule"]
        lines += [_latex_row(row) for row in grid.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(_latex_text(cell) for cell in cells) + r" \\"


def _latex_text(text: str) -> str:
    return re.sub(r"(\d+)\\textasciicircum{}(\d+)", r"$\1^{\2}$", text.translate(LATEX_SPECIAL))


CSV_COLUMNS = (
    "experiment", "panel", "series", "axis", "x", "measure", "unit", "source",
    "low", "value", "high", "outcome",
)  # fmt: skip


def csv_text(evaluation: Evaluation, redraw_command: str) -> str:
    """One line for each value, with the quartiles as low and high; notes are lines after a #."""
    experiment = evaluation.experiment
    out = io.StringIO()
    for note in [*notes(evaluation), *provenance(evaluation, redraw_command)]:
        out.write(f"# {note}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for panel in evaluation.panels:
        for measure in evaluation.measures:
            unit = MEASURES[measure].unit or ""
            for series in panel.series:
                for x in panel.xs:
                    outcome = series.outcome(x)
                    if outcome:
                        value = panel.value(series, x, measure)
                        writer.writerow(
                            [experiment.id, panel.title, series.label, experiment.x, x, measure,
                             unit, "measured", *(value or ("", "", "")), outcome]
                        )  # fmt: skip
                    if measure == SIMULATED_MEASURE:
                        for model, values in series.simulated.items():
                            if x in values:
                                writer.writerow(
                                    [experiment.id, panel.title, series.label, experiment.x, x,
                                     measure, unit, f"simulated ({MODELS[model]})", "", values[x],
                                     "", ""]
                                )  # fmt: skip
            for series in panel.series:
                for machine in series.predicted:
                    for x in panel.xs:
                        predicted = panel.predicted_value(series, machine, x, measure)
                        if predicted is not None:
                            writer.writerow(
                                [experiment.id, panel.title, series.label, experiment.x, x, measure,
                                 unit, f"predicted ({machine.title})", "", predicted, "", ""]
                            )  # fmt: skip
            for published in panel.published:
                for x in panel.xs:
                    printed = panel.published_value(published, x, measure)
                    if printed is not None:
                        writer.writerow(
                            [experiment.id, panel.title, published.label, experiment.x, x, measure,
                             unit, "published", "", printed, "", ""]
                        )  # fmt: skip
    return out.getvalue()


FORMATS = {"md": markdown, "csv": csv_text, "tex": latex}
