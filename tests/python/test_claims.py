"""Every published claim on results made up to satisfy it and not to, and how verdicts are reached.

The points of a check are made from its own selections, and their times solved from its limits.
"""

import copy
import dataclasses
import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import made_up
import pytest
from reduce_bench_report import loader, paths, scorecard
from reduce_bench_report.__main__ import main
from reduce_bench_report.claim_registry import (
    Interval,
    Limits,
    Outcome,
    Registry,
    calculate,
    load_registry,
)
from reduce_bench_report.claims import Judgement, Reading, Verdict, judge_all, rests_on
from reduce_bench_report.configuration import Sweep
from reduce_bench_report.configuration import load as load_configuration
from reduce_bench_report.identity import Distribution
from reduce_bench_report.loader import (
    ELEMENT_BYTES,
    InputError,
    Results,
    committed_results,
    default_results,
)
from reduce_bench_report.paths import shipped
from reduce_bench_report.points import Measured, input_bytes, variants_of, within
from reduce_bench_report.predicates import PREDICATES, Context, takes_slowest
from reduce_bench_report.regimes import (
    hardware_of,
    least_launches,
    outside_of_regime,
    translated,
)
from reduce_bench_report.scorecard import document

Json = dict[str, Any]
Spec = dict[str, Any]  # axis -> value of one point

REGISTRY = load_registry()
CLAIMS = {claim["number"]: claim for claim in REGISTRY.claims}
PEAK_GB_PER_S = made_up.GPU["peak_gb_per_s"]
L2_BYTES = {"cuda": made_up.GPU["l2_bytes"], "cpu": made_up.CPU["l2_bytes"]}
MEASURED_KINDS = ("ratio", "steps", "flat", "value", "difference")
CHECKS = [
    (number, index)
    for number, claim in CLAIMS.items()
    for index, check in enumerate(claim["checks"])
    if check["kind"] in MEASURED_KINDS and check.get("role", "measures") == "measures"
]
AS_PRINTED = {"bound": "none", "why": "What a test makes up of a regime is not translated again."}
IN_REGIME = {
    number: moved | {"regime": AS_PRINTED}
    for number, claim in CLAIMS.items()
    if (moved := translated(claim, REGISTRY)) is not None and moved is not claim
}
READINGS = {"as printed": CLAIMS, "in the source's regime": IN_REGIME}
READ_CHECKS = [
    (reading, number, index)
    for reading, claims in READINGS.items()
    for number, claim in claims.items()
    for index, check in enumerate(claim["checks"])
    if check["kind"] in MEASURED_KINDS and check.get("role", "measures") == "measures"
]
# quantities that are no times
COUNTED = "counted memory accesses per element"
RECORDED = ("memory accesses per element", COUNTED, "relative error")
MARGIN = 0.002  # of a logarithm, beyond the limits and far beyond the made-up intervals
START_NS = 1e8  # of which launches are next to nothing, even of a twentieth of it
LARGE_N = 1 << 29  # in every source's regime on the made-up card
DERIVED = ("bucket_bytes_per_l2", "buckets_per_tile", "groups_per_sm", "read_launches")

# The side of a ratio that has a list of which every one must be there, not any.
RIVALS = {
    18: "of",
    27: "to",
    38: "of",
    45: "to",
    46: "of",
    60: "of",
    65: "of",
    66: "of",
    67: "of",
    68: "to",
    69: "of",
    70: "of",
    71: "of",
    74: "to",
    75: "of",
    78: "to",
    85: "of",
    87: "of",
}


def judge(claim: Json, runs: Sequence[Results], registry: Registry) -> Judgement:
    """One claim, which need not be of the registry."""
    (judgement,) = judge_all(runs, dataclasses.replace(registry, claims=(claim,)))
    return judgement


# Points


def made_point(spec: Spec, median_ns: float, **changes: Any) -> Json:
    """A point with these axes; its interval is too narrow to matter."""
    params = {
        name.removeprefix("params."): str(value)
        for name, value in spec.items()
        if name.startswith("params.")
    }
    labels = {"name": spec["labels"]} if spec.get("labels") else None
    if "length" in spec:
        labels = {"name": "runs", "length": spec["length"]}
    made = made_up.point(
        spec["variant"],
        spec.get("n", 1 << 20),
        median_ns,
        params=params,
        operation=spec.get("operation", "reduce"),
        backend=spec.get("backend", "cuda"),
        type="i32",
        op=spec.get("op", "sum"),
        buckets=spec.get("buckets"),
        distribution={"name": spec.get("distribution", "uniform")},
        labels=labels,
    )
    made["type"] = spec.get("type", "i32")
    if "groups_per_sm" in spec:
        made["launch"] |= {"grid": round(spec["groups_per_sm"] * made_up.GPU["sm_count"])}
    made["timing"]["cold"] |= {"ci_low_ns": 0.9999 * median_ns, "ci_high_ns": 1.0001 * median_ns}
    return made | changes


def run_of(points: list[Json], *, noise: float = 0.0, name: str = "made-up.json") -> Results:
    """Loaded but not checked by the results' schema, which need not know every operation yet."""
    whole = made_up.results(points)
    whole["noise_floor"]["aa"][0]["ratio"] = 1 + noise
    return Results(Path(name), "0" * 64, whole, tuple(map(loader._point, whole["points"])))


def specs_of(claim: Json, check: Json, part: Json) -> list[Spec]:
    """One point for each value that the check needs; else the first of several."""
    selection = claim.get("base", {}) | part
    all_needed = part is check.get(RIVALS.get(claim["number"], "none"))
    axes = {*check.get("match", []), check.get("along"), check.get("worst_over")}
    # A check that pairs points by their sort takes any: the points made up have the suite's.
    defaults = {"params.sort": "suite", "params.padding": "on"}
    choices: dict[str, list[Any]] = {
        axis: [value] for axis, value in defaults.items() if axis in axes
    }
    for name, wanted in selection.items():
        if isinstance(wanted, dict) and "to" in wanted and name not in DERIVED:
            choices[name] = [wanted["from"], wanted["to"]]
        elif isinstance(wanted, list):
            every = name in axes or (all_needed and None not in wanted)
            choices[name] = wanted if every else wanted[:1]
        else:
            choices[name] = [wanted]
    specs = [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]
    return [resolved for spec in specs for resolved in resolve(spec, axes)]


def resolve(spec: Spec, axes: Iterable[str | None]) -> list[Spec]:
    """Axes that follow from others as values of those."""
    if "read_launches" in spec:  # a host has none
        spec = {name: value for name, value in spec.items() if name != "read_launches"}
        spec["n"] = LARGE_N
    if "groups_per_sm" in axes:
        spec = spec | {"groups_per_sm": 3}
    elif spec.get("groups_per_sm", 0) is None:
        del spec["groups_per_sm"]
    elif "groups_per_sm" in spec:
        bounds = spec["groups_per_sm"]
        spec = spec | {"groups_per_sm": bounds.get("to", bounds["from"])}
    if "bucket_bytes_per_l2" in spec:
        wanted, least = spec.pop("bucket_bytes_per_l2"), spec.get("buckets", {"from": 1})["from"]
        l2_bytes = L2_BYTES[spec["backend"]]
        words = [1 << power for power in range(40)]
        sizes = [m for m in words if m >= least and within(wanted, 4 * m / l2_bytes)]
        ends = (sizes[0], sizes[-1]) if "to" in wanted and "buckets" in axes else sizes[:1]
        return [spec | {"buckets": buckets} for buckets in ends]
    if "buckets_per_tile" in spec:
        wanted = spec.pop("buckets_per_tile")
        threads, items = 64, 12
        buckets = int(threads * items * wanted["from"]) + 1
        return [spec | {"params.threads": threads, "params.items": items, "buckets": buckets}]
    return [spec]


def group_key(spec: Spec, match: Sequence[str]) -> tuple[Any, ...]:
    return tuple(spec[name] for name in match)


# Times: differences of logarithms within bounds, solved as shortest paths (Bellman and Ford).

Bound = tuple[str, str, float, float]  # low <= log time(first) - log time(second) <= high
REFERENCE = "a time of START_NS"


def name_of(spec: Spec) -> str:
    return json.dumps(spec, sort_keys=True)


def solve(bounds: Sequence[Bound]) -> dict[str, float] | None:
    """Times that keep all bounds; None where there are none."""
    edges = [(second, first, high) for first, second, _, high in bounds]
    edges += [(first, second, -low) for first, second, low, _ in bounds]
    edges = [edge for edge in edges if math.isfinite(edge[2])]
    logs = dict.fromkeys(
        [REFERENCE, *(name for first, second, *_ in bounds for name in (first, second))], 0.0
    )
    for _ in logs:
        for source, target, length in edges:
            logs[target] = min(logs[target], logs[source] + length)
    if any(logs[source] + length < logs[target] - 1e-9 for source, target, length in edges):
        return None
    return {
        name: START_NS * math.exp(log - logs[REFERENCE])
        for name, log in logs.items()
        if name != REFERENCE
    }


def wanted(limits: Limits) -> tuple[float, float]:
    low = math.log(limits.low) + MARGIN if limits.low > 0 else -math.inf
    high = math.log(limits.high) - MARGIN if math.isfinite(limits.high) else math.inf
    return low, high


def unwanted(limits: Limits) -> tuple[float, float]:
    """Beyond the limits and what counts as a part of the claim, by a tenth and more."""
    if math.isfinite(limits.high) and limits.low <= 0:
        return math.log(limits.high * 1.1), math.log(limits.high * 2)
    least = limits.low if limits.part is None else limits.part[0]
    return math.log(least / 2), math.log(least / 1.1)


def bounds_of(claim: Json, check: Json, *, satisfied: bool) -> list[Bound]:
    limits = REGISTRY.limits(check)
    low, high = wanted(limits) if satisfied else unwanted(limits)
    match = check.get("match", [])
    kind = check["kind"]
    if check.get("quantity") in RECORDED:
        return [
            (name_of(spec), REFERENCE, 0, 0) for spec in specs_of(claim, check, check["select"])
        ]
    if kind == "value":
        bounds = []
        for spec in specs_of(claim, check, check["select"]):
            at_start = quantity_at_start(check, spec)
            if check["quantity"] == "scaled ns per input":
                offset = math.log(at_start)
                bounds.append((name_of(spec), REFERENCE, low - offset, high - offset))
            else:
                offset = math.log(at_start)
                bounds.append((name_of(spec), REFERENCE, offset - high, offset - low))
        return bounds
    if kind == "ratio":
        pairs = [
            (above, below)
            for above in specs_of(claim, check, check["of"])
            for below in specs_of(claim, check, check["to"])
            if group_key(above, match) == group_key(below, match) and above != below
        ]
        assert pairs
        return [(name_of(above), name_of(below), low, high) for above, below in pairs]
    if kind == "difference":
        return differences(claim, check, satisfied=satisfied)
    bounds = []
    for line in lines_of(claim, check):
        assert len(line) > 1
        if kind == "steps":
            for former, latter in itertools.pairwise(line):
                doublings = 1.0
                if check.get("per_doubling"):
                    along = check["along"]
                    doublings = math.log2(latter[along] / former[along])
                bounds.append((name_of(latter), name_of(former), doublings * low, doublings * high))
        elif satisfied:
            bounds += [
                (name_of(a), name_of(b), -high, high) for a, b in itertools.combinations(line, 2)
            ]
        else:
            bounds.append((name_of(line[-1]), name_of(line[0]), low, high))
            bounds += [(name_of(spec), name_of(line[0]), 0, 0) for spec in line[1:-1]]
    return bounds


def differences(claim: Json, check: Json, *, satisfied: bool) -> list[Bound]:
    """One time is START_NS, the other longer by what is asked for, or by what lies beyond it."""
    limits, match = REGISTRY.limits(check), check.get("match", [])
    low = limits.low if math.isfinite(limits.low) else 0.0
    wanted_ns = (low + limits.high) / 2 if satisfied else 2 * limits.high
    bounds = []
    for below in specs_of(claim, check, check["to"]):
        ratio = math.log(1 + wanted_ns / scaled_ns_at_start(check, below))
        bounds.append((name_of(below), REFERENCE, 0.0, 0.0))
        bounds += [
            (name_of(above), REFERENCE, ratio, ratio)
            for above in specs_of(claim, check, check["of"])
            if group_key(above, match) == group_key(below, match)
        ]
    return bounds


def lines_of(claim: Json, check: Json) -> list[list[Spec]]:
    parts = check.get("sequence") or [check["select"]]
    lines: dict[tuple[Any, ...], list[Spec]] = {}
    for part in parts:
        for spec in specs_of(claim, check, part):
            lines.setdefault(group_key(spec, check.get("match", [])), []).append(spec)
    return list(lines.values())


def quantity_at_start(check: Json, spec: Spec) -> float:
    """The quantity of a point that takes START_NS."""
    if check["quantity"] != "scaled ns per input":
        return 0.5  # a share
    return scaled_ns_at_start(check, spec)


def scaled_ns_at_start(check: Json, spec: Spec) -> float:
    theirs = REGISTRY.tables[check["card"]].peak_gb_per_s
    assert theirs is not None
    return float(START_NS / spec["n"] * PEAK_GB_PER_S / theirs)


def recorded(check: Json, spec: Spec, *, satisfied: bool) -> Json:
    """Fields that give a quantity other than a time, inside the limits or beyond them."""
    limits = REGISTRY.limits(check)
    low, high = wanted(limits) if satisfied else unwanted(limits)
    value = math.exp(low if math.isfinite(low) else high)
    if check["quantity"] == "relative error":
        return {"verification": made_up.verification() | {"error_relative": value}}
    if check["quantity"] == COUNTED:
        return {"counters": counted_accesses(spec["n"], spec["type"], value)}
    return {"bytes": round(value * spec["n"] * ELEMENT_BYTES[spec["type"]])}


def counted_accesses(n: int, element_type: str, per_element: float) -> Json:
    """Counters of so many accesses: half of them loads, a sector of 32 bytes each."""
    sectors = round(per_element * n * ELEMENT_BYTES[element_type] / 32)
    loads = sectors // 2
    return made_up.gpu_counters(n, global_load_sectors=loads, global_store_sectors=sectors - loads)


def made_points(claim: Json, checks: Sequence[Json], *, satisfied: bool) -> list[Json] | None:
    bounds = [
        bound
        for check in checks
        if check["kind"] in MEASURED_KINDS
        for bound in bounds_of(claim, check, satisfied=satisfied)
    ]
    times = solve(bounds)
    if times is None:
        return None
    points = []
    for name, time_ns in times.items():
        spec = json.loads(name)
        share = 0.5 * START_NS / time_ns
        changes: Json = {"peak_share": share, "ceiling_share": share}
        for check in checks:
            selected = check.get("quantity") in RECORDED and specs_of(claim, check, check["select"])
            if selected and spec in selected:
                changes |= recorded(check, spec, satisfied=satisfied)
        points.append(made_point(spec, time_ns, **changes))
    for check in checks:
        if check["kind"] == "verification":
            points += [
                made_point(spec, START_NS, status="ok" if satisfied else "wrong")
                for spec in specs_of(claim, check, check["select"])
            ]
    return points


