"""The kinds of checks that claims have: each makes named numbers with intervals of some points.

claims.py holds them against the check's limits.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from reduce_bench_report import simulation, traffic
from reduce_bench_report.claim_registry import Interval, Json, Registry, Value
from reduce_bench_report.loader import ELEMENT_BYTES
from reduce_bench_report.points import (
    Key,
    Measured,
    axis,
    axis_name,
    launch_share,
    matches,
    parts_of,
    required,
    sort_key,
    variants_of,
)
from reduce_bench_report.regimes import most_launch_share

OF_GLOBAL_MEMORY = ("global_load_sectors", "global_store_sectors")

Cases = dict[str, tuple[Interval, tuple[Measured, ...]]]
Form = tuple[object, ...]  # a variant and its parameters


@dataclass(frozen=True)
class Context:
    """A check, with its claim and the registry that it refers to."""

    registry: Registry
    claim: Json
    check: Json
    everything: Sequence[Measured]  # of all runs: the form that counts is chosen among it
    _forms: dict[object, dict[Key, Form]] = field(default_factory=dict, compare=False)

    def selection(self, part: Json) -> Json:
        """A part of the check with what the claim says of all its points."""
        base: Json = self.claim.get("base", {})
        return base | part

    @property
    def match(self) -> list[str]:
        return list(self.check.get("match", []))

    @property
    def selections(self) -> list[Json]:
        return [self.selection(part) for part in parts_of(self.check)]

    @property
    def of_every_size(self) -> list[Json]:
        """The sides of a ratio that hold for the slowest of their sizes, and so for all."""
        sides = [side for side in ("of", "to") if takes_slowest(self.check, side)]
        return [self.selection(self.check[side]) for side in sides]

    @property
    def variants(self) -> set[str]:
        """Every variant that the check's selections name."""
        return {variant for selection in self.selections for variant in variants_of(selection)}

    def chosen(
        self, pool: Iterable[Measured], selection: Json, match: Sequence[str], pick: str = "fastest"
    ) -> dict[Key, Measured]:
        """By match key the point that counts: of the form that PICKS names among the points of all
        runs, so that where a run lacks it no other of its forms stands for it."""
        asked = (repr(selection), *match, pick)
        if asked not in self._forms:
            picked = self._picked(_grouped(self.everything, selection, match), pick)
            self._forms[asked] = {key: _form(measured) for key, measured in picked.items()}
        forms = self._forms[asked]
        groups = _grouped(pool, selection, match)
        of_form = {
            key: [measured for measured in group if _form(measured) == forms.get(key)]
            for key, group in groups.items()
        }
        return self._picked(of_form, pick)

    def _picked(self, groups: dict[Key, list[Measured]], pick: str) -> dict[Key, Measured]:
        standing = {key: _standing(self, group) for key, group in groups.items()}
        return {key: PICKS[pick](group) for key, group in standing.items() if group}


def takes_slowest(check: Json, side: str) -> bool:
    return bool(check.get(f"{side}_pick") == "slowest")


def compared(context: Context, pool: Sequence[Measured]) -> set[Key]:
    """The values of the axes in `match` at which both sides of a ratio have points."""
    of, to = (context.selection(context.check[side]) for side in ("of", "to"))
    match = context.match
    return _grouped(pool, of, match).keys() & _grouped(pool, to, match).keys()


def key_of(measured: Measured, match: Sequence[str]) -> tuple[Value | None, ...]:
    return tuple(_matched(name, measured) for name in match)


def _matched(name: str, measured: Measured) -> Value | None:
    """A grid whose last blocks have nothing to do lacks them: 394 blocks are three of 132
    multiprocessors. Points of results that are older than a parameter are alike in it."""
    value = axis(name, measured)
    if value is None and name.startswith("params."):
        return ""
    return math.ceil(value) if name == "groups_per_sm" and isinstance(value, float) else value


def _grouped(
    pool: Iterable[Measured], selection: Json, match: Sequence[str]
) -> dict[Key, list[Measured]]:
    groups: dict[Key, list[Measured]] = {}
    for measured in pool:
        if measured.counts and matches(selection, measured):
            key = key_of(measured, match)
            if None not in key:
                groups.setdefault(tuple(v for v in key if v is not None), []).append(measured)
    return groups


def _fastest(group: Sequence[Measured]) -> Measured:
    return min(group, key=lambda measured: measured.time_ns.value)


def _slowest(group: Sequence[Measured]) -> Measured:
    return max(group, key=lambda measured: measured.time_ns.value)


def _form(measured: Measured) -> Form:
    return measured.point.variant, measured.point.params


PICKS = {"fastest": _fastest, "slowest": _slowest}


def _ratio_of(above: Measured, below: Measured) -> Interval:
    a, b = above.time_ns, below.time_ns
    noise = 1 + max(above.noise, below.noise)
    return Interval(a.low / b.high / noise, a.value / b.value, a.high / b.low * noise)


def case_name(match: Sequence[str], key: Key) -> str:
    named = zip(match, key, strict=True)
    return ", ".join(f"{axis_name(name)} {value}" for name, value in named if value != "")


