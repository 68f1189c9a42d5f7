#!/usr/bin/env python3
"""Measures what is to be committed of this machine's device, part by part, and each part twice.

    scripts/measure_results.py [--minutes MINUTES]

The parts are those of scripts/results.json. Results go to results/<device>/ and second rounds to
folders `again` in it. A part is done when its results file is whole, of the driver's revision and
build, and of the part's configuration; one that was cut left a journal, with which the driver goes
on. So the same command continues, here or wherever results/ was copied to. It needs nothing but
Python's standard library, a driver that was built from a clean checkout and, where caches are
simulated, the Python packages in .venv. BIN is where the driver and cache-sim lie (build/bin); the
project's library is that of the same build, in lib/onepass beside it.

Exit codes: 0 all is measured; 1 some results are wrong, 4 some points failed; 2 bad usage, a driver
that is not clean, another processor beside the card than there was, or a part that the driver
refused; 130 interrupted, or the time was up.
"""

import argparse
import fcntl
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
GRACE_S = 30.0  # for the point in flight to end; then it is given up
MOST_BYTES = 5_000_000  # of a committed file, less than
ROUNDS = (1, 2)
# What tells builds of one revision apart; that of reduce_bench_report/loader.py, which this does
# without: a test holds the two against each other.
BUILD = ("compiler", "cuda_compiler", "cccl", "flags", "build_type")
LEAST_S = 10.0  # a shorter call would measure little more than the ceilings
EXIT_WRONG, EXIT_REFUSED, EXIT_FAILED, EXIT_INTERRUPTED = 1, 2, 4, 130
WHERE = {
    "gpu": "a GPU",
    "gpus": "a machine of two GPUs or more",
    "cpu": "a machine without a GPU",
}

Json = dict[str, Any]
# What a document raises that is read as if it had what it should.
UNFIT = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


class EndedError(Exception):
    """The user ends the measurement, or the system does."""


@dataclass(frozen=True)
class Part:
    config: str  # from the root, as the document is to name it
    on: str  # a key of WHERE
    backend: str
    result: Path  # in the folder of the device
    plugins: Sequence[str]
    modules: Sequence[str]
    simulated: bool

    @classmethod
    def of(cls, raw: Json) -> "Part":
        if raw["on"] not in WHERE:
            raise ValueError(f"no part runs on '{raw['on']}'")
        return cls(
            config=raw["config"],
            on=raw["on"],
            backend=raw.get("backend", "cpu" if raw["on"] == "cpu" else ""),
            result=Path(raw.get("result", raw["config"].removeprefix("configs/"))),
            plugins=list(raw.get("plugins", [])),
            modules=list(raw.get("modules", [])),
            simulated=raw.get("simulated", False),
        )

    def result_of(self, round_: int) -> Path:
        return self.result if round_ == 1 else self.result.parent / "again" / self.result.name


@dataclass(frozen=True)
class Machine:
    """What the driver says of itself and of the device, and where its results go."""

    driver: Path
    revision: str
    build: Sequence[str]
    processor: str
    device: str
    gpus: int
    folder: Path  # from the root

    def lacks(self, part: Part) -> str:
        """What the part needs and the machine does not have; empty where it has all."""
        fits = {"gpu": self.gpus > 0, "gpus": self.gpus > 1, "cpu": self.gpus == 0}
        if not fits[part.on]:
            return WHERE[part.on]
        missing = [name for name in part.modules if not _imports(name)]
        return f"a Python with {', '.join(missing)}" if missing else ""

    def place(self, part: Part, round_: int) -> Path:
        return self.folder / part.result_of(round_)

    def built(self, found: "Found") -> bool:
        return (found.revision, found.build) == (self.revision, self.build)

    def is_done(self, part: Part, round_: int) -> bool:
        """Whether the results are whole, of this build and of the part's configuration."""
        path = self.place(part, round_)
        found = _found(path)
        return (
            found is not None
            and not _journal(path).exists()
            and self.built(found)
            and part.config in found.command
        )


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    options = _parser().parse_args(arguments)
    deadline = _deadline(options.minutes)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    os.chdir(root)
    # Before all other folders: a library of another build would be measured in the place of this.
    library = str(_programs().resolve().parent / "lib" / "onepass")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (library, os.environ.get("PYTHONPATH")))
    )
    try:
        parts, machine = _parts(), _machine()
        with _locked(machine.folder) as lock:
            return _measure(machine, parts, deadline, lock)
    except EndedError:
        _say("interrupted; the same command goes on")
        return EXIT_INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=str(__doc__).split("\n\n", 1)[0],
        epilog=str(__doc__).rsplit("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--minutes",
        type=_minutes,
        metavar="MINUTES",
        help="end within so many minutes, and leave the rest to the next call (default: no limit)",
    )
    return parser


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 1 <= minutes < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of minutes from 1 on")
    return minutes


