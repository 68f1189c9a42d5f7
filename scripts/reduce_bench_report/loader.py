"""Reads a results file: schema-checked once here, typed and trusted everywhere else."""

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match

from reduce_bench_report.identity import PointIdentity
from reduce_bench_report.json_fault import parse
from reduce_bench_report.paths import ROOT, SCHEMAS
from reduce_bench_report.schema_fault import Checker

SCHEMA_PATH = SCHEMAS / "results.schema.json"
KIND = "reduce-bench-results"
ADVICE = "name a file that 'reduce-bench run' wrote"
ALTERED_OR_OTHER = "the file was altered, or written by another revision"
ALTERED = "the file was altered, so measure again"  # what contradictions mean
SIMULATED = ".simulated"  # ends the name of the folder with simulations of a file's points
# Folders of runs that try parameters: the best of such a run is chosen after the measurement.
TUNING = "tuning"
# The folder beside a file with its second round, which has the file's name.
AGAIN = "again"


class InputError(Exception):
    """A file or argument that cannot be used; the message is one sentence for the user."""


@dataclass(frozen=True)
class Field:
    """The title and unit under which a number of the results is shown; a ratio has no unit."""

    title: str
    unit: str | None

    @property
    def heading(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


def _annotations(node: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every property that a schema describes, with its description."""
    if isinstance(node, list):
        for each in node:
            yield from _annotations(each)
    elif isinstance(node, dict):
        for key, each in node.items():
            if key == "properties":
                yield from each.items()
            yield from _annotations(each)


# The schema is the only table of sizes, titles and units; fields of one name mean one thing.
_RESULTS_SCHEMA = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
_CHECKER = Checker(_RESULTS_SCHEMA)
UNITS: Mapping[str, str] = {
    name: said["unit"] for name, said in _annotations(_RESULTS_SCHEMA) if "unit" in said
}
ELEMENT_BYTES: Mapping[str, int] = _RESULTS_SCHEMA["definitions"]["type"]["bytes"]
FIELDS: Mapping[str, Field] = {
    name: Field(said["title"], said.get("unit"))
    for name, said in _annotations(_RESULTS_SCHEMA)
    if isinstance(said.get("title"), str)
}


@dataclass(frozen=True)
class Point(PointIdentity):
    """A point of the plan with what a run made of it.

    `bytes` is what the variant declares to move, `timing` has the statistics of each mode in ns,
    and `raw` is the whole record as the file has it. `ceiling_share` is over the read ceiling.
    """

    finish: str
    status: str
    known_wrong: bool
    reason: str | None
    timing: dict[str, dict[str, Any]]
    bytes: int | None
    gb_per_s: float | None
    ceiling_share: float | None
    raw: dict[str, Any]

    @cached_property
    def identity(self) -> PointIdentity:
        return PointIdentity(*(getattr(self, each.name) for each in fields(PointIdentity)))

    @property
    def is_right(self) -> bool:
        """A verified result of a variant that is right, measured under the conditions asked for."""
        return self.status == "ok" and not self.known_wrong and self.is_granted

    @property
    def ranked(self) -> bool:
        """Whether it has a time in its own mode that is fit to be drawn and ordered."""
        return self.is_right and self.mode in self.timing

    @property
    def is_granted(self) -> bool:
        """Whether nine tenths of its memory or more lie on huge pages, where it asks for them."""
        if dict(self.params).get("pages") != "huge":
            return True
        pages = self.raw.get("pages")
        return bool(pages and (pages["huge_bytes"] or 0) >= 0.9 * pages["bytes"])

    @property
    def outcome(self) -> str:
        """Why the point is not ranked, in a word or two; `ok` where it is."""
        if self.known_wrong:
            return "wrong (known)"
        if self.status == "ok" and not self.is_granted:
            return "no huge pages"
        if self.status == "ok" and not self.ranked:
            return f"not timed {self.mode}"
        return self.status

    def time_ns(self, statistic: str = "median_ns") -> float:
        """A statistic of the primary mode, in ns; only of points that were timed in it."""
        return float(self.timing[self.mode][statistic])


@dataclass(frozen=True)
class Results:
    """One results file: its document as it is, and its points."""

    path: Path
    sha256: str
    document: dict[str, Any]
    points: tuple[Point, ...]

    @property
    def environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = self.document["environment"]
        return environment

    @property
    def name(self) -> str:
        """The file's, which of a second round begins with its folder."""
        return (f"{AGAIN}/" if self.is_again else "") + self.path.name

    @property
    def is_again(self) -> bool:
        """Whether it is a second round."""
        return self.path.parent.name == AGAIN

    @cached_property
    def again(self) -> "Results | None":
        """The second round of this run; None where there is none.

        Raises InputError for a file in its place that is of another build, device or configuration.
        """
        path = self.path.parent / AGAIN / self.path.name
        if not path.is_file():
            return None
        again = load(path)
        if other := self._differs_from(again):
            raise InputError(
                f"'{path}' is no second round of '{self.path}', since its {other} is another: "
                "measure the older of them again (docs/gallery.md), or remove the second"
            )
        return again

    def _differs_from(self, again: "Results") -> str:
        """What keeps the other from being a round of this run; empty where nothing does."""
        facts: dict[str, Callable[[Results], object]] = {
            "revision": lambda run: run.environment["git"],
            "build": lambda run: [run.environment.get(name) for name in BUILD],
            "device": lambda run: run.device,
            "configuration": lambda run: run.document["config"],
        }
        return next((name for name, of in facts.items() if of(self) != of(again)), "")

    @property
    def folder(self) -> Path:
        """The one that it lies in, or its first round."""
        parent = self.path.resolve().parent
        return parent.parent if self.is_again else parent

    @property
    def device(self) -> str:
        named = self.environment["gpu"] or self.opencl
        return str(named["name"] if named else self.environment["cpu"]["model"])

    @property
    def has_card(self) -> bool:
        return bool(self.environment["gpu"] or self.opencl)

    @property
    def opencl(self) -> dict[str, Any] | None:
        """The device of the points on opencl; files from before that backend have none."""
        device: dict[str, Any] | None = self.environment.get("opencl")
        return device

    def card_of(self, backend: str) -> dict[str, Any] | None:
        """The GPU that a backend ran on, as CUDA describes it; OpenCL tells less of it."""
        gpu: dict[str, Any] | None = self.environment["gpu"]
        same = gpu and self.opencl and self.opencl["name"] == gpu["name"]
        return gpu if backend == "cuda" or (backend == "opencl" and same) else None

    def hardware_of(self, backend: str) -> tuple[str, str]:
        """The device's name, and what else tells devices of that name apart."""
        gpu = self.environment["gpu"]
        if backend == "opencl" and self.opencl:
            return str(self.opencl["name"]), f" through {self.opencl['platform']}"
        if backend != "cuda" or gpu is None:  # of cuda on a machine without, all is skipped
            return str(self.environment["cpu"]["model"]), ""
        peak = f"{gpu['peak_gb_per_s']:g} GB/s" if gpu["peak_gb_per_s"] else "unknown GB/s"
        return str(gpu["name"]), f" with {gpu['l2_bytes']} bytes of L2 and {peak}"

    @property
    def shortfall(self) -> str | None:
        """A sentence on what an interrupt left out; None where the run is whole."""
        if not self.document["interrupted"]:
            return None
        if self.document.get("planned", {}).get("points") == len(self.points):
            return f"{self.name} was interrupted after its last point: it has no noise floor"
        return (
            f"{self.name} was interrupted and holds only {len(self.points)} of its points; "
            "run the same command with --resume to measure the rest"
        )

    @property
    def revision(self) -> str:
        git = self.environment["git"]
        if git["revision"] is None:
            return "unknown"
        return str(git["revision"])[:10] + ("+changes" if git["dirty"] else "")

    @property
    def provenance(self) -> str:
        """Where the numbers come from, in one line."""
        gpu = self.environment["gpu"]
        driver = f"driver {gpu['driver'] or 'unknown'}, " if gpu else ""
        if self.opencl:
            on = "" if self.opencl["name"] == self.device else f" on {self.opencl['name']}"
            driver += f"OpenCL of {self.opencl['platform']} {self.opencl['driver']}{on}, "
        interrupted = ", interrupted" if self.document["interrupted"] else ""
        return (
            f"{self.device}, {driver}revision {self.revision}, {self.environment['date_utc']}, "
            f"{self.name} sha256 {self.sha256[:12]}{interrupted}"
        )


def load(path: Path) -> Results:
    """The results in `path`; `InputError` where it is not a whole, valid results file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the results '{path}': {error.strerror}; {ADVICE}") from error
    document = _parsed(content, path)
    _check(document, path)
    points = tuple(_point(raw) for raw in document["points"])
    timed = {p.backend for p in points if p.timing}  # skipped ones need no device
    for backend, device in (("cuda", "gpu"), ("opencl", "opencl")):
        if document["environment"].get(device) is None and backend in timed:
            named = "GPU" if backend == "cuda" else "OpenCL device"
            raise InputError(
                f"results file '{path}' has points of {backend} and no {named} in its "
                "environment; it was altered, so run the configuration again"
            )
    return Results(path, hashlib.sha256(content).hexdigest(), document, points)


# What two builds of one revision differ by; scripts/measure_results.py has the same.
BUILD = ("compiler", "cuda_compiler", "cccl", "flags", "build_type")


@dataclass(frozen=True)
class Device:
    """A card, or the processor of a machine without one, and its results.

    Times of a card are compared with those of the processor beside it, never with another card's.
    """

    runs: Sequence[Results]

    @property
    def name(self) -> str:
        return next((run.device for run in self.runs if run.has_card), self.runs[0].device)

    @property
    def slug(self) -> str:
        """The name as part of a file's."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def has_card(self) -> bool:
        return any(run.has_card for run in self.runs)

    @property
    def peak_gb_per_s(self) -> float:
        """Of the card's memory; 0 where that is unknown."""
        gpus = (run.environment["gpu"] for run in self.runs)
        return max((float(gpu["peak_gb_per_s"] or 0) for gpu in gpus if gpu), default=0.0)

    @property
    def rounds(self) -> list[Results]:
        """The runs, and then the second rounds that they have."""
        return with_rounds(self.runs)


def with_rounds(runs: Sequence[Results]) -> list[Results]:
    """The runs, and then their second rounds, as far as they are not among the runs."""
    known = {run.path.resolve() for run in runs}
    again = [run.again for run in runs if run.again is not None]
    return [*runs, *(run for run in again if run.path.resolve() not in known)]


def with_tuning(device: Device) -> Device:
    """The device with what was tuned on it, which no figure and no claim is of."""
    folders = dict.fromkeys(run.folder for run in device.runs)
    tuned = [
        load(from_here(path))
        for folder in folders
        for path in sorted(folder.glob(f"{TUNING}/*.json"))
    ]
    return Device([*device.runs, *tuned])


def load_devices(paths: Sequence[Path]) -> list[Device]:
    """The runs by device, the card with the highest peak bandwidth first and processors last.

    A run without a card is of the processor beside the card whose results lie in its folder; where
    none do, the processor is a device of its own.
    """
    runs = [load(path) for path in paths]
    by_folder = {run.folder: run for run in reversed(runs) if run.has_card}
    groups: dict[str, list[Results]] = {}
    for run in runs:
        of = run if run.has_card else by_folder.get(run.folder, run)
        groups.setdefault(of.device, []).append(run)
    devices = [Device(_of_one_device(group)) for group in groups.values()]
    for device in devices:
        _of_one_device(device.rounds)
    return sorted(devices, key=lambda device: (not device.has_card, -device.peak_gb_per_s))


def _of_one_device(runs: list[Results]) -> list[Results]:
    """The same runs; `InputError` where they are of several cards, or of several processors where
    any has points of one: speed-ups and claims compare a card with the processor beside it."""
    everywhere = {"cpu"} & {point.backend for run in runs for point in run.points}
    first: dict[str, Results] = {}
    for run in runs:
        for backend in sorted(everywhere | {point.backend for point in run.points}):
            other = first.setdefault(backend, run)
            (known, known_facts), (device, facts) = map(
                lambda each: each.hardware_of(backend), (other, run)
            )
            if (known, known_facts) != (device, facts):
                alike = known == device
                raise InputError(
                    f"'{other.path}' is of {known}{known_facts if alike else ''} and '{run.path}' "
                    f"of {device}{facts if alike else ''}; give results of one device, and those "
                    "of another machine by themselves"
                )
    return runs


def default_results(root: Path = ROOT) -> list[Path]:
    """The newest local result; without any, the committed ones."""
    folder = root / "results"
    local = max(
        (folder / "local").glob("*.json"), key=lambda path: path.stat().st_mtime, default=None
    )
    return committed_results(root) if local is None else [from_here(local)]


def named_results(paths: Iterable[Path]) -> list[Path]:
    """The files, and of each folder what would be committed of it. `InputError` where a folder has
    no results."""
    found: list[Path] = []
    for path in paths:
        there = _first_rounds(path) if _is_folder(path) else [path]
        if not there:
            raise InputError(f"folder '{path}' has no results; name a file or another folder")
        found += there
    return found


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # the name is too long
        return False


def _first_rounds(folder: Path) -> list[Path]:
    """The results in a folder and those below, but for local ones, second rounds, what was tuned
    and what was simulated."""
    return [
        from_here(path)
        for path in sorted(folder.rglob("*.json"))
        if path.parent.suffix != SIMULATED
        and not {"local", TUNING, AGAIN} & {*path.relative_to(folder).parts[:-1]}
    ]


def committed_results(root: Path = ROOT) -> list[Path]:
    """The committed results of all devices, of each configuration the first round.

    `InputError` where there is none.
    """
    committed = _first_rounds(root / "results")
    if not committed:
        raise InputError(
            f"no result is in {from_here(root / 'results' / 'local')} or named, and none is "
            "committed; run a configuration, or name results"
        )
    return committed


def from_here(path: Path) -> Path:
    """The path from the current folder, where it lies in that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def checked_json(path: Path, schema_path: Path, what: str) -> Any:
    """The document in `path`; `InputError` where it is not one that the schema allows.

    `what` names the file in messages.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {what} '{path}': {error}") from error
    document = _parsed(content, path)
    require_schema(document, schema_path, f"{what} '{path}'")
    return document


def require_schema(document: Any, schema_path: Path, what: str) -> None:
    """`InputError` where the schema does not allow the document."""
    defect = _defect(document, schema_path)
    if defect is not None:
        raise InputError(f"{what} breaks its schema {defect}")


def _parsed(content: bytes, path: Path) -> Any:
    try:
        return parse(content)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def _defect(document: Any, schema_path: Path) -> str | None:
    """The most telling fault and its place; None where the schema allows the document."""
    error = best_match(_validator(schema_path).iter_errors(document))
    if error is None:
        return None
    pointer = "/" + "/".join(str(part) for part in error.absolute_path)
    return f"at {pointer}: {_shorten(error.message)}"


# To JSON Schema 4.0 is an integer. No program of this project writes one so, and none reads it.
STRICT: type[jsonschema.Draft7Validator] = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft7Validator,
    type_checker=jsonschema.Draft7Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@functools.cache
def _validator(schema_path: Path) -> jsonschema.Draft7Validator:
    """A validator of the schema with its references filled in, which halves the time it takes."""
    schema = json.loads(schema_path.read_text(encoding="utf-8"))

    def inlined(node: Any) -> Any:
        if isinstance(node, list):
            return [inlined(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            found: Any = schema
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            return inlined(found)
        return {key: inlined(value) for key, value in node.items() if key != "definitions"}

    return STRICT(inlined(schema))


def _check(document: Any, path: Path) -> None:
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InputError(f'\'{path}\' is not a results file ("kind" is not "{KIND}"): {ADVICE}')
    contradiction = _contradiction(document)
    if contradiction is not None:
        raise InputError(f"{path}: {contradiction}: {ALTERED}")
    fault = _CHECKER.fault(document)
    if fault is not None:
        raise InputError(f"{path}: {fault}: {ALTERED_OR_OTHER}")
    seen: set[PointIdentity] = set()
    for index, raw in enumerate(document["points"]):
        identity = PointIdentity.of(raw)
        if identity in seen:
            raise InputError(f"{path}: /points/{index}: the same point is listed twice: {ALTERED}")
        seen.add(identity)


def _contradiction(document: dict[str, Any]) -> str | None:
    """Two values that no run writes together, and their place, in the words of the driver's reader.

    What is not of the schema's shape is passed over: the schema says it better.
    """
    points = document.get("points")
    for index, point in enumerate(points if isinstance(points, list) else []):
        said = _contradiction_of(point) if isinstance(point, dict) else None
        if said is not None:
            return f"/points/{index}{said}"
    return None


def _contradiction_of(point: dict[str, Any]) -> str | None:
    operation = point.get("operation")
    for key in ("buckets", "labels"):
        if operation == "reduce" and point.get(key) is not None:
            return f"/{key}: '{operation}' has no labels, so this must be null"
    for key in ("passed_before", "passed_after"):
        verification = point.get("verification")
        found = verification.get(key, True) if isinstance(verification, dict) else True
        if point.get("status") == "ok" and found is not True:
            return f"/verification/{key}: the status is 'ok', so this must be true"
    timing = point.get("timing")
    for mode, summary in timing.items() if isinstance(timing, dict) else []:
        if not isinstance(summary, dict):
            continue
        ends = (summary.get(key) for key in ("ci_low_ns", "median_ns", "ci_high_ns"))
        numbers = [ns for ns in ends if isinstance(ns, int | float)]
        if len(numbers) == 3 and numbers != sorted(numbers):
            return f"/timing/{mode}: the median is outside its own interval"
        samples, count = summary.get("samples_ns"), summary.get("samples")
        if isinstance(samples, list) and type(count) is int and count != len(samples):
            return f"/timing/{mode}: 'samples' is {count}, but 'samples_ns' holds {len(samples)}"
    return None


def _shorten(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else f"{text[: limit - 40]} ... {text[-35:]}"


def _point(raw: dict[str, Any]) -> Point:
    return Point(
        **vars(PointIdentity.of(raw)),
        finish=raw["finish"],
        status=raw["status"],
        known_wrong=raw["known_wrong"],
        reason=raw["reason"],
        timing=raw["timing"],
        bytes=raw["bytes"],
        gb_per_s=raw["gb_per_s"],
        ceiling_share=raw["ceiling_share"],
        raw=raw,
    )
