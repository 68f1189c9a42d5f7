"""Command line: `python3 -m reduce_bench_report {figures,table,report,simulation,claims} ...`."""

import argparse
import dataclasses
import difflib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from reduce_bench_report import claims, figures, regenerate, scorecard, simulation, tables, variants
from reduce_bench_report.claim_registry import load_registry
from reduce_bench_report.evaluate import Absence, Evaluation
from reduce_bench_report.experiments import EXPERIMENTS
from reduce_bench_report.loader import InputError, Point, Results, default_results, load, load_runs
from reduce_bench_report.select import FILTER_KEYS, Panel, filter_points, panels

LEAST_SIZES = 3  # that make a line over n
DEFAULT_RESULTS = "default: the newest in results/local, else the committed ones"
EXIT_STALE = 1
EXIT_BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except InputError as error:
        print(f"reduce_bench_report: {error}.", file=sys.stderr)
        return EXIT_BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m reduce_bench_report", description=sys.modules[__package__].__doc__
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    one_run = argparse.ArgumentParser(add_help=False)
    one_run.add_argument("results", type=Path, metavar="RESULTS", help="a results file")

    selection = argparse.ArgumentParser(add_help=False)
    selection.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE[,VALUE]",
        help=f"keep the points that match; KEY is one of {', '.join(FILTER_KEYS)}; repeatable",
    )
    selection.add_argument(
        "--represent",
        type=lambda text: text.split(","),
        default=[],
        metavar="ID[,ID]",
        help="variants to show for their family instead of its fastest",
    )

    command = commands.add_parser(
        "figures",
        parents=[selection],
        help="regenerate the tables and figures of the publications, and draw the sweeps over n",
    )
    command.add_argument(
        "--results",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"results of one device ({DEFAULT_RESULTS})",
    )
    command.add_argument(
        "--only",
        type=_ids,
        action="extend",
        default=[],
        metavar="ID[,ID]",
        help=f"{', '.join(figures.FIGURES)}, or experiments such as jradi-T1 (default: all)",
    )
    command.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR")
    command.add_argument(
        "--format",
        type=_formats,
        default=list(figures.FORMATS),
        metavar="FORMAT[,FORMAT]",
        help=f"any of {', '.join(figures.FORMATS)} (default: all)",
    )
    command.set_defaults(run=_figures)

    command = commands.add_parser(
        "table", parents=[one_run, selection], help="print a Markdown table"
    )
    command.add_argument(
        "--n", type=_sizes, metavar="N[,N]", help="columns, such as 1000000,2^24 (default: spread)"
    )
    command.add_argument(
        "--readme", type=Path, metavar="FILE", help="put it between this file's markers"
    )
    command.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit 1 if the table in --readme is not this one",
    )
    command.set_defaults(run=_table)

    command = commands.add_parser("report", help="write one HTML page that opens offline")
    command.add_argument(
        "results",
        type=Path,
        nargs="*",
        metavar="RESULTS",
        help=f"results files of one device ({DEFAULT_RESULTS})",
    )
    command.add_argument("-o", "--output", type=Path, default=Path("report.html"), metavar="FILE")
    command.add_argument(
        "--variants",
        type=Path,
        metavar="FILE",
        help="output of `reduce-bench list --json` (default: of the driver in build/bin)",
    )
    command.set_defaults(run=_report)

    command = commands.add_parser(
        "simulation", parents=[one_run], help="draw what cache-sim predicted beside the measured"
    )
    command.add_argument(
        "simulations",
        type=Path,
        nargs="+",
        metavar="SIMULATION",
        help="output of `cache-sim simulate` for a point of RESULTS",
    )
    command.add_argument(
        "-o", "--output", type=Path, default=Path("simulation.svg"), metavar="FILE"
    )
    command.set_defaults(run=_simulation)

    command = commands.add_parser("claims", help="put the published claims to the test")
    command.add_argument(
        "--results",
        type=Path,
        nargs="+",
        metavar="FILE",
        help=f"results of one device ({DEFAULT_RESULTS})",
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="write claims.md and claims.json there too"
    )
    command.set_defaults(run=_claims)
    return parser


def _formats(text: str) -> list[str]:
    formats = text.split(",")
    if not set(formats) <= set(figures.FORMATS):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of {', '.join(figures.FORMATS)}")
    return formats


def _ids(text: str) -> list[str]:
    ids = text.split(",")
    for each in ids:
        if each not in (*figures.FIGURES, *EXPERIMENTS):
            near = difflib.get_close_matches(each, [*figures.FIGURES, *EXPERIMENTS], 1)
            hint = f"; the nearest is '{near[0]}'" if near else ""
            raise argparse.ArgumentTypeError(f"there is no figure or table '{each}'{hint}")
    return ids


def _sizes(text: str) -> list[int]:
    try:
        return [
            2 ** int(part.removeprefix("2^")) if part.startswith("2^") else int(part)
            for part in text.split(",")
        ]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list such as 1000,2^24") from error


def _selected(options: argparse.Namespace) -> tuple[Results, list[Panel]]:
    results = load(options.results)
    _require_points([results])
    points = filter_points(results.points, options.where)
    _require_variants(points, options.represent)
    return results, panels(points, options.represent)


