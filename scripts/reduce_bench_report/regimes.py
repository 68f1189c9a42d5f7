"""What a source's condition means in terms of its card, and what that is on the measured one.

The rule for all claims stands in claims.json: `regimes` for how inputs compare with launches and
for what else a condition may fix, such as the blocks per multiprocessor, and each claim's `regime`
for which of that its own condition fixes.
"""

import itertools
import statistics
from collections.abc import Sequence
from typing import Any

from reduce_bench_report.claim_registry import Json, Registry, Value
from reduce_bench_report.loader import Results
from reduce_bench_report.points import (
    DERIVED,
    PARAM,
    Measured,
    axis,
    axis_name,
    describe,
    input_bytes,
    launch_share,
    parts_of,
    variants_of,
    wanted_text,
    within,
)
from reduce_bench_report.published import Hardware

COMPARED = ("ratio", "steps", "flat", "value", "difference", "choice")
FIXED = ("groups_per_sm", "bucket_bytes_per_l2")  # beside how inputs compare with launches


def least_launches(registry: Registry) -> float:
    """How many empty launches a read must outlast for one launch to be negligible.

    A point has as many as it has kernels: `outlasting_launches` holds all of them against its time.
    """
    return 1 / most_launch_share(registry)


def most_launch_share(registry: Registry) -> float:
    """The most of a time that launches may take and not count: what counts as the same."""
    return registry.number("same") - 1


def translated(claim: Json, registry: Registry) -> Json | None:
    """The claim under its source's conditions as they are on the measured card.

    The claim itself where it has none; None where nobody can say what they are. What arithmetic
    shows is left out, since it has no condition.
    """
    regime = claim["regime"]
    if regime["bound"] == "unknown":
        return None
    if regime["bound"] == "none" and not regime.keys() & {"select", "checks"}:
        return claim
    base = dict(claim.get("base", {}))
    added = {
        name: wanted for name, wanted in regime.get("select", {}).items() if wanted is not None
    }
    dropped = {name for name, wanted in regime.get("select", {}).items() if wanted is None}
    if regime["bound"] == "bandwidth":
        dropped.add("n")
        added["read_launches"] = {"from": least_launches(registry)}
    checks = regime.get("checks", claim["checks"])
    return claim | {
        "base": {name: wanted for name, wanted in base.items() if name not in dropped} | added,
        "checks": [
            _check(check, base, added, dropped)
            for check in checks
            if check["kind"] != "arithmetic" or check["role"] == "refutes"
        ],
    }


def _check(check: Json, base: Json, added: Json, dropped: set[str]) -> Json:
    if check["kind"] not in COMPARED:
        return check
    moved = check | {
        side: _selection(check[side], base, added, dropped)
        for side in ("of", "to", "select")
        if side in check
    }
    if "sequence" in check:
        moved["sequence"] = [_selection(part, base, added, dropped) for part in check["sequence"]]
    if "read_launches" in added and "n" not in check.get("match", []):
        moved["match"] = [*check.get("match", []), "n"]  # any large n does, but one at a time
    return moved


def _selection(part: Json, base: Json, added: Json, dropped: set[str]) -> Json:
    kept = {name: wanted for name, wanted in part.items() if name not in dropped}
    # a host has neither launches nor multiprocessors
    of_host = (base | part).get("backend") == "cpu"
    return kept | dict.fromkeys(added) if of_host else kept


def outside_of_regime(moved: Json, points: Sequence[Measured], registry: Registry) -> list[str]:
    """What of the points as printed is outside of the regime, quantity by quantity, then parameter
    by parameter."""
    params = [name for name in moved["regime"].get("select", {}) if name.startswith(PARAM)]
    asked = _asked_of_variants(moved, (*DERIVED, *params))
    said = []
    for name in (*DERIVED, *params):
        outside: list[Value] = []
        unmet: dict[str, None] = {}
        for measured in points:
            wanted, value = asked.get((measured.point.variant, name), []), axis(name, measured)
            if value is None or not (isinstance(value, float) or name in params):
                continue
            if wanted and not any(within(w, value) for w in wanted):
                outside.append(value)
                unmet |= dict.fromkeys(map(wanted_text, wanted))
        numbers = [value for value in outside if isinstance(value, int | float)]
        words = dict.fromkeys(str(value) for value in outside if isinstance(value, str))
        if numbers:
            words |= dict.fromkeys(f"{end:.3g}" for end in (min(numbers), max(numbers)))
        if outside:
            said.append(f"{axis_name(name)} {' to '.join(words)}, not {' or '.join(unmet)}")
    largest, most = max(map(launch_share, points), default=0), most_launch_share(registry)
    if moved["regime"]["bound"] == "bandwidth" and largest > most:
        said.append(f"launches take up to {largest:.1%} of a time, not at most {most:.0%}")
    return said


