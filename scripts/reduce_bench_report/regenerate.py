"""Regenerates the publications' tables and figures from runs of one device, or of several."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from reduce_bench_report import figures, files, grids, plots, published, side_by_side
from reduce_bench_report.evaluate import Absence, Evaluation, evaluate
from reduce_bench_report.experiments import EXPERIMENTS
from reduce_bench_report.loader import Device, Results
from reduce_bench_report.paths import COMMAND, ENVIRONMENT

DPI = 300


def evaluate_all(
    runs: Sequence[Results], ids: Iterable[str] | None = None
) -> tuple[list[Evaluation], list[Absence]]:
    """The experiments (default: all) that the runs have points of, and why the others have none."""
    tables = published.load_all()
    shown = [evaluate(EXPERIMENTS[name], runs, tables) for name in ids or EXPERIMENTS]
    return (
        [each for each in shown if isinstance(each, Evaluation)],
        [each for each in shown if isinstance(each, Absence)],
    )


def evaluate_devices(devices: Sequence[Device], ids: Iterable[str]) -> list[Evaluation]:
    """The experiments that several of the devices have values of, without times."""
    tables = published.load_all()
    shown = [side_by_side.evaluate_devices(EXPERIMENTS[name], devices, tables) for name in ids]
    return [each for each in shown if each is not None]


def missing_line(each: Evaluation | Absence) -> str | None:
    """Which points an experiment lacks and what to run for them; None where it has all."""
    if isinstance(each, Absence):
        return f"{each.experiment.id}: not drawn: {each.reason}"
    if each.missing:
        return (
            f"{each.experiment.id}: drawn in part: missing {', '.join(each.missing)}: "
            f"run {' and '.join(each.remedies)}"
        )
    return None


def missing_lines(shown: Iterable[Evaluation | Absence]) -> list[str]:
    return [line for line in map(missing_line, shown) if line]


def redraw_command(evaluation: Evaluation, options: Sequence[str] = ()) -> str:
    """A line with the command that draws the experiment again, with these options added."""
    paths = [str(run.path) for run in evaluation.runs]
    only = ["--only", evaluation.experiment.id]
    return f"Redraw: {shell_command('figures', '--results', *paths, *only, *options)}"


def shell_command(*arguments: str) -> str:
    """The command line of this package with these arguments, as one types it."""
    return ENVIRONMENT + shlex.join([*COMMAND, *arguments])


def about(evaluation: Evaluation, command: str) -> str:
    """The metadata of a figure's file: its notes, where its numbers are from, and `command`."""
    return "\n".join([*grids.notes(evaluation), *grids.provenance(evaluation, command)])


def svg_panels(evaluation: Evaluation) -> list[str]:
    """Each subplot as an SVG element of one column, for pages that stack them; none of a table."""
    if evaluation.experiment.kind != "figure":
        return []
    return [figures.svg_element(figure) for figure in plots.draw_apart(evaluation)]


def save_all(
    evaluations: Sequence[Evaluation],
    folder: Path,
    formats: Sequence[str],
    options: Sequence[str] = (),
) -> list[Path]:
    """Writes each table in every format and each figure in `formats`; returns the paths.

    `options` are those of the command line, for the command that draws it again. `InputError` where
    the folder cannot be written.
    """
    written = figures.in_parallel(
        save,
        [
            (evaluation, folder, formats, redraw_command(evaluation, options))
            for evaluation in evaluations
        ],
    )
    return [path for paths in written for path in paths]


def save(evaluation: Evaluation, folder: Path, formats: Sequence[str], command: str) -> list[Path]:
    experiment = evaluation.experiment
    written = []
    for extension, text in grids.FORMATS.items():
        path = folder / f"{experiment.id}.{extension}"
        files.write(path, text(evaluation, command))
        written.append(path)
    if experiment.kind == "figure":
        figure = plots.draw(evaluation)
        said = about(evaluation, command)
        for extension in formats:
            path = folder / f"{experiment.id}.{extension}"
            files.write(path, figures.drawn(figure, extension, said, DPI))
            written.append(path)
    return written
