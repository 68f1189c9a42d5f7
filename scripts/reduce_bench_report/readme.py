"""What README.md and docs/*.md show of the committed results.

A page names each generated part between two comments, `<!-- begin: NAME -->` and
`<!-- end: NAME -->`; BLOCKS says which page has which part, and what writes it.
"""

import contextlib
import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from reduce_bench_report import (
    claims,
    figures,
    files,
    plots,
    published,
    recommend,
    regenerate,
    rounds,
    scorecard,
    side_by_side,
    traffic,
)
from reduce_bench_report.claim_registry import load_registry
from reduce_bench_report.evaluate import (
    Absence,
    Evaluation,
    Panel,
    Series,
    evaluate,
)
from reduce_bench_report.experiments import EXPERIMENTS, FAMILY_S_FORM, KEYED
from reduce_bench_report.grids import (
    constants,
    grids,
    markdown_rows,
    markdown_text,
    measured_text,
    simulation_errors,
)
from reduce_bench_report.loader import Device, InputError, Point, Results, with_tuning
from reduce_bench_report.measures import MEASURES
from reduce_bench_report.points import Measured
from reduce_bench_report.select import filter_points
from reduce_bench_report.texts import number_text, size_text

README = Path("README.md")
COURSE = Path("docs") / "course.md"
RESULTS = Path("docs") / "results.md"
ROUNDS = Path("docs") / "rounds.md"
SIMULATOR = Path("docs") / "simulator.md"
KERNELS = Path("docs") / "kernels"
PEERS = KERNELS / "peers.md"
COUNTED = Path("docs") / "counted.md"
OF_LABELS = ("labels", "scan")  # the axes, beside the buckets, that tell problems apart
PLUGINS = Path("docs") / "plugins.md"
FOLDER = Path("docs") / "figures"
SUM = ("backend=cuda", "type=i32", "op=sum", "distribution=uniform", "mode=cold")
FIGURES: Mapping[str, Sequence[str]] = {
    "reduce-share": SUM,
    "multireduce-time": (),
    "multiscan-time": (),
    "harris-why": (),
    "roofline": (),
    "energy": (),
    "devices-reduce": (),
    "devices-predicted": (),
    "tables-predicted": (),
    "frameworks-time": (),
    "frameworks-multireduce": (),
    "frameworks-histogram": (),
}
ONE_CARD = "fewer than two cards have results of it"
# Of several cards, without times: those that show what most people want computed.
SIDE_BY_SIDE = ("reduce-share", "multireduce-time", "multiscan-time")
CPU_FIGURES: Mapping[str, Sequence[str]] = {
    "eilers-F2.8": ()
}  # of a processor's results: no figure mixes machines
SIZES = [str(2**bits) for bits in (10, 13, 16, 19, 22, 25, 28, 30)]
EXAMPLE_SIZES = [str(2**bits) for bits in (10, 19, 28)]
EXAMPLE_VARIANTS = ("onepass/reduce", "cub/reduce", "cub/reduce-not-guaranteed")
CHECKSUM_DIGITS = 12  # as figures and tables state them
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
            files.remove(file)
            return
        files.write(file, self.content)


@dataclasses.dataclass(frozen=True)
class Committed:
    """The committed results, and the figures drawn from them."""

    root: Path  # of the checkout
    devices: Sequence[Device]  # the card with the highest peak bandwidth first
    drawings: Mapping[str, Drawing]  # by experiment
    side_by_side: Sequence[Drawing]

    @classmethod
    def of(cls, root: Path, devices: Sequence[Device]) -> "Committed":
        of_cpus = [device.runs for device in devices if not device.has_card] or [[]]
        of_devices = [device.runs for device in devices] or [[]]
        drawings = [*_drawings(FIGURES, of_devices), *_drawings(CPU_FIGURES, of_cpus)]
        by_id = {drawing.evaluation.experiment.id: drawing for drawing in drawings}
        return cls(root, devices, by_id, _drawings_side_by_side(devices))

    @property
    def runs(self) -> Sequence[Results]:
        """Those of the first card, which pages show where no card is named."""
        return self.devices[0].runs

    @property
    def of_other_cards(self) -> Sequence[Device]:
        return [device for device in self.devices[1:] if device.has_card]

    @property
    def every_run(self) -> list[Results]:
        return [run for device in self.devices for run in device.rounds]