def verdict(claim: Json, points: list[Json], **run: Any) -> Verdict:
    return judge(claim, [run_of(points, **run)], REGISTRY).verdict


def alone(claim: Json, check: Json) -> Json:
    return claim | {"checks": [check]}


# Every claim


def test_claims_are_numbered_and_no_number_is_used_again() -> None:
    gone = {21, 47}  # that no document states
    assert list(CLAIMS) == [number for number in range(1, max(CLAIMS) + 1) if number not in gone]


# Claims that no results can satisfy, and the most that they can reach.
MOST = {
    33: Verdict.REFUTED,  # whatever is measured, the published time cannot be
    38: Verdict.IN_PART,  # half of it needs another CPU
    39: Verdict.NOT_TESTABLE,  # without simulations, of which its own tests make some up
    93: Verdict.IN_PART,  # half of it needs another GPU
}


@pytest.mark.parametrize("number", CLAIMS)
def test_satisfying_results_reproduce_the_claim(number: int) -> None:
    claim = CLAIMS[number]
    deciding = [c for c in claim["checks"] if c.get("role", "measures") in ("measures", "requires")]
    points = made_points(claim, deciding, satisfied=True)
    if number == 68:  # its per-bank sets gain more than its average, which is made of equal gains
        assert points is None
        return
    assert points is not None
    assert verdict(claim, points) is MOST.get(number, Verdict.REPRODUCED)


@pytest.mark.parametrize(("reading", "number", "index"), READ_CHECKS)
def test_each_check_holds_and_fails_by_its_numbers(reading: str, number: int, index: int) -> None:
    claim = READINGS[reading][number]
    check = claim["checks"][index]
    good = made_points(claim, [check], satisfied=True)
    bad = made_points(claim, [check], satisfied=False)
    assert good is not None
    assert bad is not None
    assert verdict(alone(claim, check), good) is Verdict.REPRODUCED
    assert verdict(alone(claim, check), bad) is Verdict.NOT_REPRODUCED
    if any(each.get("role") == "requires" for each in claim["checks"]):
        return  # of which these points have nothing
    # what is made up for a reading is what the claim itself asks for in it
    for points in (good, bad):
        judgement = judge(CLAIMS[number], [run_of(points)], REGISTRY)
        of_reading = judgement if claim is CLAIMS[number] else judgement.regime
        assert of_reading.verdict is not Verdict.NOT_TESTABLE
        assert of_reading.verdict is not Verdict.REPRODUCED or points is good


VERIFIED = [
    (number, check)
    for number, claim in CLAIMS.items()
    for check in claim["checks"]
    if check["kind"] == "verification"
]


@pytest.mark.parametrize(("number", "check"), VERIFIED)
def test_each_verification_fails_by_a_wrong_result(number: int, check: Json) -> None:
    claim = alone(CLAIMS[number], check)
    bad = made_points(claim, [check], satisfied=False)
    assert bad
    assert verdict(claim, bad) is Verdict.NOT_REPRODUCED


def test_every_claim_is_tested_both_ways() -> None:
    covered = {number for number, _ in [*CHECKS, *VERIFIED]}
    assert set(CLAIMS) - covered == {39}


@pytest.mark.parametrize("number", CLAIMS)
def test_without_points_nothing_is_said(number: int) -> None:
    judgement = judge(CLAIMS[number], [run_of([])], REGISTRY)
    refuted = MOST.get(number) is Verdict.REFUTED  # by what is printed
    assert judgement.verdict is (Verdict.REFUTED if refuted else Verdict.NOT_TESTABLE)
    assert judgement.missing


@pytest.mark.parametrize(("number", "index"), CHECKS)
def test_wrong_points_do_not_count(number: int, index: int) -> None:
    claim = CLAIMS[number]
    check = claim["checks"][index]
    points = made_points(claim, [check], satisfied=True)
    assert points is not None
    for change in (
        {"status": "wrong"},
        {"known_wrong": True},
        {"status": "wrong", "known_wrong": True},
    ):
        wrong = [made | change for made in points]
        judgement = judge(alone(claim, check), [run_of(wrong)], REGISTRY)
        assert judgement.verdict is Verdict.NOT_TESTABLE
        assert "there but wrong" in judgement.missing[0]


@pytest.mark.parametrize(("number", "index"), CHECKS)
def test_a_claim_lacking_a_point_is_not_reproduced(number: int, index: int) -> None:
    claim = CLAIMS[number]
    check = claim["checks"][index]
    points = made_points(claim, [check], satisfied=True)
    assert points is not None
    for lacking in points:
        rest = [made for made in points if made is not lacking]
        assert verdict(alone(claim, check), rest) in (Verdict.IN_PART, Verdict.NOT_TESTABLE)


def lists_of(claim: Json, check: Json, side: str) -> Json:
    """Of which some or all may be asked for: lists along which nothing is compared.

    One with none in it says what a parameter is where there is one.
    """
    axes = {*check.get("match", []), check.get("along"), check.get("worst_over")}
    selection = claim.get("base", {}) | check[side]
    return {
        n: w
        for n, w in selection.items()
        if isinstance(w, list) and n not in axes and None not in w
    }


def test_every_list_is_of_rivals_or_of_any() -> None:
    sides = [
        (number, side)
        for number, index in CHECKS
        for side in ("of", "to", "select")
        if side in CLAIMS[number]["checks"][index]
        and lists_of(CLAIMS[number], CLAIMS[number]["checks"][index], side)
    ]
    assert set(sides) == set(RIVALS.items())


RIVAL_LISTS = [
    (number, index, rival)
    for number, index in CHECKS
    if RIVALS.get(number) in CLAIMS[number]["checks"][index]
    for rivals in lists_of(CLAIMS[number], CLAIMS[number]["checks"][index], RIVALS[number]).values()
    for rival in rivals
]


@pytest.mark.parametrize(("number", "index", "rival"), RIVAL_LISTS)
def test_a_claim_about_all_rivals_is_not_reproduced_without_one(
    number: int, index: int, rival: Any
) -> None:
    claim = CLAIMS[number]
    check = claim["checks"][index]
    (name,) = lists_of(claim, check, RIVALS[number])
    points = made_points(claim, [check], satisfied=True)
    assert points is not None
    axis = name.removeprefix("params.")
    variants = variants_of(claim["base"] | check[RIVALS[number]])

    def of_rival(made: Json) -> bool:
        values = made | made["params"] | {"labels": (made["labels"] or {}).get("name")}
        return made["variant"] in variants and values.get(axis) == str(rival)

    rest = [made for made in points if not of_rival(made)]
    assert len(rest) < len(points)
    judgement = judge(alone(claim, check), [run_of(rest)], REGISTRY)
    # with the only rival gone there is nothing to compare
    only = len(lists_of(claim, check, RIVALS[number])[name]) == 1
    assert judgement.verdict is (Verdict.NOT_TESTABLE if only else Verdict.IN_PART)
    assert any(str(rival) in clause for clause in judgement.missing)
    skipped = [made | {"status": "skipped"} if of_rival(made) else made for made in points]
    assert verdict(alone(claim, check), skipped) is Verdict.IN_PART


def test_a_rival_that_cannot_run_somewhere_is_none_there() -> None:
    claim = CLAIMS[74]
    points = made_points(claim, claim["checks"], satisfied=True)
    assert points is not None
    gone = [m for m in points if m["variant"] == "sheffler/global" and m["buckets"] == 65536]
    assert len(gone) == 1
    skipped = [made | {"status": "skipped"} if made is gone[0] else made for made in points]
    assert verdict(claim, skipped) is Verdict.REPRODUCED
    wrong = [made | {"status": "wrong"} if made is gone[0] else made for made in points]
    assert verdict(claim, wrong) is Verdict.IN_PART
    # between the ends of a range, where the others are compared
    between = [m | {"buckets": 256} for m in points if m["buckets"] == 16]
    assert verdict(claim, points + between) is Verdict.REPRODUCED
    between = [made for made in between if made["variant"] != "eilers/multiscan-global"]
    assert verdict(claim, points + between) is Verdict.IN_PART


# How a verdict is reached


def a_claim(**check: Any) -> Json:
    return {
        "number": 1,
        "paper": "jradi",
        "section": "1",
        "wording": "One is twice as fast as two.",
        "published": [{"value": "2", "source": "nowhere"}],
        "configurations": ["configs/papers/x.json"],
        "regime": {"bound": "none", "why": "Nothing is translated."},
        "checks": [
            {"kind": "ratio", "of": {"variant": "a/two"}, "to": {"variant": "a/one"}, "about": 2}
            | check
        ],
    }


def pair(ratio: float, **spec: Any) -> list[Json]:
    return [
        made_point({"variant": "a/one"} | spec, START_NS),
        made_point({"variant": "a/two"} | spec, ratio * START_NS),
    ]


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (2.0, Verdict.REPRODUCED),
        (1.82, Verdict.REPRODUCED),  # a gain of 0.8 is within the factor 1.25
        (1.78, Verdict.IN_PART),
        (1.52, Verdict.IN_PART),  # half of the gain
        (1.48, Verdict.NOT_REPRODUCED),
        (0.5, Verdict.NOT_REPRODUCED),
        (2.24, Verdict.REPRODUCED),
        (2.3, Verdict.IN_PART),  # more than published
        (2.98, Verdict.IN_PART),
        (3.02, Verdict.NOT_REPRODUCED),  # more than twice the gain
    ],
)
def test_about_a_published_ratio(ratio: float, expected: Verdict) -> None:
    assert verdict(a_claim(), pair(ratio)) is expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (2.1, Verdict.REPRODUCED),
        (20.0, Verdict.REPRODUCED),  # at least has no upper end
        (1.9, Verdict.IN_PART),
        (1.52, Verdict.IN_PART),  # half of the gain
        (1.48, Verdict.NOT_REPRODUCED),
        (1.0, Verdict.NOT_REPRODUCED),
        (0.6, Verdict.NOT_REPRODUCED),
    ],
)
def test_at_least_a_published_ratio(ratio: float, expected: Verdict) -> None:
    claim = a_claim(at_least=2)
    del claim["checks"][0]["about"]
    assert verdict(claim, pair(ratio)) is expected


@pytest.mark.parametrize(("reading", "number", "index"), READ_CHECKS)
def test_no_loss_is_a_part_of_a_gain(reading: str, number: int, index: int) -> None:
    limits = REGISTRY.limits(READINGS[reading][number]["checks"][index])
    if limits.part is None:
        return
    assert limits.part[0] > 1
    for loss in (0.2, 0.97, 0.999):
        assert limits.outcome(Interval(loss, loss, loss)) is Outcome.FAILS
        # nor is one that reaches beyond a half of the gain, or all of it
        wide = limits.outcome(Interval(loss, limits.part[0], limits.part[0] * 1.01))
        assert wide in (Outcome.FAILS, Outcome.OPEN)


@pytest.mark.parametrize(
    ("ratio", "noise", "expected"),
    [
        (1.05, 0.001, Verdict.REPRODUCED),
        (1.02, 0.001, Verdict.REPRODUCED),
        (1.0, 0.005, Verdict.UNDECIDED),  # a gain or none
        (0.98, 0.001, Verdict.NOT_REPRODUCED),
        (1.06, 0.001, Verdict.NOT_REPRODUCED),
    ],
)
def test_a_small_gain_is_what_cannot_be_told_from_it_but_no_loss(
    ratio: float, noise: float, expected: Verdict
) -> None:
    assert verdict(a_claim(about=1.022), pair(ratio), noise=noise) is expected


def test_a_size_without_a_gain_needs_its_own_limits() -> None:
    for claim in REGISTRY.claims:
        for check in claim["checks"]:
            if "about" in check and "within" not in check:
                assert REGISTRY.number(check["about"]) > 1


@pytest.mark.parametrize(
    ("number", "ratio", "expected"),
    [
        (12, 0.735, Verdict.NOT_REPRODUCED),  # F = 16 takes a third longer
        (12, 0.96, Verdict.NOT_REPRODUCED),
        (12, 0.98, Verdict.REPRODUCED),
        (12, 1.02, Verdict.REPRODUCED),
        (12, 1.04, Verdict.NOT_REPRODUCED),
        (16, 0.89, Verdict.REPRODUCED),  # faster is no loss
        (16, 1.02, Verdict.REPRODUCED),
        (16, 1.05, Verdict.NOT_REPRODUCED),
    ],
)
def test_claims_of_equal_times(number: int, ratio: float, expected: Verdict) -> None:
    claim = CLAIMS[number]
    check = claim["checks"][0]
    points = []
    for side, time_ns in (("to", START_NS), ("of", ratio * START_NS)):
        points += [made_point(s, time_ns) for s in specs_of(claim, check, check[side])]
    assert len(points) == 4  # integers and floats
    assert verdict(claim, points) is expected


@pytest.mark.parametrize(
    ("noise", "expected"), [(0.0, Verdict.REPRODUCED), (0.05, Verdict.UNDECIDED)]
)
def test_the_noise_floor_widens_the_interval(noise: float, expected: Verdict) -> None:
    claim = a_claim(at_least=1)
    del claim["checks"][0]["about"]
    assert verdict(claim, pair(1.04), noise=noise) is expected


def test_noise_of_the_other_backend_does_not() -> None:
    run = run_of(pair(2.0), noise=0.5)
    run.document["noise_floor"]["aa"][0]["backend"] = "cpu"
    assert judge(a_claim(), [run], REGISTRY).verdict is Verdict.REPRODUCED


def test_the_interval_of_a_ratio_spans_both_medians() -> None:
    points = pair(2.0)
    points[0]["timing"]["cold"] |= {"ci_low_ns": 0.9 * START_NS, "ci_high_ns": 1.25 * START_NS}
    points[1]["timing"]["cold"] |= {"ci_low_ns": 1.9 * START_NS, "ci_high_ns": 2.7 * START_NS}
    (case,) = judge(a_claim(), [run_of(points)], REGISTRY).checks[0].cases
    assert case.measured.value == pytest.approx(2.0)
    assert (case.measured.low, case.measured.high) == pytest.approx((1.9 / 1.25, 2.7 / 0.9))
    assert case.outcome is Outcome.OPEN


def test_the_fastest_point_stands_for_its_side() -> None:
    points = pair(3.0) + pair(2.0, **{"params.block": 64})
    points[2]["timing"]["cold"]["median_ns"] *= 1.5  # a slower a/one
    assert verdict(a_claim(), points) is Verdict.REPRODUCED


def test_other_modes_do_not_count() -> None:
    hot = [
        made | {"primary_mode": "hot", "timing": {"hot": made["timing"]["cold"]}}
        for made in pair(2.0)
    ]
    judgement = judge(a_claim(), [run_of(hot)], REGISTRY)
    assert judgement.verdict is Verdict.NOT_TESTABLE
    assert "there but not timed cold" in judgement.missing[0]


