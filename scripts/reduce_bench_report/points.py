"""Points of runs, and the selections of a claim that they match."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reduce_bench_report.claim_registry import Interval, Json, Value
from reduce_bench_report.loader import ELEMENT_BYTES, Point, Results

LABEL_BYTES = 4  # of a label beside a value
MODE = "cold"  # claims are about inputs that are not in the cache
PARAM = "params."  # stands before the name of a parameter

Key = tuple[Value, ...]


@dataclass(frozen=True)
class Measured:
    """A point and the run that measured it, with what other runs measured of the same point."""

    point: Point
    run: Results
    repeats: "tuple[Measured, ...]" = ()
    launch_bound: bool = False  # whether launches could decide what it is compared for
    between_runs: float = 0.0  # the floor of its kind, where second rounds show one (rounds.py)
    source_form: tuple[float, float] = (1.0, 1.0)  # its source's form takes so much of its time

    @property
    def noise_within(self) -> float:
        """How far two measurements of the same thing lay apart on this backend in this run: the
        largest A/A ratio, minus 1."""
        pairs = self.run.document["noise_floor"]["aa"]
        within = (abs(p["ratio"] - 1) for p in pairs if p["backend"] == self.point.backend)
        return float(max(within, default=0.0))

    @property
    def noise(self) -> float:
        """The same, or what lies between runs where that is more."""
        return max(self.noise_within, self.between_runs)

    @property
    def counts(self) -> bool:
        """Whether it has a time that claims are about."""
        return self.point.is_right and MODE in self.point.timing and not self.launch_bound

    @property
    def is_timed(self) -> bool:
        """Whether it has a time of a form that is right, or is known to be wrong."""
        known = self.point.is_right or self.point.known_wrong
        return known and MODE in self.point.timing and not self.launch_bound

    @property
    def time_ns(self) -> Interval:
        """The median of its run. The interval spans the 95 % intervals of its repeats, too: where
        two runs of one point lie apart, no verdict rests on one of them. It spans the source's form
        as well."""
        timings = [each.point.timing[MODE] for each in (self, *self.repeats)]
        return Interval(
            min(timing["ci_low_ns"] for timing in timings) * self.source_form[0],
            timings[0]["median_ns"],
            max(timing["ci_high_ns"] for timing in timings) * self.source_form[1],
        )


def axis(name: str, measured: Measured) -> Value | None:
    """The value at an axis, a parameter or a quantity of DERIVED; None where it has none."""
    if name in DERIVED:
        return DERIVED[name](measured)
    if not name.startswith(PARAM):
        return measured.point.axis(name)
    value = measured.point.axis(name.removeprefix(PARAM))
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _bucket_bytes(measured: Measured) -> Value | None:
    """The bytes of all bucket sets together."""
    point = measured.point
    sets = axis("params.sets", measured) or 1
    if point.buckets is None or not isinstance(sets, int):
        return None
    return point.buckets * sets * ELEMENT_BYTES[point.type]


def _bucket_bytes_per_l2(measured: Measured) -> Value | None:
    total = _bucket_bytes(measured)
    environment = measured.run.environment
    device = environment["cpu" if measured.point.backend == "cpu" else "gpu"]
    l2_bytes = device.get("l2_bytes") if device else None  # older files have none of a processor
    return float(total / l2_bytes) if isinstance(total, int) and l2_bytes else None


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


def _read_launches(measured: Measured) -> Value | None:
    """The time to read the inputs at the card's peak bandwidth, in empty launches of that run."""
    point = measured.point
    gpu = measured.run.card_of(point.backend)
    if not gpu or not gpu["peak_gb_per_s"]:
        return None
    launch_ns = measured.run.document["ceilings"].get(point.backend, {}).get("empty_launch_ns")
    if not launch_ns:
        return None
    read = input_bytes(point.n, point.type, point.operation)
    return float(read / gpu["peak_gb_per_s"] / launch_ns)