@dataclasses.dataclass(frozen=True)
class Generated:
    """What the results make of the figures and pages of a checkout."""

    root: Path  # of the checkout
    drawings: Sequence[Drawing]
    contents: Mapping[str, str]  # of each block

    @classmethod
    def of(cls, root: Path, devices: Sequence[Device]) -> "Generated":
        committed = Committed.of(root, devices)
        contents = {name: block.content(committed, block.page) for name, block in BLOCKS.items()}
        drawings = [*committed.drawings.values(), *committed.side_by_side]
        return cls(root, drawings, contents)

    def update(self) -> list[Path]:
        """Writes what is stale; returns its paths from the root."""
        pages = self._pages()
        changed = []
        for drawing in self.drawings:
            if drawing.is_stale(self.root):
                drawing.write(self.root)
                changed.append(drawing.path)
        for page, (text, updated) in pages.items():
            if updated != text:
                files.write(self.root / page, updated)
                changed.append(page)
        return changed

    def stale(self) -> list[Path]:
        """Paths of what `update` would write."""
        drawings = [each.path for each in self.drawings if each.is_stale(self.root)]
        pages = self._pages().items()
        return [*drawings, *(page for page, (text, updated) in pages if updated != text)]

    def _pages(self) -> dict[Path, tuple[str, str]]:
        """Each page that has generated parts: as it is, and as the results make it."""
        pages: dict[Path, tuple[str, str]] = {}
        for name, content in self.contents.items():
            page = BLOCKS[name].page
            if page not in pages:
                text = _read(self.root / page)
                pages[page] = text, text
            text, updated = pages[page]
            pages[page] = text, between_markers(updated, name, content, self.root / page)
        return pages


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read '{path}': {error}") from error


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
        kept = _kept(runs, conditions)
    except InputError as error:
        return Absence(experiment, str(error))
    return evaluate(experiment, kept, published.load_all())


def _kept(runs: Sequence[Results], conditions: Sequence[str]) -> list[Results]:
    kept = filter_points([run.points for run in runs], conditions)
    return [
        dataclasses.replace(run, points=tuple(points))
        for run, points in zip(runs, kept, strict=True)
    ]


def _drawings_side_by_side(devices: Sequence[Device]) -> list[Drawing]:
    made = []
    for name in SIDE_BY_SIDE:
        kept = []
        for device in devices:
            with contextlib.suppress(InputError):  # it has no such points
                kept.append(Device(_kept(device.runs, FIGURES.get(name, ()))))
        shown = side_by_side.evaluate_devices(
            EXPERIMENTS[name], kept, published.load_all()
        ) or Absence(EXPERIMENTS[name], ONE_CARD)
        made.append(_drawing(f"{name}-of-cards", shown))
    return made


def _drawings(
    figures_of: Mapping[str, Sequence[str]], of_devices: Sequence[Sequence[Results]]
) -> list[Drawing]:
    """Each of the device that lacks least of it, the first of several: not all machines have
    several GPUs."""
    drawings = []
    for name, conditions in figures_of.items():
        shown = [_shown(name, runs, conditions) for runs in of_devices]
        drawn = [each for each in shown if isinstance(each, Evaluation)]
        absent = [each for each in shown if isinstance(each, Absence)]
        # Where none can be drawn, one that was measured says why.
        drawings.append(
            _drawing(
                name,
                min(drawn, key=lambda each: len(each.missing))
                if drawn
                else max(absent, key=lambda each: each.is_measured),
            )
        )
    return drawings


def _drawing(name: str, shown: Evaluation | Absence) -> Drawing:
    drawn = b""
    if isinstance(shown, Evaluation):
        about = regenerate.about(shown, f"Redraw: {regenerate.shell_command('readme')}")
        drawn = figures.drawn(plots.draw(shown), "svg", about)
    return Drawing(FOLDER / f"{name}.svg", shown, drawn)


