"""The scorecard of published claims, as text, Markdown and JSON."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reduce_bench_report.claim_registry import Outcome, Registry
from reduce_bench_report.claims import (
    DECIDING,
    Case,
    CheckResult,
    Judgement,
    Reading,
    Verdict,
    conditions,
)
from reduce_bench_report.grids import markdown_rows, without_html
from reduce_bench_report.loader import Device, Results
from reduce_bench_report.paths import shipped
from reduce_bench_report.points import Measured, axis_name
from reduce_bench_report.regenerate import shell_command

MISSING_SHOWN = 6
ROLES = {
    "requires": " (required)",
    "explains": " (explains, not judged)",
    "shows": " (shown, not judged)",
}
SIGNS = {
    Verdict.REPRODUCED: "✔",
    Verdict.IN_PART: "◐",
    Verdict.UNDECIDED: "?",
    Verdict.NOT_REPRODUCED: "✘",
    Verdict.NOT_TESTABLE: "–",
    Verdict.REFUTED: "⊘",
}

Json = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """The claims with one message: a cause that one is not reproduced, else a verdict."""

    title: str
    why: str  # of a cause
    members: tuple[Judgement, ...]

    @property
    def heading(self) -> str:
        return f"{self.title} ({len(self.members)})"


# Those that hold, those that do not by their cause, those of which nothing is known.
ORDER = (
    Verdict.REPRODUCED.value,
    Verdict.IN_PART.value,
    "regime",
    "hardware",
    "baseline",
    "contradiction",
    "unexplained",
    Verdict.UNDECIDED.value,
    Verdict.NOT_TESTABLE.value,
)


def groups(judgements: Sequence[Judgement], registry: Registry) -> list[Group]:
    """All claims by cause and verdict, without the groups that have none."""
    members: dict[str, list[Judgement]] = {name: [] for name in ORDER}
    for judgement in judgements:
        members[judgement.group].append(judgement)
    return [_group(name, found, registry) for name, found in members.items() if found]


def _group(name: str, members: Sequence[Judgement], registry: Registry) -> Group:
    cause = registry.causes.get(name)
    title = f"not reproduced: {cause['title']}" if cause else name
    return Group(title, cause["why"] if cause else "", tuple(members))


def counts_by_device(
    judged: Mapping[str, Sequence[Judgement]], registry: Registry
) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: how many claims each device reproduces, or why it does not."""
    members: dict[str, Counter[str]] = {name: Counter() for name in ORDER}
    for device, judgements in judged.items():
        for judgement in judgements:
            members[judgement.group][device] += 1
    rows = [
        [_group(name, (), registry).title, *(str(counted[device] or "") for device in judged)]
        for name, counted in members.items()
        if counted
    ]
    return ["claims", *judged], rows


def verdicts_by_device(
    judged: Mapping[str, Sequence[Judgement]],
) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: each claim's two verdicts on each device, by their signs."""
    rows = [
        [
            str(same[0].claim["number"]),
            f"{same[0].claim['paper']} {same[0].claim['section']}",
            same[0].claim["wording"],
            *(f"{SIGNS[j.verdict]} {SIGNS[j.regime.verdict]}" for j in same),
        ]
        for same in zip(*judged.values(), strict=True)
    ]
    return ["claim", "source", "says", *judged], rows


SIGNS_SAY = (
    "The first sign is the verdict as printed, the second that in the source's regime: "
    f"{', '.join(f'{sign} {verdict.value}' for verdict, sign in SIGNS.items())}."
)


def markdown_by_device(
    judged: Mapping[str, Sequence[Judgement]], files: Mapping[str, str], registry: Registry
) -> str:
    """The scorecard of several devices, with the file that has each one's evidence."""
    headings, rows = verdicts_by_device(judged)
    count_headings, count_rows = counts_by_device(judged, registry)
    parts = [
        "# Published claims, put to the test on several devices",
        "\n".join(
            without_html(f"* {device}: {totals(judgements)}{_interrupted(judgements)} ")
            + f"[Evidence]({files[device]})."
            for device, judgements in judged.items()
        ),
        markdown_rows(count_headings, count_rows, (0,)),
        SIGNS_SAY,
        markdown_rows(headings, rows, range(len(headings))),
    ]
    return "\n\n".join(parts) + "\n"


