"""An experiment of several devices as one: each has panels of its own, side by side.

A time of one device is never shown beside another's. What stands side by side are ratios and
shares: those that the experiment shows, or the share of the read ceiling where it shows times
alone, of the variants that run on the card: a share of the processor's ceiling is none of it.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from reduce_bench_report.evaluate import Evaluation, Panel, evaluate
from reduce_bench_report.experiments import Experiment
from reduce_bench_report.identity import DEVICE
from reduce_bench_report.loader import Device
from reduce_bench_report.measures import RATIOS
from reduce_bench_report.published import Table

ON_A_CARD = ("cuda", "opencl")  # backends


def of_ratios(experiment: Experiment) -> Experiment | None:
    """The experiment without times; None where nothing that can be shown so is left of it."""
    ratios = tuple(measure for measure in experiment.y if measure in RATIOS)
    if experiment.simulated or experiment.predicted or experiment.plane:
        return None
    if not ratios and experiment.config is None:  # a sweep over n, of which one is of shares
        return None
    where = experiment.where if ratios else {"backend": ON_A_CARD, **experiment.where}
    return dataclasses.replace(
        experiment,
        title=experiment.title + ("" if ratios else ", as shares of the read ceiling"),
        y=ratios or ("ceiling_share",),
        where=where,
        log="x" if "x" in experiment.log else "",
        log_too=False,
    )


def evaluate_devices(
    experiment: Experiment, devices: Sequence[Device], tables: Mapping[str, Table]
) -> Evaluation | None:
    """None where fewer than two cards have a value."""
    narrowed = of_ratios(experiment)
    if narrowed is None:
        return None
    shown = {
        device.name: evaluate(narrowed, device.runs, tables)
        for device in devices
        if device.has_card
    }
    with_values = {
        name: each
        for name, each in shown.items()
        if isinstance(each, Evaluation) and any(panel.has_value for panel in each.panels)
    }
    return _joined(with_values) if len(with_values) > 1 else None


def _joined(of_devices: Mapping[str, Evaluation]) -> Evaluation:
    evaluations = list(of_devices.values())
    panels: dict[tuple[str, ...], list[Panel]] = {}
    for name, evaluation in of_devices.items():
        for panel in evaluation.panels:
            if panel.has_value:
                alike = panels.setdefault(tuple(panel.facts.values()), [])
                alike.append(dataclasses.replace(panel, facts={**panel.facts, DEVICE: name}))
    first = evaluations[0]
    return dataclasses.replace(
        first,
        panels=[panel for alike in panels.values() for panel in alike],
        runs=[run for each in evaluations for run in each.runs],
        constants={
            axis: value
            for axis, value in first.constants.items()
            if all(each.constants.get(axis) == value for each in evaluations)
        },
        missing=[f"{clause} on {name}" for name, e in of_devices.items() for clause in e.missing],
        remedies=list(dict.fromkeys(remedy for each in evaluations for remedy in each.remedies)),
        chosen={
            (*key, name): text for name, e in of_devices.items() for key, text in e.chosen.items()
        },
        roofs=None,
    )