def figures_block(drawings: Sequence[Drawing], runs: Sequence[Results], page: Path) -> str:
    return "\n\n".join(_figure(drawing, runs, page) for drawing in drawings)


def _figure(drawing: Drawing, runs: Sequence[Results], page: Path) -> str:
    shown = drawing.evaluation
    if isinstance(shown, Absence):
        why = shown.reason
        if shown.experiment.config and why != ONE_CARD and not shown.is_measured:
            why = f"no committed result has points of `{shown.experiment.config}`"
        return markdown_text(f"{shown.experiment.title}: not drawn, because {why}.")
    title = shown.experiment.title
    said = [f"{title}.", f"{shown.source}.", measured_text(shown)]
    said += [simulation_errors(shown)] if shown.experiment.simulated else []
    said += [_missing_and_origin(shown, runs)]
    path = Path(os.path.relpath(drawing.path, page.parent)).as_posix()
    image = f'<img src="{path}" alt="{title}" width="{WIDTH_PIXELS}">'
    return f"{image}\n\n{markdown_text(' '.join(said))}"


def _missing_and_origin(shown: Evaluation, runs: Sequence[Results]) -> str:
    missing = f"Missing: {', '.join(shown.missing)}. " if shown.missing else ""
    used = {run.path for run in shown.runs}
    return f"{missing}{origin([run for run in runs if run.path in used])}."


def origin(runs: Sequence[Results]) -> str:
    """Device, dates and revisions: what a caption says; `provenance_block` has the checksums."""
    days = sorted({str(run.environment["date_utc"])[:10] for run in runs})
    revisions = list(dict.fromkeys(run.revision for run in runs))
    interrupted = sorted({run.name for run in runs if run.shortfall})
    return ", ".join(
        [
            *dict.fromkeys(run.device for run in runs),
            days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
            f"revision{'s' if len(revisions) > 1 else ''} {', '.join(revisions)}",
            *([f"interrupted: {', '.join(interrupted)}"] if interrupted else []),
        ]
    )


def example_block(runs: Sequence[Results]) -> str:
    """A few cells of the table that a run ends with, as the driver prints them."""
    shown = _shown("reduce-gbs", runs, SUM)
    if isinstance(shown, Absence):
        return markdown_text(f"No example, because {shown.reason}.")
    (panel,) = shown.panels
    rows = [
        ["variant", *(size_text(int(x)) for x in EXAMPLE_SIZES)],
        *(
            [series.label, *(_cell(panel, series, x) for x in EXAMPLE_SIZES)]
            for variant in EXAMPLE_VARIANTS
            for series in panel.series
            if series.facts["variant"] == variant
        ),
    ]
    lines = [f"{row[0]:<28}" + "".join(f"{cell:>16}" for cell in row[1:]) for row in rows]
    heading = "sum of i32 (uniform values) on cuda: GB/s (share of this run's read ceiling)"
    return "\n".join(["```", heading, *lines, "```", "", _missing_and_origin(shown, runs)])


@dataclasses.dataclass(frozen=True)
class Problem:
    """What somebody wants computed: values, or `n` values spread over `buckets` by labels."""

    what: str
    operation: str
    n: int
    type: str
    op: str = "sum"
    buckets: int | None = None
    labels: str = "uniform"

    def is_of(self, point: Point) -> bool:
        return (
            point.operation == self.operation
            and (point.n, point.type, point.op) == (self.n, self.type, self.op)
            and str(point.distribution) == "uniform"
            and (point.buckets, point.axis_text("labels"))
            == (self.buckets, "" if self.buckets is None else self.labels)
            and (point.backend, point.mode) == ("cuda", "cold")
            and point.axis_text("scan") in ("", "exclusive")
        )

    @property
    def size(self) -> str:
        return f"n = {size_text(self.n)}" + (
            "" if self.buckets is None else f", m = {size_text(self.buckets)}"
        )