def text(judgements: Sequence[Judgement], registry: Registry) -> str:
    """Every claim that has a verdict, by cause; `missing_lines` has the others."""
    lines = []
    for group in groups(judgements, registry):
        if group.title == Verdict.NOT_TESTABLE.value:
            continue
        lines += [group.heading.upper(), *([group.why] if group.why else []), ""]
        lines += [*map(_lines, group.members), ""]
    return "\n".join([*lines, totals(judgements) + _interrupted(judgements)]) + "\n"


def _lines(j: Judgement) -> str:
    cause = f"\n    supported by: {j.cause.evidence}" if j.cause else ""
    in_regime = _here_in_regime(j)
    return (
        f"{j.claim['number']:2}  {j.claim['wording']}\n"
        f"    as printed: {j.verdict.value}; "
        f"in the source's regime: {j.regime.verdict.value}{cause}\n"
        f"    published: {_published(j)}; as printed: {_here(j)}"
        f"{f'; in the regime: {in_regime}' if in_regime else ''}\n"
        f"    there: {j.published_conditions or 'not stated'}; "
        f"here: {conditions(j.points) or '-'}; "
        f"{', '.join(map(_configuration, j.claim['configurations']))}\n"
        f"    regime: {j.regime_meaning}" + "".join(_arithmetic(j))
    )


def _here_in_regime(judgement: Judgement) -> str:
    """The numbers in the source's regime where they are not those as printed."""
    here = _here(judgement.regime)
    return "" if here == _here(judgement) else here


def missing_lines(judgements: Sequence[Judgement]) -> list[str]:
    """Of each claim that lacks points, the first that it lacks and what to run for them."""
    return [
        f"claim {j.claim['number']}: {j.missing[0]}"
        + (f", and {len(j.missing) - 1} more" if len(j.missing) > 1 else "")
        + f": run {' and '.join(j.claim['configurations'])}"
        for j in judgements
        if j.missing
    ]


def _arithmetic(judgement: Judgement) -> list[str]:
    """The steps by which its own numbers refute a claim, a line each."""
    if judgement.verdict is not Verdict.REFUTED:
        return []
    return [
        f"\n    arithmetic: {check.what}: {_case(check, case)}"
        for check in judgement.checks
        if check.role == "refutes"
        for case in check.cases
    ]


def markdown(judgements: Sequence[Judgement], runs: Sequence[Results], registry: Registry) -> str:
    said = [
        totals(judgements) + f"{_interrupted(judgements)} On {_device(runs)}, from:",
        "\n".join(f"* {run.provenance}" for run in runs),
        f"Made by `{_command(runs)}`.",
        "A ratio is of medians; its interval spans both medians' 95 % intervals, widened by the "
        "run's A/A noise floor or by what lies between two rounds of such points, whichever is "
        "more, over all runs that have the points. A check holds where every "
        "interval is inside its limits. A claim is reproduced where all checks hold, not "
        "reproduced where all fail, and else reproduced in part. Times never compare across "
        "machines. Wrong results do not count.",
        "Each claim is read twice: as printed, and in its source's regime, which is what the "
        "source's condition means on its card.",
        "\n".join(f"* *{axis_name(name)}*: {rule}" for name, rule in registry.regimes.items()),
        "\n".join(
            f"* *{name}* ({tolerance['value']:g}): {tolerance['why']}"
            for name, tolerance in registry.tolerances.items()
        ),
    ]
    parts = [
        "# Published claims, put to the test",
        *map(without_html, said),
        *(part for group in groups(judgements, registry) for part in _section(group)),
        *(without_html(_details(judgement, registry)) for judgement in judgements),
    ]
    return "\n\n".join(parts) + "\n"


def document(judgements: Sequence[Judgement], runs: Sequence[Results], registry: Registry) -> Json:
    return {
        "schema": 1,
        "kind": "reduce-bench-claims",
        "device": _device(runs),
        "command": _command(runs),
        "results": [
            {
                "file": _file(run),
                "sha256": run.sha256,
                "revision": run.revision,
                "interrupted": run.document["interrupted"],
            }
            for run in runs
        ],
        "totals": {verdict.value: count for verdict, count in _counts(judgements)},
        "totals_in_regime": {
            verdict.value: count for verdict, count in _counts([j.regime for j in judgements])
        },
        "groups": [
            {
                "title": group.title,
                "why": group.why,
                "claims": [judgement.claim["number"] for judgement in group.members],
            }
            for group in groups(judgements, registry)
        ],
        "claims": [_claim(judgement, registry) for judgement in judgements],
    }


