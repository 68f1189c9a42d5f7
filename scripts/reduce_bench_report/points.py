"""Points of runs, and the selections of a claim that they match."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reduce_bench_report.claim_registry import Interval, Json, Value
from reduce_bench_report.loader import ELEMENT_BYTES, Point, Results

MODE = "cold"  # claims are about inputs that are not in the cache
PARAM = "params."  # stands before the name of a parameter

Key = tuple[Value, ...]


@dataclass(frozen=True)
class Measured:
    """A point and the run that measured it."""

    point: Point
    run: Results

    @property
    def noise(self) -> float:
        """How far two measurements of the same thing lay apart in this run on this backend: the
        largest A/A ratio, minus 1."""
        pairs = self.run.document["noise_floor"]["aa"]
        return max(
            (abs(p["ratio"] - 1) for p in pairs if p["backend"] == self.point.backend), default=0.0
        )

    @property
    def counts(self) -> bool:
        """Whether it has a time that claims are about."""
        return self.point.is_right and MODE in self.point.timing

    @property
    def time_ns(self) -> Interval:
        timing = self.point.timing[MODE]
        return Interval(timing["ci_low_ns"], timing["median_ns"], timing["ci_high_ns"])


def axis(name: str, measured: Measured) -> Value | None:
    """The value at an axis, a parameter or a quantity of DERIVED; None where it has none."""
    if name in DERIVED:
        return DERIVED[name](measured)
    value = measured.point.axis(name.removeprefix(PARAM))
    if name.startswith(PARAM) and isinstance(value, str) and value.isdigit():
        return int(value)
    return value


def _bucket_bytes(measured: Measured) -> Value | None:
    """The bytes of all bucket sets together."""
    point = measured.point
    sets = axis("params.sets", measured) or 1
    if point.buckets is None or not isinstance(sets, int):
        return None
    return point.buckets * sets * ELEMENT_BYTES[point.type]


def _bucket_bytes_per_l2(measured: Measured) -> Value | None:
    total = _bucket_bytes(measured)
    gpu = measured.run.environment["gpu"]
    if not isinstance(total, int) or not gpu or not gpu["l2_bytes"]:
        return None
    return float(total / gpu["l2_bytes"])


def _buckets_per_tile(measured: Measured) -> Value | None:
    """The number of buckets over the inputs that a block sorts at a time."""
    threads, items = axis("params.threads", measured), axis("params.items", measured)
    buckets = measured.point.buckets
    if buckets is None or not isinstance(threads, int) or not isinstance(items, int):
        return None
    return buckets / (threads * items)


def _sort_bits(measured: Measured) -> Value | None:
    """How many bits of the labels an algorithm sorts by first; 0 where it does not sort."""
    return axis("params.sort_bits", measured) or 0


DERIVED: dict[str, Callable[[Measured], Value | None]] = {
    "bucket_bytes": _bucket_bytes,
    "bucket_bytes_per_l2": _bucket_bytes_per_l2,
    "buckets_per_tile": _buckets_per_tile,
    "sort_bits": _sort_bits,
}


def matches(selection: Json, measured: Measured) -> bool:
    return all(_matches_one(wanted, axis(name, measured)) for name, wanted in selection.items())


def _matches_one(wanted: Any, value: Value | None) -> bool:
    if isinstance(wanted, list):
        return value in wanted
    if isinstance(wanted, dict):
        if not isinstance(value, int | float) or value < wanted["from"]:
            return False
        return bool(value <= wanted["to"] if "to" in wanted else value < wanted["below"])
    return bool(value == wanted)


def required(selection: Json, name: str) -> list[Value]:
    """The values of an axis at which a selection needs points: all of a list, a range's ends."""
    wanted = selection.get(name)
    if isinstance(wanted, list):
        return [value for value in wanted if value is not None]
    if isinstance(wanted, dict) and "to" in wanted:
        return [wanted["from"], wanted["to"]]
    return []


def describe(selection: Json) -> str:
    return ", ".join(
        f"{axis_name(name)} {wanted_text(wanted)}" for name, wanted in selection.items()
    )


AXIS_WORDS = {
    "bucket_bytes": "bytes of all bucket sets",
    "bucket_bytes_per_l2": "bytes of all bucket sets over L2",
    "buckets_per_tile": "buckets over threads times items",
    "length": "segment length",
    "sort_bits": "sort bits",
}


def axis_name(name: str) -> str:
    return AXIS_WORDS.get(name, name.removeprefix(PARAM))


def wanted_text(wanted: Any) -> str:
    if isinstance(wanted, list):
        return " or ".join("none" if value is None else str(value) for value in wanted)
    if isinstance(wanted, dict):
        end = f"to {wanted['to']}" if "to" in wanted else f"to below {wanted['below']}"
        return f"{wanted['from']} {end}"
    return str(wanted)


def sort_key(key: Key) -> tuple[tuple[bool, float, str], ...]:
    return tuple((isinstance(v, str), 0.0 if isinstance(v, str) else v, str(v)) for v in key)