def test_fewer_than_half_of_the_cases_are_not_a_part() -> None:
    claim = a_claim(match=["n"], of={"variant": "a/two", "n": [1, 2, 4]})

    def points(*ratios: float) -> list[Json]:
        return [
            made for n, ratio in zip((1, 2, 4), ratios, strict=True) for made in pair(ratio, n=n)
        ]

    assert verdict(claim, points(2, 2, 2)) is Verdict.REPRODUCED
    assert verdict(claim, points(2, 2, 1)) is Verdict.IN_PART
    assert verdict(claim, points(2, 1, 1)) is Verdict.NOT_REPRODUCED
    edge = 2.25  # straddles the upper limit
    assert verdict(claim, points(edge, edge, edge)) is Verdict.UNDECIDED
    assert verdict(claim, points(edge, edge, 1)) is Verdict.UNDECIDED
    assert verdict(claim, points(edge, 1, 1)) is Verdict.NOT_REPRODUCED
    assert verdict(claim, points(edge, edge, 2)) is Verdict.IN_PART


def test_what_holds_nowhere_and_is_open_somewhere_is_undecided() -> None:
    claim = a_claim()
    claim["checks"].append({**claim["checks"][0], "about": 20})
    assert verdict(claim, pair(2.25)) is Verdict.UNDECIDED
    assert verdict(claim, pair(2)) is Verdict.IN_PART
    assert verdict(claim, pair(1)) is Verdict.NOT_REPRODUCED


def test_a_case_in_several_runs_spans_them_all() -> None:
    runs = [run_of(pair(1.9), name="a.json"), run_of(pair(2.1), name="b.json")]
    judgement = judge(a_claim(), runs, REGISTRY)
    (case,) = judgement.checks[0].cases
    assert (case.measured.low, case.measured.high) == pytest.approx((1.9, 2.1), rel=1e-3)
    assert case.measured.value == pytest.approx(2.0)
    assert judgement.verdict is Verdict.REPRODUCED
    assert judge(a_claim(), [runs[0], run_of(pair(2.4))], REGISTRY).verdict is Verdict.UNDECIDED


def test_points_of_two_runs_are_paired_only_where_no_run_has_both() -> None:
    one, two = pair(2.0)
    split = [run_of([one], name="a.json"), run_of([two], name="b.json")]
    assert judge(a_claim(), split, REGISTRY).verdict is Verdict.REPRODUCED
    whole = run_of(pair(3.0), name="c.json")
    (case,) = judge(a_claim(), [*split, whole], REGISTRY).checks[0].cases
    assert {measured.run.path.name for measured in case.points} == {"c.json"}


def test_sides_of_two_runs_that_have_both_are_not_compared() -> None:
    """The runs agree on the ratio and not on the times, as those of two machines."""
    slow = [run_of([scaled([point], 1.3)[0] for point in pair(2.0)], name="b.json")]
    (case,) = judge(a_claim(), [run_of(pair(2.0), name="a.json"), *slow], REGISTRY).checks[0].cases
    assert (case.measured.low, case.measured.high) == pytest.approx((2.0, 2.0), rel=1e-3)


def test_no_verdict_rests_on_one_of_two_runs_of_a_point_that_lie_apart() -> None:
    one, two = pair(2.0)
    whole, other = run_of([one, two], name="a.json"), run_of([two], name="b.json")
    assert judge(a_claim(), [whole, other], REGISTRY).verdict is Verdict.REPRODUCED
    other = run_of([pair(1.2)[1]], name="b.json")  # has a/two alone, and pairs with nothing
    judgement = judge(a_claim(), [whole, other], REGISTRY)
    (case,) = judgement.checks[0].cases
    assert (case.measured.low, case.measured.high) == pytest.approx((1.2, 2.0), rel=1e-3)
    assert case.measured.value == pytest.approx(2.0)
    assert judgement.verdict is Verdict.UNDECIDED
    wrong = run_of([pair(1.2)[1] | {"status": "wrong"}], name="b.json")
    assert judge(a_claim(), [whole, wrong], REGISTRY).verdict is Verdict.REPRODUCED


def test_no_slower_form_stands_for_the_fastest_in_a_run_that_lacks_it() -> None:
    one, two = pair(2.0)
    whole = run_of([one, two], name="a.json")
    slower_two = pair(3.0, **{"params.block": 64})[1]
    other = run_of([one, slower_two], name="b.json")
    (case,) = judge(a_claim(), [whole, other], REGISTRY).checks[0].cases
    assert {measured.run.path.name for measured in case.points} == {"a.json"}
    assert (case.measured.low, case.measured.high) == pytest.approx((2.0, 2.0), rel=1e-3)
    # Where no run has the fastest forms of both, those of two runs are paired.
    alone = run_of([two], name="c.json")
    (case,) = judge(a_claim(), [other, alone], REGISTRY).checks[0].cases
    assert {measured.run.path.name for measured in case.points} == {"b.json", "c.json"}
    assert case.measured.value == pytest.approx(2.0)


def test_a_line_in_which_a_slower_form_stands_for_the_fastest_is_not_flat() -> None:
    claim = a_claim()
    claim["checks"] = [
        {
            "kind": "flat",
            "select": {"variant": "a/one"},
            "along": "n",
            "at_most": 1.25,
        }
    ]
    line = [pair(1.0, n=n)[0] for n in (1, 2)]
    assert verdict(claim, line) is Verdict.REPRODUCED
    slow = pair(1.0, n=2, **{"params.block": 64})[0]
    slow["timing"]["cold"] |= {
        name: 2 * START_NS for name in ("median_ns", "ci_low_ns", "ci_high_ns")
    }
    runs = [run_of(line, name="a.json"), run_of([line[0], slow], name="b.json")]
    judgement = judge(claim, runs, REGISTRY)
    assert judgement.verdict is Verdict.REPRODUCED
    (case,) = judgement.checks[0].cases
    assert {measured.run.path.name for measured in case.points} == {"a.json"}