def _asked_of_variants(moved: Json, names: Sequence[str]) -> dict[tuple[str, str], list[Any]]:
    """By variant and quantity, what the regime asks for; nothing where one of the selections that
    name the variant does not ask."""
    asked: dict[tuple[str, str], list[Any]] = {}
    for check in moved["checks"]:
        for part in parts_of(check) if check.get("role", "measures") == "measures" else []:
            selection = moved.get("base", {}) | part
            for variant, name in itertools.product(variants_of(selection), names):
                asked.setdefault((variant, name), []).append(selection.get(name))
    return {key: wanted for key, wanted in asked.items() if None not in wanted}


def hardware_of(claim: Json, registry: Registry) -> Hardware | None:
    """The first card that the claim's published numbers name."""
    ids = [table_id for raw in claim["published"] for table_id in tables_of(raw)]
    cards = [registry.tables[table_id].hardware for table_id in ids]
    return next((card for card in cards if card is not None), None)


def tables_of(raw: Json | list[str]) -> list[str]:
    """The tables that a claim's published value refers to."""
    if isinstance(raw, list):
        return [str(raw[0])]
    if "ratio" in raw:
        return [str(number[0]) for number in raw["ratio"] if isinstance(number, list)]
    return [raw["table"]] if "table" in raw else []


def meaning(claim: Json, runs: Sequence[Results], registry: Registry) -> str:
    """What the source's condition means on its card and on this one, in whole sentences."""
    regime, base = claim["regime"], claim.get("base", {})
    said = []
    if regime["bound"] == "bandwidth":
        said.append(_sizes(claim, runs, registry))
    elif regime["bound"] == "unknown":
        said.append("The source's condition cannot be translated.")
    rest = {name: wanted for name, wanted in regime.get("select", {}).items() if wanted is not None}
    if rest:
        said.append(f"Asked for here: {describe(rest)}.")
    facts = _facts(hardware_of(claim, registry), runs, base.get("backend") == "cpu")
    for name in _asked(regime):
        said += [registry.regimes[name], *([facts[name]] if name in facts else [])]
    if "why" in regime:
        said.append(regime["why"])
    elif base.get("backend") == "cpu":
        said.append("Nothing is translated: no card takes part.")
    return " ".join(said)


def _asked(regime: Json) -> list[str]:
    """The quantities with a rule of their own that a claim's regime selects by."""
    asked = {*regime.get("select", {})}
    for check in regime.get("checks", []):
        asked |= {name for side in ("of", "to", "select") for name in check.get(side, {})}
    return [name for name in FIXED if name in asked]


def _facts(card: Hardware | None, runs: Sequence[Results], of_host: bool) -> dict[str, str]:
    """What both cards, or both processors, have of that by which a regime goes, where it is
    known."""
    here, key = ("this processor", "cpu") if of_host else ("this card", "gpu")
    device = next((run.environment[key] for run in runs if run.environment[key]), None)
    facts: dict[str, str] = {}
    if card is None or device is None:
        return facts
    if card.multiprocessors and not of_host:
        facts["groups_per_sm"] = (
            f"The {card} has {card.multiprocessors} multiprocessors, {here} {device['sm_count']}."
        )
    if card.l2_bytes and device.get("l2_bytes"):
        there, found = (f"{size / 2**10:g} KiB" for size in (card.l2_bytes, device["l2_bytes"]))
        facts["bucket_bytes_per_l2"] = f"The {card} has an L2 of {there}, {here} one of {found}."
    return facts


def _sizes(claim: Json, runs: Sequence[Results], registry: Registry) -> str:
    base, card = claim.get("base", {}), hardware_of(claim, registry)
    peak, launch_ns = _measured_card(runs)
    least = f"{least_launches(registry):.3g} empty launches"
    said = (
        f"Any n counts whose reading takes {least} or more at peak, and at which the launches of "
        f"all its kernels are at most {most_launch_share(registry):.0%} of each compared time"
    )
    n, element_type, operation = (base.get(name) for name in ("n", "type", "operation"))
    element_type = element_type[0] if isinstance(element_type, list) else element_type
    if not isinstance(n, int) or element_type is None or operation is None:
        return f"{said}."
    read = input_bytes(n, element_type, operation)
    takes = []
    if card and card.peak_gb_per_s:
        takes.append(f"{read / card.peak_gb_per_s / 1e3:.4g} µs on the {card}")
    if peak and launch_ns:
        launches = read / peak / launch_ns
        few = ": launch-bound" if launches < least_launches(registry) else ""
        takes.append(
            f"{read / peak / 1e3:.4g} µs here, {launches:.3g} launches of "
            f"{launch_ns / 1e3:.3g} µs{few}"
        )
    return f"{said}; reading {n} inputs takes {', and '.join(takes)}." if takes else f"{said}."


def _measured_card(runs: Sequence[Results]) -> tuple[float | None, float | None]:
    """The peak bandwidth and the time of an empty launch."""
    peaks = [run.environment["gpu"]["peak_gb_per_s"] for run in runs if run.environment["gpu"]]
    launches = [
        ceilings["empty_launch_ns"]
        for run in runs
        if (ceilings := run.document["ceilings"].get("cuda")) and ceilings["empty_launch_ns"]
    ]
    peak = next((peak for peak in peaks if peak), None)
    return peak, statistics.median(launches) if launches else None