def _ratio(context: Context, pool: Sequence[Measured]) -> Cases:
    """Time `of` over time `to`, each the fastest of its points with the same `match`, or the
    slowest where the check says so."""
    check, match = context.check, context.match
    of, to = (
        context.chosen(
            pool,
            context.selection(check[side]),
            match,
            "slowest" if takes_slowest(check, side) else "fastest",
        )
        for side in ("of", "to")
    )
    cases: Cases = {}
    for key in sorted(of.keys() & to.keys(), key=sort_key):
        above, below = of[key], to[key]
        cases[case_name(match, key)] = (_ratio_of(above, below), (above, below))
    return cases


def _difference(context: Context, pool: Sequence[Measured]) -> Cases:
    """Time `of` less time `to`, in ns per input if this card had the publication's bandwidth."""
    check, match = context.check, context.match
    of, to = (context.chosen(pool, context.selection(check[side]), match) for side in ("of", "to"))
    cases: Cases = {}
    for key in sorted(of.keys() & to.keys(), key=sort_key):
        above, below = of[key], to[key]
        a, b = _scaled_ns(context, above), _scaled_ns(context, below)
        if a is not None and b is not None:
            difference = Interval(a.low - b.high, a.value - b.value, a.high - b.low)
            cases[case_name(match, key)] = (difference, (above, below))
    return cases


def _along(context: Context, pool: Sequence[Measured]) -> dict[Key, list[tuple[Value, Measured]]]:
    """By match key: (value of the axis, fastest point) in the order of the axis."""
    check, match = context.check, context.match
    lines: dict[Key, list[tuple[Value, Measured]]] = {}
    if "sequence" in check:
        for part in check["sequence"]:
            selection = context.selection(part)
            for key, chosen in context.chosen(pool, selection, match).items():
                lines.setdefault(key, []).append((str(selection["variant"]), chosen))
        whole = [str(context.selection(part)["variant"]) for part in check["sequence"]]
        return {key: line for key, line in lines.items() if [v for v, _ in line] == whole}
    selection, name = context.selection(check["select"]), check["along"]
    along = context.chosen(pool, selection, [*match, name])
    for key in sorted(along, key=sort_key):
        lines.setdefault(key[:-1], []).append((key[-1], along[key]))
    # Where a point of another form was left out, the line is not whole.
    for key in _grouped(pool, selection, [*match, name]).keys() - along.keys():
        lines.pop(key[:-1], None)
    return {key: line for key, line in lines.items() if len(line) > 1}


def _steps(context: Context, pool: Sequence[Measured]) -> Cases:
    """Time of every step of an axis, or of a sequence of variants, over that of the step before."""
    cases: Cases = {}
    for key, line in _along(context, pool).items():
        for (before, former), (after, latter) in itertools.pairwise(line):
            ratio = _ratio_of(latter, former)
            if context.check.get("per_doubling"):
                power = 1 / math.log2(float(after) / float(before))
                ratio = Interval(ratio.low**power, ratio.value**power, ratio.high**power)
            name = ", ".join(filter(None, [case_name(context.match, key), f"{before} to {after}"]))
            cases[name] = (ratio, (former, latter))
    return cases


def _flat(context: Context, pool: Sequence[Measured]) -> Cases:
    """The slowest over the fastest along an axis."""
    cases: Cases = {}
    for key, line in _along(context, pool).items():
        points = [measured for _, measured in line]
        slowest, fastest = _slowest(points), _fastest(points)
        cases[case_name(context.match, key)] = (_ratio_of(slowest, fastest), (slowest, fastest))
    return cases


def _value(context: Context, pool: Sequence[Measured]) -> Cases:
    """A quantity of the fastest point with the same `match`."""
    cases: Cases = {}
    chosen = context.chosen(pool, context.selection(context.check["select"]), context.match)
    for key in sorted(chosen, key=sort_key):
        measured = chosen[key]
        quantity = QUANTITIES[context.check["quantity"]](context, measured)
        if quantity is not None:
            cases[case_name(context.match, key)] = (quantity, (measured,))
    return cases


def _standing(context: Context, group: Sequence[Measured]) -> Sequence[Measured]:
    """The points, or of each variant and parameters the slowest along `worst_over`, where it has
    all that are asked for."""
    over = context.check.get("worst_over")
    if over is None:
        return group
    asked = {*required(context.selection(context.check["select"]), over)}
    forms: dict[Form, list[Measured]] = {}
    for measured in group:
        forms.setdefault(_form(measured), []).append(measured)
    return [
        _slowest(form) for form in forms.values() if asked <= {axis(over, each) for each in form}
    ]


def _choice(context: Context, pool: Sequence[Measured]) -> Cases:
    """Time at the value of an axis that the simulator finds fastest, over the fastest other."""
    name = context.check["along"]
    simulated = simulated_times(pool)
    cases: Cases = {}
    for key, line in _along(context, pool).items():
        known = [(value, each) for value, each in line if id(each) in simulated]
        if len(known) < 2:
            continue
        value, chosen = min(known, key=lambda pair: simulated[id(pair[1])].ns)
        fastest = _fastest([each for _, each in known if each is not chosen])
        hierarchy = simulated[id(chosen)].hierarchy
        of = case_name([*context.match, name], (*key, value))
        cases[f"{of} by {hierarchy}"] = (_ratio_of(chosen, fastest), (chosen, fastest))
    return cases