def test_a_grid_that_lacks_idle_blocks_matches_the_whole_one() -> None:
    claim = a_claim(match=["groups_per_sm"])
    one, two = pair(2.0, groups_per_sm=3)
    two["launch"] |= {"grid": one["launch"]["grid"] - 2}
    assert verdict(claim, [one, two]) is Verdict.REPRODUCED
    two["launch"] |= {"grid": one["launch"]["grid"] * 2 // 3 - 2}
    assert verdict(claim, [one, two]) is Verdict.NOT_TESTABLE


# The source's regime, and why a claim is not reproduced


def of_bandwidth(**check: Any) -> Json:
    """A claim about 2^20 integers, which its source's card read in many launches."""
    return a_claim(**check) | {
        "base": {"n": 1 << 20, "type": "i32", "operation": "reduce", "backend": "cuda"},
        "regime": {"bound": "bandwidth"},
    }


def launches(count: float) -> int:
    """The integers that the made-up card reads at its peak in so many of its launches."""
    return round(count * 2200 * PEAK_GB_PER_S / 4)


@pytest.mark.parametrize(
    ("printed", "large", "count", "expected"),
    [
        (1.0, 2.0, 34, (Verdict.NOT_REPRODUCED, Verdict.REPRODUCED, "regime")),
        (1.0, 2.0, 33, (Verdict.NOT_REPRODUCED, Verdict.NOT_TESTABLE, "unexplained")),  # too few
        (1.0, 1.6, 34, (Verdict.NOT_REPRODUCED, Verdict.IN_PART, "regime")),
        (1.0, 1.0, 34, (Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED, "hardware")),
        (2.0, 1.0, 34, (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, "hardware")),
        (2.0, 2.0, 34, (Verdict.REPRODUCED, Verdict.REPRODUCED, None)),
        (2.0, 1.0, 33, (Verdict.REPRODUCED, Verdict.NOT_TESTABLE, None)),
    ],
)
def test_the_condition_is_translated_to_the_card(
    printed: float, large: float, count: float, expected: tuple[Verdict, Verdict, str | None]
) -> None:
    run = run_of([*pair(printed), *pair(large, n=launches(count))])
    judgement = judge(of_bandwidth(), [run], REGISTRY)
    cause = judgement.cause and judgement.cause.name
    assert (judgement.verdict, judgement.regime.verdict, cause) == expected


def with_kernels(points: list[Json], kernels: int | None) -> list[Json]:
    """A record that does not count kernels, as of a library, has no launch."""
    return [
        made | {"launch": None if kernels is None else made["launch"] | {"kernels": kernels}}
        for made in points
    ]


@pytest.mark.parametrize(
    ("kernels", "time_ns", "expected"),
    [
        (1, 2.3 * 33 * 2200, Verdict.REPRODUCED),  # 1.3 % of the faster time
        (2, 1.1 * 67 * 2200, Verdict.REPRODUCED),  # 2.7 %
        (2, 0.9 * 67 * 2200, Verdict.NOT_TESTABLE),  # 3.3 %
        (18, 2.3 * 33 * 2200, Verdict.NOT_TESTABLE),
        (18, 1.1 * 600 * 2200, Verdict.REPRODUCED),
        (None, 1.1 * 34 * 2200, Verdict.REPRODUCED),  # of a library, one at least
        (None, 0.9 * 33 * 2200, Verdict.NOT_TESTABLE),
    ],
)
def test_the_launches_of_all_kernels_are_next_to_nothing_of_a_time(
    kernels: int | None, time_ns: float, expected: Verdict
) -> None:
    factor = time_ns / START_NS
    points = scaled(with_kernels(pair(2.0, n=launches(40)), kernels), factor)
    assert judge(of_bandwidth(), [run_of(points)], REGISTRY).regime.verdict is expected


def test_the_fastest_point_is_not_passed_over_for_being_bound_by_launches() -> None:
    fast, slow = with_kernels(pair(2.0, n=launches(40)), 2)
    slower = slow | {"variant": "a/one", "params": {"block": "64"}}
    points = scaled([fast, slow, slower], 60 * 2200 / START_NS)
    judgement = judge(of_bandwidth(about=1, within=0.1), [run_of(points)], REGISTRY)
    # a/one with blocks of 64 takes as long as a/two, but is not what is compared
    assert judgement.regime.verdict is Verdict.NOT_TESTABLE
    assert judgement.regime.missing[0].endswith("(there but bound by launches)")
    assert judgement.cause is None  # of which launches nothing was measured otherwise


def test_a_regime_that_was_not_measured_explains_nothing_and_says_what_is_there() -> None:
    claim = of_bandwidth()
    claim["regime"] |= {"select": {"groups_per_sm": {"from": 0.5, "to": 1}}, "why": "One each."}
    cause = judge(claim, [run_of(pair(1.0, groups_per_sm=8))], REGISTRY).cause
    assert cause is not None
    assert cause.name == "unexplained"
    assert cause.evidence == (
        "not measured in the source's regime; blocks per SM launched 8, not 0.5 to 1; "
        "empty launches that reading takes 0.397, not at least 33.33"
    )


def test_a_regime_s_own_checks_say_what_printed_points_have_instead() -> None:
    printed = [
        made_point(CLAIMS[48]["base"] | {"variant": "eilers/global-atomic", "buckets": 65536}
                   | {"params.sets": sets}, START_NS)
        for sets in (1, 2)
    ]  # fmt: skip
    cause = judge(CLAIMS[48], [run_of(printed)], REGISTRY).cause
    assert cause is not None
    assert cause.evidence == (
        "not measured in the source's regime; bytes of all bucket sets over L2 0.005 to 0.01, "
        "not 1 to below 2 or 0.5 to below 1"
    )


def test_a_regime_asks_nothing_of_a_variant_whose_launch_the_source_leaves_open() -> None:
    indexes = [i for i, check in enumerate(CLAIMS[67]["checks"]) if "role" not in check]
    points = [made | {"launch": made["launch"] | {"grid": 8 * made_up.GPU["sm_count"]}}
              for made in unsatisfying(67, *indexes)]  # fmt: skip
    cause = judge(CLAIMS[67], [run_of(points)], REGISTRY).cause
    assert cause is not None
    assert "blocks per SM launched 8, not 2.5 to 3" in cause.evidence
    others = [
        made for made in points if made["variant"] in ("podlozhnyuk/256", "nugteren/shuffled")
    ]
    moved = translated(CLAIMS[67], REGISTRY)
    assert moved is not None
    measured = [Measured(point, run_of(others)) for point in run_of(others).points]
    assert not any("per SM" in said for said in outside_of_regime(moved, measured, REGISTRY))


def test_a_regime_that_fixes_a_parameter_says_what_the_printed_points_have() -> None:
    moved = translated(CLAIMS[52], REGISTRY)
    assert moved is not None
    made = unsatisfying(52, 0)

    def said(shared_kib: str) -> list[str]:
        points = [each | {"params": each["params"] | {"shared_kib": shared_kib}} for each in made]
        measured = [Measured(point, run_of(points)) for point in run_of(points).points]
        return outside_of_regime(moved, measured, REGISTRY)

    assert "shared_kib all, not 48" in said("all")
    assert not any("shared_kib" in each for each in said("48"))


def test_a_regime_says_its_rule_and_what_both_cards_have() -> None:
    said = {n: judge(CLAIMS[n], [run_of([])], REGISTRY).regime_meaning for n in (64, 62, 9, 8)}
    of_eilers = "The GTX 690 (one of its two GPUs) has"
    assert f"{of_eilers} 8 multiprocessors, this card 132." in said[64]
    assert f"{of_eilers} an L2 of 512 KiB, this card one of 51200 KiB." in said[62]
    assert "multiprocessors, this card" not in said[9]  # of a card that has no name
    assert "this card" not in said[8]
    for rule, numbers in (("groups_per_sm", (64, 9)), ("bucket_bytes_per_l2", (62,))):
        assert [n for n in said if REGISTRY.regimes[rule] in said[n]] == list(numbers)


def test_what_fits_into_a_processor_s_l2_is_asked_of_its_own() -> None:
    """An L2 of 1 MB is full with 2^18 buckets, the Opteron's with 2^19."""

    def judged(step: int, cpu: Json) -> Judgement:
        spec = CLAIMS[34]["base"] | {"variant": "cpu/multireduce", "params.pages": "small"}
        times = {1 << log2: START_NS * (3 if log2 > step else 1) for log2 in range(28)}
        run = run_of([made_point(spec | {"buckets": m}, ns) for m, ns in times.items()])
        run.environment["cpu"] = cpu
        return judge(CLAIMS[34], [run], REGISTRY)

    for step, printed, regime in (
        (17, Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED),
        (18, Verdict.NOT_REPRODUCED, Verdict.REPRODUCED),
        (19, Verdict.REPRODUCED, Verdict.REPRODUCED),
    ):
        judgement = judged(step, made_up.CPU)
        assert (judgement.verdict, judgement.regime.verdict) == (printed, regime)
        said = "has an L2 of 2048 KiB, this processor one of 1024 KiB."
        assert said in judgement.regime_meaning
    older = {name: value for name, value in made_up.CPU.items() if name != "l2_bytes"}
    for cpu in (older, older | {"l2_bytes": None}):
        judgement = judged(19, cpu)
        assert judgement.verdict is Verdict.REPRODUCED
        assert judgement.regime.verdict is Verdict.NOT_TESTABLE


def test_sizes_in_the_source_s_regime_are_not_mixed() -> None:
    points = [pair(2.0, n=launches(40))[0], pair(2.0, n=launches(80))[1]]
    judgement = judge(of_bandwidth(), [run_of(points)], REGISTRY)
    assert judgement.regime.verdict is Verdict.NOT_TESTABLE


def test_the_regime_asks_for_the_source_s_blocks_per_multiprocessor() -> None:
    claim = of_bandwidth() | {
        "regime": {
            "bound": "bandwidth",
            "select": {"groups_per_sm": {"from": 0.5, "to": 1}},
            "why": "One work-group for each multiprocessor.",
        }
    }
    many = pair(2.0, n=launches(40), groups_per_sm=8)
    assert judge(claim, [run_of(many)], REGISTRY).regime.verdict is Verdict.NOT_TESTABLE
    one = pair(2.0, n=launches(40), groups_per_sm=1)
    judgement = judge(claim, [run_of(one)], REGISTRY)
    assert judgement.regime.verdict is Verdict.REPRODUCED
    assert "Asked for here: blocks per SM launched 0.5 to 1." in judgement.regime_meaning


def test_a_host_is_not_asked_for_launches() -> None:
    claim = of_bandwidth(of={"variant": "a/two", "backend": "cpu"})
    n = launches(40)
    gpu, host = pair(2.0, n=n)[0], pair(2.0, n=n, backend="cpu")[1]
    assert judge(claim, [run_of([gpu, host])], REGISTRY).regime.verdict is Verdict.REPRODUCED
    other = pair(2.0, n=2 * n, backend="cpu")[1]  # of another size
    assert judge(claim, [run_of([gpu, other])], REGISTRY).regime.verdict is Verdict.NOT_TESTABLE


@pytest.mark.parametrize(
    ("bound", "supported", "expected"),
    [
        ("none", True, "baseline"),
        ("none", False, "hardware"),
        ("unknown", True, "baseline"),
        ("unknown", False, "unexplained"),
    ],
)
def test_a_cause_is_what_the_data_support(bound: str, supported: bool, expected: str) -> None:
    claim = a_claim() | {"regime": {"bound": bound, "why": "None."}}
    explains = {"role": "explains", "cause": "baseline", "what": "the loop is twice as fast"}
    claim["checks"].append(
        {"kind": "value", "quantity": "ns per input", "select": {"variant": "a/one"}}
        | explains
        | {"at_most": 1 if supported else 0.5}
    )
    n = round(START_NS / 0.95)  # 0.95 ns for each
    points = [made | {"n": n} for made in pair(1.0)]
    judgement = judge(claim, [run_of(points)], REGISTRY)
    assert judgement.cause is not None
    assert judgement.cause.name == expected
    assert judgement.cause.evidence == explains["what"] or not supported
    # nothing is explained of a claim that holds
    assert judge(claim, [run_of([made | {"n": n} for made in pair(2.0)])], REGISTRY).cause is None


def test_what_arithmetic_refutes_contradicts_itself() -> None:
    cause = judge(CLAIMS[33], [run_of([])], REGISTRY).cause
    assert cause is not None
    assert cause.name == "contradiction"


def test_every_bandwidth_bound_source_has_a_card_or_sizes_of_its_own() -> None:
    for claim in CLAIMS.values():
        if claim["regime"]["bound"] != "bandwidth":
            continue
        card, n = hardware_of(claim, REGISTRY), claim["base"].get("n")
        operation = claim["base"].get("operation")
        of_a_card = card is not None and card.peak_gb_per_s is not None
        assert of_a_card or "why" in claim["regime"]
        if card and card.peak_gb_per_s and isinstance(n, int) and operation:
            types = claim["base"].get("type", "i32")
            element = types[0] if isinstance(types, list) else types
            read_ns = input_bytes(n, element, operation) / card.peak_gb_per_s
            assert read_ns > 50e3  # far more than any launch


def test_a_wrong_result_refutes_and_a_lucky_one_proves_nothing() -> None:
    claim = a_claim()
    claim["checks"] = [{"kind": "verification", "select": {"variant": "a/one"}}]
    right = pair(1.0)[0]
    assert verdict(claim, [right]) is Verdict.REPRODUCED
    assert verdict(claim, [right | {"known_wrong": True}]) is Verdict.UNDECIDED
    assert verdict(claim, [right, right, right | {"status": "wrong"}]) is Verdict.NOT_REPRODUCED
    assert verdict(claim, [right | {"status": "skipped"}]) is Verdict.NOT_TESTABLE


def test_a_share_of_an_unknown_peak_is_missing() -> None:
    claim = alone(CLAIMS[43], CLAIMS[43]["checks"][0])
    points = made_points(claim, claim["checks"], satisfied=True)
    assert points is not None
    run = run_of(points)
    run.environment["gpu"]["peak_gb_per_s"] = None
    judgement = judge(claim, [run], REGISTRY)
    assert judgement.verdict is Verdict.NOT_TESTABLE
    assert judgement.missing[0].startswith("no scaled ns per input with the points of operation")
    run.environment["gpu"] = None
    assert judge(claim, [run], REGISTRY).verdict is Verdict.NOT_TESTABLE


def test_points_of_other_conditions_are_not_compared() -> None:
    claim = a_claim(match=["n"])
    points = [pair(2.0, n=1024)[0], pair(2.0, n=2048)[1]]
    judgement = judge(claim, [run_of(points)], REGISTRY)
    assert judgement.verdict is Verdict.NOT_TESTABLE
    assert judgement.missing == [
        "no two points of variant a/two that differ in what is compared alone"
    ]


def test_limits_include_their_ends() -> None:
    limits = Limits(1, 2)
    assert limits.outcome(Interval(1, 1.5, 2)) is Outcome.HOLDS
    assert limits.outcome(Interval(0.9, 1, 1.1)) is Outcome.OPEN
    assert limits.outcome(Interval(2.1, 2.2, 2.3)) is Outcome.FAILS
    assert Limits(1.5, 2, part=(1.2, 3)).outcome(Interval(1.3, 1.35, 1.4)) is Outcome.PART


# Arithmetic and published numbers


def test_formulas() -> None:
    assert calculate("n * 4 / (t * 1e6)", {"n": 132e6, "t": 0.56}) == pytest.approx(942.857)
    assert calculate("2 ** 3 - floor(7 / 2) + ceil(7 / 2)", {}) == 9
    for formula in ("unknown + 1", "__import__('os')", "n.real", "max(n, 1)", "n if n else 1"):
        with pytest.raises(InputError, match="formula"):
            calculate(formula, {"n": 1.0})


def test_reduce8_is_refuted_by_its_published_time_alone() -> None:
    (check, _) = judge(CLAIMS[33], [run_of([])], REGISTRY).checks
    assert check.cases[0].measured.value == pytest.approx(942.857, rel=1e-5)
    slower = copy.deepcopy(CLAIMS[33])
    slower["checks"][0]["inputs"]["time_ms"] = 2.76  # 191 GB/s
    assert judge(slower, [run_of([])], REGISTRY).verdict is Verdict.NOT_TESTABLE


def arithmetic(number: int) -> list[tuple[float, Outcome]]:
    judgement = judge(CLAIMS[number], [run_of([])], REGISTRY)
    return [
        (check.cases[0].measured.value, check.outcome)
        for check in judgement.checks
        if check.role == "shows" and check.cases
    ]


def test_errata_found_by_arithmetic() -> None:
    # jradi's Table 3 prints the inverse of its formula
    assert arithmetic(16) == [
        (pytest.approx(100.5685, rel=1e-6), Outcome.FAILS),
        (pytest.approx(99.4347, rel=1e-6), Outcome.HOLDS),
    ]
    # eilers 4.5.1: sorting would pay at 2^22 with the rounding printed, not with what it must be
    assert arithmetic(63) == [
        (pytest.approx(1.0), Outcome.FAILS),
        (pytest.approx(1.4), Outcome.HOLDS),
    ]
    # eilers 4.6: 18 times fits a baseline of 1.5 ns, not the 2.5 ns of 3.3
    assert arithmetic(68) == [(pytest.approx(1.44), Outcome.HOLDS)]


def accesses_of_amp(simple_1: float, simple_2: float, **changes: Any) -> list[Json]:
    """Points that declare, and of which a GPU counted, so many accesses per element."""
    return [
        made_point(spec | {"n": n, "type": "f32", "distribution": "ramp"}, 1e3)
        | {
            "bytes": round(accesses * 4 * n),
            "bytes_read": 0,
            "bytes_written": 0,
            "counters": counted_accesses(n, "f32", accesses),
        }
        | changes
        for spec, accesses in (
            ({"variant": "amp/simple-1"}, simple_1),
            ({"variant": "amp/simple-2", "params.window": 8}, simple_2),
        )
        for n in (1024, 65536, 16777216)
    ]


def test_accesses_that_a_gpu_counted_decide_and_declared_ones_are_shown() -> None:
    def judged(points: list[Json]) -> tuple[Verdict, list[Outcome]]:
        judgement = judge(CLAIMS[24], [run_of(points)], REGISTRY)
        return judgement.verdict, [check.outcome for check in judgement.checks[:4]]

    holds, fails, missing = Outcome.HOLDS, Outcome.FAILS, Outcome.MISSING
    assert judged(accesses_of_amp(3, 1.28)) == (Verdict.REPRODUCED, [holds] * 4)
    assert judged(accesses_of_amp(3, 3)) == (Verdict.IN_PART, [holds, fails] * 2)
    assert judged(accesses_of_amp(2, 2)) == (Verdict.NOT_REPRODUCED, [fails] * 4)
    for uncounted in (None, {"all": {"count": None, "unavailable": "forbidden"}}):
        verdict, outcomes = judged(accesses_of_amp(3, 1.28, counters=uncounted))
        assert verdict is Verdict.NOT_TESTABLE
        assert outcomes == [missing, missing, holds, holds]
    undeclared = judged(accesses_of_amp(3, 1.28, bytes=None))
    assert undeclared == (Verdict.REPRODUCED, [holds, holds, missing, missing])


def test_a_share_of_peak_is_of_the_bytes_that_were_counted() -> None:
    check = {"kind": "value", "quantity": "share of peak", "select": {"variant": "a/x"}}
    claim = {"number": 1, "checks": [check], "base": {}}

    def share(**counts: int) -> float:
        made = made_point({"variant": "a/x", "n": 1 << 20}, 1e3)
        made["counters"] = made_up.gpu_counters(1 << 20, **counts)
        run = run_of([made])
        pool = [Measured(point, run) for point in run.points]
        cases = PREDICATES["value"](Context(REGISTRY, claim, check, pool), pool)
        ((interval, _),) = cases.values()
        return interval.value

    declared = 4 * (1 << 20) / 1e3 / 4800
    moved = {"dram_read_bytes": 3_000_000, "dram_written_bytes": 1_500_000}
    assert share(**moved) == pytest.approx(declared)  # what the flush wrote is not known
    peak = made_up.GPU["peak_gb_per_s"]
    assert share(**moved, flush_written_bytes=500_000) == pytest.approx(4_000_000 / 1e3 / peak)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (0.02, Verdict.REPRODUCED),
        (1e-5, Verdict.NOT_REPRODUCED),
        (None, Verdict.NOT_TESTABLE),  # not finite
    ],
)
def test_rounding_errors_are_those_of_the_records(error: float | None, expected: Verdict) -> None:
    claim = CLAIMS[23]
    points = made_points(claim, claim["checks"], satisfied=True)
    assert points is not None
    for made in points:
        if made["type"] == "f32":
            made["verification"] = made["verification"] | {"error_relative": error}
    assert verdict(claim, points) is expected
    # one that cannot be verified is skipped, and what the same code does to fewer is no evidence
    added_one_by_one = ("cpu/sequential", "report7/naive-atomic")
    skipped = [
        made | {"status": "skipped"}
        if made["variant"] in added_one_by_one and made["n"] > 4194304
        else made
        for made in points
    ]
    # the tree has an error of its own, and says nothing about theirs
    assert verdict(claim, skipped) is Verdict.NOT_TESTABLE
    alone_of = [made for made in skipped if made["variant"] in added_one_by_one]
    judgement = judge(claim, [run_of(alone_of)], REGISTRY)
    assert judgement.verdict is Verdict.NOT_TESTABLE
    assert "there but skipped" in judgement.missing[0]


# The simulator's choice


def a_choice(
    tmp_path: Path,
    measured_ns: Mapping[str, float],
    simulated_ns: Mapping[str, float],
    buckets: Sequence[int] = (262144, 67108864),
) -> Results:
    """Points by sort bits, 0 without sorting; simulations of some lie beside their results."""
    points, simulations = [], []
    for m in buckets:
        for bits, time_ns in measured_ns.items():
            sorts = bits != "0"
            variant = "cpu/multireduce-sorted" if sorts else "cpu/multireduce"
            params = {"fetch": "sequential"} | ({"sort_bits": bits} if sorts else {})
            spec = CLAIMS[39]["base"] | {"variant": variant, "buckets": m}
            del spec["params.fetch"], spec["params.pages"]
            points.append(made_point(spec, time_ns, params=params))
            if bits in simulated_ns:
                simulations.append(
                    made_up.simulation(variant, params, spec["n"], m, simulated_ns[bits])
                )
    made_up.save_simulations(tmp_path / "made-up.json", simulations)
    return run_of(points, name=str(tmp_path / "made-up.json"))


@pytest.mark.parametrize(
    ("measured", "simulated", "expected"),
    [
        ({"0": 9, "2": 5, "4": 7}, {"0": 90, "2": 40, "4": 60}, Verdict.REPRODUCED),
        ({"0": 5, "2": 7, "4": 9}, {"0": 40, "2": 60, "4": 90}, Verdict.REPRODUCED),  # no sort
        ({"0": 9, "2": 5.1, "4": 5}, {"0": 90, "2": 40, "4": 60}, Verdict.REPRODUCED),  # the same
        ({"0": 9, "2": 5, "4": 7}, {"0": 90, "2": 60, "4": 40}, Verdict.NOT_REPRODUCED),
        ({"0": 5, "2": 6, "4": 7}, {"0": 90, "2": 40, "4": 60}, Verdict.NOT_REPRODUCED),
        ({"0": 9, "2": 5, "4": 7}, {"0": 90, "2": 40}, Verdict.IN_PART),  # 4 is not simulated
        ({"0": 9, "2": 5, "4": 7}, {"2": 40}, Verdict.NOT_TESTABLE),
        ({"0": 9, "2": 5, "4": 7}, {}, Verdict.NOT_TESTABLE),
        ({"0": 9, "auto": 5}, {"0": 90, "auto": 40}, Verdict.NOT_TESTABLE),  # of which bits?
        ({"2": 5, "4": 7}, {"2": 40, "4": 60}, Verdict.IN_PART),  # not to sort is a choice, too
    ],
)
def test_the_simulator_chooses_by_its_least_time(
    tmp_path: Path, measured: Mapping[str, float], simulated: Mapping[str, float], expected: Verdict
) -> None:
    run = a_choice(tmp_path, measured, simulated)
    judgement = judge(CLAIMS[39], [run], REGISTRY)
    assert judgement.verdict is expected
    assert (judgement.missing == []) == (expected not in (Verdict.IN_PART, Verdict.NOT_TESTABLE))
    # The simulator is no part of the source, so nothing tells it and the hardware apart.
    cause = judgement.cause.name if judgement.cause else None
    assert cause == ("unexplained" if expected is Verdict.NOT_REPRODUCED else None)


