"""One HTML page of several devices, which opens offline: what of them can stand side by side.

Each device has a page of its own (report.py), to which this one links.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reduce_bench_report import figures, grids, plots, readme, regenerate, scorecard
from reduce_bench_report.claim_registry import Registry
from reduce_bench_report.claims import Judgement
from reduce_bench_report.evaluate import Evaluation
from reduce_bench_report.experiments import EXPERIMENTS
from reduce_bench_report.loader import Device
from reduce_bench_report.report import Figure, Panel, template_of


def page(
    devices: Sequence[Device],
    judged: Mapping[str, Sequence[Judgement]],
    links: Mapping[str, str],
    registry: Registry,
) -> str:
    """The whole page; `links` has the page of each device."""
    evaluations = regenerate.evaluate_devices(devices, EXPERIMENTS)
    pictures = figures.in_parallel(_picture, [(each,) for each in evaluations])
    template = template_of("several.html")
    return template.render(
        title=f"reduce-bench: {', '.join(device.name for device in devices)}",
        devices=[_about(device, links[device.name]) for device in devices],
        best=readme.best_shares(devices)[:2],
        figures=[
            Figure(
                each.experiment.id,
                each.experiment.title,
                [Panel(svg)] if svg else [],
                grids.grids(each),
                grids.notes(each),
            )
            for each, svg in zip(evaluations, pictures, strict=True)
        ],
        counts=scorecard.counts_by_device(judged, registry),
        verdicts=scorecard.verdicts_by_device(judged),
        signs_say=scorecard.SIGNS_SAY,
    )


def _picture(evaluation: Evaluation) -> str:
    """The figure with all devices' panels; empty of a table."""
    if evaluation.experiment.kind != "figure":
        return ""
    return figures.svg_element(plots.draw(evaluation, titled=False))


def _about(device: Device, link: str) -> Mapping[str, Any]:
    return {
        "name": device.name,
        "link": link,
        "files": len(device.rounds),
        "points": sum(len(run.points) for run in device.rounds),
        "revisions": list(dict.fromkeys(run.revision for run in device.rounds)),
    }
