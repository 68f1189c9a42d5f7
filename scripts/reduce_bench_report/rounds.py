"""What lies between two runs of the same code: a device's second rounds against its first ones.

A run sees from inside how far repeated measurements lie apart, and not what differs from run to
run: where memory lies, which clock a card settles at, how busy the host is. Nineteen of twenty
points differ between the rounds by less than the floor of their kind. A difference counts where the
ratio of its times is beyond the change that counts (configs/thresholds.json) and the floor
together, as in `compare`.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from reduce_bench_report.identity import PointIdentity
from reduce_bench_report.loader import Device, Point, Results, checked_json
from reduce_bench_report.paths import SCHEMAS, shipped

SHORT_NS = 16e3  # of times that count as short in docs/adr/0006-comparison.md, too
# Where the host waits, what it adds is some microseconds however long the kernel takes: longer
# times differ by less of themselves (docs/rounds.md).
SHORT_WAITING_NS = 100e3
WITHIN = 0.95  # of the points of a kind differ by less than its floor
LEAST = 20  # points, of which one lies beyond the floor
NOT_EXPLAINED = "not explained"
CAUSES = Path("docs") / "causes.json"


class Kind(NamedTuple):
    """Points whose times differ alike from run to run."""

    backend: str
    mode: str
    # Most go through Python, whose times vary more than all others; this project's library launches
    # kernels through it that vary as they do elsewhere.
    is_plugin: bool
    waits: bool
    is_short: bool

    @classmethod
    def of(cls, point: Point, mode: str) -> "Kind":
        is_plugin = point.raw.get("plugin") is not None and not point.is_of_library
        waits = _waits(point)
        short = point.timing[mode]["median_ns"] < _short_ns(waits)
        return cls(point.backend, mode, is_plugin, waits, short)

    @property
    def title(self) -> str:
        ends = "the host waits" if self.waits else "the result on the device"
        size = f"{'under' if self.is_short else 'from'} {_short_ns(self.waits) / 1e3:g} µs"
        of = f"plug-ins on {self.backend}" if self.is_plugin else self.backend
        return ", ".join([of, self.mode, *([] if self.backend == "cpu" else [ends]), size])


def _short_ns(waits: bool) -> float:
    return SHORT_WAITING_NS if waits else SHORT_NS


def _waits(point: Point) -> bool:
    """Whether the time includes that the host waits for the result."""
    return point.finish == "host" or bool(point.raw["synchronous"])


@dataclass(frozen=True)
class Pair:
    """A point in both rounds, with a verified time in this mode in each."""

    first: Point
    again: Point
    mode: str

    @property
    def ratio(self) -> float:
        """The second round's time over the first's."""
        first, again = (each.timing[self.mode]["median_ns"] for each in (self.first, self.again))
        return float(again / first)

    @property
    def apart(self) -> float:
        """How far the ratio is from 1, to either side: 0.03 is 3 %."""
        return max(self.ratio, 1 / self.ratio) - 1

    @property
    def apart_us(self) -> float:
        times = [each.timing[self.mode]["median_ns"] for each in (self.first, self.again)]
        return float(max(times) - min(times)) / 1e3

    @property
    def kind(self) -> Kind:
        return Kind.of(self.first, self.mode)


def pairs(runs: Sequence[Results]) -> list[Pair]:
    """Those of all runs that have a second round."""
    return [
        Pair(first, again, mode)
        for first, again in _points(runs)
        if first.is_right and again is not None and again.is_right
        for mode in first.timing
        if mode in again.timing
    ]


def changed_outcomes(runs: Sequence[Results]) -> list[tuple[Point, Point | None]]:
    """The points that are right in one round and not in the other, or in none but the first."""
    return [
        (first, again)
        for first, again in _points(runs)
        if again is None or first.outcome != again.outcome
    ]


def _points(runs: Sequence[Results]) -> Iterator[tuple[Point, Point | None]]:
    for run in runs:
        if run.again is None:
            continue
        again: dict[PointIdentity, Point] = {each.identity: each for each in run.again.points}
        for point in run.points:
            yield point, again.get(point.identity)


def floors(runs: Sequence[Results]) -> dict[Kind, float]:
    """By kind, what nineteen of twenty points differ by less than. A kind of fewer points has the
    floor of short and long ones together; of fewer than twenty of these, all differ by less."""
    apart: dict[Kind, list[float]] = defaultdict(list)
    for pair in pairs(runs):
        apart[pair.kind].append(pair.apart)

    def floor(kind: Kind) -> float:
        values = apart[kind]
        if len(values) < LEAST:
            values = values + apart.get(kind._replace(is_short=not kind.is_short), [])
        return sorted(values)[math.ceil(WITHIN * len(values)) - 1]

    return {kind: floor(kind) for kind in sorted(apart)}


@dataclass(frozen=True)
class Difference:
    """A point whose rounds differ by more than its floor."""

    pair: Pair
    floor: float
    counts: bool  # by the change that counts and the floor together
    cause: str


def differences(device: Device, causes: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """The largest first."""
    between, counts = floors(device.runs), _thresholds()
    found = [
        Difference(
            pair,
            between[pair.kind],
            pair.apart > counts(pair.first.variant) + between[pair.kind],
            _cause(pair, device, causes),
        )
        for pair in pairs(device.runs)
        if pair.apart > between[pair.kind]
    ]
    return sorted(found, key=lambda each: -each.pair.apart)


class _Thresholds:
    """Which change of a variant's time counts."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def __call__(self, variant: str) -> float:
        for limit in self._document.get("limits", ()):
            if any(fnmatchcase(variant, glob) for glob in limit["variants"]):
                return float(limit["threshold"])
        return float(self._document["threshold"])


def _thresholds() -> _Thresholds:
    return _Thresholds(json.loads(shipped("configs/thresholds.json").read_text(encoding="utf-8")))


def load_causes(path: Path) -> list[Mapping[str, Any]]:
    """What people found to be the cause of differences."""
    causes: list[Mapping[str, Any]] = checked_json(
        path, SCHEMAS / "causes.schema.json", "causes of differences"
    )["causes"]
    return causes


def _cause(pair: Pair, device: Device, causes: Sequence[Mapping[str, Any]]) -> str:
    """The first that is said of such a point."""
    for each in causes:
        if (
            any(fnmatchcase(pair.first.variant, glob) for glob in each["variants"])
            and device.name in each.get("devices", [device.name])
            and pair.mode in each.get("modes", [pair.mode])
            and _waits(pair.first) == each.get("waits", _waits(pair.first))
            and pair.first.operation in each.get("operations", [pair.first.operation])
            and pair.first.type in each.get("types", [pair.first.type])
            and _has_labels(pair.first, each.get("labels"))
            and dict(pair.first.params).items() >= each.get("params", {}).items()
            and _has_buckets(pair.first, each.get("buckets"))
            and _is_in(pair.first.n, each.get("n", {}))
            and pair.apart_us <= each.get("apart_us", math.inf)
        ):
            return str(each["cause"])
    return NOT_EXPLAINED


def _has_labels(point: Point, names: Sequence[str] | None) -> bool:
    return names is None or (point.labels is not None and point.labels.name in names)


def _has_buckets(point: Point, limits: Mapping[str, int] | None) -> bool:
    return limits is None or (point.buckets is not None and _is_in(point.buckets, limits))


def _is_in(n: int, limits: Mapping[str, int]) -> bool:
    return limits.get("from", 0) <= n <= limits.get("to", n)