def test_a_choice_says_what_is_chosen_and_what_is_missing(tmp_path: Path) -> None:
    whole = a_choice(tmp_path, {"0": 9, "2": 5, "4": 7}, {"0": 90, "2": 60, "4": 40}, [262144])
    (case,) = judge(CLAIMS[39], [whole], REGISTRY).checks[0].cases
    assert case.name == "buckets 262144, sort bits 4 by made up"
    assert case.measured.value == pytest.approx(7 / 5)
    assert [each.point.axis("sort_bits") for each in case.points] == ["4", "2"]
    right = tmp_path / "right"
    right.mkdir()
    whole_and_right = a_choice(right, {"0": 9, "2": 5, "4": 7}, {"0": 9, "2": 4, "4": 6}, [262144])
    (case,) = judge(CLAIMS[39], [whole_and_right], REGISTRY).checks[0].cases
    assert case.measured.value == pytest.approx(5 / 7)
    (tmp_path / "made-up.simulated" / "0.json").unlink()
    missing = judge(CLAIMS[39], [whole], REGISTRY).missing
    assert missing[-1].startswith("no simulation of 1 of 3 points of operation multireduce")
    assert missing[-1].endswith(
        f"in {tmp_path}/made-up.simulated; scripts/simulate_points.sh makes them"
    )


def test_simulations_of_another_point_do_not_count(tmp_path: Path) -> None:
    run = a_choice(tmp_path, {"0": 9, "2": 5}, {"0": 90, "2": 40})
    for path in (tmp_path / "made-up.simulated").iterdir():
        document = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(document | {"n": 1024}), encoding="utf-8")
    assert judge(CLAIMS[39], [run], REGISTRY).verdict is Verdict.NOT_TESTABLE


@pytest.mark.parametrize("number", [8, 14])
def test_the_share_of_the_read_ceiling_is_shown_beside_the_claim(number: int) -> None:
    claim = CLAIMS[number]
    points = made_points(claim, claim["checks"], satisfied=True)
    assert points is not None
    poor = [made | {"ceiling_share": 0.1} for made in points]
    assert verdict(claim, poor) is Verdict.REPRODUCED
    rich = [made | {"peak_share": 0.1, "ceiling_share": 0.99} for made in points]
    judgement = judge(claim, [run_of(rich)], REGISTRY)
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    assert [check.role for check in judgement.checks[:2]] == ["measures", "shows"]
    assert judgement.checks[1].cases[0].outcome is Outcome.HOLDS


# What the changed and new checks tell apart


def test_every_changed_check_states_the_source_s_sentence() -> None:
    changed = {12, 16, 18, 20, 23, 24, 30, 32, 38, 40, 42, 43, 48, 49, 54, 55, 56, 57, 58, 59, 60}
    changed |= {61, 62, 64, 65, 66, 67, 68, 69, 70, 72, 73, 74, 75, 86, 87, 88}
    assert changed <= {number for number, claim in CLAIMS.items() if "reading" in claim}


def with_ratio(claim: Json, ratio: float, **selection: Any) -> list[Json]:
    """Points of the first check, whose times have that ratio."""
    check, asked = claim["checks"][0], claim | {"base": claim["base"] | selection}
    return [
        made_point(spec, time_ns)
        for side, time_ns in (("to", START_NS), ("of", ratio * START_NS))
        for spec in specs_of(asked, check, check[side])
    ]


def satisfying(number: int, *checks: int) -> list[Json]:
    claim = CLAIMS[number]
    points = made_points(claim, [claim["checks"][index] for index in checks], satisfied=True)
    assert points is not None
    return points


def scaled(points: Iterable[Json], factor: float, **axes: Any) -> list[Json]:
    """The points, those at these axes or parameters taking so many times as long."""

    def chosen(made: Json) -> bool:
        values = made | made["params"]
        return all(values.get(name) == value for name, value in axes.items())

    return [
        made | {"timing": {"cold": {k: factor * v for k, v in made["timing"]["cold"].items()
                                    if k.endswith("_ns")}}}
        if chosen(made) else made
        for made in points
    ]  # fmt: skip


def test_a_gain_far_above_the_published_range_is_another_finding() -> None:
    for index in (0, 2, 4):  # ordered, commutative, per-bank sets
        claim = alone(CLAIMS[68], CLAIMS[68]["checks"][index])
        points = satisfying(68, index)
        assert verdict(claim, points) is Verdict.REPRODUCED
        assert verdict(claim, scaled(points, 10, backend="cpu")) is Verdict.NOT_REPRODUCED


def test_a_tree_that_is_ahead_by_far_has_not_just_overtaken() -> None:
    points = satisfying(20, 0)
    assert verdict(CLAIMS[20], points) is Verdict.REPRODUCED
    far = scaled(points, 300, variant="report7/naive-atomic")
    assert verdict(CLAIMS[20], far) is Verdict.NOT_REPRODUCED


def test_the_winner_of_three_strategies_is_ahead_of_both_others() -> None:
    points = satisfying(18, 0)
    for rival in ("catanzaro/recursive", "catanzaro/atomic"):
        assert verdict(CLAIMS[18], scaled(points, 0.1, variant=rival)) is Verdict.NOT_REPRODUCED


def test_segments_of_one_input_are_a_part_of_the_claim_about_their_length() -> None:
    points = satisfying(40, 0, 1)
    assert verdict(CLAIMS[40], points) is Verdict.REPRODUCED
    slow = [made for m in points for made in scaled([m], 2 if m["labels"]["length"] == 1 else 1)]
    assert verdict(CLAIMS[40], slow) is Verdict.IN_PART


def test_blocks_per_multiprocessor_do_not_decide_for_a_factor() -> None:
    points = satisfying(65, 0)
    assert verdict(CLAIMS[65], points) is Verdict.REPRODUCED
    fewer = [
        made | {"launch": made["launch"] | {"grid": 4 * 132}}
        if made["params"]["F"] == "8"
        else made
        for made in points
    ]
    assert verdict(CLAIMS[65], fewer) is Verdict.NOT_TESTABLE


@pytest.mark.parametrize(
    ("number", "later"),
    [(67, {"variant": "podlozhnyuk/256", "params.method": "atomics"}),
     (75, {"variant": "cub/histogram"}), (75, {"variant": "onepass/histogram"})],
)  # fmt: skip
def test_histograms_later_than_the_thesis_are_no_rivals(number: int, later: Spec) -> None:
    indexes = [i for i, check in enumerate(CLAIMS[number]["checks"]) if "role" not in check]
    points = satisfying(number, *indexes)
    base = {name: wanted for name, wanted in CLAIMS[number]["base"].items() if name != "labels"}
    fast = [made_point(base | later | {"labels": name}, 1.0) for name in ("uniform", "photo")]
    assert verdict(CLAIMS[number], points + fast) is Verdict.REPRODUCED


def test_a_difference_has_a_size() -> None:
    points = satisfying(72, 0, 1)
    assert verdict(CLAIMS[72], points) is Verdict.REPRODUCED
    slight = scaled(points, 0.5, variant="eilers/multiscan-sort-global", labels={"name": "uniform"})
    assert verdict(CLAIMS[72], slight) is Verdict.IN_PART  # random labels are still not faster
    both = scaled(slight, 3, variant="eilers/sort-global", labels={"name": "uniform"})
    assert verdict(CLAIMS[72], both) is Verdict.NOT_REPRODUCED


def test_a_source_without_card_and_size_has_no_regime() -> None:
    for number, claim in CLAIMS.items():
        bound = claim["regime"]["bound"]
        if claim["paper"] in ("amp", "report7"):
            assert bound != "bandwidth", number
            # no published number of theirs is of a card with a bandwidth
            card = hardware_of(claim, REGISTRY)
            assert card is None or card.peak_gb_per_s is None
    judgement = judge(CLAIMS[25], [run_of(satisfying(25, 0))], REGISTRY)
    assert judgement.verdict is Verdict.REPRODUCED
    assert judgement.regime.verdict is Verdict.NOT_TESTABLE


def test_the_decks_of_two_cards_do_not_contradict_each_other() -> None:
    old = satisfying(76, 0)
    assert verdict(CLAIMS[76], old) is Verdict.REPRODUCED
    assert cause_of(32, old) == "hardware"


def cause_of(number: int, points: list[Json]) -> str | None:
    judgement = judge(CLAIMS[number], [run_of(points)], REGISTRY)
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    return judgement.cause.name if judgement.cause else None


def unsatisfying(number: int, *checks: int) -> list[Json]:
    claim = CLAIMS[number]
    points = made_points(claim, [claim["checks"][index] for index in checks], satisfied=False)
    assert points is not None
    return points


def test_the_same_kernel_is_no_other_baseline() -> None:
    published_ms, theirs_gb_per_s = 7.02, 192.0  # of reduce0, on the GTX 1060
    others = unsatisfying(27, 0)
    own = next(made for made in others if made["variant"] == "epita/reduce0")
    for scaled_to_published in (1.9, 2.1):
        time_ns = scaled_to_published * published_ms * 1e6 * theirs_gb_per_s / PEAK_GB_PER_S
        factor = time_ns / own["timing"]["cold"]["median_ns"]
        # all others in proportion, so that reduce2 stays faster than reduce0
        assert cause_of(27, scaled(others, factor)) == "unexplained"


@pytest.mark.parametrize("naive_us", [0.01, 4.16])  # no faster card decides
@pytest.mark.parametrize(("ratio", "expected"), [(61, "baseline"), (63, "unexplained")])
def test_what_was_timed_with_the_tree_is_told_by_its_floor(
    ratio: float, expected: str, naive_us: float
) -> None:
    spec = {"type": "f64", "n": 512}
    floor = [
        made_point(spec | {"variant": "report7/naive-atomic"}, 1e3 * naive_us),
        made_point(spec | {"variant": "report7/shared-tree"}, 1e3 * naive_us * ratio),
    ]
    assert cause_of(82, [*unsatisfying(82, 0), *floor]) == expected
    # What fails at sizes whose time the floor is next to nothing of, the floor does not explain.
    assert cause_of(19, [*with_peak_share(unsatisfying(19, 0), 0.1), *floor]) == "unexplained"


def with_peak_share(points: Iterable[Json], share: float) -> list[Json]:
    """The points, those of report7's tree with this share of the card's peak bandwidth."""
    return [
        made | {"peak_share": share} if made["variant"] == "report7/shared-tree" else made
        for made in points
    ]


def test_a_faster_tree_than_that_of_a_card_without_a_name_explains_nothing() -> None:
    points = with_peak_share(unsatisfying(20, 0), 0.1)
    assert cause_of(20, scaled(points, 1e-3)) == "unexplained"


@pytest.mark.parametrize(
    ("number", "n", "published_us"), [(19, 1 << 29, 1_597_300), (20, 1 << 30, 3_703_900)]
)
@pytest.mark.parametrize(("factor", "expected"), [(1.9, "unexplained"), (2.1, "baseline")])
def test_a_tree_that_outlasts_any_card_s_memory_is_another_baseline(
    number: int, n: int, published_us: int, factor: float, expected: str
) -> None:
    least_gb_per_s = 16.8  # of a card that adds doubles by atomicAdd
    most_published = 8 * n / least_gb_per_s / (1e3 * published_us)
    points = with_peak_share(unsatisfying(number, 0), factor * most_published)
    assert cause_of(number, points) == expected


@pytest.mark.parametrize("ratio", [2.0, 7.0])
def test_that_its_rival_broke_down_is_not_why_a_tree_wins_by_more(ratio: float) -> None:
    points = unsatisfying(20, 0)
    naive = next(each for each in points if each["variant"] == "report7/naive-atomic")
    half_ns = naive["timing"]["cold"]["median_ns"] / ratio
    half = made_point({"variant": "report7/naive-atomic", "type": "f64", "n": 1 << 29}, half_ns)
    assert cause_of(20, [*with_peak_share(points, 0.1), half]) == "unexplained"


@pytest.mark.parametrize(
    ("control", "expected"), [(None, "unexplained"), (False, "unexplained"), (True, "regime")]
)
def test_barriers_make_the_difference_where_the_same_tree_is_right_between_them(
    control: bool | None, expected: str
) -> None:
    claim = CLAIMS[17]
    points = made_points(claim, claim["checks"][:1], satisfied=False)
    assert points is not None
    if control is not None:
        between = made_points(claim, claim["checks"][2:], satisfied=control)
        assert between is not None
        points += between
    assert cause_of(17, points) == expected


@pytest.mark.parametrize(
    ("cores", "expected"), [(None, "unexplained"), (1.5, "unexplained"), (4, "regime")]
)
def test_several_cores_may_gain_where_they_have_more_bandwidth(
    cores: float | None, expected: str
) -> None:
    spec = {"operation": "reduce", "backend": "cpu", "type": "i32", "op": "sum", "n": 1 << 28}
    sums = [
        made_point(spec | {"variant": variant}, ns)
        for variant, ns in (("cpu/sequential", (cores or 0) * 1e7), ("cpu/parallel", 1e7))
        if cores is not None
    ]
    assert cause_of(81, [*unsatisfying(81, 0), *sums]) == expected


def test_a_lower_bound_of_a_published_time_is_no_contradiction() -> None:
    assert cause_of(71, unsatisfying(71, 0, 1)) == "unexplained"


@pytest.mark.parametrize(
    ("number", "expected", "departing"),
    [(50, "hardware", ""), (59, "unexplained", "eilers/sort-shared"),
     (63, "unexplained", "eilers/scatter-sorted, gpu/scatter"),
     (70, "unexplained", "sheffler/global")],
)  # fmt: skip
def test_the_hardware_is_not_left_where_a_kernel_departs_from_its_source(
    number: int, expected: str, departing: str
) -> None:
    claim = IN_REGIME[number]
    points = made_points(claim, claim["checks"], satisfied=False)
    assert points is not None
    judgement = judge(CLAIMS[number], [run_of(points)], REGISTRY)
    assert judgement.regime.verdict is Verdict.NOT_REPRODUCED
    assert judgement.cause is not None
    assert judgement.cause.name == expected
    assert judgement.cause.evidence.endswith(departing or "no other cause is supported")