def _command(runs: Sequence[Results]) -> str:
    return shell_command("claims", "--results", *(str(run.path) for run in runs))


def _device(runs: Sequence[Results]) -> str:
    """The device's name with the bandwidth and L2 size that claims are scaled by."""
    gpu = next((run.environment["gpu"] for run in runs if run.environment["gpu"]), None)
    if gpu is None:
        return Device(runs).name
    facts = [f"L2 of {gpu['l2_bytes'] / 2**20:g} MiB"]
    if gpu["peak_gb_per_s"]:
        facts.insert(0, f"{gpu['peak_gb_per_s']:g} GB/s")
    return f"{gpu['name']} ({', '.join(facts)})"


def _counts(judgements: Sequence[Reading]) -> list[tuple[Verdict, int]]:
    counted = Counter(judgement.verdict for judgement in judgements)
    return [(verdict, counted[verdict]) for verdict in Verdict]


def totals(judgements: Sequence[Judgement]) -> str:
    printed, regime = (
        ", ".join(f"{count} {verdict.value}" for verdict, count in _counts(readings) if count)
        for readings in (judgements, [judgement.regime for judgement in judgements])
    )
    return f"{len(judgements)} claims. As printed: {printed}. In the source's regime: {regime}."


def _interrupted(judgements: Sequence[Judgement]) -> str:
    names = dict.fromkeys(name for judgement in judgements for name in judgement.interrupted)
    return "".join(f" {name} was interrupted and lacks points." for name in names)


def _published(judgement: Judgement) -> str:
    return ", ".join(value.text for value in judgement.published)


def _here(judgement: Reading) -> str:
    """The numbers of all checks that count for the verdict, in a line."""
    deciding = [check for check in judgement.checks if check.role in DECIDING]
    shown = [_summary(check) for check in deciding if check.cases]
    needs = (clause for clause in judgement.missing if clause.startswith("needs "))
    if not judgement.checks:
        return "cannot be translated"
    return "; ".join(shown) or next(needs, "no points")


def _summary(check: CheckResult) -> str:
    if check.role == "refutes":
        return f"{check.cases[0].measured.value:.4g}, {check.cases[0].limits} possible"
    if check.right_or_wrong:
        wrong = sum(case.outcome is Outcome.FAILS for case in check.cases)
        return f"{wrong} of {len(check.cases)} results wrong"
    limits = check.cases[0].limits
    values = [case.measured.value for case in check.cases]
    if len(values) == 1:
        return f"{_number(check.cases[0])}, limit {limits}"
    held = sum(case.outcome is Outcome.HOLDS for case in check.cases)
    return f"{min(values):.4g} to {max(values):.4g}, limit {limits} ({held} of {len(values)} hold)"


def _number(case: Case) -> str:
    measured = case.measured
    if measured.low == measured.high:
        return f"{measured.value:.4g}"
    return f"{measured.value:.4g} ({measured.low:.4g} to {measured.high:.4g})"


def _section(group: Group) -> list[str]:
    """A group's heading, what its cause is, and its table."""
    headings = ["claim", "source", "says", "published", "as printed", "in the source's regime"]
    headings += ["supported by"] if group.why else []
    rows = [
        [
            f"[{j.claim['number']}](#claim-{j.claim['number']})",
            f"{j.claim['paper']} {j.claim['section']}",
            j.claim["wording"],
            _published(j),
            f"{_signed(j.verdict)}: {_here(j)}",
            ": ".join(filter(None, [_signed(j.regime.verdict), _here_in_regime(j)])),
            *([j.cause.evidence] if j.cause else []),
        ]
        for j in group.members
    ]
    heading = without_html(f"## {group.heading[0].upper()}{group.heading[1:]}")
    why = [without_html(group.why)] if group.why else []
    return [heading, *why, markdown_rows(headings, rows, range(1, len(headings)))]


def _signed(verdict: Verdict) -> str:
    """With a sign, by which verdicts are told apart before they are read."""
    return f"**{SIGNS[verdict]} {verdict.value}**"


