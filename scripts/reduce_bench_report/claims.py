"""Tests published claims (`claims.json`) against results files: each gets evidence and a verdict.

A claim has checks; a check yields cases, each a number with an interval and the limits that it must
keep. Ratios are of medians. Their interval spans the 95 % intervals of both medians, widened by the
noise floor: the A/A one of the run and backend, or, where there are second rounds, what lies
between runs of such points, if that is more. A case in several runs that have all that a check
needs spans the ratio of each; where only one has, what other runs measured of a side widens that
side. Where none has, the points of all are one pool. Only verified times of variants that are right
count. Each claim is read twice: as printed, and in its source's regime.

* A case holds if its whole interval is inside the limits, fails if it is outside, and is open if it
  straddles one. A gain of half to twice the published one holds in part.
* A check holds if all cases do and no rival is missing. It is open if none holds even in part and
  half or more are open. It fails if fewer than half hold, hold in part, or are open.
* A claim that requires something is not testable unless a check with that role holds.
* A claim is reproduced if all checks hold, not reproduced if all fail, not testable if no check has
  points, and undecided if none holds even in part and some are open. Else it is reproduced in
  part.
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from reduce_bench_report import rounds, simulation
from reduce_bench_report.claim_registry import (
    Interval,
    Json,
    Limits,
    Outcome,
    Registry,
    Value,
    calculate,
)
from reduce_bench_report.identity import Distribution, PointIdentity
from reduce_bench_report.loader import Results
from reduce_bench_report.points import (
    MODE,
    Measured,
    axis,
    axis_name,
    describe,
    matches,
    parts_of,
    required,
    sort_key,
    variants_of,
    wanted_text,
)
from reduce_bench_report.predicates import (
    PREDICATES,
    Cases,
    Context,
    case_name,
    compared,
    key_of,
    outlasting_launches,
    simulated_times,
    takes_slowest,
)
from reduce_bench_report.regimes import meaning, outside_of_regime, tables_of, translated


class Verdict(Enum):
    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    UNDECIDED = "undecided"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable here"
    REFUTED = "refuted by arithmetic"


@dataclass(frozen=True)
class Case:
    """One number and its limits. `name` tells it from the other cases of its check."""

    name: str
    measured: Interval
    limits: Limits
    outcome: Outcome
    points: tuple[Measured, ...] = ()


@dataclass(frozen=True)
class CheckResult:
    what: str
    role: str  # measures, refutes, requires, explains or shows; the last two have no say
    outcome: Outcome
    cases: tuple[Case, ...]
    missing: tuple[str, ...]
    right_or_wrong: bool = False  # whether cases are verified results and not numbers


@dataclass(frozen=True)
class PublishedValue:
    text: str
    source: str


@dataclass(frozen=True)
class Reading:
    """A claim with its verdict under one reading of the source's conditions."""

    verdict: Verdict
    checks: tuple[CheckResult, ...]
    interrupted: tuple[str, ...]  # names of results files that lack points

    @property
    def missing(self) -> list[str]:
        deciding = [check for check in self.checks if check.role in DECIDING]
        clauses = list(dict.fromkeys(text for check in deciding for text in check.missing))
        clauses += [f"what {name} lacks, interrupted" for name in self.interrupted if clauses]
        unmet = [check.what for check in _unmet(self.checks) if check.cases]
        return clauses + [f"what it requires: {what}" for what in unmet]

    @property
    def points(self) -> list[Measured]:
        return [m for check in self.checks for case in check.cases for m in case.points]


@dataclass(frozen=True)
class Cause:
    """Why a claim is not reproduced, by a name in claims.json, and the data that support it."""

    name: str
    evidence: str


@dataclass(frozen=True)
class Judgement(Reading):
    """The reading as printed, and beside it the one in the source's regime."""

    claim: Json
    regime: Reading
    regime_meaning: str
    cause: Cause | None
    published: tuple[PublishedValue, ...]
    published_conditions: str

    @property
    def group(self) -> str:
        """What the scorecard puts it under: a cause, else the verdict."""
        if self.cause:
            return self.cause.name
        # what the printed condition leaves unsaid, the source's regime may say
        tested = self.verdict is not Verdict.NOT_TESTABLE
        return (self if tested else self.regime).verdict.value


DECIDING = ("measures", "refutes", "requires")
SUPPORT = {Outcome.HOLDS, Outcome.PART}