@pytest.mark.parametrize(
    ("shares", "expected"),
    [({}, "unexplained"), ({26: 0.9}, "hardware"), ({26: 1.9}, "hardware"),
     ({26: 2.1}, "unexplained"), ({26: 0.9, 20: 2.1}, "hardware"),
     ({26: 2.1, 20: 0.9}, "unexplained")],
)  # fmt: skip
def test_a_departure_is_no_cause_where_the_source_s_form_fails_too(
    shares: dict[int, float], expected: str
) -> None:
    claim = IN_REGIME[27]  # reduce2 is to be the slowest, and takes half of the others' time
    points = made_points(claim, claim["checks"], satisfied=False)
    assert points is not None
    for log2_n, share in shares.items():  # of our form's time, of fewer elements
        for variant, theirs in (("epita/reduce2", share), ("epita/reduce3", 1.0)):
            spec = {"variant": variant, "n": 1 << log2_n}
            points += [
                made_point(spec | {"params.block": 256}, 1e6),
                made_point(spec | {"params.block": 1024}, theirs * 1e6),
            ]
    judgement = judge(CLAIMS[27], [run_of(points)], REGISTRY)
    assert judgement.regime.verdict is Verdict.NOT_REPRODUCED
    assert judgement.cause is not None
    assert judgement.cause.name == expected


def test_a_departure_that_was_not_measured_stays_beside_one_that_was() -> None:
    claim = IN_REGIME[63]  # of a kernel whose sort is another, too
    points = made_points(claim, claim["checks"], satisfied=False)
    assert points is not None
    spec = {"variant": "eilers/scatter-sorted", "operation": "scatter"}
    points += [made_point(spec | {"params.traversal": form}, 1e6) for form in ("tiles", "strided")]
    judgement = judge(CLAIMS[63], [run_of(points)], REGISTRY)
    assert judgement.cause is not None
    assert judgement.cause.name == "unexplained"


def in_form(points: Iterable[Json], **form: str) -> list[Json]:
    return [made | {"params": made["params"] | form} for made in points]


def cause_in_regime(number: int, points: list[Json]) -> str:
    judgement = judge(CLAIMS[number], [run_of(points)], REGISTRY)
    assert judgement.regime.verdict is Verdict.NOT_REPRODUCED
    assert judgement.cause is not None
    return judgement.cause.name


def test_points_that_have_the_source_s_form_span_no_other() -> None:
    suite = in_form(unsatisfying(59, 0), sort="suite", padding="on")
    cub = in_form(scaled(suite, 0.5), sort="cub")
    source = in_form(cub, padding="off")
    assert cause_in_regime(59, suite) == "unexplained"
    # The padding of its transposition is left, which was not measured.
    assert cause_in_regime(59, [*suite, *cub]) == "unexplained"
    assert cause_in_regime(59, [*suite, *cub, *source]) == "hardware"


def test_the_source_s_form_may_decide_alone_where_it_is_the_slower_one() -> None:
    suite = in_form(unsatisfying(59, 0), sort="suite", padding="on")
    source = in_form(scaled(suite, 3), sort="cub", padding="off")
    assert cause_in_regime(59, [*suite, *source]) == "hardware"


def test_a_departure_that_nothing_measures_leaves_the_cause_open() -> None:
    suite = in_form(unsatisfying(59, 0), sort="suite", padding="on")
    source = in_form(scaled(suite, 3), sort="cub", padding="off")
    variant = "eilers/sort-shared"
    declared = [*REGISTRY.departures[variant], {"what": "something else"}]
    registry = dataclasses.replace(REGISTRY, departures=REGISTRY.departures | {variant: declared})
    judgement = judge(CLAIMS[59], [run_of([*suite, *source])], registry)
    assert judgement.cause is not None
    assert judgement.cause.name == "unexplained"


def test_results_older_than_a_parameter_are_paired_without_it() -> None:
    for points, expected in (
        (satisfying(59, 0), Verdict.REPRODUCED),
        (unsatisfying(59, 0), Verdict.NOT_REPRODUCED),
    ):
        older = [
            made | {"params": {k: v for k, v in made["params"].items() if k != "padding"}}
            for made in points
        ]
        judgement = judge(CLAIMS[59], [run_of(older)], REGISTRY)
        assert judgement.verdict is expected
        assert all("padding" not in case.name for case in judgement.checks[0].cases)


def test_a_kernel_is_compared_with_itself_in_each_form_alone() -> None:
    suite = in_form(unsatisfying(59, 0), sort="suite")
    cub = in_form(scaled(satisfying(59, 0), 3), sort="cub")
    assert verdict(CLAIMS[59], suite) is Verdict.NOT_REPRODUCED
    assert verdict(CLAIMS[59], [*suite, *cub]) is Verdict.IN_PART
    # 12 inputs are the best by the suite's sort, 8 by CUB's, which are the fastest of all.
    twelve = in_form(satisfying(60, 0), sort="suite")
    eight = in_form(scaled(unsatisfying(60, 0), 0.5), sort="cub")
    assert verdict(CLAIMS[60], [*twelve, *eight]) is Verdict.IN_PART


def test_a_form_counts_by_the_nearest_number_of_buckets() -> None:
    ours = in_form(unsatisfying(49, 0), sort="suite")
    ours += [made | {"buckets": 1 << 19} for made in ours]  # between the ends
    sizes = sorted({made["buckets"] for made in ours})
    # beside the claim, which is about other labels
    beside = [
        made | {"labels": {"name": "sorted"}}
        for made in ours
        if made["labels"]["name"] == "uniform"
    ]
    for faster, expected in ((sizes[:1], "hardware"), (sizes, "unexplained")):
        theirs = [
            m for made in beside for m in scaled([made], 0.2 if made["buckets"] in faster else 1)
        ]
        assert cause_in_regime(49, [*ours, *beside, *in_form(theirs, sort="cub")]) == expected


def test_a_form_counts_by_the_labels_of_the_point_where_these_were_measured() -> None:
    ours = in_form(unsatisfying(49, 0), sort="suite")
    slower = {"uniform": 1.0, "degenerate": 1.5}  # of two, the one by which a table's row counts
    ours = [m for made in ours for m in scaled([made], slower[made["labels"]["name"]])]
    beside = [made | {"buckets": 1 << 25} for made in ours]  # more than the claim is about
    for of_degenerate, expected in ((1.0, "hardware"), (0.2, "unexplained")):
        shares = {"uniform": 0.2, "degenerate": of_degenerate}
        theirs = [m for made in beside for m in scaled([made], shares[made["labels"]["name"]])]
        assert cause_in_regime(49, [*ours, *beside, *in_form(theirs, sort="cub")]) == expected


def test_another_variant_can_have_the_source_s_form() -> None:
    ours = unsatisfying(84, 0)
    (case,) = judge(CLAIMS[84], [run_of(ours)], REGISTRY).regime.checks[0].cases
    inside = math.sqrt(case.limits.low * case.limits.high) / case.measured.value

    def with_theirs(share: float) -> str:
        theirs = [
            made | {"variant": "cub/radix-sort", "params": {}} for made in scaled(ours, share)
        ]
        return cause_in_regime(84, [*ours, *theirs])

    assert cause_in_regime(84, ours) == "unexplained"
    assert with_theirs(1.0) == "hardware"
    assert with_theirs(inside) == "unexplained"


def test_multiscan_is_judged_by_the_thesis_s_own_algorithms() -> None:
    points = satisfying(74, 0)
    assert verdict(CLAIMS[74], points) is Verdict.REPRODUCED
    own = next(made for made in points if made["variant"] == "sheffler/global")
    later = own | {"variant": "onepass/multiscan"}
    assert verdict(CLAIMS[74], [*points, *scaled([later], 1e-3)]) is Verdict.REPRODUCED
    assert verdict(CLAIMS[74], scaled(points, 1e-3, buckets=16, backend="cuda")) is Verdict.IN_PART


@pytest.mark.parametrize(
    ("gain", "expected"), [(7.8, Verdict.REPRODUCED), (8.3, Verdict.NOT_REPRODUCED)]
)
def test_a_gain_as_large_as_the_thesis_s_own_best_is_not_large_enough(
    gain: float, expected: Verdict
) -> None:
    assert verdict(CLAIMS[74], with_ratio(CLAIMS[74], gain)) is expected


def test_shared_memory_is_held_against_the_best_case_of_global_memory() -> None:
    points = satisfying(70, 0)
    assert verdict(CLAIMS[70], points) is Verdict.REPRODUCED
    (ours,) = (made for made in points if made["variant"] == "sheffler/global")
    shared = [made for made in points if made["variant"] == "sheffler/shared"]
    slow, fast = (
        scaled([ours], factor)[0] | {"params": ours["params"] | {"threads": threads}}
        for factor, threads in ((100.0, "16"), (1.0, "64"))
    )
    assert verdict(CLAIMS[70], [*shared, slow]) is Verdict.NOT_REPRODUCED
    assert verdict(CLAIMS[70], [*shared, slow, fast]) is Verdict.REPRODUCED


@pytest.mark.parametrize(("ratio", "expected"), [(3.0, "contradiction"), (1.5, "unexplained")])
def test_a_multiscan_as_slow_as_the_source_s_own_times_contradicts_its_sentence(
    ratio: float, expected: str
) -> None:
    points = [
        point
        for claim in (CLAIMS[73], IN_REGIME[73])
        for buckets in (16, 256, 4096)
        for point in with_ratio(claim, ratio, buckets=buckets)
    ]
    judgement = judge(CLAIMS[73], [run_of(points)], REGISTRY)
    assert judgement.cause is not None
    assert judgement.cause.name == expected


def test_a_scatter_is_held_to_its_time_at_every_size() -> None:
    (small,) = (made for made in satisfying(62, 0) if made["buckets"] == 256)

    def of_times(times: dict[int, float]) -> Verdict:
        made = [point for buckets, time in times.items()
                for point in scaled([small | {"buckets": buckets}], time)]  # fmt: skip
        return verdict(CLAIMS[62], made)

    every = {1 << log2: 1.0 for log2 in range(8, 17, 2)}  # at most 0.25 ns
    assert of_times(every | {4194304: 5}) is Verdict.REPRODUCED
    assert of_times(every | {4096: 2, 4194304: 10}) is Verdict.IN_PART  # one of five, and it rises
    assert of_times(every | {4096: 3, 4194304: 10}) is Verdict.IN_PART
    slow = {buckets: 2 * time for buckets, time in every.items()}
    assert of_times(slow | {4194304: 20}) is Verdict.IN_PART  # four times as long alone
    assert of_times(slow | {4194304: 4}) is Verdict.NOT_REPRODUCED


def test_a_scatter_in_its_regime_is_held_to_its_time_at_every_size() -> None:
    claim = IN_REGIME[62]
    theirs = REGISTRY.tables["eilers-T4.3"].peak_gb_per_s
    assert theirs is not None
    fifth_ns = 0.2 * LARGE_N * theirs / PEAK_GB_PER_S  # 0.2 ns per input on the source's card
    points = {
        bytes_per_l2: made_point(
            {name: wanted for name, wanted in claim["base"].items() if name != "read_launches"}
            | {"variant": "gpu/scatter", "n": LARGE_N}
            | {"buckets": round(bytes_per_l2 * L2_BYTES["cuda"] / 4)},
            time * fifth_ns,
        )
        for bytes_per_l2, time in ((0.001, 1), (0.1, 1), (0.3, 1), (0.6, 1), (4, 4), (16, 5))
    }

    def read(slower: float, factor: float) -> Verdict:
        made = [*scaled([points[slower]], factor)]
        rest = [each for at, each in points.items() if at != slower]
        return judge(CLAIMS[62], [run_of(made + rest)], REGISTRY).regime.verdict

    assert read(0.6, 1) is Verdict.REPRODUCED
    for slower in (0.001, 0.1, 0.3, 0.6):
        assert read(slower, 1.3) is Verdict.IN_PART


@pytest.mark.parametrize("number", [50, 52, 70, 71])
def test_the_regime_is_of_launches_with_no_more_threads_than_the_source_s(number: int) -> None:
    claim = IN_REGIME[number]
    thin = made_points(claim, claim["checks"], satisfied=True)
    assert thin is not None
    limited = [made for made in thin if "shared_kib" in made["params"]]
    others = [made for made in thin if made not in limited]
    thick = [made | {"params": made["params"] | {"shared_kib": "all"}} for made in limited]
    # In all shared memory they would be fastest, and turn the claim.
    assert verdict(claim, [*thin, *scaled(thick, 1e-3)]) is Verdict.REPRODUCED
    assert verdict(claim, [*others, *thick]) is not Verdict.REPRODUCED


LAUNCH_SHAPES = {
    9: {"jradi/unrolled": 1.0, "catanzaro/two-stage": 1.0},
    16: {"jradi/unrolled": 1.0},
    66: {"brown/trish": 3.0},
    67: {"eilers/banktrish": 3.0, "nugteren/private": 3.0},
    75: {"eilers/banktrish": 3.0, "nugteren/private": 3.0, "brown/trish": 3.0},
    78: {"nugteren/private": 3.0, "brown/trish": 3.0},
}


@pytest.mark.parametrize(
    ("number", "variant"), [(n, v) for n, shapes in LAUNCH_SHAPES.items() for v in shapes]
)
def test_the_regime_asks_for_the_launch_that_the_source_states(number: int, variant: str) -> None:
    claim = IN_REGIME[number]
    for check in claim["checks"]:
        if check.get("role", "measures") != "measures":
            continue
        points = made_points(claim, [check], satisfied=True)
        assert points is not None
        shaped = [made for made in points if made["variant"] == variant]
        if not shaped:
            continue
        launched = {made["launch"]["grid"] / made_up.GPU["sm_count"] for made in shaped}
        assert launched == {LAUNCH_SHAPES[number][variant]}
        crowded = [
            made | {"launch": made["launch"] | {"grid": 13 * made_up.GPU["sm_count"]}}
            if made["variant"] == variant
            else made
            for made in points
        ]
        assert verdict(alone(claim, check), points) is Verdict.REPRODUCED
        assert verdict(alone(claim, check), crowded) is not Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("number", "selection"),
    [(75, {"F": "2"}), (78, {"merge": "off"})],
)
def test_histogram_and_multireduce_are_in_the_mode_of_their_neighbours(
    number: int, selection: dict[str, str]
) -> None:
    indexes = [i for i, check in enumerate(CLAIMS[number]["checks"]) if "role" not in check]
    points = satisfying(number, *indexes)
    assert verdict(CLAIMS[number], points) is Verdict.REPRODUCED
    (axis,) = selection
    other = [
        made | {"params": made["params"] | selection} if axis in made["params"] else made
        for made in points
    ]
    assert verdict(CLAIMS[number], other) is Verdict.NOT_TESTABLE