def launch_share(measured: Measured) -> float:
    """The part of its time that launching its kernels takes, each as long as an empty one of that
    run. Of a library, whose kernels no record counts, at least one; none on a host."""
    ceilings = measured.run.document["ceilings"].get(measured.point.backend)
    if measured.point.backend == "cpu" or not ceilings or not ceilings["empty_launch_ns"]:
        return 0.0
    launch = measured.point.raw["launch"]
    kernels = max(1, launch["kernels"]) if launch else 1
    return float(kernels * ceilings["empty_launch_ns"] / measured.time_ns.value)


def input_bytes(n: int, element_type: str, operation: str) -> int:
    """The values and labels that the operation reads at least; a histogram's values are labels."""
    labels = 0 if operation in ("reduce", "histogram") else LABEL_BYTES
    return n * (ELEMENT_BYTES[element_type] + labels)


def _groups_per_sm(measured: Measured) -> Value | None:
    """The blocks that the record gives, over the card's multiprocessors."""
    gpu, launch = measured.run.card_of(measured.point.backend), measured.point.raw["launch"]
    return float(launch["grid"] / gpu["sm_count"]) if gpu and launch else None


DERIVED: dict[str, Callable[[Measured], Value | None]] = {
    "bucket_bytes_per_l2": _bucket_bytes_per_l2,
    "buckets_per_tile": _buckets_per_tile,
    "groups_per_sm": _groups_per_sm,
    "read_launches": _read_launches,
    "sort_bits": _sort_bits,
}


def parts_of(check: Json) -> list[Json]:
    """The selections of a check, without what its claim says of all points."""
    return check.get("sequence") or [check[s] for s in ("of", "to", "select") if s in check]


def variants_of(selection: Json) -> set[str]:
    named = selection["variant"]
    return {*named} if isinstance(named, list) else {named}


def matches(selection: Json, measured: Measured) -> bool:
    return all(within(wanted, axis(name, measured)) for name, wanted in selection.items())


def within(wanted: Any, value: Value | None) -> bool:
    """Whether a value is the one wanted, one of those, or in that range."""
    if isinstance(wanted, list):
        return value in wanted
    if isinstance(wanted, dict):
        if not isinstance(value, int | float) or value < wanted["from"]:
            return False
        return bool(value <= wanted.get("to", value) and value < wanted.get("below", math.inf))
    return bool(value == wanted)


def required(selection: Json, name: str) -> list[Value]:
    """The values of an axis at which a selection needs points: all of a list, a range's ends. Of
    what follows from other axes, or from the card, any value will do."""
    if name in DERIVED:
        return []
    wanted = selection.get(name)
    if isinstance(wanted, list):
        return [value for value in wanted if value is not None]
    if isinstance(wanted, dict) and "to" in wanted:
        return [wanted["from"], wanted["to"]]
    return []


def describe(selection: Json) -> str:
    return ", ".join(
        f"{axis_name(name)} {wanted_text(wanted)}"
        for name, wanted in selection.items()
        if wanted is not None
    )


AXIS_WORDS = {
    "bucket_bytes_per_l2": "bytes of all bucket sets over L2",
    "buckets_per_tile": "buckets over threads times items",
    "groups_per_sm": "blocks per SM launched",
    "length": "segment length",
    "read_launches": "empty launches that reading takes",
    "sort_bits": "sort bits",
}


def axis_name(name: str) -> str:
    return AXIS_WORDS.get(name, name.removeprefix(PARAM))


def wanted_text(wanted: Any) -> str:
    if isinstance(wanted, list):
        return " or ".join("none" if value is None else str(value) for value in wanted)
    if isinstance(wanted, dict):
        if "to" in wanted:
            return f"{wanted['from']} to {wanted['to']}"
        if "below" in wanted:
            return f"{wanted['from']} to below {wanted['below']}"
        return f"at least {wanted['from']:.4g}"
    return str(wanted)


def sort_key(key: Key) -> tuple[tuple[bool, float, str], ...]:
    return tuple((isinstance(v, str), 0.0 if isinstance(v, str) else v, str(v)) for v in key)
