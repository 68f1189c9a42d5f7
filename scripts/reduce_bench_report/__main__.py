"""Command line: `python3 -m reduce_bench_report {figures,table,report} ...`."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from reduce_bench_report import figures, report, tables, variants
from reduce_bench_report.loader import InputError, Results, load, load_runs
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

    command = commands.add_parser("report", help="write one HTML page that opens offline")
    command.add_argument(
        "results", type=Path, nargs="+", metavar="RESULTS", help="results files of one device"
    )
    command.add_argument("-o", "--output", type=Path, default=Path("report.html"), metavar="FILE")
    command.add_argument(
        "--variants",
        type=Path,
        metavar="FILE",
        help="output of `reduce-bench list --json` (default: of the driver in build/bin)",
    )
    command.set_defaults(run=_report)
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
    runs = load_runs(options.results)
    known: variants.Variants = {}
    no_variants = None
    try:
        known = variants.from_file(options.variants) if options.variants else variants.from_driver()
    except InputError as error:
        if options.variants:
            raise
        no_variants = str(error)
    text = report.page(runs, known, report.sweep_figures(runs), no_variants=no_variants)
    _write(options.output, text)
    print(options.output)
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