KEYED_N = 1 << 26
PROBLEMS = (
    *(Problem("sum of i32", "reduce", 1 << bits, "i32") for bits in (10, 13, 20, 28)),
    Problem("sum of f64", "reduce", 1 << 28, "f64"),
    Problem("multireduce, sum of i32", "multireduce", KEYED_N, "i32", buckets=256),
    Problem("multireduce, sum of i32", "multireduce", KEYED_N, "i32", buckets=1 << 18),
    Problem("multiscan, sum of i32", "multiscan", KEYED_N, "i32", buckets=256),
    Problem("multiscan, sum of i32", "multiscan", KEYED_N, "i32", buckets=1 << 14),
    Problem("histogram of u8", "histogram", KEYED_N, "u8", "none", 256),
    Problem("histogram of u32", "histogram", KEYED_N, "u32", "none", 1 << 12),
    Problem(
        "reduce-by-key, sum of i32, runs of 16",
        "reduce-by-key",
        KEYED_N,
        "i32",
        buckets=1 << 10,
        labels="runs(length=16)",
    ),
)


def best_block(runs: Sequence[Results]) -> str:
    """For each problem the fastest variant and the fastest library."""
    rows = []
    used: list[Results] = []
    recommended = recommend.recommendations(recommend.one_run_each(runs))
    for problem in PROBLEMS:
        at = _of_problem(problem, recommended)
        if at is None or at.library is None or len({*map(_is_library, at.ranked)}) < 2:
            continue
        best, library = at.ranked[0], at.library
        used += [each.run for each in (best, library)]
        if at.absent:
            names = ", ".join(each.variant for each in at.absent)
            fastest = f"not all contenders were measured: {names} is missing"
            rows.append([problem.what, problem.size, fastest, *["-"] * 5])
            continue
        share = best.point.ceiling_share
        fastest = best.point.variant
        if at.is_tie:
            fastest += f" or {at.ranked[1].point.variant}"
        rows.append(
            [problem.what, problem.size, fastest, str(len(at.ranked)), _us(best.point),
             "-" if share is None else f"{share:.0%}", library.point.variant, _us(library.point)]
        )  # fmt: skip
    if not rows:
        return "No table, because no result has a library beside other variants."
    headings = [
        "problem", "size", "fastest", "of measured", "time, µs", "share of ceiling", "best library",
        "its time, µs",
    ]  # fmt: skip
    said = (
        "Each row: the fastest variant whose results were right (two where the noise leaves "
        "open which of them is faster), how many variants were measured, and the fastest library "
        "among them. Of a point that several runs measured, that run counts which measured the "
        "most variants beside it. n is the number of inputs, m that of buckets; labels are uniform "
        f"if nothing else is said. {origin(used)}."
    )
    return f"{markdown_rows(headings, rows, (0, 1, 2, 6))}\n\n{markdown_text(said)}"


def best_shares(
    devices: Sequence[Device],
) -> tuple[list[str], list[list[str]], list[Results]]:
    """Headings, rows and the runs that they are of: for each problem each card's fastest variant,
    with its share of the card's read ceiling and no time, since no time is compared with another
    card's."""
    used: list[Results] = []
    cards = [device for device in devices if device.has_card]
    found = [recommend.recommendations(recommend.one_run_each(card.runs)) for card in cards]
    rows = []
    for problem in PROBLEMS:
        best = [_of_problem(problem, recommended) for recommended in found]
        if any(best):
            rows.append([problem.what, problem.size, *map(_fastest_with_share, best)])
            used += [at.ranked[0].run for at in best if at]
    return ["problem", "size", *(card.name for card in cards)], rows, used


def _fastest_with_share(at: recommend.Recommendation | None) -> str:
    if at is None or at.absent:
        return "-"
    names = [each.point.variant for each in at.ranked[: 2 if at.is_tie else 1]]
    share = at.ranked[0].point.ceiling_share
    return " or ".join(names) + ("" if share is None else f" ({share:.0%})")


def best_shares_block(devices: Sequence[Device]) -> str:
    headings, rows, used = best_shares(devices)
    if not rows:
        return "No table, because no card has results of these problems."
    said = f"In brackets, the share of the card's own read ceiling. {origin(used)}."
    return f"{markdown_rows(headings, rows, range(len(headings)))}\n\n{markdown_text(said)}"


