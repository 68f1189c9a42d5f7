"""Puts published claims (`claims.json`) to the test of results files: evidence and a verdict each.

A claim has checks; a check yields cases, each a number with an interval and the limits that it must
keep. Ratios are of medians. Their interval spans the 95 % intervals of both medians, widened by the
A/A noise floor of the run and backend; a case in several runs spans them all. Only verified times
of variants that are right count.

* A case holds where its whole interval is inside the limits, fails where it is outside, and is open
  where it straddles one. A gain of at least half the published one is a part of it.
* A check holds where all cases do, and fails where fewer than half hold in part at least.
* A claim is reproduced where all checks hold, not reproduced where all fail, not testable where no
  check has points, and else reproduced in part.
"""

import ast
import itertools
import json
import math
import operator
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match

from reduce_bench_report.loader import InputError, Point, Results
from reduce_bench_report.published import Table, load_all

REGISTRY_PATH = Path(__file__).parent / "claims.json"
SCHEMA_PATH = Path(__file__).parent / "claims.schema.json"
MODE = "cold"
ELEMENT_BYTES = {"i32": 4, "f32": 4, "i64": 8, "f64": 8, "u8": 1, "u32": 4}

Json = dict[str, Any]
Value = int | float | str
Key = tuple[Value, ...]


class Verdict(Enum):
    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable here"
    REFUTED = "refuted by arithmetic"


class Outcome(Enum):
    """Of a case or of a check."""

    HOLDS = "holds"
    PART = "holds in part"
    OPEN = "open: the interval straddles a limit"
    FAILS = "fails"
    MISSING = "no points"


@dataclass(frozen=True)
class Interval:
    low: float
    value: float
    high: float


@dataclass(frozen=True)
class Limits:
    """What a number must keep; `part` is the least that still counts as a part of the claim."""

    low: float
    high: float
    part: float | None = None

    def outcome(self, measured: Interval) -> Outcome:
        if self.low <= measured.low and measured.high <= self.high:
            return Outcome.HOLDS
        if measured.high >= self.low and measured.low <= self.high:
            return Outcome.OPEN
        if self.part is not None and measured.low >= self.part:
            return Outcome.PART
        return Outcome.FAILS

    def __str__(self) -> str:
        if self.low == -math.inf:
            return f"at most {self.high:.4g}"
        if self.high == math.inf:
            return f"at least {self.low:.4g}"
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class Measured:
    """A point and the run that it is of."""

    point: Point
    run: Results

    @property
    def noise(self) -> float:
        """How far identical measurements of this backend lay apart in this run."""
        pairs = self.run.document["noise_floor"]["aa"]
        return max(
            (abs(p["ratio"] - 1) for p in pairs if p["backend"] == self.point.backend), default=0.0
        )

    @property
    def counts(self) -> bool:
        return (
            self.point.status == "ok" and not self.point.known_wrong and MODE in self.point.timing
        )

    @property
    def time_ns(self) -> Interval:
        timing = self.point.timing[MODE]
        return Interval(timing["ci_low_ns"], timing["median_ns"], timing["ci_high_ns"])


@dataclass(frozen=True)
class Case:
    """One number put to the test. `name` tells it from the other cases of its check."""

    name: str
    measured: Interval
    limits: Limits
    outcome: Outcome
    points: tuple[Measured, ...] = ()


@dataclass(frozen=True)
class CheckResult:
    what: str
    role: str  # measures, refutes or shows; the last has no say in the verdict
    outcome: Outcome
    cases: tuple[Case, ...]
    missing: tuple[str, ...]
    right_or_wrong: bool = False  # cases are results, not numbers


@dataclass(frozen=True)
class PublishedValue:
    text: str
    source: str


@dataclass(frozen=True)
class Judgement:
    claim: Json
    verdict: Verdict
    checks: tuple[CheckResult, ...]
    published: tuple[PublishedValue, ...]
    published_conditions: str

    @property
    def missing(self) -> list[str]:
        return list(dict.fromkeys(text for check in self.checks for text in check.missing))

    @property
    def points(self) -> list[Measured]:
        return [m for check in self.checks for case in check.cases for m in case.points]