def judge_all(runs: Sequence[Results], registry: Registry) -> list[Judgement]:
    pools = _with_repeats(runs)
    return [_judge(claim, runs, pools, registry) for claim in registry.claims]


def _judge(
    claim: Json, runs: Sequence[Results], pools: Sequence[list[Measured]], registry: Registry
) -> Judgement:
    printed = _read(claim, runs, pools, registry)
    moved = translated(claim, registry)
    if moved is None:
        regime = Reading(Verdict.NOT_TESTABLE, (), ())
    elif moved is claim:
        regime = printed
    else:
        regime = _read(moved, runs, pools, registry)
    return Judgement(
        printed.verdict,
        printed.checks,
        printed.interrupted,
        claim,
        regime,
        meaning(claim, runs, registry),
        _cause(claim, moved, printed, regime, registry, runs, pools),
        tuple(_published(value, registry) for value in claim["published"]),
        _published_conditions(claim, registry),
    )


def _read(
    claim: Json, runs: Sequence[Results], pools: Sequence[list[Measured]], registry: Registry
) -> Reading:
    checks = tuple(_evaluate(registry, claim, check, pools) for check in claim["checks"])
    interrupted = tuple(run.name for run in runs if run.document["interrupted"])
    return Reading(_verdict(checks), checks, interrupted)


def _with_repeats(runs: Sequence[Results]) -> list[list[Measured]]:
    """The points of each run, each with the same point of the other runs."""
    same: dict[PointIdentity, list[Measured]] = {}
    for run in runs:
        for point in run.points:
            measured = Measured(point, run)
            if measured.counts:
                same.setdefault(point.identity, []).append(measured)
    between = rounds.floors(runs)
    return [
        [
            Measured(
                point,
                run,
                tuple(m for m in same.get(point.identity, ()) if m.run is not run),
                between_runs=(
                    between.get(rounds.Kind.of(point, MODE), 0.0) if MODE in point.timing else 0.0
                ),
            )
            for point in run.points
        ]
        for run in runs
    ]


def _cause(
    claim: Json,
    moved: Json | None,
    printed: Reading,
    regime: Reading,
    registry: Registry,
    runs: Sequence[Results],
    pools: Sequence[list[Measured]],
) -> Cause | None:
    """Why a claim is not reproduced, by either reading; None where it is or where none tests it."""
    failed = [each for each in (printed, regime) if each.verdict is Verdict.NOT_REPRODUCED]
    refuting = [check.what for check in printed.checks if check.role == "refutes"]
    if printed.verdict is Verdict.REFUTED:
        return Cause("contradiction", f"outside of its limit: {refuting[0]}")
    if not failed:
        return None
    for raw, check in zip(claim["checks"], printed.checks, strict=True):
        if check.role == "explains" and check.outcome is Outcome.HOLDS:
            return Cause(raw["cause"], check.what)
    if moved is None:
        return Cause("unexplained", "nothing measured supports a cause")
    if regime.verdict is Verdict.NOT_REPRODUCED:
        departing = sorted(rests_on(claim) & registry.departures.keys())
        evidence = "it fails in the source's regime"
        if any(check["kind"] == "choice" for check in claim["checks"]):
            evidence += ", and beside the hardware the simulator is left, which is this project's"
            return Cause("unexplained", evidence)
        if departing:
            names = ", ".join(departing)
            if not _fails_by_every_form(moved, departing, registry, runs, pools):
                evidence += ", and beside the hardware a departure is left"
                return Cause("unexplained", f"{evidence}: that of {names}")
            evidence += f", with the source's form of {names} too, as it was measured"
        return Cause("hardware", f"by elimination: {evidence}, and no other cause is supported")
    found = "not measured" if regime.verdict is Verdict.NOT_TESTABLE else regime.verdict.value
    outside = outside_of_regime(moved, printed.points, registry)
    # A condition that is gone explains a failure only if the claim was seen to hold under it.
    seen = regime.verdict in (Verdict.REPRODUCED, Verdict.IN_PART)
    evidence = "; ".join([f"{found} in the source's regime", *outside])
    return Cause("regime" if seen else "unexplained", evidence)


