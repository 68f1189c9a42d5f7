"""The limits of claims, by numbers that are written here again, from the sources' sentences.

tests/python/test_claims.py makes its points from the limits in claims.json, so that it would follow
a wrong one. Here each row has a value for which the sentence is true and one for which it is not,
both near the limit: a ratio of times, nanoseconds per input scaled by the cards' peak bandwidths,
or accesses.
"""

import pytest
from reduce_bench_report.claims import Verdict
from test_claims import (
    CLAIMS,
    COUNTED,
    REGISTRY,
    START_NS,
    Json,
    alone,
    counted_accesses,
    lines_of,
    made_point,
    scaled_ns_at_start,
    specs_of,
    verdict,
    with_ratio,
)

SAME = 1.03  # "as fast as", "no gain": two measured times within 3 %

# number of the claim, index of its check, a true value, a false one
LIMITS: list[tuple[int, int, float, float]] = [
    (24, 0, 3.01, 3.02),  # "≈3N memory accesses"
    (24, 0, 2.99, 2.98),
    (24, 1, 1.285, 1.288),  # "1.28N"
    (24, 1, 1.275, 1.272),
    (30, 0, 1.019, 1.022),  # 4.60 and 4.65 ms
    (30, 0, 0.982, 0.978),
    (64, 0, 1.34, 1.32),  # "33 % at worst"
    (64, 1, 1.41, 1.31),  # "40 % on average"
    (72, 0, 1.2, 1.3),  # "about 1 ns more"
    (72, 0, 0.85, 0.75),
    (72, 1, 0.45, 0.55),  # "far less"
    (76, 0, 1.6, 1.45),  # 1.62 times
    (76, 0, 1.7, 1.85),
    (77, 0, 1.01, 0.99),  # reduce2 is the slower one
    (78, 0, SAME - 0.01, SAME + 0.01),  # "no longer than"
    *((79, index, SAME - 0.01, SAME + 0.01) for index in range(4)),  # "as fast as"
    (79, 4, 0.33, 0.34),  # "a third of a nanosecond"
    *((80, index, SAME - 0.01, SAME + 0.01) for index in range(3)),
    (80, 3, 0.74, 0.76),  # "below 0.75 ns"
    (81, 0, SAME - 0.01, SAME + 0.01),  # "no improvement can be expected"
    (82, 0, 1.01, 0.99),  # the tree takes longer than the CPU
    (83, 0, 0.19, 0.21),  # "0.2 ns"
    (83, 1, 0.19, 0.21),
    (84, 0, 0.45, 0.55),  # "about 0.4 ns"
    (84, 0, 0.35, 0.3),
    *((85, index, 1.01, 0.96) for index in range(3)),  # "this choice is fastest"
    (86, 0, 0.99, 1.01),  # "better if nBuckets < 2^10"
    (86, 1, 1.01, 0.99),
    (87, 0, 1.01, 0.99),  # "always achieved using manual loop unrolling"
    (88, 0, 0.96, 0.98),  # "substantial up to F = 6": a step gains more than what is the same
    (88, 1, 1.02, 1.04),  # "very discrete with F >= 8"
    (88, 1, 0.98, 0.96),
    (89, 0, 1.01, 0.99),  # "always faster"
    (90, 0, 2.1, 1.9),  # "far better"
    (91, 0, 1.01, 0.99),  # "worse performance"
    (92, 0, 0.19, 0.21),
    (92, 1, 0.19, 0.21),
    (92, 2, 1.01, 0.99),
    (93, 0, 1.2, 1.3),  # "efficiently": within a quarter
]


def points_of(number: int, index: int, value: float) -> list[Json]:
    """Points of the check whose quantity has that value."""
    claim = CLAIMS[number]
    check = claim["checks"][index]
    kind = check["kind"]
    if kind == "ratio":
        return with_ratio(alone(claim, check), value)
    if kind == "difference":
        below, above = (specs_of(claim, check, check[side]) for side in ("to", "of"))
        longer_ns = START_NS * (1 + value / scaled_ns_at_start(check, below[0]))
        return [
            *(made_point(spec, START_NS) for spec in below),
            *(made_point(spec, longer_ns) for spec in above),
        ]
    if kind == "steps":
        return [
            made_point(spec, START_NS * value**step)
            for line in lines_of(claim, check)
            for step, spec in enumerate(line)
        ]
    specs = specs_of(claim, check, check["select"])
    if check["quantity"] == COUNTED:
        return [
            made_point(spec, START_NS, counters=counted_accesses(spec["n"], spec["type"], value))
            for spec in specs
        ]
    assert check["quantity"] == "scaled ns per input"
    return [made_point(spec, value / scaled_ns_at_start(check, spec) * START_NS) for spec in specs]


@pytest.mark.parametrize(("number", "index", "true", "false"), LIMITS)
def test_the_source_s_sentence_decides(number: int, index: int, true: float, false: float) -> None:
    check = CLAIMS[number]["checks"][index]
    claim = alone(CLAIMS[number], check)
    assert verdict(claim, points_of(number, index, true)) is Verdict.REPRODUCED
    near = Verdict.NOT_REPRODUCED if REGISTRY.limits(check).part is None else Verdict.IN_PART
    assert verdict(claim, points_of(number, index, false)) is near


def test_every_new_claim_has_its_limits_here() -> None:
    measured = {
        (number, index)
        for number in range(76, 94)
        for index, check in enumerate(CLAIMS[number]["checks"])
        if check.get("role", "measures") == "measures" and check["kind"] != "unavailable"
    }
    assert measured <= {(number, index) for number, index, *_ in LIMITS}


def test_four_threads_for_each_bucket_are_the_choice() -> None:
    """Algorithm 4.10 has four threads for each bucket, a warp 32."""
    for check in CLAIMS[85]["checks"]:
        buckets = check["to"]["buckets"]
        assert check["of"]["buckets"] == buckets
        assert 32 * check["to"]["params.warps"] == 4 * buckets
        others = {1, 2, 4, 8, 16, 32} - {check["to"]["params.warps"]}
        assert set(check["of"]["params.warps"]) == others