@dataclass(frozen=True)
class Registry:
    tolerances: dict[str, Json]
    claims: tuple[Json, ...]
    tables: dict[str, Table]

    def cell(self, reference: Sequence[Value]) -> float:
        table_id, row_key, column = reference
        if table_id not in self.tables:
            raise InputError(f"a claim refers to table '{table_id}', which is not transcribed")
        table = self.tables[str(table_id)]
        for key, cell in zip(
            table.column(table.columns[0].name), table.column(str(column)), strict=True
        ):
            if key == row_key and isinstance(cell, int | float):
                return float(cell)
        raise InputError(
            f"published table '{table_id}' has no number '{column}' in row '{row_key}'"
        )

    def number(self, raw: Any) -> float:
        """A number, a published cell, the ratio of two, or a named tolerance."""
        if isinstance(raw, str):
            return float(self.tolerances[raw]["value"])
        if isinstance(raw, list):
            return self.cell(raw)
        if isinstance(raw, dict):
            above, below = raw["ratio"]
            return self.number(above) / self.number(below)
        return float(raw)

    def limits(self, check: Json) -> Limits:
        if "about" in check:
            return self._about(self.number(check["about"]), check.get("within"))
        low, part = -math.inf, None
        if "at_least" in check:
            low = self.number(check["at_least"])
            # a tolerance is a factor from 1 upwards; as a lower limit it is the same downwards
            if check["at_least"] in ("same", "flat"):
                low = 1 / low
            elif low > 1 and check["kind"] == "ratio":
                part = 1 + (low - 1) / 2
        high = self.number(check["at_most"]) if "at_most" in check else math.inf
        return Limits(low, high, part)

    def _about(self, target: float, within: float | None) -> Limits:
        if within is not None:
            return Limits(target * (1 - within), target * (1 + within))
        factor = self.number("about")
        gain = target - 1
        return Limits(1 + gain / factor, 1 + gain * factor, 1 + gain / 2)


def load_registry(path: Path = REGISTRY_PATH) -> Registry:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the claims in '{path}': {error}") from error
    schema = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    defect = best_match(jsonschema.Draft7Validator(schema).iter_errors(document))
    if defect is not None:
        pointer = "/" + "/".join(str(part) for part in defect.absolute_path)
        raise InputError(f"'{path}' breaks its schema at {pointer}: {defect.message}")
    return Registry(document["tolerances"], tuple(document["claims"]), load_all())


# What a selection may name of a point.


def axis(name: str, measured: Measured) -> Value | None:
    point = measured.point
    if name.startswith("params."):
        text = dict(point.params).get(name.removeprefix("params."))
        return int(text) if text is not None and text.isdigit() else text
    return AXES[name](measured)


def _segment_length(measured: Measured) -> Value | None:
    labels = measured.point.labels
    length = None if labels is None else dict(labels.params).get("length")
    return None if length is None else int(length)


def _bucket_bytes(measured: Measured) -> Value | None:
    """Of all bucket sets together."""
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
    """Over the inputs that a block sorts at a time."""
    threads, items = axis("params.threads", measured), axis("params.items", measured)
    buckets = measured.point.buckets
    if buckets is None or not isinstance(threads, int) or not isinstance(items, int):
        return None
    return buckets / (threads * items)