def _of_problem(
    problem: Problem,
    recommended: Mapping[recommend.Problem, Sequence[recommend.Recommendation]],
) -> recommend.Recommendation | None:
    """What was measured of the problem at its size; None where nothing was."""
    found = (
        at
        for sizes in recommended.values()
        for at in sizes
        if at.ranked and problem.is_of(at.ranked[0].point)
    )
    return next(found, None)


def _is_library(measured: Measured) -> bool:
    return measured.point.family in recommend.LIBRARIES


COURSE_VARIANTS = [f"harris/{number}" for number in range(8)]
COURSE_PROBLEM = Problem("sum of i32", "reduce", 1 << 28, "i32")


def course_block(runs: Sequence[Results]) -> str:
    """What each of Harris's kernels gains over the one before, of one run that has them all."""
    found = []
    for run in runs:
        of_run = {
            point.variant: point
            for point in run.points
            if point.ranked and point.variant in COURSE_VARIANTS and COURSE_PROBLEM.is_of(point)
        }
        if len(of_run) == len(COURSE_VARIANTS):
            found.append((str(run.environment["date_utc"]), run, of_run))
    if not found:
        return "No table, because no result has all of these variants."
    _, run, points = max(found, key=lambda each: each[0])
    rows = []
    for before, variant in zip([None, *COURSE_VARIANTS], COURSE_VARIANTS, strict=False):
        point = points[variant]
        gain = "-" if before is None else f"{points[before].time_ns() / point.time_ns():.2f}"
        share = "-" if point.ceiling_share is None else f"{point.ceiling_share:.0%}"
        rows.append([variant, str(point.raw["title"]), _us(point), gain, share])
    headings = ["kernel", "what is new", "time, µs", "times faster than before", "share of ceiling"]
    said = f"{COURSE_PROBLEM.what}, {COURSE_PROBLEM.size}. {origin([run])}."
    return f"{markdown_rows(headings, rows, (0, 1))}\n\n{markdown_text(said)}"


def _us(point: Point) -> str:
    return number_text(point.time_ns() / 1000)


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
            *(_marked(panel, series, x, best[x]) for x in SIZES),
        ]
        for series in sorted(panel.series, key=lambda series: _time_ns(series, SIZES[-1]))
    ]
    headings = ["variant", *(size_text(int(x)) for x in SIZES)]
    footer = (
        f"Each row is {FAMILY_S_FORM}. Cells: GB/s by the median, with the share of the read "
        "ceiling measured at that size; bold is the shortest time of a column. (host) marks "
        "variants timed until the result is on the host."
    )
    return "\n\n".join(
        [
            f"**{panel.title}**",
            markdown_rows(headings, rows, (0,)),
            markdown_text(f"{footer} {_missing_and_origin(shown, runs)}"),
        ]
    )


def tables_block(ids: Sequence[str], runs: Sequence[Results]) -> str:
    """Times by the number of buckets, a table for each experiment."""
    said = []
    for id in ids:
        shown = _shown(id, runs)
        if isinstance(shown, Absence):
            title = shown.experiment.title
            said.append(markdown_text(f"{title}: no table, because {shown.reason}."))
            continue
        said.append(f"**{shown.experiment.title}**")
        for grid in grids(shown):
            said += [f"{grid.title}:"] if len(shown.panels) > 1 else []
            said.append(markdown_rows(grid.headings, grid.rows, range(grid.texts)))
        measured = f"Cells: {MEASURES[shown.measures[0]].heading} ({constants(shown)})."
        about = [f"{shown.source}.", measured, _missing_and_origin(shown, runs)]
        said.append(markdown_text(" ".join(about)))
    return "\n\n".join(said)


def _time_ns(series: Series, x: str) -> float:
    """Not GB/s, which rise with the bytes that a variant moves beyond its input."""
    point = series.points.get(x)
    return point.time_ns() if point is not None and point.ranked else inf


def _marked(panel: Panel, series: Series, x: str, best_ns: float) -> str:
    text = _cell(panel, series, x)
    ranked = _time_ns(series, x) < inf
    return f"**{text}**" if ranked and _time_ns(series, x) == best_ns else text


