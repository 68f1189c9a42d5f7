"""Command line: `python3 -m reduce_bench_report {figures,table,report,claims} ...`."""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from reduce_bench_report import claims, figures, report, scorecard, tables
from reduce_bench_report.loader import InputError, Results, load
from reduce_bench_report.select import FILTER_KEYS, Panel, filter_points, panels

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

    selection = argparse.ArgumentParser(add_help=False)
    selection.add_argument("results", type=Path, metavar="RESULTS", help="a results file")
    selection.add_argument(
        "--only",
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

    command = commands.add_parser("figures", parents=[selection], help="draw the figures")
    command.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR")
    command.add_argument(
        "--format",
        type=_formats,
        default=list(figures.FORMATS),
        metavar="FORMAT[,FORMAT]",
        help=f"any of {', '.join(figures.FORMATS)} (default: all)",
    )
    command.set_defaults(run=_figures)

    command = commands.add_parser("table", parents=[selection], help="print a Markdown table")
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

    command = commands.add_parser("report", parents=[selection], help="write an HTML page")
    command.add_argument("-o", "--output", type=Path, default=Path("report.html"), metavar="FILE")
    command.set_defaults(run=_report)

    command = commands.add_parser("claims", help="put the published claims to the test")
    command.add_argument(
        "--results",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="results of one device (default: all in results/local, else the committed ones)",
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
    if not results.points:
        raise InputError(f"results file '{options.results}' has no points; run a configuration")
    return results, panels(filter_points(results.points, options.only), options.represent)


def _redraw_command(options: argparse.Namespace) -> str:
    words = ["python3", "-m", "reduce_bench_report", "figures", str(options.results)]
    words += [word for condition in options.only for word in ("--only", condition)]
    words += ["--represent", ",".join(options.represent)] if options.represent else []
    return "Redraw: PYTHONPATH=scripts " + shlex.join(words)


def _figures(options: argparse.Namespace) -> int:
    results, shown = _selected(options)
    for path in figures.save_all(
        shown, results, options.output, options.format, _redraw_command(options)
    ):
        print(path)
    return 0


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
    results, shown = _selected(options)
    _write(options.output, report.page(shown, results, _redraw_command(options)))
    print(options.output)
    return 0


def _claims(options: argparse.Namespace) -> int:
    runs = scorecard.load_one_device(options.results or scorecard.default_results())
    registry = claims.load_registry()
    judgements = [claims.judge(claim, runs, registry) for claim in registry.claims]
    print(scorecard.text(judgements), end="")
    if options.output is not None:
        document = scorecard.document(judgements, runs)
        _write(options.output / "claims.md", scorecard.markdown(judgements, runs, registry))
        _write(
            options.output / "claims.json",
            json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n",
        )
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write '{path}': {error.strerror}; give a file that can be written"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
