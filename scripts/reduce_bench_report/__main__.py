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
        files,
        readme,
        regenerate,
        scorecard,
        variants,
    )
    from reduce_bench_report.claim_registry import load_registry
    from reduce_bench_report.evaluate import Absence, Evaluation
    from reduce_bench_report.experiments import EXPERIMENTS
    from reduce_bench_report.loader import (
        Device,
        InputError,
        Results,
        committed_results,
        default_results,
        from_here,
        load_devices,
        named_results,
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
        help=f"results of one device, or of several, or folders of them ({DEFAULT_RESULTS})",
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
        help=f"results files of one device, or of several ({DEFAULT_RESULTS})",
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
        help=f"results of one device, or of several, or folders of them ({DEFAULT_RESULTS})",
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


def _devices(options: argparse.Namespace) -> list[Device]:
    """Those of the runs named, or of the default ones; says of each run whether it was
    interrupted."""
    paths = named_results(options.results or ())
    if not paths:
        paths = default_results()
        many = f"the {len(paths)} files of {os.path.commonpath(paths)}"
        _say(f"No results are named; taking {paths[0] if len(paths) == 1 else many}.")
    devices = load_devices(paths)
    _require_points([run for device in devices for run in device.runs])
    for device in devices:
        for run in device.rounds:
            if run.shortfall:
                _say(f"{run.shortfall}.")
    return devices


def _require_points(runs: Sequence[Results]) -> None:
    if not any(run.points for run in runs):
        names = ", ".join(f"'{run.path}'" for run in runs)
        raise InputError(f"results file {names} has no points; run a configuration")


def _figures(options: argparse.Namespace) -> int:
    """Of several devices those without times, side by side, and beside them each device's own in a
    folder of its own."""
    devices = _filtered(_devices(options), options.where)
    ids = options.only or EXPERIMENTS
    given = [word for condition in options.where for word in ("--where", condition)]
    written = []
    if len(devices) > 1:
        joined = regenerate.evaluate_devices(devices, ids)
        written += _save(joined, options.output, options.format, given)
    for device in devices:
        evaluations, absences = regenerate.evaluate_all(device.runs, ids)
        # of what is named, all is asked for
        listed = options.missing or bool(options.only)
        _say_missing_figures(evaluations, absences, listed=listed, of=_named(device, devices))
        folder = options.output / device.slug if len(devices) > 1 else options.output
        written += _save(evaluations, folder, options.format, given)
    if not written:
        raise InputError("nothing was drawn, for want of points")
    for path in written:
        print(path)
    return 0


def _filtered(devices: Sequence[Device], conditions: Sequence[str]) -> list[Device]:
    """Those that have points that meet the conditions, with these points alone."""
    runs = [run for device in devices for run in device.runs]
    kept = iter(filter_points([run.points for run in runs], conditions))
    filtered = [
        Device([dataclasses.replace(run, points=tuple(next(kept))) for run in device.runs])
        for device in devices
    ]
    return [device for device in filtered if any(run.points for run in device.runs)]


def _save(
    evaluations: Sequence[Evaluation], folder: Path, formats: Sequence[str], given: Sequence[str]
) -> list[Path]:
    given = [*given, *(["--output", str(folder)] if folder != FIGURES else [])]
    given += ["--format", ",".join(formats)] if formats != ALL_FORMATS else []
    return regenerate.save_all(evaluations, folder, formats, given) if evaluations else []


def _named(device: Device, devices: Sequence[Device]) -> str:
    """The device as a message names it where there are several."""
    return f" on {device.name}" if len(devices) > 1 else ""


def _say_missing_figures(
    evaluations: Sequence[Evaluation], absences: Sequence[Absence], *, listed: bool, of: str
) -> None:
    _say_missing(
        regenerate.missing_lines([*evaluations, *absences]),
        len(evaluations) + len(absences),
        f"tables and figures, {len(absences)} of which are not drawn",
        listed=listed,
        of=of,
    )


def _say_missing_claims(judgements: Sequence[claims.Judgement], *, listed: bool, of: str) -> None:
    lines = scorecard.missing_lines(judgements)
    _say_missing(lines, len(judgements), "claims", listed=listed, of=of)


def _say_missing(lines: Sequence[str], total: int, what: str, *, listed: bool, of: str) -> None:
    """The lines, or how many of `total` they are and how to see them."""
    if listed:
        for line in lines:
            _say(f"{of.removeprefix(' ')}: {line}" if of else line)
    elif lines:
        _say(f"Points{of} are missing of {len(lines)} of {total} {what}; {HOW_LISTED}.")


def _say(line: str) -> None:
    """On standard error; nowhere where that was closed before the start."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def _report(options: argparse.Namespace) -> int:
    try:  # here, as the other commands do without the packages of the page
        from reduce_bench_report import report, several
    except ImportError as error:
        raise InputError(
            f"the page needs the Python packages of requirements.txt ({error}); make report "
            "installs them"
        ) from error
    devices = _devices(options)
    known: variants.Variants = {}
    no_variants = None
    try:
        known = variants.from_file(options.variants) if options.variants else variants.from_driver()
    except InputError as error:
        if options.variants:
            raise
        no_variants = str(error)
    registry = load_registry()
    judged = {device.name: claims.judge_all(device.rounds, registry) for device in devices}
    pages = {device.name: _of_device(options.output, device, devices) for device in devices}
    for device in devices:
        evaluations, absences = regenerate.evaluate_all(device.runs)
        of = _named(device, devices)
        _say_missing_figures(evaluations, absences, listed=options.missing, of=of)
        _say_missing_claims(judged[device.name], listed=options.missing, of=of)
        text = report.page(
            device.rounds,
            known,
            report.regenerated(evaluations),
            absent=regenerate.missing_lines(absences),
            no_variants=no_variants,
            scorecard=scorecard.document(judged[device.name], device.rounds, registry),
        )
        files.write(pages[device.name], text)
        print(pages[device.name])
    if len(devices) > 1:
        links = {name: page.name for name, page in pages.items()}
        files.write(options.output, several.page(devices, judged, links, registry))
        print(options.output)
    return 0


def _of_device(output: Path, device: Device, devices: Sequence[Device]) -> Path:
    """Where what is about one device goes: `report-nvidia-h200.html` beside `report.html`."""
    return output.with_stem(f"{output.stem}-{device.slug}") if len(devices) > 1 else output


def _claims(options: argparse.Namespace) -> int:
    devices = _devices(options)
    registry = load_registry()
    judged = {device.name: claims.judge_all(device.rounds, registry) for device in devices}
    for device in devices:
        judgements = judged[device.name]
        _say_missing_claims(judgements, listed=options.missing, of=_named(device, devices))
        if len(devices) > 1:
            print(f"{device.name}\n")
        print(scorecard.text(judgements, registry), end="\n" if len(devices) > 1 else "")
    if options.output is None:
        return 0
    together = options.output / "claims.md"
    evidence = {device.name: _of_device(together, device, devices) for device in devices}
    for device in devices:
        judgements, runs = judged[device.name], device.rounds
        document = scorecard.document(judgements, runs, registry)
        files.write(evidence[device.name], scorecard.markdown(judgements, runs, registry))
        files.write(
            evidence[device.name].with_suffix(".json"),
            json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n",
        )
    if len(devices) > 1:
        names = {name: path.name for name, path in evidence.items()}
        files.write(together, scorecard.markdown_by_device(judged, names, registry))
    return 0


def _readme(options: argparse.Namespace) -> int:
    devices = load_devices(committed_results())
    _require_points([run for device in devices for run in device.runs])
    generated = readme.Generated.of(ROOT, devices)
    stale = generated.stale() if options.check else generated.update()
    for path in stale:
        print(path)
    if options.check and stale:
        _say("reduce_bench_report: these are not of the committed results; run make readme.")
        return EXIT_STALE
    return 0


if __name__ == "__main__":
    sys.exit(main())