def _cell(panel: Panel, series: Series, x: str) -> str:
    outcome = series.outcome(x)
    value = panel.value(series, x, "gb_per_s")
    if outcome != "ok" or value is None:
        return "-" if outcome == "ok" else outcome or "-"
    share = panel.value(series, x, "ceiling_share")
    return f"{value[1]:.4g}" + ("" if share is None else f" ({share[1]:.0%})")


def scorecard_block(devices: Sequence[Device]) -> str:
    """Which claims each device reproduces, and why it does not reproduce others."""
    registry = load_registry()
    judged = {device.name: claims.judge_all(device.rounds, registry) for device in devices}
    headings, rows = scorecard.counts_by_device(judged, registry)
    of_each, verdicts = scorecard.verdicts_by_device(judged)
    said = [f"On {name}: {scorecard.totals(each)}" for name, each in judged.items()]
    lacking = {name: sum(bool(j.missing) for j in each) for name, each in judged.items()}
    said += [
        f"{count} claim{'s lack' if count > 1 else ' lacks'} points or counters on {name}; "
        "`make claims MISSING=1` says which."
        for name, count in lacking.items()
        if count
    ]
    said += [f"{run.shortfall}." for each in devices for run in each.rounds if run.shortfall]
    return "\n\n".join(
        [
            markdown_rows(headings, rows, (0,)),
            markdown_text(" ".join(said)),
            markdown_text(scorecard.SIGNS_SAY),
            markdown_rows(of_each, verdicts, range(len(of_each))),
        ]
    )


def provenance_block(devices: Sequence[Device], root: Path) -> str:
    """What machine and revision each committed result is of, and its checksum."""
    rows = []
    devices = [with_tuning(device) for device in devices]
    for run in [run for device in devices for run in device.rounds]:
        gpu = run.environment["gpu"]
        file = Path(os.path.relpath(run.path.resolve(), root.resolve())).as_posix()
        driver = str(gpu["driver"] or "unknown") if gpu else "-"
        date = str(run.environment["date_utc"])
        revision = run.revision + (", interrupted" if run.shortfall else "")
        rows.append([file, run.device, driver, date, revision, run.sha256[:CHECKSUM_DIGITS]])
    headings = ["file", "device", "driver", "date", "revision", "sha256"]
    said = markdown_text(" ".join(map(_revisions_of, devices)))
    return f"{said}\n\n{markdown_rows(headings, rows, range(len(headings)))}"


def _revisions_of(device: Device) -> str:
    revisions = {run.revision for run in device.rounds}
    files = f"The {len(device.rounds)} files of {device.name} are of"
    return (
        f"{files} revision {revisions.pop()}."
        if len(revisions) == 1
        else (f"{files} {len(revisions)} revisions.")
    )


def rounds_block(devices: Sequence[Device], root: Path) -> str:
    """What lies between the two rounds of each device, and which points differ by more."""
    devices = [with_tuning(device) for device in devices]
    if not any(rounds.pairs(device.runs) for device in devices):
        return "No second round is committed."
    causes = rounds.load_causes(root / rounds.CAUSES)
    return "\n\n".join(
        _rounds_of(device, causes)
        if any(run.again for run in device.runs)
        else f"## {device.name}\n\nAll of its files lack a second round."
        for device in devices
    )