@dataclass(frozen=True)
class FormRatio:
    """The time of a kernel in a form of its source's over that in the suite's, for an input."""

    n: int
    buckets: int | None
    labels: Distribution | None
    ratio: Interval

    def distance(self, measured: Measured) -> tuple[float, float, bool]:
        """How far its input is from that of a point, in elements, then in buckets, and then by
        whether its labels are distributed otherwise."""
        point = measured.point
        of_n = abs(math.log(self.n / point.n))
        of_buckets = 0.0
        if self.buckets and point.buckets:
            of_buckets = abs(math.log(self.buckets / point.buckets))
        return of_n, of_buckets, self.labels != point.labels


def _has_source_form(measured: Measured, registry: Registry) -> bool:
    """Whether the point departs from its source in nothing that has a form of the source's."""
    params = dict(measured.point.params)
    return all(
        params.get(param) in values
        for departure in registry.departures[measured.point.variant]
        for param, values in departure["source_form"].items()
    )


def _source_form(
    measured: Measured, registry: Registry, pools: Sequence[list[Measured]], found: "FoundRatios"
) -> tuple[float, float] | None:
    """How much of the time of a kernel whose departures have all a source form that form takes, at
    least and at most, between points that differ in it alone and whose number of elements, and then
    of buckets, is the nearest of those measured, with labels of the same distribution where that
    was measured. None where none was. A point that has the form takes just its own. `found` keeps
    the ratios by variant and parameter."""
    low = high = 1.0
    variant = measured.point.variant
    for departure in registry.departures[variant]:
        for param, values in departure["source_form"].items():
            if dict(measured.point.params).get(param) in values:
                continue
            if (variant, param) not in found:
                found[variant, param] = _ratios_of_forms(variant, param, values, pools)
            ratios = found[variant, param]
            if not ratios:
                return None
            nearest = min(each.distance(measured) for each in ratios)
            near = [each.ratio for each in ratios if each.distance(measured) == nearest]
            low *= min(1, *(ratio.low for ratio in near))
            high *= max(1, *(ratio.high for ratio in near))
    return low, high


def _ratios_of_forms(
    variant: str, param: str, values: Sequence[str], pools: Sequence[list[Measured]]
) -> list[FormRatio]:
    """The ratios of times for all points of one run that differ in a parameter alone, which has one
    of the values in the one above and none in the one below; or that are of another variant above,
    with the same values of the parameters that both have."""
    found: list[FormRatio] = []
    for pool in pools:
        own = [m for m in pool if m.point.variant == variant]
        if param == "variant":
            above = [m for m in pool if m.point.variant in values and m.counts]
            below = [m for m in own if m.counts]
        else:
            # What a form takes tells of its source, be its results right or not.
            above = [m for m in own if dict(m.point.params).get(param) in values and m.is_timed]
            below = [m for m in own if dict(m.point.params).get(param) not in values and m.counts]
        for each, other in itertools.product(above, below):
            if _same_but(param, each, other):
                time, base = each.time_ns, other.time_ns
                ratio = Interval(
                    time.low / base.high, time.value / base.value, time.high / base.low
                )
                point = each.point
                found.append(FormRatio(point.n, point.buckets, point.labels, ratio))
    return found


FoundRatios = dict[tuple[str, str], list[FormRatio]]


def _same_but(param: str, one: Measured, other: Measured) -> bool:
    """Whether two points differ at most in a parameter, or in their variants and in parameters
    that only one of these has."""
    params, others = dict(one.point.params), dict(other.point.params)
    left_out = params.keys() ^ others.keys() if param == "variant" else {param}
    return replace(one.point.identity, variant="", params=()) == replace(
        other.point.identity, variant="", params=()
    ) and all(
        params.get(name) == others.get(name) for name in (params.keys() | others.keys()) - left_out
    )