def _details(judgement: Judgement, registry: Registry) -> str:
    claim = judgement.claim
    published = "; ".join(f"{value.text} ({value.source})" for value in judgement.published)
    lines = [
        f"## Claim {claim['number']}",
        "",
        f"{claim['wording']} ({claim['paper']}, {claim['section']})",
        "",
        f"As printed: {_signed(judgement.verdict)}. In the source's regime: "
        f"{_signed(judgement.regime.verdict)}.",
        "",
        f"* Published: {published}.",
    ]
    lines.append(f"* There: {judgement.published_conditions or 'not stated'}.")
    if judgement.points:
        lines.append(f"* Here: {conditions(judgement.points)}; from {_files(judgement.points)}.")
    lines.append(f"* Configuration: {', '.join(map(_configuration, claim['configurations']))}.")
    lines += _reading(judgement)
    lines.append(f"* In the source's regime: {judgement.regime_meaning}")
    if judgement.regime.checks != judgement.checks:
        lines += [f"  {line}" for line in _reading(judgement.regime)]
    if judgement.cause:
        title = registry.causes[judgement.cause.name]["title"]
        lines.append(f"* Cause: {title}; {judgement.cause.evidence}.")
    if "reading" in claim:
        reading = claim["reading"]
        lines.append(f"* The source: \u201c{reading['sentence']}\u201d {reading['why']}")
    if "note" in claim:
        lines.append(f"* Note: {claim['note']}")
    return "\n".join(lines)


def _reading(reading: Reading) -> list[str]:
    lines = []
    for check in reading.checks:
        lines.append(f"* {check.what}{ROLES.get(check.role, '')}: {check.outcome.value}.")
        lines += [f"  * {_case(check, case)}" for case in check.cases]
    lines += [f"* Missing: {clause}." for clause in reading.missing[:MISSING_SHOWN]]
    if len(reading.missing) > MISSING_SHOWN:
        lines.append(f"* Missing: {len(reading.missing) - MISSING_SHOWN} more.")
    return lines


def _configuration(path: str) -> str:
    return f"`{path}`" + ("" if shipped(path).exists() else " (not written yet)")


def _case(check: CheckResult, case: Case) -> str:
    if check.right_or_wrong:
        return ": ".join(filter(None, [case.name, str(case.points[0].point.outcome)]))
    what = f"{case.name}: " if case.name else ""
    outcome = case.outcome.value
    if case.outcome is Outcome.PART:
        more = case.measured.low > case.limits.high
        outcome += ", at most twice the gain" if more else ", half of the gain or more"
    return f"{what}{_number(case)}, limit {case.limits}: {outcome}"


def _file(run: Results) -> str:
    try:
        return str(run.path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(run.path)


def _files(points: Sequence[Measured]) -> str:
    return ", ".join(dict.fromkeys(f"`{_file(measured.run)}`" for measured in points))


def _claim(judgement: Judgement, registry: Registry) -> Json:
    claim, regime, cause = judgement.claim, judgement.regime, judgement.cause
    return {
        "number": claim["number"],
        "paper": claim["paper"],
        "section": claim["section"],
        "wording": claim["wording"],
        "verdict": judgement.verdict.value,
        "published": [{"value": v.text, "source": v.source} for v in judgement.published],
        "published_conditions": judgement.published_conditions,
        "measured": _here(judgement),
        "measured_conditions": conditions(judgement.points),
        "configurations": claim["configurations"],
        "checks": [_check(check) for check in judgement.checks],
        "missing": judgement.missing,
        "regime": {
            "meaning": judgement.regime_meaning,
            "verdict": regime.verdict.value,
            "measured": _here_in_regime(judgement),
            "measured_conditions": conditions(regime.points),
            "checks": [_check(check) for check in regime.checks],
            "missing": regime.missing,
        },
        "cause": cause
        and {"title": registry.causes[cause.name]["title"], "evidence": cause.evidence},
        "reading": claim.get("reading"),
        "note": claim.get("note"),
    }


def _check(check: CheckResult) -> Json:
    return {
        "what": check.what,
        "role": check.role,
        "outcome": check.outcome.value,
        "cases": [
            {
                "name": case.name,
                "value": case.measured.value,
                "low": case.measured.low,
                "high": case.measured.high,
                "at_least": _finite(case.limits.low),
                "at_most": _finite(case.limits.high),
                "outcome": case.outcome.value,
                "text": _case(check, case),
                "points": [_point(measured) for measured in case.points],
            }
            for case in check.cases
        ],
    }


def _finite(limit: float) -> float | None:
    return limit if math.isfinite(limit) else None


def _point(measured: Measured) -> Json:
    point = measured.point
    return {
        "file": _file(measured.run),
        "index": point.raw["index"],
        "variant": point.variant,
        "params": dict(point.params),
        "n": point.n,
        "buckets": point.buckets,
        "status": point.outcome,
        "median_ns": measured.time_ns.value if measured.counts else None,
    }
