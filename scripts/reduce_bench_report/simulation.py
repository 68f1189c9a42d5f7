"""Figure of simulated against measured time per input, over the number of buckets.

Measured is what `reduce-bench run` timed on the CPU, simulated what `cache-sim simulate` predicted
for its points. As the thesis's Figures 2.7 and 2.8.
"""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from reduce_bench_report.loader import SCHEMAS, SIMULATED, InputError, Point, Results, checked_json

MODELS = {"sequential": "--", "pipelined": ":"}


@dataclass(frozen=True)
class Pair:
    """One point, measured and simulated, in ns per input."""

    line: str
    fetch: str  # empty where the variant has no such choice
    buckets: int
    measured: float
    simulated: dict[str, float]


def read_simulation(path: Path) -> dict[str, Any]:
    try:
        simulation: dict[str, Any] = checked_json(
            path, SCHEMAS / "simulation.schema.json", "simulation"
        )
    except InputError as error:
        raise InputError(f"{error}; give a file that `cache-sim simulate -o FILE` wrote") from error
    return simulation


def beside(results: Path) -> list[dict[str, Any]]:
    """What scripts/simulate_points.sh predicted for the points of these results."""
    return [read_simulation(path) for path in sorted(folder_of(results).glob("*.json"))]


def folder_of(results: Path) -> Path:
    return results.with_suffix(SIMULATED)


def is_of(point: Point, simulation: dict[str, Any]) -> bool:
    return (
        point.ranked
        and point.backend == "cpu"
        and point.type == "i32"
        and point.op in ("sum", "none")
        and (point.variant, point.n, point.buckets)
        == (simulation["algorithm"], simulation["n"], simulation["buckets"])
        and point.labels is not None
        and point.labels.name == simulation["labels"]
        and dict(point.params) == simulation["params"]
    )


def pair(results: Results, simulations: Sequence[dict[str, Any]]) -> list[Pair]:
    """Each simulation with the point that it predicts; those without one are left out."""
    pairs = []
    for simulation in simulations:
        for point in results.points:
            if not is_of(point, simulation):
                continue
            params = " ".join(f"{key}={value}" for key, value in point.params)
            simulated = {
                model: float(simulation[model]["ns_per_input"])
                for model in MODELS
                if simulation[model] is not None
            }
            line = f"{point.variant} {params}".strip()
            pairs.append(
                Pair(
                    line,
                    dict(point.params).get("fetch", ""),
                    simulation["buckets"],
                    point.time_ns() / point.n,
                    simulated,
                )
            )
            break
    if not pairs:
        raise InputError(
            f"no simulation is of a point of '{results.path}'; simulate the variants, parameters, "
            "n, buckets and labels that it has"
        )
    return sorted(pairs, key=lambda p: (p.line, p.buckets))


def error_text(pairs: Sequence[Pair], model: str) -> str:
    """How far the model is off: simulated over measured."""
    ratios = [p.simulated[model] / p.measured for p in pairs if model in p.simulated]
    if not ratios:
        return f"{model}: not simulated"
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    worst = max(ratios, key=lambda ratio: abs(math.log(ratio)))
    return (
        f"{model}: simulated / measured is {mean:.2f} in the geometric mean of {len(ratios)} "
        f"points, {worst:.2f} at worst"
    )


def errors(pairs: Sequence[Pair]) -> list[str]:
    """A line for each model and way of fetching: the models are meant for one of them each."""
    return [
        f"{f'fetch={fetch}, ' if fetch else ''}"
        + error_text([pair for pair in pairs if pair.fetch == fetch], model)
        for fetch in sorted({pair.fetch for pair in pairs})
        for model in MODELS
    ]


def draw(pairs: Sequence[Pair], results: Results, hierarchies: Sequence[str]) -> Figure:
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    axes = figure.subplots()
    for index, line in enumerate(sorted({p.line for p in pairs})):
        own = [p for p in pairs if p.line == line]
        buckets = [p.buckets for p in own]
        colour = f"C{index}"
        axes.plot(buckets, [p.measured for p in own], color=colour, marker="o", label=line)
        for model, style in MODELS.items():
            axes.plot(
                buckets,
                [p.simulated.get(model, math.nan) for p in own],
                color=colour,
                linestyle=style,
                label=f"simulated, {model}",
            )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("m, buckets")
    axes.set_ylabel("ns per input")
    axes.grid(True, color="0.9", linewidth=0.6)
    axes.legend(fontsize=8)
    axes.set_title("Simulated against measured time", fontsize=11)
    caption = ". ".join(
        [line[0].upper() + line[1:] for line in errors(pairs)]
        + [f"Hierarchy: {', '.join(hierarchies)}", f"Measured: {results.provenance}"]
    )
    figure.supxlabel(
        "\n".join(textwrap.wrap(caption + ".", 120)), x=0.01, ha="left", fontsize=7
    ).set_parse_math(False)
    return figure


def save(results: Results, paths: Sequence[Path], output: Path) -> list[str]:
    """Writes the figure; lines say how far the models are off."""
    simulations = [read_simulation(path) for path in paths]
    pairs = pair(results, simulations)
    names = sorted({simulation["hierarchy"]["name"] for simulation in simulations})
    try:
        draw(pairs, results, names).savefig(output)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write '{output}': {error}") from error
    return errors(pairs)