def _fails_by_every_form(
    claim: Json,
    departing: Sequence[str],
    registry: Registry,
    runs: Sequence[Results],
    pools: Sequence[list[Measured]],
) -> bool:
    """Whether the claim fails even if the times of these variants were those of their sources'
    forms: judged with intervals that span both or, where it compares one kernel with itself, by the
    points alone that have the form. It may not where a form was not measured."""
    departures = [each for variant in departing for each in registry.departures[variant]]
    if not all("source_form" in each for each in departures):
        return False
    if rests_on(claim) == set(departing) and len(departing) == 1:
        # Both sides of a ratio share what the form changes: intervals that span it are too wide.
        of_source = [
            [
                each
                for each in pool
                if each.point.variant not in departing or _has_source_form(each, registry)
            ]
            for pool in pools
        ]
        alone = _read(claim, runs, of_source, registry)
        if alone.verdict is Verdict.NOT_REPRODUCED and not any(c.missing for c in alone.checks):
            return True
    found: FoundRatios = {}
    spanning: list[list[Measured]] = []
    for pool in pools:
        spanning.append([])
        for each in pool:
            if each.point.variant in departing:
                form = _source_form(each, registry, pools, found)
                if form is None:
                    return False
                each = replace(each, source_form=form)
            spanning[-1].append(each)
    return _read(claim, runs, spanning, registry).verdict is Verdict.NOT_REPRODUCED


def rests_on(claim: Json) -> set[str]:
    """The variants on whose times the verdict rests, as printed and in the source's regime."""
    found: set[str] = set()
    for check in [*claim["checks"], *claim["regime"].get("checks", [])]:
        for part in parts_of(check) if check.get("role", "measures") in DECIDING else []:
            found |= variants_of(claim.get("base", {}) | part)
    return found


