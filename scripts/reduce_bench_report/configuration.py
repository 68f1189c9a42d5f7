"""What a configuration asks for: which points of a run belong to it, and which are missing."""

import functools
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from reduce_bench_report.identity import Distribution, PointIdentity
from reduce_bench_report.loader import (
    InputError,
    Point,
    Results,
    checked_json,
    require_schema,
)
from reduce_bench_report.paths import SCHEMAS, shipped
from reduce_bench_report.texts import size_text

# axis or parameter -> the values asked for, as text
Values = Mapping[str, Sequence[str]]

SCHEMA_PATH = SCHEMAS / "config.schema.json"
MOST_VALUES = 8  # of one axis that a message lists
KEYED_AXES = ("buckets", "labels")


@dataclass(frozen=True)
class Sweep:
    """One sweep of a configuration, its defaults filled in. All values are texts."""

    variants: tuple[str, ...]  # globs
    operation: str
    mode: str
    axes: Values
    params: Values
    zips: tuple[tuple[str, ...], ...]

    def asks_for(self, point: Point) -> bool:
        if (point.operation, point.mode) != (self.operation, self.mode):
            return False
        if not any(fnmatchcase(point.variant, glob) for glob in self.variants):
            return False
        names = {name for name, _ in point.params}
        return (
            all(
                point.axis_text(axis) in values
                for axis, values in self.axes.items()
                if point.labels is not None or axis not in KEYED_AXES
            )
            and all(
                point.axis_text(name) in values
                for name, values in self.params.items()
                if name in names
            )
            and all(
                self._zipped(group).count(tuple(point.axis_text(name) for name in group))
                for group in self.zips
                if set(group) <= names
            )
        )

    def _zipped(self, group: Sequence[str]) -> list[tuple[str, ...]]:
        return list(zip(*(self.params[name] for name in group), strict=True))

    def combinations(self, names: Iterable[str]) -> list[dict[str, str]]:
        """Every point that a variant with these parameters has: values by axis and parameter."""
        names = set(names)
        groups = [group for group in self.zips if set(group) <= names]
        zipped = {name for group in groups for name in group}
        factors: list[list[dict[str, str]]] = [
            [dict(zip(group, values, strict=True)) for values in self._zipped(group)]
            for group in groups
        ]
        plain = {
            **self.axes,
            **{k: v for k, v in self.params.items() if k in names and k not in zipped},
        }
        factors += [[{key: value} for value in values] for key, values in plain.items()]
        return [
            {key: value for part in parts for key, value in part.items()}
            for parts in itertools.product(*factors)
        ]


@dataclass(frozen=True)
class Configuration:
    """A whole configuration; `path` names it in messages."""

    path: Path
    sweeps: tuple[Sweep, ...]

    def asks_for(self, point: Point) -> bool:
        return any(sweep.asks_for(point) for sweep in self.sweeps)

    def names(self, variant: str) -> bool:
        return any(variant in sweep.variants for sweep in self.sweeps)

    def values_of(
        self, key: str, example: Point, facts: Mapping[str, str], where: Values
    ) -> set[str]:
        """As `Asked.values_of`."""
        names = [name for name, _ in example.params]
        sweeps = [
            sweep
            for sweep in self.sweeps
            if sweep.operation == example.operation
            and any(fnmatchcase(example.variant, glob) for glob in sweep.variants)
        ]
        stated = {
            name
            for sweep in sweeps
            for name in sweep.params
            if facts.get(name) in sweep.params[name]
        }
        return {
            _value(combination, key)
            for sweep in sweeps
            if stated <= set(sweep.params)  # a sweep that leaves a parameter out means its default
            for combination in sweep.combinations(names)
            if _value(combination, key)
            and _meets(combination, where)
            and all(combination.get(name, value) == value for name, value in facts.items())
        }

    def missing(self, points: Sequence[Point], where: Values) -> list[str]:
        """Which of the points asked for `where` are not among these: a clause for each gap."""
        absent: dict[str, None] = {}  # globs without any point
        clauses: dict[str, None] = {}
        for sweep in self.sweeps:
            if sweep.operation not in where.get("operation", [sweep.operation]):
                continue
            own = [point for point in points if sweep.asks_for(point)]
            for glob in sweep.variants:
                wanted = where.get("variant")
                if wanted and not any(fnmatchcase(name, glob) for name in wanted):
                    continue
                names = sorted({p.variant for p in own if fnmatchcase(p.variant, glob)})
                combinations = sweep.combinations(sweep.params)
                if not names and any(_meets(asked, where) for asked in combinations):
                    absent[glob + _apart(sweep, points, glob)] = None
                for name in names:
                    of_variant = [point for point in own if point.variant == name]
                    clause = _gap(name, sweep, of_variant, where)
                    if clause:
                        clauses[clause] = None
        if absent:
            clauses[f"every point of {', '.join(absent)}"] = None
        return list(clauses)