@dataclass(frozen=True)
class Simulated:
    ns: float
    hierarchy: str


def simulated_times(pool: Sequence[Measured]) -> dict[int, Simulated]:
    """What the model in which each access waits predicts, by the `id` of what was measured."""
    runs = {measured.run.path: measured.run for measured in pool}
    predicted = {path: simulation.predictions(run) for path, run in runs.items()}
    return {
        id(measured): Simulated(document["sequential"]["ns"], document["hierarchy"]["name"])
        for measured in pool
        if (document := predicted[measured.run.path].get(measured.point.identity))
    }


def _by_time(measured: Measured, at_median: float | None, power: int) -> Interval | None:
    """A quantity that grows with the time (power 1) or falls with it (power -1)."""
    if at_median is None:
        return None
    time, noise = measured.time_ns, 1 + measured.noise
    ends = [
        at_median * (end / time.value) ** power for end in (time.low / noise, time.high * noise)
    ]
    return Interval(min(ends), at_median, max(ends))


def _scaled_ns(context: Context, measured: Measured) -> Interval | None:
    """ns per input if this card had the publication's bandwidth: equal shares of peak are equal."""
    gpu = measured.run.environment["gpu"]
    theirs = context.registry.tables[context.check["card"]].peak_gb_per_s
    if not gpu or not gpu["peak_gb_per_s"] or theirs is None:
        return None
    per_item = measured.time_ns.value / measured.point.n
    return _by_time(measured, per_item * gpu["peak_gb_per_s"] / theirs, 1)


def _ns(_: Context, measured: Measured) -> Interval | None:
    return _by_time(measured, measured.time_ns.value / measured.point.n, 1)


def _exact(value: float | None) -> Interval | None:
    """An interval of no width, for what is counted or compared and not timed."""
    return None if value is None else Interval(value, value, value)


def _peak_share(measured: Measured) -> float | None:
    """Bytes of device memory over what the card could move in the time: as counted, or else as
    declared."""
    point, gpu = measured.point, measured.run.environment["gpu"]
    moved = traffic.device_bytes(point)
    if moved is None or gpu is None or not gpu["peak_gb_per_s"]:
        declared: float | None = point.raw["peak_share"]
        return declared
    return sum(moved) / point.time_ns() / float(gpu["peak_gb_per_s"])


def _counted_accesses_per_element(_: Context, measured: Measured) -> Interval | None:
    """Elements of global memory that were loaded and stored, by the sectors that they lie in: of a
    kernel whose neighbouring threads access neighbouring elements."""
    point, counted = measured.point, traffic.counts(measured.point)
    if not set(OF_GLOBAL_MEMORY) <= counted.keys() or point.n == 0:
        return None
    sectors = sum(counted[name] for name in OF_GLOBAL_MEMORY)
    return _exact(sectors * traffic.SECTOR_BYTES / ELEMENT_BYTES[point.type] / point.n)


def _accesses_per_element(_: Context, measured: Measured) -> Interval | None:
    """Reads and writes that the variant declares; no hardware counted them."""
    point = measured.point
    if point.bytes is None or point.n == 0:
        return None
    return _exact(point.bytes / ELEMENT_BYTES[point.type] / point.n)


def _relative_error(_: Context, measured: Measured) -> Interval | None:
    return _exact(measured.point.raw["verification"]["error_relative"])


def outlasting_launches(context: Context, pool: Sequence[Measured]) -> Sequence[Measured]:
    """The pool for a check in a bandwidth-bound regime. Where launching the kernels of a compared
    point takes more of its time than what counts as the same, launches could decide, and nothing
    with the same `match`, among it n, counts.

    What is compared is chosen before, so that no point is passed over for being too fast.
    """
    if "read_launches" not in context.claim.get("base", {}):
        return pool
    match, most = context.match, most_launch_share(context.registry)
    compared_points = PREDICATES[context.check["kind"]](context, pool).values()
    bound = {
        key_of(points[0], match)
        for _, points in compared_points
        if any(launch_share(measured) > most for measured in points)
    }
    return [
        dataclasses.replace(measured, launch_bound=key_of(measured, match) in bound)
        for measured in pool
    ]


QUANTITIES: dict[str, Callable[[Context, Measured], Interval | None]] = {
    "share of peak": lambda _, m: _by_time(m, _peak_share(m), -1),
    "share of the read ceiling": lambda _, m: _by_time(m, m.point.ceiling_share, -1),
    "ns per input": _ns,
    "scaled ns per input": _scaled_ns,
    "memory accesses per element": _accesses_per_element,
    "counted memory accesses per element": _counted_accesses_per_element,
    "relative error": _relative_error,
}

PREDICATES: dict[str, Callable[[Context, Sequence[Measured]], Cases]] = {
    "ratio": _ratio,
    "steps": _steps,
    "flat": _flat,
    "value": _value,
    "difference": _difference,
    "choice": _choice,
}