def _unmet(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """What the claim requires and the data do not have."""
    return [c for c in checks if c.role == "requires" and c.outcome is not Outcome.HOLDS]


def _verdict(checks: Sequence[CheckResult]) -> Verdict:
    if any(check.role == "refutes" and check.outcome is Outcome.FAILS for check in checks):
        return Verdict.REFUTED
    if _unmet(checks):
        return Verdict.NOT_TESTABLE
    outcomes = {check.outcome for check in checks if check.role == "measures"}
    if outcomes == {Outcome.MISSING}:
        return Verdict.NOT_TESTABLE
    if outcomes == {Outcome.HOLDS}:
        return Verdict.REPRODUCED
    if outcomes <= {Outcome.FAILS, Outcome.MISSING}:
        return Verdict.NOT_REPRODUCED
    return Verdict.IN_PART if outcomes & SUPPORT else Verdict.UNDECIDED


def _evaluate(
    registry: Registry, claim: Json, check: Json, runs: Sequence[Sequence[Measured]]
) -> CheckResult:
    context = Context(registry, claim, check, ())
    kind = check["kind"]
    if kind == "arithmetic":
        return _arithmetic(context)
    if kind == "unavailable":
        needs = context.check["needs"]
        return CheckResult(needs, "measures", Outcome.MISSING, (), (f"needs {needs}",))
    # without this filter, most of the time would go to points of other variants
    variants = context.variants
    pools = [[m for m in run if m.point.variant in variants] for run in runs]
    if kind == "verification":
        return _verification(context, [measured for pool in pools for measured in pool])
    every = [measured for pool in pools for measured in pool]
    context = Context(registry, claim, check, every)
    together = outlasting_launches(context, every)
    outlasting = [outlasting_launches(context, pool) for pool in pools]
    complete = [pool for pool in outlasting if not _missing(context, pool)]
    if complete:
        cases, missing = _hull([_cases(context, pool) for pool in _apart(complete)]), []
        # Cases that each run has with another form than the one that counts on one side.
        in_part = {
            name
            for pool in complete
            for name in _cases(Context(registry, claim, check, pool), pool).keys() - cases.keys()
        }
        cases |= {name: case for name, case in _cases(context, together).items() if name in in_part}
    else:
        cases, missing = _cases(context, together), _missing(context, together)
    if context.check.get("mean"):
        cases = _mean(cases)
    limits = context.registry.limits(context.check)
    judged = tuple(
        Case(name, measured, limits, limits.outcome(measured), points)
        for name, (measured, points) in cases.items()
    )
    outcome = _outcome([case.outcome for case in judged], missing)
    role = context.check.get("role", "measures")
    return CheckResult(_what(context), role, outcome, judged, tuple(missing))


def _apart(complete: Sequence[Sequence[Measured]]) -> list[list[Measured]]:
    """The pools of runs that have all that a check needs. Where these are several, both sides of a
    case are of one run, and so of one machine; the one run that there is else has what others
    repeat of its points."""
    if len(complete) == 1:
        return [list(pool) for pool in complete]
    return [[replace(measured, repeats=()) for measured in pool] for pool in complete]


def _cases(context: Context, pool: Sequence[Measured]) -> Cases:
    return PREDICATES[context.check["kind"]](context, pool)


def _hull(of_runs: Sequence[Cases]) -> Cases:
    """Each case over all runs that have it: the median of values, and the widest interval."""
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
    if not SUPPORT & set(cases):
        return Outcome.OPEN if 2 * cases.count(Outcome.OPEN) >= len(cases) else Outcome.FAILS
    backing = sum(case is not Outcome.FAILS for case in cases)
    return Outcome.PART if 2 * backing >= len(cases) else Outcome.FAILS


def _missing(context: Context, pool: Sequence[Measured]) -> list[str]:
    """The points that the check needs and the pool lacks, a clause each."""
    named = [context.check[name] for name in ("along", "worst_over") if name in context.check]
    axes = [*context.match, *named]
    chooses = context.check["kind"] == "choice"
    axes += ["variant"] if chooses else []  # the simulator must have every one to choose from
    clauses = []
    for selection in context.selections:
        matching = [measured for measured in pool if matches(selection, measured)]
        counted = [measured for measured in matching if measured.counts]
        if not counted:
            clauses.append(f"no point of {describe(selection)}{_why(matching)}")
            continue
        ranges = [name for name, wanted in selection.items() if isinstance(wanted, dict)]
        of_every_size = ranges if selection in context.of_every_size else []
        asked = {name: required(selection, name) for name in (*axes, *of_every_size)}
        asked = {name: values for name, values in asked.items() if values}
        for values in itertools.product(*asked.values()):
            exact = dict(zip(asked, values, strict=True))
            there = [measured for measured in matching if matches(exact, measured)]
            if not any(measured.counts for measured in there):
                clauses.append(f"no point of {describe(selection | exact)}{_why(there)}")
    clauses += _missing_rivals(context, pool)
    clauses += _missing_simulations(context, pool) if chooses else []
    if not clauses and not _cases(context, pool):
        described = describe(context.selections[0])
        if context.check["kind"] == "value":
            clauses.append(f"no {context.check['quantity']} with the points of {described}")
        else:
            clauses.append(f"no two points of {described} that differ in what is compared alone")
    return clauses


def _missing_rivals(context: Context, pool: Sequence[Measured]) -> list[str]:
    """A claim about all of a list, such as "the slowest", is not shown on a part of it. Each must
    have a point somewhere, and wherever the others are compared unless it was skipped there."""
    check, match = context.check, context.match
    if check["kind"] != "ratio":
        return []
    clauses = []
    for side in _universal(check):
        selection = context.selection(check[side])
        lists = {
            name: wanted
            for name, wanted in selection.items()
            if isinstance(wanted, list) and name not in match and None not in wanted
        }
        if not lists:
            continue
        keys = sorted(compared(context, pool), key=sort_key)
        for values in itertools.product(*lists.values()):
            rival = selection | dict(zip(lists, values, strict=True))
            there = [measured for measured in pool if matches(rival, measured)]
            if not any(measured.counts for measured in there):
                clauses.append(f"no point of {describe(rival)}{_why(there)}")
                continue
            told = {key_of(m, match) for m in there if m.counts or m.point.status == "skipped"}
            clauses += [
                f"no point of {describe(rival | dict(zip(match, key, strict=True)))}"
                for key in keys
                if key not in told
            ]
    return clauses


def _missing_simulations(context: Context, pool: Sequence[Measured]) -> list[str]:
    selection = context.selection(context.check["select"])
    there = [measured for measured in pool if measured.counts and matches(selection, measured)]
    simulated = simulated_times(there)
    lacking = sum(id(measured) not in simulated for measured in there)
    if not lacking:
        return []
    folder = simulation.folder_of(there[0].run.path)
    return [
        f"no simulation of {lacking} of {len(there)} points of {describe(selection)} in {folder}; "
        "scripts/simulate_points.sh makes them"
    ]


def _universal(check: Json) -> list[str]:
    """The sides of a ratio whose list of variants means all of them, not any of them."""
    upper, lower = (limit in check or "about" in check for limit in ("at_most", "at_least"))
    of = upper if takes_slowest(check, "of") else lower
    to = lower if takes_slowest(check, "to") else upper
    return [*(["of"] if of else []), *(["to"] if to else [])]


def _why(uncounted: Sequence[Measured]) -> str:
    """Why points that are there do not count, in brackets."""
    reasons = sorted({_why_not(measured) for measured in uncounted})
    return f" (there but {' or '.join(reasons)})" if reasons else ""


def _why_not(uncounted: Measured) -> str:
    point = uncounted.point
    if point.status != "ok" or point.known_wrong:
        return point.outcome
    return "bound by launches" if MODE in point.timing else f"not timed {MODE}"


def _verification(context: Context, pool: Sequence[Measured]) -> CheckResult:
    """Every result that the selection names must be right."""
    selection = context.selection(context.check["select"])
    cases = []
    for measured in pool:
        point = measured.point
        if not matches(selection, measured) or point.status not in ("ok", "wrong"):
            continue
        right = point.status == "ok"
        # a variant known to be wrong may be right by chance, which proves nothing
        of_right = Outcome.OPEN if point.known_wrong else Outcome.HOLDS
        outcome = of_right if right else Outcome.FAILS
        name = case_name(context.match, tuple(axis(a, measured) or "" for a in context.match))
        cases.append(Case(name, Interval(right, right, right), Limits(1, 1), outcome, (measured,)))
    missing = [] if cases else [f"no point of {describe(selection)}"]
    # one wrong result is enough to refute the claim
    outcomes = [case.outcome for case in cases]
    outcome = Outcome.FAILS if Outcome.FAILS in outcomes else _outcome(outcomes, missing)
    role = context.check.get("role", "measures")
    return CheckResult(
        _what(context), role, outcome, tuple(cases), tuple(missing), right_or_wrong=True
    )


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


def _what(context: Context) -> str:
    check = context.check
    if "what" in check:
        return str(check["what"])
    short = [_short(context, part) for part in parts_of(check)]
    kind = check["kind"]
    if kind == "ratio":
        of, to = ("the slowest of " if takes_slowest(check, s) else "" for s in ("of", "to"))
        mean = "mean of " if check.get("mean") else ""
        return f"{mean}time of {of}{short[0]} over {to}{short[1]}"
    if kind == "steps":
        what = "each step of " + " > ".join(short)
        along = f" along {axis_name(check['along'])}" if "along" in check else ""
        return what + along + (", per doubling" if check.get("per_doubling") else "")
    if kind == "flat":
        return f"slowest over fastest of {short[0]} along {axis_name(check['along'])}"
    if kind == "value":
        over = check.get("worst_over")
        worst = f" with the slowest {axis_name(over)} of each configuration" if over else ""
        return f"{check['quantity']} of {short[0]}{worst}"
    if kind == "difference":
        return f"scaled ns per input of {short[0]} less those of {short[1]}"
    if kind == "choice":
        chosen = axis_name(check["along"])
        return f"time with the {chosen} that the simulator chooses, over the fastest other"
    return f"results of {short[0]} are right"


def _short(context: Context, part: Json) -> str:
    """What tells this selection from the others of its claim."""
    variant = context.selection(part)["variant"]
    rest = describe({name: wanted for name, wanted in part.items() if name != "variant"})
    return wanted_text(variant) + (f" ({rest})" if rest else "")


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
    ids = [table_id for raw in claim["published"] for table_id in tables_of(raw)]
    texts = []
    for table in (registry.tables[table_id] for table_id in ids):
        peak = f", {table.peak_gb_per_s:g} GB/s" if table.peak_gb_per_s else ""
        conditions = ", ".join(f"{name} {wanted_text(v)}" for name, v in table.conditions.items())
        hardware = f"{table.hardware}{peak}" if table.hardware else ""
        texts.append("; ".join(filter(None, [hardware, conditions])))
    return " / ".join(dict.fromkeys(filter(None, texts)))


def conditions(points: Sequence[Measured]) -> str:
    """The conditions under which the points were measured, in one line."""
    texts = []
    labels = "length" if all(measured.point.length for measured in points) else "labels"
    for name in ("operation", "backend", "n", "buckets", "type", "op", "distribution", labels):
        values = {axis(name, measured) for measured in points} - {None}
        if values:
            ordered = sorted((v for v in values if v is not None), key=lambda v: sort_key((v,)))
            shown = [str(v) for v in ordered]
            text = " or ".join(shown) if len(shown) <= 4 else f"{shown[0]} to {shown[-1]}"
            texts.append(f"{axis_name(name)} {text}")
    return ", ".join(texts)