AXES: dict[str, Callable[[Measured], Value | None]] = {
    "variant": lambda m: m.point.variant,
    "operation": lambda m: m.point.operation,
    "backend": lambda m: m.point.backend,
    "type": lambda m: m.point.type,
    "op": lambda m: m.point.op,
    "n": lambda m: m.point.n,
    "buckets": lambda m: m.point.buckets,
    "distribution": lambda m: m.point.distribution.name,
    "labels": lambda m: None if m.point.labels is None else m.point.labels.name,
    "segment_length": _segment_length,
    "bucket_bytes": _bucket_bytes,
    "bucket_bytes_per_l2": _bucket_bytes_per_l2,
    "buckets_per_tile": _buckets_per_tile,
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


def _required(selection: Json, name: str) -> list[Value]:
    """Values of an axis that a selection must have: all of a list, the ends of a range."""
    wanted = selection.get(name)
    if isinstance(wanted, list):
        return [value for value in wanted if value is not None]
    if isinstance(wanted, dict) and "to" in wanted:
        return [wanted["from"], wanted["to"]]
    return []


def describe(selection: Json) -> str:
    return ", ".join(f"{_axis_name(name)} {_wanted(wanted)}" for name, wanted in selection.items())


AXIS_WORDS = {
    "bucket_bytes": "bytes of all bucket sets",
    "bucket_bytes_per_l2": "bytes of all bucket sets over L2",
    "buckets_per_tile": "buckets over threads times items",
    "segment_length": "segment length",
}


def _axis_name(name: str) -> str:
    return AXIS_WORDS.get(name, name.removeprefix("params."))


def _wanted(wanted: Any) -> str:
    if isinstance(wanted, list):
        return " or ".join("none" if value is None else str(value) for value in wanted)
    if isinstance(wanted, dict):
        end = f"to {wanted['to']}" if "to" in wanted else f"to below {wanted['below']}"
        return f"{wanted['from']} {end}"
    return str(wanted)


# Predicates. Each gives the cases of the given points by name; the limits are the check's.

Cases = dict[str, tuple[Interval, tuple[Measured, ...]]]


@dataclass(frozen=True)
class Context:
    registry: Registry
    claim: Json
    check: Json

    def selection(self, part: Json) -> Json:
        base: Json = self.claim.get("base", {})
        return base | part

    @property
    def match(self) -> list[str]:
        return list(self.check.get("match", []))

    @property
    def selections(self) -> list[Json]:
        check = self.check
        parts = check.get("sequence") or [check[k] for k in ("of", "to", "select") if k in check]
        return [self.selection(part) for part in parts]


def _grouped(
    pool: Iterable[Measured], selection: Json, match: Sequence[str]
) -> dict[Key, list[Measured]]:
    groups: dict[Key, list[Measured]] = {}
    for measured in pool:
        if measured.counts and matches(selection, measured):
            key = tuple(axis(name, measured) for name in match)
            if None not in key:
                groups.setdefault(tuple(v for v in key if v is not None), []).append(measured)
    return groups


def _fastest(group: Sequence[Measured]) -> Measured:
    return min(group, key=lambda measured: measured.time_ns.value)


def _slowest(group: Sequence[Measured]) -> Measured:
    return max(group, key=lambda measured: measured.time_ns.value)


def _ratio_of(above: Measured, below: Measured) -> Interval:
    a, b = above.time_ns, below.time_ns
    noise = 1 + max(above.noise, below.noise)
    return Interval(a.low / b.high / noise, a.value / b.value, a.high / b.low * noise)


def _name(match: Sequence[str], key: Key) -> str:
    return ", ".join(f"{_axis_name(n)} {v}" for n, v in zip(match, key, strict=True))


def _sort_key(key: Key) -> tuple[tuple[bool, float, str], ...]:
    return tuple((isinstance(v, str), 0.0 if isinstance(v, str) else v, str(v)) for v in key)


def _ratio(context: Context, pool: Sequence[Measured]) -> Cases:
    """Time `of` over time `to`, each the fastest of its points with the same `match`."""
    check, match = context.check, context.match
    of = _grouped(pool, context.selection(check["of"]), match)
    to = _grouped(pool, context.selection(check["to"]), match)
    pick = _slowest if check.get("to_pick") == "slowest" else _fastest
    cases: Cases = {}
    for key in sorted(of.keys() & to.keys(), key=_sort_key):
        above, below = _fastest(of[key]), pick(to[key])
        cases[_name(match, key)] = (_ratio_of(above, below), (above, below))
    return cases


def _along(context: Context, pool: Sequence[Measured]) -> dict[Key, list[tuple[Value, Measured]]]:
    """By match key: (value of the axis, fastest point) in the order of the axis."""
    check, match = context.check, context.match
    lines: dict[Key, list[tuple[Value, Measured]]] = {}
    if "sequence" in check:
        for part in check["sequence"]:
            selection = context.selection(part)
            for key, group in _grouped(pool, selection, match).items():
                lines.setdefault(key, []).append((str(selection["variant"]), _fastest(group)))
        whole = [str(context.selection(part)["variant"]) for part in check["sequence"]]
        return {key: line for key, line in lines.items() if [v for v, _ in line] == whole}
    selection, name = context.selection(check["select"]), check["along"]
    groups = _grouped(pool, selection, [*match, name])
    for key in sorted(groups, key=_sort_key):
        lines.setdefault(key[:-1], []).append((key[-1], _fastest(groups[key])))
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
            name = ", ".join(filter(None, [_name(context.match, key), f"{before} to {after}"]))
            cases[name] = (ratio, (former, latter))
    return cases


def _flat(context: Context, pool: Sequence[Measured]) -> Cases:
    """The slowest over the fastest along an axis."""
    cases: Cases = {}
    for key, line in _along(context, pool).items():
        points = [measured for _, measured in line]
        slowest, fastest = _slowest(points), _fastest(points)
        cases[_name(context.match, key)] = (_ratio_of(slowest, fastest), (slowest, fastest))
    return cases


def _value(context: Context, pool: Sequence[Measured]) -> Cases:
    """A quantity of the fastest point with the same `match`."""
    cases: Cases = {}
    groups = _grouped(pool, context.selection(context.check["select"]), context.match)
    for key in sorted(groups, key=_sort_key):
        measured = _fastest(groups[key])
        quantity = QUANTITIES[context.check["quantity"]](context, measured)
        if quantity is not None:
            cases[_name(context.match, key)] = (quantity, (measured,))
    return cases


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


def _exact(value: float | None) -> Interval | None:
    return None if value is None else Interval(value, value, value)


def _bytes_per_input_byte(measured: Measured) -> Interval | None:
    point = measured.point
    if point.bytes is None or point.n == 0:
        return None
    return _exact(point.bytes / (point.n * ELEMENT_BYTES[point.type]))


def _error(measured: Measured) -> Interval | None:
    record = measured.point.raw["verification"]
    return _exact(record["error_relative"] if record else None)


QUANTITIES: dict[str, Callable[[Context, Measured], Interval | None]] = {
    "share of peak": lambda _, m: _by_time(m, m.point.raw["peak_share"], -1),
    "share of the read ceiling": lambda _, m: _by_time(m, m.point.ceiling_share, -1),
    "scaled ns per input": _scaled_ns,
    "bytes moved per byte of input": lambda _, m: _bytes_per_input_byte(m),
    "relative error": lambda _, m: _error(m),
}

PREDICATES: dict[str, Callable[[Context, Sequence[Measured]], Cases]] = {
    "ratio": _ratio,
    "steps": _steps,
    "flat": _flat,
    "value": _value,
}


# Evaluation


def judge(claim: Json, runs: Sequence[Results], registry: Registry) -> Judgement:
    checks = tuple(_evaluate(Context(registry, claim, check), runs) for check in claim["checks"])
    return Judgement(
        claim,
        _verdict(checks),
        checks,
        tuple(_published(value, registry) for value in claim["published"]),
        _published_conditions(claim, registry),
    )


def _verdict(checks: Sequence[CheckResult]) -> Verdict:
    if any(check.role == "refutes" and check.outcome is Outcome.FAILS for check in checks):
        return Verdict.REFUTED
    outcomes = {check.outcome for check in checks if check.role == "measures"}
    if outcomes == {Outcome.MISSING}:
        return Verdict.NOT_TESTABLE
    if outcomes == {Outcome.HOLDS}:
        return Verdict.REPRODUCED
    if outcomes <= {Outcome.FAILS, Outcome.MISSING}:
        return Verdict.NOT_REPRODUCED
    return Verdict.IN_PART


def _evaluate(context: Context, runs: Sequence[Results]) -> CheckResult:
    kind = context.check["kind"]
    if kind == "arithmetic":
        return _arithmetic(context)
    if kind == "unavailable":
        needs = context.check["needs"]
        return CheckResult(needs, "measures", Outcome.MISSING, (), (f"needs {needs}",))
    pools = [[Measured(point, run) for point in run.points] for run in runs]
    if kind == "verification":
        return _verification(context, [measured for pool in pools for measured in pool])
    complete = [pool for pool in pools if not _missing(context, pool)]
    if complete:
        cases, missing = _hull([_cases(context, pool) for pool in complete]), []
    else:
        together = [measured for pool in pools for measured in pool]
        cases, missing = _cases(context, together), _missing(context, together)
    if context.check.get("mean"):
        cases = _mean(cases)
    limits = context.registry.limits(context.check)
    judged = tuple(
        Case(name, measured, limits, limits.outcome(measured), points)
        for name, (measured, points) in cases.items()
    )
    outcome = _outcome([case.outcome for case in judged], missing)
    return CheckResult(_what(context), "measures", outcome, judged, tuple(missing))


def _cases(context: Context, pool: Sequence[Measured]) -> Cases:
    return PREDICATES[context.check["kind"]](context, pool)


def _hull(of_runs: Sequence[Cases]) -> Cases:
    """Every case over the runs that have it: the median, and the widest interval."""
    found: dict[str, list[tuple[Interval, tuple[Measured, ...]]]] = {}
    for cases in of_runs:
        for name, case in cases.items():
            found.setdefault(name, []).append(case)
    return {
        name: (
            Interval(
                min(interval.low for interval, _ in cases),
                statistics.median(interval.value for interval, _ in cases),
                max(interval.high for interval, _ in cases),
            ),
            tuple(measured for _, points in cases for measured in points),
        )
        for name, cases in found.items()
    }


def _mean(cases: Cases) -> Cases:
    """The geometric mean of all cases as one."""
    if not cases:
        return {}
    intervals = [interval for interval, _ in cases.values()]
    mean = Interval(
        statistics.geometric_mean(interval.low for interval in intervals),
        statistics.geometric_mean(interval.value for interval in intervals),
        statistics.geometric_mean(interval.high for interval in intervals),
    )
    return {"mean": (mean, tuple(m for _, points in cases.values() for m in points))}


def _outcome(cases: Sequence[Outcome], missing: Sequence[str]) -> Outcome:
    if not cases:
        return Outcome.MISSING
    if all(case is Outcome.HOLDS for case in cases):
        return Outcome.PART if missing else Outcome.HOLDS
    if len(cases) == 1:
        return cases[0]
    backing = sum(case is not Outcome.FAILS for case in cases)
    return Outcome.PART if 2 * backing >= len(cases) else Outcome.FAILS


def _missing(context: Context, pool: Sequence[Measured]) -> list[str]:
    """What the check asks for and the points do not give, a clause each."""
    axes = [*context.match, *([context.check["along"]] if "along" in context.check else [])]
    clauses = []
    for selection in context.selections:
        matching = [measured for measured in pool if matches(selection, measured)]
        counted = [measured for measured in matching if measured.counts]
        if not counted:
            clauses.append(f"no point of {describe(selection)}{_why(matching)}")
            continue
        required = {name: _required(selection, name) for name in axes}
        required = {name: values for name, values in required.items() if values}
        for values in itertools.product(*required.values()):
            exact = dict(zip(required, values, strict=True))
            there = [measured for measured in matching if matches(exact, measured)]
            if not any(measured.counts for measured in there):
                clauses.append(f"no point of {describe(selection | exact)}{_why(there)}")
    if not clauses and not _cases(context, pool):
        kind = "one axis" if "along" in context.check else "both sides"
        clauses.append(f"no points of {kind} that are alike in all else")
    return clauses


def _why(uncounted: Sequence[Measured]) -> str:
    """Of points that are there and do not count."""
    reasons = sorted(
        {
            m.point.outcome
            if m.point.status != "ok" or m.point.known_wrong
            else f"not timed {MODE}"
            for m in uncounted
        }
    )
    return f" (there but {' or '.join(reasons)})" if reasons else ""


def _verification(context: Context, pool: Sequence[Measured]) -> CheckResult:
    """Every result that the selection names must be right."""
    selection = context.selection(context.check["select"])
    cases = []
    for measured in pool:
        point = measured.point
        if not matches(selection, measured) or point.status not in ("ok", "wrong"):
            continue
        right = point.status == "ok"
        limits = Limits(1, 1)
        # a form known to be wrong may be right by chance, which proves nothing
        outcome = (
            Outcome.FAILS
            if not right
            else Outcome.OPEN
            if point.known_wrong
            else limits.outcome(Interval(1, 1, 1))
        )
        name = _name(context.match, tuple(axis(a, measured) or "" for a in context.match))
        cases.append(Case(name, Interval(right, right, right), limits, outcome, (measured,)))
    missing = [] if cases else [f"no point of {describe(selection)}"]
    # one wrong result refutes that results are right
    outcomes = [case.outcome for case in cases]
    outcome = Outcome.FAILS if Outcome.FAILS in outcomes else _outcome(outcomes, missing)
    return CheckResult(
        _what(context), "measures", outcome, tuple(cases), tuple(missing), right_or_wrong=True
    )


# Arithmetic on published numbers

OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[[float], float]] = {"floor": math.floor, "ceil": math.ceil}


