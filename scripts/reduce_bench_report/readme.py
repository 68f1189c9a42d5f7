"""What the README shows of the committed results: figures, a table, the scorecard's totals."""

import dataclasses
import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

from reduce_bench_report import claims, figures, plots, published, regenerate
from reduce_bench_report.claim_registry import load_registry
from reduce_bench_report.evaluate import (
    MEASURES,
    Absence,
    Evaluation,
    Panel,
    Series,
    evaluate,
)
from reduce_bench_report.experiments import EXPERIMENTS, KEYED
from reduce_bench_report.grids import (
    constants,
    grids,
    markdown_rows,
    markdown_text,
    simulation_errors,
)
from reduce_bench_report.loader import InputError, Results
from reduce_bench_report.select import filter_points, size_text

README = Path("README.md")
FOLDER = Path("docs") / "figures"
SUM = ("backend=cuda", "type=i32", "op=sum", "distribution=uniform", "mode=cold")
FIGURES: Mapping[str, Sequence[str]] = {
    "reduce-share": SUM,
    "multireduce-time": (),
    "multiscan-time": (),
}
CPU_FIGURES: Mapping[str, Sequence[str]] = {
    "eilers-F2.8": ()
}  # of a processor's results: no figure mixes machines
SIZES = [str(2**bits) for bits in (10, 13, 16, 19, 22, 25, 28, 30)]
WIDTH_PIXELS = 620  # a column of a paper is half of it


@dataclasses.dataclass(frozen=True)
class Drawing:
    """A figure of the README, or why it has none."""

    path: Path  # from the root
    evaluation: Evaluation | Absence
    content: bytes  # of the file; the packages that draw are pinned, so another drawing is the same

    def is_stale(self, root: Path) -> bool:
        file = root / self.path
        if isinstance(self.evaluation, Absence):
            return file.exists()
        return not file.is_file() or file.read_bytes() != self.content

    def write(self, root: Path) -> None:
        file = root / self.path
        if isinstance(self.evaluation, Absence):
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.content)


def update(runs: Sequence[Results], root: Path, of_cpu: Sequence[Results] = ()) -> list[Path]:
    """Writes what is stale; returns its paths from the root."""
    drawings, simulated = _drawings(FIGURES, runs), _drawings(CPU_FIGURES, of_cpu)
    text, updated = _texts(runs, drawings, simulated, root)
    drawings += simulated
    changed = [drawing.path for drawing in drawings if drawing.is_stale(root)]
    try:
        for drawing in drawings:
            if drawing.path in changed:
                drawing.write(root)
        if updated != text:
            (root / README).write_text(updated, encoding="utf-8")
            changed.append(README)
    except OSError as error:
        raise InputError(
            f"cannot write '{error.filename}': {error.strerror}; make it writable"
        ) from error
    return changed


def stale(runs: Sequence[Results], root: Path, of_cpu: Sequence[Results] = ()) -> list[Path]:
    """Paths of what `update` would write."""
    drawings, simulated = _drawings(FIGURES, runs), _drawings(CPU_FIGURES, of_cpu)
    text, updated = _texts(runs, drawings, simulated, root)
    changed = [drawing.path for drawing in [*drawings, *simulated] if drawing.is_stale(root)]
    return [*changed, *([README] if updated != text else [])]


def _texts(
    runs: Sequence[Results],
    drawings: Sequence[Drawing],
    simulated: Sequence[Drawing],
    root: Path,
) -> tuple[str, str]:
    """The README as it is, and as the runs make it."""
    path = root / README
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read '{path}': {error}") from error
    updated = text
    for name, content in (
        ("figures", figures_block(drawings)),
        ("reduce-table", table_block(runs)),
        ("keyed-tables", keyed_block(runs)),
        ("scorecard", scorecard_block(runs)),
        ("simulated", figures_block(simulated)),
    ):
        updated = between_markers(updated, name, content, path)
    return text, updated


def between_markers(text: str, name: str, content: str, path: Path) -> str:
    """`text` with `content` between the markers of this name."""
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    if text.count(begin) != 1 or text.count(end) != 1 or end not in rest:
        raise InputError(f"'{path}' needs the lines {begin} and {end} once each, in this order")
    return f"{before}{begin}\n{content}\n{end}{after}"


def _shown(
    name: str, runs: Sequence[Results], conditions: Sequence[str] = ()
) -> Evaluation | Absence:
    experiment = EXPERIMENTS[name]
    try:
        kept = filter_points([run.points for run in runs], conditions)
    except InputError as error:
        return Absence(experiment, str(error))
    filtered = [
        dataclasses.replace(run, points=tuple(points))
        for run, points in zip(runs, kept, strict=True)
    ]
    return evaluate(experiment, filtered, published.load_all())


def _drawings(figures_of: Mapping[str, Sequence[str]], runs: Sequence[Results]) -> list[Drawing]:
    made = []
    for name, conditions in figures_of.items():
        shown = _shown(name, runs, conditions)
        drawn = io.BytesIO()
        if isinstance(shown, Evaluation):
            about = regenerate.about(shown, f"Redraw: {regenerate.shell_command('readme')}")
            figures.save(plots.draw(shown), drawn, "svg", about)
        made.append(Drawing(FOLDER / f"{name}.svg", shown, drawn.getvalue()))
    return made


