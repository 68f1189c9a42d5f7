"""Command line: `python -m reduce_bench_report {figures,report,claims,readme} ...`.

An installed copy has the same as `reduce-bench-report`, but for `readme`, which needs a checkout.
"""

try:
    from reduce_bench_report import interrupts

    if __name__ == "__main__":
        interrupts.end_the_program()  # before the imports, which take the first second
except KeyboardInterrupt:
    raise SystemExit(130) from None  # EXIT_INTERRUPTED, which may not be imported yet

import argparse
import contextlib
import dataclasses
import difflib
import errno
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

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
        committed_by_device,
        committed_results,
        default_results,
        from_here,
        load_runs,
    )
    from reduce_bench_report.paths import COMMAND, IS_INSTALLED, ROOT
    from reduce_bench_report.select import FILTER_KEYS, filter_points
    from reduce_bench_report.texts import message_text
except ModuleNotFoundError as error:  # a traceback would not say how to install the packages
    print(
        f"reduce_bench_report: needs the Python packages of requirements.txt ({error}): make "
        "figures installs them, for .venv/bin/python.",
        file=sys.stderr,
    )
    sys.exit(EXIT_BAD_INPUT)

FIGURES = from_here(ROOT / "results" / "local" / "figures")
HOW_LISTED = "--missing lists them" if IS_INSTALLED else "--missing (make: MISSING=1) lists them"
DEFAULT_RESULTS = "default: the newest in results/local, else the committed ones"
ALL_FORMATS = list(figures.FORMATS)
EXIT_STALE = 1
IDS = textwrap.fill(f"Ids: {', '.join(EXPERIMENTS)}", 100, break_on_hyphens=False)


class _UnknownIdError(InputError):
    """An id of a table or figure that there is not; those that there are follow the message."""


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        try:
            options = _parser().parse_args(arguments)
            code = int(options.run(options))
        except SystemExit as ended:  # of argparse: help, or bad usage
            code = int(ended.code or 0)
        _flush_output()
        return code
    except _UnknownIdError as error:
        _complain(f"{error}.", below=IDS)
    except InputError as error:
        _complain(f"{error}.")
    except OSError as error:
        if error.filename is not None:
            raise
        _complain(f"cannot write to standard output: {error.strerror}; check where it goes.")
        _discard(sys.stdout)
    return EXIT_BAD_INPUT


def _flush_output() -> None:
    if sys.stdout is None:  # it was closed before the start
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sys.stdout.flush()


def _complain(sentence: str, below: str | None = None) -> None:
    """In one line; below it may stand a list to choose from."""
    try:
        _say(message_text(f"reduce_bench_report: {sentence}"))
        if below is not None:
            _say(below)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO | None) -> None:
    """Lets what a stream still holds go nowhere: the interpreter would fail to write it at its end,
    with a traceback and an exit code of its own."""
    if stream is None:
        return
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """As of any parser, but what cannot be written is an error."""
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; --help shows what is allowed")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=" ".join(COMMAND), description=sys.modules[__package__].__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser(
        "figures",
        help="regenerate the publications' tables and figures, and draw the sweeps over n",
        epilog=IDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        default=FIGURES,
        metavar="DIR",
        help="(default: results/local/figures)",
    )
    command.add_argument(
        "--format",
        type=_formats,
        default=ALL_FORMATS,
        metavar="FORMAT[,FORMAT]",
        help=f"any of {', '.join(figures.FORMATS)} (default: all)",
    )
    _add_missing(command, "tables and figures")
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
    _add_missing(command, "tables, figures and claims")
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
    _add_missing(command, "claims")
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


def _add_missing(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument(
        "--missing", action="store_true", help=f"list the {what} that lack points, and what to run"
    )


def _formats(text: str) -> list[str]:
    formats = text.split(",")
    if not set(formats) <= set(figures.FORMATS):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of {', '.join(figures.FORMATS)}")
    return formats


def _ids(text: str) -> list[str]:
    ids = [each.strip() for each in text.split(",") if each.strip()]
    for each in ids:
        if each not in EXPERIMENTS:
            near = difflib.get_close_matches(each, EXPERIMENTS, 1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise _UnknownIdError(
                f"--only: there is no '{_excerpt(each)}'{hint}; name ids of this list"
            )
    if not ids:
        raise _UnknownIdError("--only: it names no id; name ids of this list")
    return ids


def _excerpt(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _runs(options: argparse.Namespace) -> list[Results]:
    """The runs named, or the default ones; says of each whether it was interrupted."""
    paths = options.results
    if not paths:
        paths = default_results()
        many = f"the {len(paths)} files of {os.path.commonpath(paths)}"
        _say(f"No results are named; taking {paths[0] if len(paths) == 1 else many}.")
    runs = load_runs(paths)
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
    # of what is named, all is asked for
    listed = options.missing or bool(options.only)
    _say_missing_figures(evaluations, absences, listed=listed)
    if not evaluations:
        raise InputError("nothing was drawn, for want of points")
    given = [word for condition in options.where for word in ("--where", condition)]
    given += ["--output", str(options.output)] if options.output != FIGURES else []
    given += ["--format", ",".join(options.format)] if options.format != ALL_FORMATS else []
    written = regenerate.save_all(evaluations, options.output, options.format, given)
    for path in written:
        print(path)
    return 0


def _say_missing_figures(
    evaluations: Sequence[Evaluation], absences: Sequence[Absence], *, listed: bool
) -> None:
    _say_missing(
        regenerate.missing_lines([*evaluations, *absences]),
        len(evaluations) + len(absences),
        f"tables and figures, {len(absences)} of which are not drawn",
        listed=listed,
    )


def _say_missing_claims(judgements: Sequence[claims.Judgement], *, listed: bool) -> None:
    _say_missing(scorecard.missing_lines(judgements), len(judgements), "claims", listed=listed)


def _say_missing(lines: Sequence[str], total: int, what: str, *, listed: bool) -> None:
    """The lines, or how many of `total` they are and how to see them."""
    if listed:
        for line in lines:
            _say(line)
    elif lines:
        _say(f"Points are missing of {len(lines)} of {total} {what}; {HOW_LISTED}.")


def _say(line: str) -> None:
    """On standard error; nowhere where that was closed before the start."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


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
    evaluations, absences = regenerate.evaluate_all(runs)
    drawn = report.regenerated(evaluations)
    registry = load_registry()
    judgements = claims.judge_all(runs, registry)
    _say_missing_figures(evaluations, absences, listed=options.missing)
    _say_missing_claims(judgements, listed=options.missing)
    text = report.page(
        runs,
        known,
        drawn,
        absent=regenerate.missing_lines(absences),
        no_variants=no_variants,
        scorecard=scorecard.document(judgements, runs, registry),
    )
    _write(options.output, text)
    print(options.output)
    return 0


def _claims(options: argparse.Namespace) -> int:
    runs = _runs(options)
    registry = load_registry()
    judgements = claims.judge_all(runs, registry)
    _say_missing_claims(judgements, listed=options.missing)
    print(scorecard.text(judgements, registry), end="")
    if options.output is not None:
        try:
            options.output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot write to '{options.output}': {error.strerror}; give a folder that can be "
                "written with -o"
            ) from error
        document = scorecard.document(judgements, runs, registry)
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
    others = [
        load_runs(files) for files in committed_by_device().values() if files != committed_results()
    ]
    generated = readme.Generated.of(ROOT, runs, of_cpu, others)
    stale = generated.stale() if options.check else generated.update()
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
