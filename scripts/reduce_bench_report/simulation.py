"""Reads what `cache-sim simulate` predicted for points, from the folder beside their results."""

from pathlib import Path
from typing import Any

from reduce_bench_report.identity import Distribution, PointIdentity
from reduce_bench_report.loader import SIMULATED, InputError, Point, Results, checked_json
from reduce_bench_report.paths import SCHEMAS

OPS = ("sum", "none")
# cache-sim is told the name of a distribution of labels alone, and draws it with these settings.
DRAWN_WITH = {"zipf": ("exponent", 1), "runs": ("length", 64)}
MODELS = {"sequential": "each access waits", "pipelined": "pipelined"}


def predictions(run: Results) -> dict[PointIdentity, dict[str, Any]]:
    """The predictions for these results, by the point's identity.

    scripts/simulate_points.sh writes them. `InputError` where one is not as its schema says.
    """
    documents = [_read(path) for path in sorted(folder_of(run.path).glob("*.json"))]
    points = [point for point in run.points if _can_be_simulated(point)]
    return {
        point.identity: document
        for document in documents
        for point in points
        if _is_of(point, document)
    }


def folder_of(results: Path) -> Path:
    return results.with_suffix(SIMULATED)


def draws(labels: Distribution) -> bool:
    """Whether cache-sim draws these labels. What has a file for its labels has a setting, too."""
    return labels.params in ((), (DRAWN_WITH.get(labels.name),))


def repeats(simulated: object, hierarchy: object) -> bool:
    """Whether a prediction was made from the hierarchy, which it repeats with every default filled
    in and without the name of the schema."""
    if isinstance(hierarchy, dict) and isinstance(simulated, dict):
        return all(
            key in simulated and repeats(simulated[key], value)
            for key, value in hierarchy.items()
            if key != "$schema"
        )
    if isinstance(hierarchy, list) and isinstance(simulated, list):
        return len(simulated) == len(hierarchy) and all(map(repeats, simulated, hierarchy))
    return simulated == hierarchy


def _read(path: Path) -> dict[str, Any]:
    try:
        simulation: dict[str, Any] = checked_json(
            path, SCHEMAS / "simulation.schema.json", "simulation"
        )
    except InputError as error:
        raise InputError(f"{error}; scripts/simulate_points.sh makes it anew") from error
    return simulation


def _can_be_simulated(point: Point) -> bool:
    return point.ranked and point.backend == "cpu" and point.type == "i32" and point.op in OPS


def _is_of(point: Point, simulation: dict[str, Any]) -> bool:
    return (
        (point.variant, point.n, point.buckets)
        == (simulation["algorithm"], simulation["n"], simulation["buckets"])
        and point.labels is not None
        and draws(point.labels)
        and point.labels.name == simulation["labels"]
        and dict(point.params) == simulation["params"]
    )