@pytest.mark.parametrize("ns", [0.1, 5.68])  # no faster host decides
def test_a_floor_of_the_cpu_s_loop_does_not_explain_large_sizes(ns: float) -> None:
    whole = (1 << 30) * ns
    times = {2: 1.0, 512: 1.0, 1 << 30: whole}
    base = {"type": "f64"}
    loop = [made_point(base | {"variant": "cpu/sequential", "backend": "cpu", "n": n}, time_ns)
            for n, time_ns in times.items()]  # fmt: skip
    atomics = [made_point(base | {"variant": "report7/naive-atomic", "n": n}, 10 * time_ns)
               for n, time_ns in times.items()]  # fmt: skip
    assert cause_of(22, loop + atomics) == "unexplained"


@pytest.mark.parametrize(
    "defect",
    [
        {"role": "refutes"},  # by arithmetic alone
        {"worst_over": "labels"},  # of a value alone
        {"at_least": {"ratio": ["much", 1]}},
    ],
)
def test_a_check_asks_for_what_its_kind_has(defect: Json, tmp_path: Path) -> None:
    broken = json.loads(paths.CLAIMS.read_text(encoding="utf-8"))
    broken["claims"][0]["checks"][0] |= defect
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(InputError, match=r"breaks its schema at /claims/0/checks/0"):
        load_registry(path)


def in_regime(number: int, points: list[Json]) -> Reading:
    return judge(CLAIMS[number], [run_of(points)], REGISTRY).regime


def test_a_share_of_the_peak_asks_for_no_launch() -> None:
    claim = IN_REGIME[14]
    points = made_points(claim, claim["checks"][:1], satisfied=True)
    assert points is not None
    for groups in (1, 8):
        launch = {"grid": groups * made_up.GPU["sm_count"]}
        shaped = [made | {"launch": made["launch"] | launch} for made in points]
        assert in_regime(14, shaped).verdict is Verdict.REPRODUCED


def test_no_configuration_is_that_of_every_number_of_bits() -> None:
    points = satisfying(38, 0)
    assert verdict(CLAIMS[38], points) is Verdict.IN_PART  # the other half needs another CPU
    for bits in ("auto", "4", "8", "12"):
        assert any(made["params"].get("sort_bits") == bits for made in points)
        helps = scaled(points, 0.5, sort_bits=bits)
        assert verdict(CLAIMS[38], helps) is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("gain", "expected"),
    [(1, Verdict.REPRODUCED), (1.35, Verdict.IN_PART), (4.5 / 2, Verdict.IN_PART)],
)
def test_only_twice_as_fast_as_the_cpu_is_no_more(gain: float, expected: Verdict) -> None:
    points = satisfying(43, 0, 1)
    cpu = alone(CLAIMS[43], CLAIMS[43]["checks"][1])
    more = scaled(points, gain, backend="cpu")
    assert verdict(CLAIMS[43], more) is expected
    if gain > 2:
        assert verdict(cpu, more) is Verdict.NOT_REPRODUCED


def test_one_configuration_serves_both_labels() -> None:
    def point(sets: int, labels: str, buckets: int, scaled_ns: float) -> Json:
        spec = CLAIMS[49]["base"] | {"variant": "eilers/global-atomic-sorted", "params.sets": sets}
        time_ns = scaled_ns * spec["n"] * 192 / PEAK_GB_PER_S
        return made_point(spec | {"labels": labels, "buckets": buckets}, time_ns)

    def ends(times: Mapping[tuple[int, str], float]) -> list[Json]:
        return [point(*form, 1 << power, ns) for form, ns in times.items() for power in (14, 24)]

    apart = {(2, "uniform"): 1.0, (2, "degenerate"): 9.0}
    apart |= {(8, "uniform"): 2.0, (8, "degenerate"): 1.0}
    judgement = judge(CLAIMS[49], [run_of(ends(apart))], REGISTRY)
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    values = [case.measured.value for case in judgement.checks[0].cases]
    assert values == [pytest.approx(2.0)] * 2
    both = ends({(4, "uniform"): 1.5, (4, "degenerate"): 1.4})
    assert verdict(CLAIMS[49], ends(apart) + both) is Verdict.REPRODUCED
    # fast on the only labels that it was measured on
    half = ends({(4, "uniform"): 0.5})
    assert verdict(CLAIMS[49], ends(apart) + half) is Verdict.NOT_REPRODUCED
    table = REGISTRY.tables["eilers-T4.2"]
    powers, sets = table.column("log2 buckets"), table.column("log2 sets")
    published = [
        point(1 << int(log2_sets), labels, 1 << int(power), 0.999 * ns)  # not on the limit
        for labels, column in (("uniform", "random"), ("degenerate", "degenerate"))
        for power, log2_sets, ns in zip(powers, sets, table.column(column), strict=True)
    ]
    assert verdict(CLAIMS[49], published) is Verdict.REPRODUCED


def test_a_penalty_that_is_not_there_cannot_be_removed() -> None:
    points = satisfying(54, 0, 1, 2)
    assert verdict(CLAIMS[54], points) is Verdict.REPRODUCED
    time_of = {
        (made["params"]["merge"], made["labels"]["name"]): made["timing"]["cold"]["median_ns"]
        for made in points
    }
    even = time_of["off", "uniform"] / time_of["off", "degenerate"]
    without = scaled(points, even, merge="off", labels={"name": "degenerate"})
    judgement = judge(CLAIMS[54], [run_of(without)], REGISTRY)
    assert judgement.verdict is Verdict.NOT_TESTABLE
    assert judgement.missing == [
        "what it requires: penalty of degenerate labels without merging: their time over that of "
        "random ones, more than what counts as the same"
    ]
    assert judgement.cause is None
    for impact in (0.75, 1.25):  # of merging on random labels, in either direction
        made = scaled(points, impact, merge="on")
        assert verdict(CLAIMS[54], made) is Verdict.IN_PART


def test_the_sort_extension_keeps_within_its_time() -> None:
    points = satisfying(56, 0, 1, 2)
    assert verdict(CLAIMS[56], points) is Verdict.REPRODUCED
    assert verdict(CLAIMS[56], scaled(points, 30)) is Verdict.IN_PART  # all in proportion


@pytest.mark.parametrize(
    ("uniform", "degenerate", "expected"),
    [
        ((0.5, 1.2), (0.45, 1.1), Verdict.REPRODUCED),
        ((0.3, 0.8), (0.28, 0.75), Verdict.IN_PART),  # slightly faster, in other times
        ((0.5, 1.2), (0.3, 0.7), Verdict.IN_PART),  # more than slightly
        ((0.5, 1.2), (0.55, 1.3), Verdict.IN_PART),  # slower
        ((0.3, 0.8), (0.15, 0.4), Verdict.NOT_REPRODUCED),  # of which the ratio is as published
    ],
)
def test_sorting_globally_takes_the_times_of_the_text(
    uniform: tuple[float, float], degenerate: tuple[float, float], expected: Verdict
) -> None:
    points = []
    for labels, times in (("uniform", uniform), ("degenerate", degenerate)):
        for buckets, scaled_ns in zip((16, 4096), times, strict=True):
            spec = CLAIMS[57]["base"] | {"variant": "eilers/sort-global"}
            spec |= {"labels": labels, "buckets": buckets}
            points.append(made_point(spec, scaled_ns * spec["n"] * 192 / PEAK_GB_PER_S))
    assert verdict(CLAIMS[57], points) is expected


def test_two_upper_bounds_have_no_ratio() -> None:
    points = satisfying(58, 0, 1)
    small = scaled(points, 0.1, buckets=256)  # 4096 buckets take far more than 2.5 times as long
    assert verdict(CLAIMS[58], small) is Verdict.REPRODUCED


def test_an_average_is_a_number() -> None:
    points = satisfying(64, 0, 1)
    assert verdict(CLAIMS[64], points) is Verdict.REPRODUCED
    assert verdict(CLAIMS[64], scaled(points, 2, variant="brown/trish")) is Verdict.IN_PART


def test_almost_as_good_on_any_data_is_so_on_the_worst() -> None:
    points = satisfying(66, 0, 1)
    assert verdict(CLAIMS[66], points) is Verdict.REPRODUCED
    best = alone(CLAIMS[66], CLAIMS[66]["checks"][1])
    assert verdict(best, scaled(points, 0.1, variant="brown/trish")) is Verdict.REPRODUCED
    worst = scaled(points, 1.5, variant="brown/trish", labels={"name": "photo"})
    assert verdict(best, worst) is Verdict.NOT_REPRODUCED
    later = [made | {"params": made["params"] | {"method": "atomics"}}
             if made["variant"] == "podlozhnyuk/256" else made for made in points]  # fmt: skip
    assert verdict(best, later) is Verdict.NOT_TESTABLE


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.95, Verdict.NOT_REPRODUCED), (1.1, Verdict.REPRODUCED),
     (1.3, Verdict.NOT_REPRODUCED), (2.5, Verdict.NOT_REPRODUCED)],
)  # fmt: skip
def test_slightly_slower_has_two_ends(ratio: float, expected: Verdict) -> None:
    assert verdict(CLAIMS[73], with_ratio(CLAIMS[73], ratio)) is expected


def test_where_totals_are_read_makes_a_difference_on_either_side() -> None:
    points = satisfying(86, 0, 1)
    assert verdict(CLAIMS[86], points) is Verdict.REPRODUCED
    alike = [made_point({"variant": made["variant"], "operation": "multiscan", "n": made["n"],
                         "buckets": made["buckets"], "labels": "uniform",
                         "params.totals": made["params"]["totals"]}, START_NS)
             for made in points]  # fmt: skip
    assert verdict(CLAIMS[86], alike) is Verdict.UNDECIDED
    shared = scaled(points, 0.1, totals="shared")  # always faster
    assert verdict(CLAIMS[86], shared) is Verdict.IN_PART
    swap = {"shared": "global", "global": "shared"}
    swapped = [made | {"params": {"totals": swap[made["params"]["totals"]]}} for made in points]
    assert verdict(CLAIMS[86], swapped) is Verdict.NOT_REPRODUCED


def test_the_best_by_hand_is_held_against_the_best_by_the_pragma() -> None:
    points = satisfying(87, 0)
    assert verdict(CLAIMS[87], points) is Verdict.REPRODUCED
    assert verdict(CLAIMS[87], scaled(points, 0.1, unroll="8")) is Verdict.NOT_REPRODUCED
    slower = [made | {"params": made["params"] | {"F": "3"}} for made in points
              if made["variant"] == "jradi/unrolled"]  # fmt: skip
    assert verdict(CLAIMS[87], points + scaled(slower, 10)) is Verdict.REPRODUCED


def test_a_lot_better_is_at_least_twice() -> None:
    claim = CLAIMS[52]
    check = claim["checks"][0]

    def points(ratio: float) -> list[Json]:
        sides = (("of", ratio), ("to", 1.0))
        specs = [(spec, r) for side, r in sides for spec in specs_of(claim, check, check[side])]
        return [made_point(spec, r * START_NS) for spec, r in specs]

    assert verdict(claim, points(2.1)) is Verdict.REPRODUCED
    assert verdict(claim, points(1.6)) is Verdict.IN_PART
    assert verdict(claim, points(1.1)) is Verdict.NOT_REPRODUCED


def numbers(table: str, column: str) -> dict[Any, float]:
    whole = REGISTRY.tables[table]
    keys = whole.column(whole.columns[0].name)
    return {
        key: float(cell)
        for key, cell in zip(keys, whole.column(column), strict=True)
        if isinstance(cell, int | float)
    }


def published_points() -> list[Json]:
    """The publications' own times as results."""
    points: list[tuple[Spec, float]] = []
    for kernel, time_ms in numbers("jradi-T1", "time").items():
        points.append(
            ({"variant": f"harris/{kernel - 1}", "n": 4194304, "params.block": 128}, time_ms)
        )
    for factor, time_ms in numbers("jradi-T2", "time").items():
        for element in ("i32", "f32"):
            spec = {"n": 5533214, "type": element}
            unrolled = {"variant": "jradi/unrolled", "params.F": factor, "params.tree": "barriers"}
            points.append((unrolled | spec, time_ms))
            if factor == 1:
                points.append(({"variant": "catanzaro/two-stage"} | spec, time_ms))
    for column, variant, backend in (
        ("CPU", "cpu/sequential", "cpu"),
        ("naive", "report7/naive-atomic", "cuda"),
        ("reduction", "report7/shared-tree", "cuda"),
    ):
        for power, time in numbers("report7-T1", column).items():
            spec = {"variant": variant, "backend": backend, "n": 2 ** int(power), "type": "f64"}
            points.append((spec, time))
    for variant, time_ms in numbers("epita-T", "time").items():
        points.append(({"variant": f"epita/{variant}", "n": 132000000}, time_ms))
    scatter = {"variant": "gpu/scatter", "operation": "scatter", "n": 1 << 26, "labels": "uniform"}
    scatter["params.winner"] = "any"
    for power, time_ns in numbers("eilers-T4.3", "time").items():
        points.append((scatter | {"buckets": 2 ** int(power)}, time_ns))
    atomic = {"variant": "eilers/global-atomic", "operation": "multireduce", "n": 1 << 26}
    atomic["labels"] = "uniform"
    for power in range(8, 21, 2):
        for sets, time_ns in numbers("eilers-T4.1", f"2^{power}").items():
            points.append((atomic | {"buckets": 2**power, "params.sets": sets}, time_ns))
    return [made_point(spec, time) for spec, time in points]


@pytest.mark.parametrize(
    "number", [*range(1, 8), *range(9, 14), 15, 19, 20, 22, *range(27, 33), 46, 48, 62, 77, 82]
)
def test_published_times_reproduce_their_own_claims(number: int) -> None:
    run = run_of(published_points())
    run.environment["gpu"]["l2_bytes"] = 512 << 10
    claim = copy.deepcopy(CLAIMS[number])
    # shares are printed, not measured; on their own card they are what arithmetic shows
    claim["checks"] = [check for check in claim["checks"] if check["kind"] != "value"]
    assert judge(claim, [run], REGISTRY).verdict is Verdict.REPRODUCED


# Configurations


def asked_for(sweep: Sweep, spec: Spec) -> bool:
    """Whether the sweep gives the point; of a parameter it does not name, the default may be it."""
    if sweep.operation != spec.get("operation", "reduce"):
        return False
    if not any(fnmatchcase(spec["variant"], glob) for glob in sweep.variants):
        return False
    labels = spec.get("labels")
    if "length" in spec:
        labels = str(Distribution.of({"name": "runs", "length": spec["length"]}))
    axes = {**spec, "labels": labels}
    named = [name for name in sweep.axes if axes.get(name) is not None]
    params = {name: spec[f"params.{name}"] for name in sweep.params if f"params.{name}" in spec}
    if "groups_per_sm" in spec:
        params["blocks_per_sm"] = round(spec["groups_per_sm"])
    return all(str(axes[name]) in sweep.axes[name] for name in named) and all(
        str(value) in sweep.params.get(name, ()) for name, value in params.items()
    )