def _rounds_of(device: Device, causes: Sequence[Mapping[str, Any]]) -> str:
    pairs, floors = rounds.pairs(device.runs), rounds.floors(device.runs)
    counted = Counter(pair.kind for pair in pairs)
    found = rounds.differences(device, causes)
    counting = [each for each in found if each.counts]
    beyond = Counter(each.pair.kind for each in found)
    listed = Counter(each.pair.kind for each in counting)
    floor_rows = [
        [kind.title, *map(str, (counted[kind], _percent(floor), beyond[kind], listed[kind]))]
        for kind, floor in floors.items()
    ]
    unexplained = sum(each.cause == rounds.NOT_EXPLAINED for each in counting)
    changed = [
        f"{first.form}, {_problem_text(first)}: {first.outcome}, then "
        f"{again.outcome if again else 'not measured'}"
        for first, again in rounds.changed_outcomes(device.runs)
    ]
    said = [
        f"## {device.name}",
        markdown_rows(
            ["points", "times", "floor between runs", "beyond it", "by a change that counts"],
            floor_rows,
            (0,),
        ),
        markdown_text(
            f"{beyond.total()} of {len(pairs)} times differ by more than their floors, which one "
            f"in twenty is expected to do; {len(counting)} of them differ by a change that counts "
            f"as well, and {unexplained} of these are {rounds.NOT_EXPLAINED}. "
            f"{origin(device.rounds)}."
        ),
    ]
    if counting:
        said += [_differences(counting)]
    if others := [each for each in found if not each.counts]:
        summary = f"<summary>{len(others)} more, by a change that does not count</summary>"
        said += ["<details>", summary, _differences(others), "</details>"]
    if changed:
        count = f"{len(changed)} point{'s are' if len(changed) > 1 else ' is'} not alike"
        said += [markdown_text(f"{count} in both rounds: {'; '.join(changed)}.")]
    if lacking := [_place(run) for run in device.runs if run.again is None]:
        said += [markdown_text(f"Without a second round: {', '.join(lacking)}.")]
    return "\n\n".join(said)


def _differences(found: Sequence[rounds.Difference]) -> str:
    rows = [
        [
            each.pair.first.form,
            _problem_text(each.pair.first),
            each.pair.mode,
            *(_mode_us(point, each.pair.mode) for point in (each.pair.first, each.pair.again)),
            f"{each.pair.ratio:.2f}",
            _percent(each.floor),
            each.cause,
        ]
        for each in found
    ]
    headings = ["variant", "problem", "mode", "first, µs", "second, µs", "ratio", "floor", "cause"]
    return markdown_rows(headings, rows, (0, 1, 2, 7))


def _place(run: Results) -> str:
    """The file and the folder that it lies in."""
    return f"{run.path.parent.name}/{run.path.name}"


def _problem_text(point: Point) -> str:
    facts = [point.operation, point.type, *([] if point.op == "none" else [point.op])]
    labels = point.axis_text("labels")
    return ", ".join(
        [" ".join(facts), *([f"{labels} labels"] if labels else []), f"n = {point.size}"]
    )


def _mode_us(point: Point, mode: str) -> str:
    return number_text(point.timing[mode]["median_ns"] / 1000)


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.2g} %" if percent < 99.5 else f"{percent:.0f} %"


def counted_block(runs: Sequence[Results], only_off: bool = False) -> str:
    """Declared against counted bytes of each variant and problem, or of those that differ. Problems
    that differ in type, operator or n alone have one row: that whose bytes differ most."""
    compared = traffic.compared(runs)
    if not compared:
        return "No table, because no committed result has counters of inputs beyond L2."
    furthest: dict[object, traffic.Traffic] = {}
    for each in compared:
        point = each.point
        kind = (point.operation, point.variant, point.buckets, *map(point.axis_text, OF_LABELS))
        if kind not in furthest or each.deviation > furthest[kind].deviation:
            furthest[kind] = each
    rows = [
        [
            each.point.variant,
            _counted_problem(each.point),
            _megabytes(each.declared_read),
            _megabytes(each.read),
            _megabytes(each.declared_written),
            _megabytes(each.written),
            f"**{each.ratio:.2f}**" if each.is_off else f"{each.ratio:.2f}",
            _megabytes(each.l2),
        ]
        for each in furthest.values()
        if each.is_off or not only_off
    ]
    headings = [
        "variant", "problem", "read: declared, MB", "counted", "written: declared, MB", "counted",
        "counted over declared", "asked of L2, MB",
    ]  # fmt: skip
    off = sum(each.is_off for each in compared)
    used = list({id(each.run): each.run for each in compared}.values())
    said = (
        "Of several types and numbers of inputs, a row has those whose bytes differ most. "
        f"{off} of {len(compared)} points differ by more than {traffic.TOLERANCE:.0%}. Counted of "
        f"device memory; MB are 10^6 bytes. {origin(used)}."
    )
    return f"{markdown_rows(headings, rows, (0, 1))}\n\n{markdown_text(said)}"