def _runs(options: argparse.Namespace) -> list[Results]:
    """Those named, or the default; an interrupted one is told."""
    runs = load_runs(options.results or default_results())
    _require_points(runs)
    for run in runs:
        if run.shortfall:
            _say(f"{run.shortfall}.")
    return runs


def _require_points(runs: Sequence[Results]) -> None:
    if not any(run.points for run in runs):
        names = ", ".join(f"'{run.path}'" for run in runs)
        raise InputError(f"results file {names} has no points; run a configuration")


def _require_variants(points: Iterable[Point], names: Sequence[str]) -> None:
    present = {point.variant for point in points}
    for name in names:
        if name not in present:
            near = difflib.get_close_matches(name, sorted(present), 1)
            hint = f"; the nearest is '{near[0]}'" if near else ""
            raise InputError(f"--represent {name}: no point is of this variant{hint}")


def _figures(options: argparse.Namespace) -> int:
    runs = _runs(options)
    ids = options.only or [*figures.FIGURES, *EXPERIMENTS]
    kept = [
        dataclasses.replace(run, points=tuple(filter_points(run.points, options.where)))
        if options.where
        else run
        for run in runs
    ]
    _require_variants((point for run in kept for point in run.points), options.represent)
    written = _sweeps([name for name in ids if name in figures.FIGURES], kept, options)
    written += _experiments([name for name in ids if name in EXPERIMENTS], kept, options)
    for path in written:
        print(path)
    if not written:
        raise InputError("nothing was drawn, for the reasons above")
    return 0


def _sweeps(
    names: Sequence[str], runs: Sequence[Results], options: argparse.Namespace
) -> list[Path]:
    """Drawn of the run that has most lines over n: points of several runs make no line."""
    shown = [
        (
            run,
            [
                panel
                for panel in panels(run.points, options.represent)
                if len(panel.sizes) >= LEAST_SIZES
            ],
        )
        for run in runs
    ]
    run, swept = max(shown, key=lambda pair: sum(len(panel.lines) for panel in pair[1]))
    if not names:
        return []
    if not swept:
        _say(f"{', '.join(names)}: not drawn: no variant has points at {LEAST_SIZES} or more n")
        return []
    command = regenerate.redraw_command(
        [run.path], options.only and names, options.where, options.represent
    )
    return figures.save_all(swept, run, options.output, options.format, command, names)


def _experiments(
    ids: Sequence[str], runs: Sequence[Results], options: argparse.Namespace
) -> list[Path]:
    if not ids:
        return []
    evaluations, absences = regenerate.evaluate_all(runs, ids)
    shown: list[Evaluation | Absence] = [*evaluations, *absences]
    for each in shown:
        line = regenerate.missing_line(each)
        if line:
            _say(line)
    commands = [
        regenerate.redraw_command_of(each, options.where, options.represent) for each in evaluations
    ]
    return regenerate.save_all(evaluations, options.output, options.format, commands)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _table(options: argparse.Namespace) -> int:
    if options.check and options.readme is None:
        raise InputError("--check needs --readme FILE, the file whose table is checked")
    results, shown = _selected(options)
    table = tables.markdown(shown, results, options.n)
    if options.readme is None:
        print(table, end="")
        return 0
    try:
        text = options.readme.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read '{options.readme}': {error}") from error
    updated = tables.with_table(text, table, options.readme)
    if not options.check:
        _write(options.readme, updated)
        return 0
    if updated != text:
        print(
            f"reduce_bench_report: the table in '{options.readme}' is not the one that "
            f"'{options.results}' gives; run the same command without --check.",
            file=sys.stderr,
        )
        return EXIT_STALE
    return 0


def _report(options: argparse.Namespace) -> int:
    try:  # here, as the other commands do without the packages of the page
        from reduce_bench_report import report
    except ImportError as error:
        raise InputError(
            f"the page needs the Python packages of requirements.txt ({error}); make report "
            "installs them"
        ) from error
    runs = _runs(options)
    known: variants.Variants = {}
    no_variants = None
    try:
        known = variants.from_file(options.variants) if options.variants else variants.from_driver()
    except InputError as error:
        if options.variants:
            raise
        no_variants = str(error)
    drawn, absent = report.regenerated(runs)
    registry = load_registry()
    judgements = [claims.judge(claim, runs, registry) for claim in registry.claims]
    text = report.page(
        runs,
        known,
        drawn,
        absent=absent,
        no_variants=no_variants,
        scorecard=scorecard.document(judgements, runs),
    )
    _write(options.output, text)
    print(options.output)
    return 0


def _simulation(options: argparse.Namespace) -> int:
    for line in simulation.save(load(options.results), options.simulations, options.output):
        print(line)
    print(options.output)
    return 0


def _claims(options: argparse.Namespace) -> int:
    runs = _runs(options)
    registry = load_registry()
    judgements = [claims.judge(claim, runs, registry) for claim in registry.claims]
    print(scorecard.text(judgements), end="")
    if options.output is not None:
        try:
            options.output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot write to '{options.output}': {error.strerror}; give a folder that can be "
                "written with -o"
            ) from error
        document = scorecard.document(judgements, runs)
        _write(options.output / "claims.md", scorecard.markdown(judgements, runs, registry))
        _write(
            options.output / "claims.json",
            json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n",
        )
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write '{path}': {error.strerror}; give a file that can be written"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