def in_bandwidth_regime(n: str, spec: Spec) -> bool:
    read = input_bytes(int(n), spec.get("type", "i32"), spec.get("operation", "reduce"))
    launch_ns = made_up.results([])["ceilings"]["cuda"]["empty_launch_ns"]
    return bool(read / PEAK_GB_PER_S / launch_ns >= least_launches(REGISTRY))


@pytest.mark.parametrize(("reading", "number", "index"), READ_CHECKS)
def test_the_configurations_give_what_a_check_asks_for(
    reading: str, number: int, index: int
) -> None:
    claim = READINGS[reading][number]
    check = claim["checks"][index]
    sweeps = [
        sweep for path in claim["configurations"] for sweep in load_configuration(Path(path)).sweeps
    ]
    for part in check.get("sequence") or [check[k] for k in ("of", "to", "select") if k in check]:
        selection = claim.get("base", {}) | part
        variants = selection["variant"]
        for spec in specs_of(claim, check, part):
            if {"bucket_bytes_per_l2", "buckets_per_tile"} & {*selection}:
                spec = {n: v for n, v in spec.items() if n not in ("buckets", "params.threads")}
            large = "read_launches" in selection
            assert any(
                asked_for(sweep, spec | {"variant": variant, "n": n})
                for sweep in sweeps
                for n in (sweep.axes["n"] if large else [spec["n"]])
                if not large or in_bandwidth_regime(n, spec)
                for variant in ([variants] if isinstance(variants, str) else variants)
            ), spec


def test_every_configuration_is_there() -> None:
    for claim in CLAIMS.values():
        for path in claim["configurations"]:
            assert shipped(path).exists()


# The registry


def test_every_selection_of_a_check_is_of_an_axis(tmp_path: Path) -> None:
    broken = json.loads(paths.CLAIMS.read_text(encoding="utf-8"))
    broken["claims"][0]["checks"][0]["of"]["vairant"] = "harris/0"
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(InputError, match=r"breaks its schema at /claims/0/checks/0"):
        load_registry(path)


@pytest.mark.parametrize(("number", "index"), CHECKS)
def test_compared_points_differ_in_what_is_compared_alone(number: int, index: int) -> None:
    claim = CLAIMS[number]
    check = claim["checks"][index]
    axes = {*check.get("match", []), check.get("along"), check.get("worst_over")}
    for part in check.get("sequence") or [check[k] for k in ("of", "to", "select") if k in check]:
        selection = claim.get("base", {}) | part
        pinned = {name for name, wanted in selection.items() if isinstance(wanted, str | int)}
        needed = {"operation", "backend", "n", "type"}
        if selection["operation"] not in ("histogram", "scatter", "sort"):
            needed.add("op")
        if selection["operation"] != "reduce":
            needed |= {"labels", "buckets"}
        if selection["operation"] in ("reduce-by-key", "scan-by-key"):
            needed -= {"buckets", "labels"}  # the runs matter, not how many labels there are
            needed.add("length")
        of_every_size = part in [check[s] for s in ("of", "to") if takes_slowest(check, s)]
        if of_every_size:
            needed -= {"buckets", "labels"}
        if any(name in selection for name in DERIVED):
            needed -= {"buckets"}
        assert needed <= pinned | axes


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (["jradi-T9", 1, "time"], "table 'jradi-T9', which is not transcribed"),
        (["jradi-T1", 9, "time"], "no number 'time' in row '9'"),
        (["jradi-T1", 1, "speed"], "no column 'speed'"),
    ],
)
def test_a_cell_that_is_not_there(cell: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        REGISTRY.cell(cell)


def test_a_card_of_scaled_times_has_a_bandwidth() -> None:
    for claim in REGISTRY.claims:
        for check in claim["checks"]:
            if "card" in check:
                assert REGISTRY.tables[check["card"]].peak_gb_per_s


def test_departures_are_listed_with_every_claim_about_their_kernel() -> None:
    adr = (Path(__file__).parents[2] / "docs/adr/0010-claims.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z0-9/-]+)` \| ([\d, ]+) \| (.+) \| (.*)\|$", adr, re.M)
    assert [tuple(cell.strip() for cell in row) for row in rows] == [
        (
            variant,
            ", ".join(
                str(number) for number, claim in CLAIMS.items() if variant in rests_on(claim)
            ),
            departure["what"],
            f"`{departure['measured_by']}`" if "measured_by" in departure else "",
        )
        for variant, departures in REGISTRY.departures.items()
        for departure in departures
    ]


def test_a_departure_is_measured_by_a_configuration_with_either_form_of_its_variant() -> None:
    for variant, departures in REGISTRY.departures.items():
        for departure in departures:
            for param, values in departure.get("source_form", {}).items():
                sweeps = load_configuration(shipped(departure["measured_by"])).sweeps
                if param == "variant":
                    assert any({variant, *values} <= {*sweep.variants} for sweep in sweeps), variant
                    continue
                swept = [
                    {*sweep.params[param]}
                    for sweep in sweeps
                    if variant in sweep.variants and param in sweep.params
                ]
                assert any(found & {*values} and found - {*values} for found in swept), variant


def test_a_verdict_rests_on_what_its_measuring_checks_name() -> None:
    assert rests_on(CLAIMS[27]) >= {"epita/reduce2", "epita/reduce0"}
    assert rests_on(CLAIMS[75]) == {  # none of the later histograms that are shown
        *("brown/trish", "eilers/banktrish", "nugteren/private", "nugteren/shuffled"),
        *("podlozhnyuk/256", "shams/passes", "shams/spill"),
    }
    assert rests_on(CLAIMS[33]) == {"epita/reduce5", "epita/reduce8"}


# The command


@pytest.fixture
def jradi_t1(tmp_path: Path) -> Path:
    points = [
        made_point({"variant": f"harris/{k}", "n": 4194304, "params.block": 128}, START_NS / 2**k)
        for k in range(7)
    ]
    return made_up.write(made_up.results(points), tmp_path / "jradi-T1.json")


def test_the_command_writes_the_scorecard(
    jradi_t1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["claims", "--results", str(jradi_t1), "-o", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "\nREPRODUCED (1)\n\n 2  Kernel 3, sequential addressing" in f"\n{out}"
    assert "    as printed: reproduced; in the source's regime: not testable here\n" in out
    assert "published: 2.01; as printed: 2 (1.99" in out
    assert "as printed: refuted by arithmetic; in the source's regime: refuted by arithmetic" in out
    assert "    supported by: outside of its limit: bandwidth that 132 M integers" in out
    assert (
        "    there: G80, 86.4 GB/s; n 4194304, type i32, op sum; here: operation reduce, backend "
        "cuda, n 4194304, type i32, op sum, distribution uniform; `configs/papers/jradi-T1.json`, "
        "`configs/papers/jradi-claims.json`\n"
        "    regime: Any n counts whose reading takes 33.3 empty launches or more at peak, and at "
        "which the launches of all its kernels are at most 3% of each compared time; reading "
        "4194304 inputs takes 194.2 µs on the G80, and 3.495 µs here, 1.59 launches of 2.2 µs: "
        "launch-bound"
    ) in out
    assert "; here: -; `configs/" in out  # of a claim without points
    assert "    arithmetic: bandwidth that 132 M integers" in out
    assert "n = 132000000, time_ms = 0.56: 942.9, limit at most 192: fails\n" in out
    markdown = (tmp_path / "out" / "claims.md").read_text(encoding="utf-8")
    assert "| [2](#claim-2) | jradi 2.1, Table 1 (from Harris) |" in markdown
    assert "* Configuration: `configs/papers/jradi-T1.json`, `configs" in markdown
    command = f".venv/bin/python -m reduce_bench_report claims --results {jradi_t1}"
    assert f"`PYTHONPATH=scripts {command}`" in markdown
    assert "* There: G80, 86.4 GB/s; n 4194304, type i32, op sum." in markdown
    assert "* Here: operation reduce, backend cuda, n 4194304, type i32" in markdown
    written = json.loads((tmp_path / "out" / "claims.json").read_text(encoding="utf-8"))
    assert written["command"].endswith(command)
    second = written["claims"][1]
    assert second["verdict"] == "reproduced"
    assert second["published"] == [{"value": "2.01", "source": "jradi-T1, kernel 3, step speed-up"}]
    (case,) = second["checks"][0]["cases"]
    assert [point["median_ns"] for point in case["points"]] == [START_NS / 2, START_NS / 4]
    numbers = [claim["number"] for claim in written["claims"]]
    assert sum(written["totals"].values()) == len(numbers) == len(CLAIMS)
    assert sum(written["totals_in_regime"].values()) == len(numbers)
    assert sorted(n for group in written["groups"] for n in group["claims"]) == numbers
    titles = [group["title"] for group in written["groups"]]
    assert titles.index("reproduced") < titles.index("not reproduced: no cause found")
    assert "## Not reproduced: no cause found (" in markdown
    assert "As printed: **✔ reproduced**. In the source's regime: **– not testable here**." in (
        markdown
    )
    assert second["regime"]["verdict"] == "not testable here"
    assert second["cause"] is None
    fifth = written["claims"][4]
    assert fifth["verdict"] == "not reproduced"
    assert fifth["cause"]["title"] == "no cause found"
    assert fifth["cause"]["evidence"].startswith(
        "not measured in the source's regime; empty launch"
    )


def test_hostile_names_are_text_in_the_scorecard(tmp_path: Path, jradi_t1: Path) -> None:
    made = json.loads(jradi_t1.read_text(encoding="utf-8"))
    made["environment"]["gpu"]["name"] = "Card <img src=x onerror=hacked()> & | sons"
    path = made_up.write(made, tmp_path / "r.json")
    assert main(["claims", "--results", str(path), "-o", str(tmp_path / "out")]) == 0
    markdown = (tmp_path / "out" / "claims.md").read_text(encoding="utf-8")
    assert "<" not in markdown
    assert "Card &lt;img src=x onerror=hacked()> &amp; | sons" in markdown


def test_an_interrupted_run_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jradi_t1: Path
) -> None:
    assert main(["claims", "--results", str(jradi_t1), "-o", str(tmp_path / "whole")]) == 0
    assert "interrupted" not in capsys.readouterr().out
    points = [
        made_point({"variant": f"harris/{k}", "n": 4194304, "params.block": 128}, START_NS / 2**k)
        for k in range(3)
    ]
    partial = made_up.results(points) | {"interrupted": True}
    path = made_up.write(partial, tmp_path / "cut.json")
    assert main(["claims", "--results", str(path), "-o", str(tmp_path / "out")]) == 0
    told = "cut.json was interrupted and lacks points."
    assert capsys.readouterr().out.endswith(f"{told}\n")
    markdown = (tmp_path / "out" / "claims.md").read_text(encoding="utf-8")
    assert told in markdown
    written = json.loads((tmp_path / "out" / "claims.json").read_text(encoding="utf-8"))
    assert [result["interrupted"] for result in written["results"]] == [True]
    claims = {claim["number"]: claim for claim in written["claims"]}
    assert claims[2]["missing"] == []
    assert claims[3]["missing"][-1] == "what cut.json lacks, interrupted"


def test_each_of_several_devices_has_a_column(
    jradi_t1: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made_up.results([made_up.point("harris/0", 1024)])
    other["environment"]["gpu"]["name"] = "NVIDIA Imaginary 2"
    path = made_up.write(other, tmp_path / "other.json")
    output = tmp_path / "out"
    assert main(["claims", "--results", str(jradi_t1), str(path), "-o", str(output)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("91 claims. As printed:") == 2
    assert {each.name for each in output.iterdir()} == {
        "claims.md",
        *(
            f"claims-nvidia-imaginary-{number}.{kind}"
            for number in (1, 2)
            for kind in ("md", "json")
        ),
    }
    alone = tmp_path / "alone"
    assert main(["claims", "--results", str(jradi_t1), "-o", str(alone)]) == 0
    of_one = json.loads((output / "claims-nvidia-imaginary-1.json").read_text(encoding="utf-8"))
    written = json.loads((alone / "claims.json").read_text(encoding="utf-8"))
    assert of_one == written
    rows = [
        line.strip("| ").split(" | ")
        for line in (output / "claims.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    assert rows[0] == ["claims", "NVIDIA Imaginary 1", "NVIDIA Imaginary 2"]
    by_number = {row[0]: row[-2:] for row in rows}
    assert by_number["claim"] == ["NVIDIA Imaginary 1", "NVIDIA Imaginary 2"]
    second = next(claim for claim in written["claims"] if claim["number"] == 2)
    readings = [second["verdict"], second["regime"]["verdict"]]
    signs = " ".join(scorecard.SIGNS[Verdict(reading)] for reading in readings)
    assert by_number["2"] == [signs, "– –"]
    assert signs != "– –"


def test_an_output_that_is_no_folder(jradi_t1: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--results", str(jradi_t1), "-o", str(jradi_t1)]) == 2
    said = capsys.readouterr().err
    assert "jradi-T1.json/claims.md': Not a directory; choose another place" in said


def test_local_results_come_before_committed_ones(tmp_path: Path) -> None:
    committed = tmp_path / "results" / "some-card" / "papers"
    committed.mkdir(parents=True)
    (committed / "a.json").touch()
    (committed / "a.simulated").mkdir()
    (committed / "a.simulated" / "0.json").touch()
    assert default_results(tmp_path) == [committed / "a.json"]
    local = tmp_path / "results" / "local"
    local.mkdir()
    (local / "b.json").touch()
    assert default_results(tmp_path) == [local / "b.json"]
    of_a_cpu = tmp_path / "results" / "cpu" / "some-cpu"
    of_a_cpu.mkdir(parents=True)
    (of_a_cpu / "d.json").touch()
    # the best of which is chosen, and a second round, which its first one loads
    for folder in ("tuning", "again"):
        (committed / folder).mkdir()
        (committed / folder / "e.json").write_text("{}")
    (tmp_path / "results" / "other-card").mkdir()
    (tmp_path / "results" / "other-card" / "c.json").touch()
    (local / "b.json").unlink()
    found = default_results(tmp_path)
    assert found == committed_results(tmp_path)
    assert sorted(path.name for path in found) == ["a.json", "c.json", "d.json"]
    for path in found:
        path.unlink()
    with pytest.raises(InputError, match="none is committed"):
        default_results(tmp_path)


def test_the_document_has_no_infinity() -> None:
    registry: Registry = REGISTRY
    runs = [run_of(published_points())]
    written = document(judge_all(runs, registry), runs, registry)
    json.dumps(written, allow_nan=False)


def test_every_verdict_has_a_sign_of_its_own() -> None:
    assert set(scorecard.SIGNS) == set(Verdict)
    assert len(set(scorecard.SIGNS.values())) == len(Verdict)
    assert scorecard._signed(Verdict.REPRODUCED) == "**✔ reproduced**"