def _counted_problem(point: Point) -> str:
    """What was computed, with the parameters that are not each variant's own."""
    sizes = f"n = {size_text(point.n)}" + (
        "" if point.buckets is None else f", m = {size_text(point.buckets)}"
    )
    labels = point.axis_text("labels")
    kind = [] if labels in ("", "uniform") else [f"{labels} labels"]
    scan = point.axis_text("scan")
    return ", ".join([point.operation, point.type, *kind, *([scan] if scan else []), sizes])


def _megabytes(byte_count: int) -> str:
    return f"{byte_count / 1e6:.1f}"


@dataclasses.dataclass(frozen=True)
class Block:
    """A generated part of a page."""

    page: Path  # from the root
    content: Callable[[Committed, Path], str]  # of the page, since links are relative to it


def _figures_of(*ids: str) -> Callable[[Committed, Path], str]:
    return lambda committed, page: figures_block(
        [committed.drawings[id] for id in ids], committed.every_run, page
    )


def _of_card(block: Callable[[Sequence[Results]], str]) -> Callable[[Committed, Path], str]:
    return lambda committed, page: block(committed.runs)


def _tables_of(*ids: str) -> Callable[[Committed, Path], str]:
    return lambda committed, page: tables_block(ids, committed.runs)


def _of_devices(block: Callable[[Sequence[Device]], str]) -> Callable[[Committed, Path], str]:
    return lambda committed, page: block(committed.devices)


def _side_by_side(committed: Committed, page: Path) -> str:
    return figures_block(committed.side_by_side, committed.every_run, page)


def _provenance(committed: Committed, page: Path) -> str:
    return provenance_block(committed.devices, committed.root)


def _rounds(committed: Committed, page: Path) -> str:
    return rounds_block(committed.devices, committed.root)


def _counted_elsewhere(committed: Committed, page: Path) -> str:
    tables = [counted_block(card.runs, only_off=True) for card in committed.of_other_cards]
    return "\n\n".join(tables) or "No other GPU's counts are committed."


BLOCKS: Mapping[str, Block] = {
    "figure": Block(README, _figures_of("reduce-share")),
    "example": Block(README, _of_card(example_block)),
    "best": Block(README, _of_card(best_block)),
    "course": Block(COURSE, _of_card(course_block)),
    "reduce-table": Block(RESULTS, _of_card(table_block)),
    "keyed-figures": Block(RESULTS, _figures_of("multireduce-time", "multiscan-time")),
    "keyed-tables": Block(RESULTS, _tables_of(*(each.id for each in KEYED))),
    "scorecard": Block(RESULTS, _of_devices(scorecard_block)),
    "counted": Block(COUNTED, _of_card(counted_block)),
    "counted-elsewhere": Block(COUNTED, _counted_elsewhere),
    "counted-figures": Block(COUNTED, _figures_of("harris-why", "roofline", "energy")),
    "side-by-side-figures": Block(RESULTS, _side_by_side),
    "side-by-side-best": Block(RESULTS, _of_devices(best_shares_block)),
    "rounds": Block(ROUNDS, _rounds),
    "provenance": Block(RESULTS, _provenance),
    "frameworks": Block(
        PLUGINS,
        _figures_of("frameworks-time", "frameworks-multireduce", "frameworks-histogram"),
    ),
    "devices-figures": Block(
        PEERS, _figures_of("devices-reduce", "devices-predicted", "tables-predicted")
    ),
    "simulated": Block(SIMULATOR, _figures_of("eilers-F2.8")),
    "partition-multireduce": Block(
        KERNELS / "partition-multireduce.md", _tables_of("partition-multireduce")
    ),
    "partition-multireduce-wide": Block(
        KERNELS / "partition-multireduce.md", _tables_of("partition-multireduce-wide")
    ),
    "partition-histogram": Block(
        KERNELS / "partition-histogram.md", _tables_of("partition-histogram")
    ),
}
