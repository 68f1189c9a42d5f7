"""The scorecard of published claims, as text, Markdown and JSON."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reduce_bench_report.claim_registry import Outcome, Registry
from reduce_bench_report.claims import Case, CheckResult, Judgement, Verdict, conditions
from reduce_bench_report.grids import markdown_rows, without_html
from reduce_bench_report.loader import Results
from reduce_bench_report.paths import shipped
from reduce_bench_report.points import Measured
from reduce_bench_report.regenerate import shell_command

MISSING_SHOWN = 6

Json = dict[str, Any]


def text(judgements: Sequence[Judgement]) -> str:
    lines = [
        f"{j.claim['number']:2}  {j.verdict.value:22}  {j.claim['wording']}\n"
        f"    published: {_published(j)}; here: {_here(j)}\n"
        f"    there: {j.published_conditions or 'not stated'}; "
        f"here: {conditions(j.points) or '-'}; "
        f"{', '.join(map(_configuration, j.claim['configurations']))}" + "".join(_arithmetic(j))
        for j in judgements
    ]
    return "\n".join([*lines, "", _totals(judgements) + _interrupted(judgements)]) + "\n"


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
        _totals(judgements) + f"{_interrupted(judgements)} On {_device(runs)}, from:",
        "\n".join(f"* {run.provenance}" for run in runs),
        f"Made by `{_command(runs)}`.",
        "A ratio is of medians; its interval spans both medians' 95 % intervals, widened by the "
        "run's A/A noise floor, over all runs that have the points. A check holds where every "
        "interval is inside its limits. A claim is reproduced where all checks hold, not "
        "reproduced where all fail, and else reproduced in part. Times never compare across "
        "machines. Wrong results do not count.",
        "\n".join(
            f"* *{name}* ({tolerance['value']:g}): {tolerance['why']}"
            for name, tolerance in registry.tolerances.items()
        ),
    ]
    parts = [
        "# Published claims, put to the test",
        *map(without_html, said),
        _table(judgements),
        *(without_html(_details(judgement)) for judgement in judgements),
    ]
    return "\n\n".join(parts) + "\n"


def document(judgements: Sequence[Judgement], runs: Sequence[Results]) -> Json:
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
        "claims": [_claim(judgement) for judgement in judgements],
    }


def _command(runs: Sequence[Results]) -> str:
    return shell_command("claims", "--results", *(str(run.path) for run in runs))


def _device(runs: Sequence[Results]) -> str:
    """The device's name with the bandwidth and L2 size that claims are scaled by."""
    gpu = next((run.environment["gpu"] for run in runs if run.environment["gpu"]), None)
    if gpu is None:
        return runs[0].device
    facts = [f"L2 of {gpu['l2_bytes'] / 2**20:g} MiB"]
    if gpu["peak_gb_per_s"]:
        facts.insert(0, f"{gpu['peak_gb_per_s']:g} GB/s")
    return f"{gpu['name']} ({', '.join(facts)})"


def _counts(judgements: Sequence[Judgement]) -> list[tuple[Verdict, int]]:
    counted = Counter(judgement.verdict for judgement in judgements)
    return [(verdict, counted[verdict]) for verdict in Verdict]


def _totals(judgements: Sequence[Judgement]) -> str:
    counts = ", ".join(f"{count} {verdict.value}" for verdict, count in _counts(judgements))
    return f"{len(judgements)} claims: {counts}."


def _interrupted(judgements: Sequence[Judgement]) -> str:
    names = dict.fromkeys(name for judgement in judgements for name in judgement.interrupted)
    return "".join(f" {name} was interrupted and lacks points." for name in names)


def _published(judgement: Judgement) -> str:
    return ", ".join(value.text for value in judgement.published)


def _here(judgement: Judgement) -> str:
    """The numbers of all checks that count for the verdict, in a line."""
    shown = [_summary(check) for check in judgement.checks if check.cases and check.role != "shows"]
    needs = (clause for clause in judgement.missing if clause.startswith("needs "))
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


def _table(judgements: Sequence[Judgement]) -> str:
    headings = ["claim", "source", "says", "published", "here", "verdict"]
    rows = [
        [
            f"[{j.claim['number']}](#claim-{j.claim['number']})",
            f"{j.claim['paper']} {j.claim['section']}",
            j.claim["wording"],
            _published(j),
            _here(j),
            f"**{j.verdict.value}**",
        ]
        for j in judgements
    ]
    return markdown_rows(headings, rows, range(1, len(headings)))


def _details(judgement: Judgement) -> str:
    claim = judgement.claim
    published = "; ".join(f"{value.text} ({value.source})" for value in judgement.published)
    lines = [
        f"## Claim {claim['number']}",
        "",
        f"{claim['wording']} ({claim['paper']}, {claim['section']})",
        "",
        f"**{judgement.verdict.value}**",
        "",
        f"* Published: {published}.",
    ]
    lines.append(f"* There: {judgement.published_conditions or 'not stated'}.")
    if judgement.points:
        lines.append(f"* Here: {conditions(judgement.points)}; from {_files(judgement.points)}.")
    lines.append(f"* Configuration: {', '.join(map(_configuration, claim['configurations']))}.")
    for check in judgement.checks:
        role = " (shown, not judged)" if check.role == "shows" else ""
        lines.append(f"* {check.what}{role}: {check.outcome.value}.")
        lines += [f"  * {_case(check, case)}" for case in check.cases]
    lines += [f"* Missing: {clause}." for clause in judgement.missing[:MISSING_SHOWN]]
    if len(judgement.missing) > MISSING_SHOWN:
        lines.append(f"* Missing: {len(judgement.missing) - MISSING_SHOWN} more.")
    if "note" in claim:
        lines.append(f"* Note: {claim['note']}")
    return "\n".join(lines)


def _configuration(path: str) -> str:
    return f"`{path}`" + ("" if shipped(path).exists() else " (not written yet)")


def _case(check: CheckResult, case: Case) -> str:
    if check.right_or_wrong:
        return ": ".join(filter(None, [case.name, str(case.points[0].point.outcome)]))
    what = f"{case.name}: " if case.name else ""
    outcome = case.outcome.value
    if case.outcome is Outcome.PART:
        outcome += ", more" if case.measured.low > case.limits.high else ", less"
    return f"{what}{_number(case)}, limit {case.limits}: {outcome}"


def _file(run: Results) -> str:
    try:
        return str(run.path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(run.path)


def _files(points: Sequence[Measured]) -> str:
    return ", ".join(dict.fromkeys(f"`{_file(measured.run)}`" for measured in points))


def _claim(judgement: Judgement) -> Json:
    claim = judgement.claim
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