def _value(combination: Mapping[str, str], key: str) -> str:
    if key == "length":
        found = re.search(r"length=(\d+)", combination.get("labels", ""))
        return found[1] if found else ""
    return combination.get(key, "")


def _apart(sweep: Sweep, points: Sequence[Point], glob: str) -> str:
    """The axes on which the sweep's missing points differ from all points that are there."""
    present = [point for point in points if fnmatchcase(point.variant, glob)]
    differing = [
        f"{key} = {_text(key, values)}"
        for key, values in [*sweep.axes.items(), *sweep.params.items()]
        if present and not any(point.axis_text(key) in values for point in present)
    ]
    return f" at {'; '.join(differing)}" if differing else ""


def _text(key: str, values: Sequence[str]) -> str:
    """The values of an axis or parameter, shortened to a line."""
    texts = [size_text(int(value)) if key in ("n", "buckets") else value for value in values]
    if len(texts) > MOST_VALUES:
        return f"{', '.join(texts[: MOST_VALUES // 2])} ... {texts[-1]} ({len(texts)} values)"
    return ", ".join(texts)


def _meets(combination: Mapping[str, str], where: Values) -> bool:
    free = {"variant", "operation"}  # the sweep's own, not of a combination
    free |= {"backend"} - combination.keys()  # a sweep without backends asks for any
    return all(
        combination.get(key, "") in values for key, values in where.items() if key not in free
    )


def _gap(name: str, sweep: Sweep, points: Sequence[Point], where: Values) -> str | None:
    """Which points of one variant are missing, and at which values all of them are."""
    asked = [
        combination
        for combination in sweep.combinations(key for key, _ in points[0].params)
        if _meets(combination, where)
    ]
    if not asked:
        return None
    keys = [key for key in asked[0] if points[0].axis_text(key)]
    present = {tuple(point.axis_text(key) for key in keys) for point in points}
    absent = [c for c in asked if tuple(c[key] for key in keys) not in present]
    if not absent:
        return None
    lacking, unseen = [], []
    for key in keys:
        every = dict.fromkeys(combination[key] for combination in asked)
        of_absent = {combination[key] for combination in absent}
        values = [value for value in every if value in of_absent]
        without = [value for value in every if not any(p.axis_text(key) == value for p in points)]
        if len(values) < len(every):
            lacking.append(f"{key} = {_text(key, values)}")
        elif without:
            unseen.append(f"{key} = {_text(key, without)}")
    at = f" at {'; '.join(lacking)}" if lacking else ""
    none = f" (none at {'; '.join(unseen)})" if unseen else ""
    return f"{len(absent)} of {len(asked)} points of {name}{at}{none}"


@dataclass(frozen=True)
class Plan:
    """Every point that a run was asked for, those that it has not measured among them."""

    points: tuple[PointIdentity, ...]

    def names(self, variant: str) -> bool:
        return any(point.variant == variant for point in self.points)

    def values_of(
        self, key: str, example: Point, facts: Mapping[str, str], where: Values
    ) -> set[str]:
        """As `Asked.values_of`."""
        told = {name: value for name, value in facts.items() if name != "finish"}
        return {
            point.axis_text(key)
            for point in self.points
            if (point.variant, point.operation) == (example.variant, example.operation)
            and point.axis_text(key)
            and all(point.axis_text(name) in values for name, values in where.items())
            and all(point.axis_text(name) == value for name, value in told.items())
        }


class Asked(Protocol):
    """What points were asked for, whether they were measured or not."""

    def names(self, variant: str) -> bool:
        """Whether this very variant was asked for, not just a glob that it matches."""
        ...

    def values_of(
        self, key: str, example: Point, facts: Mapping[str, str], where: Values
    ) -> set[str]:
        """Every value of the axis or parameter `key` among the points asked for `where`, of the
        example's variant and with these facts."""
        ...