def _deadline(minutes: float | None) -> float | None:
    """When the driver must be told to end."""
    return None if minutes is None else time.monotonic() + 60 * minutes - GRACE_S


def _end(number: int, frame: object) -> NoReturn:
    raise EndedError


def _say(sentence: str) -> None:
    print(f"measure_results: {sentence}", file=sys.stderr, flush=True)


def _refuse(sentence: str) -> NoReturn:
    _say(sentence)
    raise SystemExit(EXIT_REFUSED)


def _parts() -> list[Part]:
    path = Path("scripts", "results.json")
    try:
        parts = [Part.of(raw) for raw in json.loads(path.read_text(encoding="utf-8"))["parts"]]
        if not parts:
            raise ValueError("it is empty")
    except UNFIT as error:
        _refuse(f"'{path}' is no list of parts ({error}): restore the committed one")
    return parts


def _programs() -> Path:
    return Path(os.environ.get("BIN", "build/bin"))


def _machine() -> Machine:
    driver = _programs() / "reduce-bench"
    told = _output(driver, "--version")
    found = re.search(r"revision ([0-9a-f]{40})( with uncommitted changes)?", told)
    if found is None or found[2]:
        said = told.partition("\n")[0][:120] or "it says nothing"
        _refuse(
            f"'{driver}' was not built from a clean checkout ({said}): commit what it is to "
            "measure, and build it again"
        )
    try:
        environment = json.loads(_output(driver, "info", "--json"))
        gpus = environment["cuda_devices"]
        build = _build(environment["environment"])
        processor = str(environment["environment"]["cpu"]["model"])
        device = str(gpus[0]["name"]) if gpus else processor
    except UNFIT as error:
        _refuse(f"'{driver} info --json' names no device ({error}): build it with make build")
    under = Path("results") if gpus else Path("results", "cpu")
    folder = _folder(under, device)
    return Machine(driver, found[1], build, processor, device, len(gpus), folder)


def _build(environment: Json) -> list[str]:
    return [str(environment.get(name)) for name in BUILD]