def figures_block(drawings: Sequence[Drawing]) -> str:
    return "\n\n".join(map(_figure, drawings))


def _figure(drawing: Drawing) -> str:
    shown = drawing.evaluation
    if isinstance(shown, Absence):
        why = shown.reason
        if shown.experiment.config is not None:
            why = f"no committed result has points of `{shown.experiment.config}`"
        return markdown_text(f"{shown.experiment.title}: not drawn, because {why}.")
    title = shown.experiment.title
    facts = [panel.title for panel in shown.panels if panel.title] or [constants(shown)]
    said = [f"{title}.", f"{shown.experiment.source} ({'; '.join(facts)})."]
    said += [simulation_errors(shown)] if shown.experiment.simulated else []
    said += [f"Missing: {', '.join(shown.missing)}."] if shown.missing else []
    said += [f"From {run.provenance}." for run in shown.runs]
    image = f'<img src="{drawing.path}" alt="{title}" width="{WIDTH_PIXELS}">'
    return f"{image}\n\n{markdown_text(' '.join(said))}"


def table_block(runs: Sequence[Results]) -> str:
    """GB/s and shares of the ceiling: a variant by row, a size by column."""
    shown = _shown("reduce-gbs", runs, SUM)
    if isinstance(shown, Absence):
        return markdown_text(f"No table, because {shown.reason}.")
    (panel,) = shown.panels
    best = {x: min(_time_ns(series, x) for series in panel.series) for x in SIZES}
    rows = [
        [
            series.label,
            *(_cell(panel, series, x, best[x]) for x in SIZES),
        ]
        for series in sorted(panel.series, key=lambda series: _time_ns(series, SIZES[-1]))
    ]
    headings = ["variant", *(size_text(int(x)) for x in SIZES)]
    footer = (
        "Cells: GB/s by the median, with the share of the read ceiling measured at that size; bold "
        f"is the shortest time of a column. {shown.experiment.source}; (host) marks those timed "
        "until the result is on the host."
    )
    provenance = " ".join(f"From {run.provenance}." for run in shown.runs)
    return "\n\n".join(
        [
            f"**{panel.title}**",
            markdown_rows(headings, rows, (0,)),
            markdown_text(f"{footer}\n{provenance}"),
        ]
    )


def keyed_block(runs: Sequence[Results]) -> str:
    """Times by the number of buckets, a table for each operation."""
    said = []
    for experiment in KEYED:
        shown = _shown(experiment.id, runs)
        if isinstance(shown, Absence):
            said.append(markdown_text(f"{experiment.title}: no table, because {shown.reason}."))
            continue
        provenance = [f"From {run.provenance}." for run in shown.runs]
        said.append(f"**{experiment.title}**")
        for grid in grids(shown):
            said += [f"{grid.title}:"] if len(shown.panels) > 1 else []
            said.append(markdown_rows(grid.headings, grid.rows, range(grid.texts)))
        measured = f"Cells: {MEASURES[shown.measures[0]].heading} ({constants(shown)})."
        missing = [f"Missing: {', '.join(shown.missing)}."] if shown.missing else []
        about = [f"{experiment.source}.", measured, *missing, *provenance]
        said.append(markdown_text(" ".join(about)))
    return "\n\n".join(said)


def _time_ns(series: Series, x: str) -> float:
    """Not GB/s, which rise with the bytes that a variant moves beyond its input."""
    point = series.points.get(x)
    return point.time_ns() if point is not None and point.ranked else inf


def _cell(panel: Panel, series: Series, x: str, best_ns: float) -> str:
    outcome = series.outcome(x)
    value = panel.value(series, x, "gb_per_s")
    if outcome != "ok" or value is None:
        return "-" if outcome == "ok" else outcome or "-"
    share = panel.value(series, x, "ceiling_share")
    text = f"{value[1]:.4g}" + ("" if share is None else f" ({share[1]:.0%})")
    return f"**{text}**" if _time_ns(series, x) == best_ns else text


def scorecard_block(runs: Sequence[Results]) -> str:
    """How many claims of each publication have which verdict."""
    registry = load_registry()
    judgements = [claims.judge(claim, runs, registry) for claim in registry.claims]
    counted = Counter((j.claim["paper"], j.verdict) for j in judgements)
    papers = list(dict.fromkeys(str(j.claim["paper"]) for j in judgements))
    rows = [
        [paper, *(str(counted[paper, verdict] or "") for verdict in claims.Verdict)]
        for paper in papers
    ]
    sums = [sum(counted[paper, verdict] for paper in papers) for verdict in claims.Verdict]
    rows.append([f"all {len(judgements)}", *map(str, sums)])
    headings = ["claims of", *(verdict.value for verdict in claims.Verdict)]
    lacking = sum(bool(judgement.missing) for judgement in judgements)
    whole = hashlib.sha256("".join(run.sha256 for run in runs).encode()).hexdigest()
    said = [
        f"On {runs[0].device}, from the {len(runs)} committed results (of their checksums: sha256 "
        f"{whole[:12]})."
    ]
    if lacking:
        said.append(f"{lacking} claims lack points or counters; `make claims` says which.")
    said += [f"{run.shortfall}." for run in runs if run.shortfall]
    return "\n\n".join([markdown_rows(headings, rows, (0,)), markdown_text(" ".join(said))])