def asked_of(run: Results) -> Asked:
    """What the run itself was asked for.

    Results record the points that they lack (`planned`); older ones only their configuration.
    """
    planned = run.document.get("planned")
    if planned is None:
        return of_run(run)
    seed, sweeps = run.environment["seed"], of_run(run).sweeps
    if len(planned["sweeps"]) != len(sweeps):
        raise InputError(
            f"'{run.path}' does not say which points it was asked for: the number of sweeps is "
            f"{len(sweeps)} in 'config', but {len(planned['sweeps'])} in 'planned'; run it again"
        )
    modes = {
        index: sweep.mode
        for sweep, indices in zip(sweeps, planned["sweeps"], strict=True)
        for index in indices
    }
    for raw in planned["missing"]:
        if raw["index"] not in modes:
            raise InputError(
                f"'{run.path}' does not say which points it was asked for: the missing point "
                f"{raw['index']} of 'planned' is in no sweep; run it again"
            )
    lacking = [
        PointIdentity.of(raw | {"seed": seed, "primary_mode": modes[raw["index"]]})
        for raw in planned["missing"]
    ]
    return Plan((*(point.identity for point in run.points), *lacking))


def load(path: Path) -> Configuration:
    """The configuration that the project ships as `path`."""
    return _configuration(path, checked_json(shipped(path), SCHEMA_PATH, "configuration"))


def of_run(run: Results) -> Configuration:
    """The configuration in the run's file; `InputError` where it is not a proper one."""
    document = run.document["config"]
    require_schema(document, SCHEMA_PATH, f"the configuration in results file '{run.path}'")
    return _configuration(run.path, document)


def _configuration(path: Path, document: dict[str, Any]) -> Configuration:
    settings = document.get("measurement", {})
    return Configuration(path, tuple(_sweep(raw, settings) for raw in document["sweeps"]))


def _sweep(raw: dict[str, Any], settings: dict[str, Any]) -> Sweep:
    stated = _defaults(raw.get("operation")) | raw
    operation = stated["operation"]
    axes = {
        "n": _sizes(stated["n"]),
        "type": stated["type"],
        "op": stated["op"],
        "distribution": _distributions(stated["distribution"]),
    }
    if operation == "histogram":  # it has labels alone, and no values
        del axes["distribution"]
    if "backends" in stated:
        axes["backend"] = stated["backends"]
    if operation != "reduce":
        axes["buckets"] = _sizes(stated["buckets"])
        axes["labels"] = _distributions(stated["labels"])
    modes = raw.get("measurement", {}).get("modes") or settings.get("modes") or _default_modes()
    return Sweep(
        variants=tuple(stated["variants"]),
        operation=operation,
        mode=modes[0],
        axes=axes,
        params={
            name: [str(value) for value in values] for name, values in raw.get("params", {}).items()
        },
        zips=tuple(tuple(group) for group in raw.get("zip", [])),
    )


@functools.cache
def _definitions() -> dict[str, Any]:
    schema = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    definitions: dict[str, Any] = schema["definitions"]
    return definitions


def _default_modes() -> list[str]:
    modes: list[str] = _definitions()["measurement"]["properties"]["modes"]["default"]
    return modes


@functools.cache
def _defaults(operation: str | None) -> dict[str, Any]:
    """The schema's defaults of the axes that a sweep of this operation may leave out."""
    sweep = _definitions()["sweep"]
    defaults = {
        name: axis["default"] for name, axis in sweep["properties"].items() if "default" in axis
    }
    for rule in sweep["allOf"]:
        if operation in rule["if"]["properties"]["operation"]["enum"]:
            for name, axis in rule["then"]["properties"].items():
                defaults[name] = axis["default"]
    return defaults


def _sizes(raw: Sequence[Any]) -> list[str]:
    sizes: list[int] = []
    for size in raw:
        if isinstance(size, int):
            sizes.append(size)
        elif isinstance(size, str):
            sizes.append(2 ** int(size.removeprefix("2^")))
        else:
            first, last, *step = size["pow2"]
            sizes += [2**bits for bits in range(first, last + 1, *step)]
    return [str(size) for size in dict.fromkeys(sizes)]


def _distributions(raw: Sequence[Any]) -> list[str]:
    return [value if isinstance(value, str) else str(Distribution.of(value)) for value in raw]