def _output(driver: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [driver, *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        _refuse(f"cannot start '{driver}': {error.strerror}; build it with make build")
    if done.returncode != 0:
        _refuse(f"'{driver} {arguments[0]}' failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _folder(under: Path, device: str) -> Path:
    """The folder with results of the device; where there is none, one named after it."""
    for folder in sorted(under.glob("*/")):
        if folder.name in ("local", "cpu"):
            continue
        there = map(_found, sorted(folder.glob("*.json")))
        if any(found is not None and found.device == device for found in there):
            return folder
    return under / re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


@dataclass(frozen=True)
class Found:
    """What a results file that is whole says."""

    device: str
    processor: str
    revision: str | None  # None of a build with changes
    build: Sequence[str]
    command: Sequence[str]
    states: frozenset[str]  # of the points that are not known to be wrong


def _found(path: Path) -> Found | None:
    """None of anything else."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        environment, points = document["environment"], document["points"]
        gpu, git = environment["gpu"], environment["git"]
        found = Found(
            device=gpu["name"] if gpu else environment["cpu"]["model"],
            processor=str(environment["cpu"]["model"]),
            build=_build(environment),
            revision=None if git["dirty"] else git["revision"],
            command=environment["command_line"],
            states=frozenset(point["status"] for point in points if not point["known_wrong"]),
        )
        return None if document["interrupted"] else found
    except UNFIT:
        return None


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}.journal")


@cache
def _imports(module: str) -> bool:
    python = os.environ.get("REDUCE_BENCH_PYTHON", "python3")
    tried = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
    return tried.returncode == 0


def _measure(machine: Machine, parts: Sequence[Part], deadline: float | None, lock: int) -> int:
    _say(f"{machine.device}, revision {machine.revision[:10]}, into {machine.folder}")
    lacking: dict[str, list[str]] = {}
    for part in parts:
        if lacks := machine.lacks(part):
            lacking.setdefault(lacks, []).append(str(part.result))
    for lacks, left_out in lacking.items():
        _say(f"left out, since {lacks} is needed: {', '.join(left_out)}")
    _refuse_other_processors(machine)
    own = [part for part in parts if not machine.lacks(part)]
    refused: list[str] = []
    ended = False
    for round_, part in ((round_, part) for round_ in ROUNDS for part in own):
        path = machine.place(part, round_)
        if machine.is_done(part, round_):
            continue
        if round_ > 1 and not machine.is_done(part, 1):
            continue  # a second round alone tells nothing
        left = _left(deadline)
        if left is not None and left < LEAST_S:
            return _time_is_up(machine, own, refused)
        _say(f"round {round_} of {len(ROUNDS)}: {path}")
        status = _run(machine, part, path, deadline, lock)
        if status == EXIT_INTERRUPTED:
            return _time_is_up(machine, own, refused)
        if status < 0:
            ended = True
            name = signal.Signals(-status).name
            _say(f"{path} is cut: {name} ended the driver; the same command goes on with it")
        elif status not in (0, EXIT_WRONG, EXIT_FAILED) or not machine.is_done(part, round_):
            refused.append(str(path))
        elif round_ == 1 and not machine.is_done(part, 2):
            _remove_second(machine.place(part, 2))
    if refused:  # told before a simulation that may fail, and end the program
        _tell_of_refused(refused)
    simulated = (part for part in own if part.simulated and machine.is_done(part, 1))
    unpredicted = not _simulate(
        machine, [machine.place(part, 1) for part in simulated], deadline, lock
    )
    if refused:
        return EXIT_REFUSED
    if ended or unpredicted:
        return EXIT_INTERRUPTED
    _tell_of_files(machine)
    return _worst(machine.place(part, round_) for round_ in ROUNDS for part in own)


def _remove_second(path: Path) -> None:
    """Of a first round that is no longer there, and that every page would be refused for. One that
    was begun for the new first round has a journal."""
    if path.is_file() and not _journal(path).exists():
        path.unlink()
        _say(f"removed {path}: the first round that it was a second one of is measured anew")


def _refuse_other_processors(machine: Machine) -> None:
    """A card is compared with the processor beside it, so all of its results need the same one."""
    for path in _documents(machine.folder):
        found = _found(path)
        if found and machine.built(found) and found.processor != machine.processor:
            _refuse(
                f"{path} is of a machine with {found.processor}, and this one has "
                f"{machine.processor}: measure on one like that, or remove what was measured there"
            )


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Keeps others from measuring the device at the same time, for as long as this program or the
    driver that it started runs: a driver outlives a program that was killed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
    except OSError as error:
        _refuse(f"cannot write to {folder}: {error.strerror}; make it a folder that can be written")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        _refuse(f"another measurement writes to {folder}: wait until it has ended, or end it")
    try:
        yield lock
    finally:
        os.close(lock)


def _tell_of_refused(refused: Sequence[str]) -> None:
    _say(
        f"not measured: {', '.join(refused)}, for what the driver says above; where it will "
        "not go on with a journal, remove that file to measure the part anew"
    )


def _worst(paths: Iterable[Path]) -> int:
    """The exit code that the results deserve, whichever call measured them."""
    states = {state for found in map(_found, paths) if found for state in found.states}
    if "wrong" in states:
        return EXIT_WRONG
    return EXIT_FAILED if states & {"failed", "timeout"} else 0


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else deadline - time.monotonic()


def _time_is_up(machine: Machine, parts: Sequence[Part], refused: Sequence[str]) -> int:
    if refused:
        _tell_of_refused(refused)
    done = [machine.is_done(part, round_) for round_ in ROUNDS for part in parts]
    _say(f"the time is up; {sum(done)} of {len(done)} results are whole, the same command goes on")
    return EXIT_INTERRUPTED


def _run(machine: Machine, part: Part, path: Path, deadline: float | None, lock: int) -> int:
    """The driver's exit code; EXIT_INTERRUPTED where the deadline came before the end."""
    command = [str(machine.driver), "run", "--config", part.config, "-o", str(path)]
    command += ["--backend", part.backend] if part.backend else []
    command += [word for plugin in part.plugins for word in ("--plugin", plugin)]
    command += ["--resume"] if _journal(path).exists() else []
    # In a session of its own: a Ctrl-C reaches it once, through this program.
    driver = subprocess.Popen(command, start_new_session=True, pass_fds=[lock])
    try:
        # At the deadline it is told to end after the point in flight, and a while later at once.
        for wait_s in (_left(deadline), GRACE_S / 2):
            try:
                return driver.wait(wait_s)
            except subprocess.TimeoutExpired:
                driver.send_signal(signal.SIGINT)
        return driver.wait()
    except EndedError:
        driver.send_signal(signal.SIGINT)
        driver.wait()
        raise


def _simulate(machine: Machine, paths: Iterable[Path], deadline: float | None, lock: int) -> bool:
    """Predicts the points of the results by the caches of the processor, measured before. Whether
    all are predicted then; what is goes on where a call was cut."""
    lacking = [path for path in paths if not _is_simulated(machine, path)]
    if not lacking:
        return True
    python = Path(".venv", "bin", "python")
    if not python.exists():
        names = ", ".join(map(str, lacking))
        _say(f"left out: the simulation of {names}, since {python} is needed: run make figures")
        return False
    # Under a folder, since what lies in results/local itself is taken for a result.
    local = Path("results", "local", "simulating")
    unfinished = local / f"{machine.folder.name}-{platform.node()}-{machine.revision[:10]}"
    unfinished.mkdir(parents=True, exist_ok=True)
    hierarchy = unfinished / "hierarchy.json"  # which the predictions repeat
    if not hierarchy.exists():
        _say("measuring the caches of the processor")
        probe = [str(machine.driver.with_name("cache-sim")), "probe", "-o", str(hierarchy)]
        if (status := _call(probe, deadline, lock)) == EXIT_INTERRUPTED:
            return _is_cut(lacking)
        if status != 0:
            _refuse("the caches could not be measured, for what is said above")
    for path in list(lacking):
        _say(f"simulating {path}")
        # Elsewhere until it is whole: a part of the predictions would look like all.
        predictions = unfinished / path.stem
        simulate = ["scripts/simulate_points.sh", str(path), str(hierarchy), str(predictions)]
        if (status := _call(simulate, deadline, lock)) == EXIT_INTERRUPTED:
            return _is_cut(lacking)
        if status != 0:
            _refuse(f"the simulation of {path} failed, for what is said above")
        folder = _simulated(path)
        shutil.rmtree(folder, ignore_errors=True)
        predictions.rename(folder)
        lacking.remove(path)
    shutil.rmtree(unfinished)
    with suppress(OSError):  # another device's lie there, too
        local.rmdir()
    return True


def _is_cut(lacking: Sequence[Path]) -> bool:
    names = ", ".join(map(str, lacking))
    _say(f"the time is up; the simulation of {names} is lacking, the same command goes on with it")
    return False


def _call(command: Sequence[str], deadline: float | None, lock: int) -> int:
    """The exit code of a program that ends, and all that it started, with this one, or at the
    deadline: then it is EXIT_INTERRUPTED."""
    process = subprocess.Popen(command, start_new_session=True, pass_fds=[lock])
    try:
        return process.wait(_left(deadline))
    except (EndedError, subprocess.TimeoutExpired) as end:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        if isinstance(end, EndedError):
            raise
        return EXIT_INTERRUPTED


def _simulated(path: Path) -> Path:
    return path.with_suffix(".simulated")


def _is_simulated(machine: Machine, path: Path) -> bool:
    """Whether the predictions are there, and of this revision."""
    files = list(_simulated(path).glob("*.json"))
    return bool(files) and all(_is_of(machine, file) for file in files)


def _is_of(machine: Machine, simulation: Path) -> bool:
    try:
        git = json.loads(simulation.read_text(encoding="utf-8"))["git"]
    except UNFIT:
        return False
    return bool(git == {"revision": machine.revision, "dirty": False})


def _tell_of_files(machine: Machine) -> None:
    """Says what of the folder is of another build, since no part has measured it anew, and what is
    too large."""
    documents = list(_documents(machine.folder))
    others = [
        str(path)
        for path in documents
        if (found := _found(path)) is None or not machine.built(found)
    ]
    if others:
        _say(f"not of this build: {', '.join(others)}; no part of this machine measures them")
    large = [str(path) for path in documents if path.stat().st_size >= MOST_BYTES]
    if large:
        _say(f"too large to be committed, {MOST_BYTES} bytes or more: {', '.join(large)}")


def _documents(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.json")) if path.parent.suffix != ".simulated")


if __name__ == "__main__":
    sys.exit(main())