def calculate(formula: str, inputs: dict[str, float]) -> float:
    """The value of a formula of + - * / **, floor and ceil over named inputs."""

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name) if name in inputs:
                return inputs[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name in FUNCTIONS:
                return FUNCTIONS[name](value(argument))
        raise InputError(f"a claim's formula '{formula}' has '{ast.unparse(node)}' in it")

    return value(ast.parse(formula, mode="eval").body)


def _arithmetic(context: Context) -> CheckResult:
    check, registry = context.check, context.registry
    inputs = {name: registry.number(raw) for name, raw in check["inputs"].items()}
    result = calculate(check["formula"], inputs)
    limits = registry.limits(check)
    exact = Interval(result, result, result)
    given = ", ".join(f"{name} = {value:.10g}" for name, value in inputs.items())
    name = f"{check['formula']} with {given}"
    case = Case(name, exact, limits, limits.outcome(exact))
    return CheckResult(check["what"], check["role"], case.outcome, (case,), ())


# Words


def _what(context: Context) -> str:
    check = context.check
    if "what" in check:
        return str(check["what"])
    short = [_short(context, part) for part in _parts(check)]
    kind = check["kind"]
    if kind == "ratio":
        slowest = "the slowest of " if check.get("to_pick") == "slowest" else ""
        mean = "mean of " if check.get("mean") else ""
        return f"{mean}time of {short[0]} over {slowest}{short[1]}"
    if kind == "steps":
        what = "each step of " + " > ".join(short)
        along = f" along {_axis_name(check['along'])}" if "along" in check else ""
        return what + along + (", per doubling" if check.get("per_doubling") else "")
    if kind == "flat":
        return f"slowest over fastest of {short[0]} along {_axis_name(check['along'])}"
    if kind == "value":
        return f"{check['quantity']} of {short[0]}"
    return f"results of {short[0]} are right"


def _parts(check: Json) -> list[Json]:
    return check.get("sequence") or [check[key] for key in ("of", "to", "select") if key in check]


def _short(context: Context, part: Json) -> str:
    """What tells this selection from the others of its claim."""
    variant = context.selection(part)["variant"]
    rest = {name: wanted for name, wanted in part.items() if name != "variant"}
    return _wanted(variant) + (f" ({describe(rest)})" if rest else "")


def _published(raw: Any, registry: Registry) -> PublishedValue:
    if isinstance(raw, list):
        return _published_cell(raw, registry)
    if "ratio" in raw:
        above, below = (_published_number(number, registry) for number in raw["ratio"])
        return PublishedValue(
            f"{registry.number(raw):.4g}",
            f"{above.text} over {below.text}: {above.source} over {below.source}",
        )
    return PublishedValue(str(raw["value"]), raw["source"])


def _published_number(raw: Any, registry: Registry) -> PublishedValue:
    if isinstance(raw, list):
        return _published_cell(raw, registry)
    return PublishedValue(f"{raw:g}", "the text")


def _published_cell(raw: Sequence[Value], registry: Registry) -> PublishedValue:
    table_id, row_key, column = raw
    table = registry.tables[str(table_id)]
    unit = table.unit(str(column))
    text = f"{registry.cell(raw):.6g}" + (f" {unit}" if unit else "")
    first = table.columns[0].name
    row = str(row_key) if first == "what" else f"{first} {row_key}"
    # tables of what a text states say in their last column what each number is
    if [named.name for named in table.columns] == ["what", "value", "of"]:
        text += f" {table.column('of')[table.column('what').index(row_key)]}"
        return PublishedValue(text, f"{table.id}, {row_key}")
    return PublishedValue(text, f"{table.id}, {row}, {column}")


def _published_conditions(claim: Json, registry: Registry) -> str:
    ids = [table_id for raw in claim["published"] for table_id in _tables_of(raw)]
    texts = []
    for table in (registry.tables[table_id] for table_id in ids):
        peak = f", {table.peak_gb_per_s:g} GB/s" if table.peak_gb_per_s else ""
        conditions = ", ".join(f"{name} {_wanted(v)}" for name, v in table.conditions.items())
        texts.append("; ".join(filter(None, [(table.hardware or "") + peak, conditions])))
    return " / ".join(dict.fromkeys(filter(None, texts)))


def _tables_of(raw: Any) -> list[str]:
    if isinstance(raw, list):
        return [str(raw[0])]
    if "ratio" in raw:
        return [str(number[0]) for number in raw["ratio"] if isinstance(number, list)]
    return [raw["table"]] if "table" in raw else []


def conditions(points: Sequence[Measured]) -> str:
    """Under which the points were measured, in one line."""
    texts = []
    for name in ("operation", "backend", "n", "buckets", "type", "op", "distribution", "labels"):
        values = {axis(name, measured) for measured in points} - {None}
        if values:
            ordered = sorted((v for v in values if v is not None), key=lambda v: _sort_key((v,)))
            shown = [str(v) for v in ordered]
            text = " or ".join(shown) if len(shown) <= 4 else f"{shown[0]} to {shown[-1]}"
            texts.append(f"{_axis_name(name)} {text}")
    return ", ".join(texts)
