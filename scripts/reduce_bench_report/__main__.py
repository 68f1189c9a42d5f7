"""Command line: `python -m reduce_bench_report {figures,report,claims,readme} ...`.

An installed copy has the same as `reduce-bench-report`, but for `readme`, which needs a checkout.
"""

import argparse
import dataclasses
import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

EXIT_BAD_INPUT = 2

try:
    from reduce_bench_report import (
        claims,
        figures,
        readme,
        regenerate,
        scorecard,
        variants,
    )
    from reduce_bench_report.claim_registry import load_registry
    from reduce_bench_report.evaluate import Absence, Evaluation
    from reduce_bench_report.experiments import EXPERIMENTS
    from reduce_bench_report.loader import (
        CPU_RESULTS,
        InputError,
        Results,
        committed_results,
        default_results,
        load_runs,
    )
    from reduce_bench_report.paths import COMMAND, IS_INSTALLED, ROOT
    from reduce_bench_report.select import FILTER_KEYS, filter_points
except ModuleNotFoundError as error:  # a traceback would not say how to install the packages
    print(
        f"reduce_bench_report: needs the Python packages of requirements.txt ({error}): make "
        "figures installs them, for .venv/bin/python.",
        file=sys.stderr,
    )
    sys.exit(EXIT_BAD_INPUT)

DEFAULT_RESULTS = "default: the newest in results/local, else the committed ones"
ALL_FORMATS = list(figures.FORMATS)
EXIT_STALE = 1


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except InputError as error:
        print(f"reduce_bench_report: {error}.", file=sys.stderr)
        return EXIT_BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=" ".join(COMMAND), description=sys.modules[__package__].__doc__
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser(
        "figures",
        help="regenerate the publications' tables and figures, and draw the sweeps over n",
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
        help="such as reduce-share, jradi-T1 (default: all)",
    )
    command.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE[,VALUE]",
        help=f"keep the points that match; KEY is one of {', '.join(FILTER_KEYS)}; repeatable",
    )
    command.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR")
    command.add_argument(
        "--format",
        type=_formats,
        default=ALL_FORMATS,
        metavar="FORMAT[,FORMAT]",
        help=f"any of {', '.join(figures.FORMATS)} (default: all)",
    )
    command.set_defaults(run=_figures)

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

    command = commands.add_parser("claims", help="test the published claims against results")
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

    if not IS_INSTALLED:  # only a checkout has the README and the committed results
        command = commands.add_parser(
            "readme",
            help="write the generated parts of README.md and docs/ from the committed results",
        )
        command.add_argument(
            "--check",
            action="store_true",
            help="write nothing; exit 1 where they are not those of the committed results",
        )
        command.set_defaults(run=_readme)
    return parser


def _formats(text: str) -> list[str]:
    formats = text.split(",")
    if not set(formats) <= set(figures.FORMATS):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of {', '.join(figures.FORMATS)}")
    return formats


def _ids(text: str) -> list[str]:
    ids = text.split(",")
    for each in ids:
        if each not in EXPERIMENTS:
            near = difflib.get_close_matches(each, EXPERIMENTS, 1)
            hint = f"; the nearest is '{near[0]}'" if near else ""
            raise argparse.ArgumentTypeError(f"there is no figure or table '{each}'{hint}")
    return ids


def _runs(options: argparse.Namespace) -> list[Results]:
    """The runs named, or the default ones; says of each whether it was interrupted."""
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


def _figures(options: argparse.Namespace) -> int:
    runs = _runs(options)
    kept = filter_points([run.points for run in runs], options.where)
    filtered = [
        dataclasses.replace(run, points=tuple(points))
        for run, points in zip(runs, kept, strict=True)
    ]
    evaluations, absences = regenerate.evaluate_all(filtered, options.only or EXPERIMENTS)
    shown: list[Evaluation | Absence] = [*evaluations, *absences]
    for each in shown:
        line = regenerate.missing_line(each)
        if line:
            _say(line)
    if not evaluations:
        raise InputError("nothing was drawn, for the reasons above")
    given = [word for condition in options.where for word in ("--where", condition)]
    given += ["--output", str(options.output)] if options.output != Path() else []
    given += ["--format", ",".join(options.format)] if options.format != ALL_FORMATS else []
    written = regenerate.save_all(evaluations, options.output, options.format, given)
    for path in written:
        print(path)
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr)


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


def _readme(options: argparse.Namespace) -> int:
    runs = load_runs(committed_results())
    _require_points(runs)
    of_cpu = load_runs(committed_results(under=CPU_RESULTS))
    bring = readme.stale if options.check else readme.update
    stale = bring(runs, ROOT, of_cpu)
    for path in stale:
        print(path)
    if options.check and stale:
        _say("reduce_bench_report: these are not of the committed results; run make readme.")
        return EXIT_STALE
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
