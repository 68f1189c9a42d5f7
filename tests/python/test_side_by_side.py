"""What several devices show together: ratios and shares, and never a time."""

from pathlib import Path

import made_up
import pytest
from made_up import Json, points_of
from reduce_bench_report import grids, plots, published, regenerate
from reduce_bench_report.evaluate import Evaluation
from reduce_bench_report.experiments import EXPERIMENTS
from reduce_bench_report.loader import Device, load
from reduce_bench_report.measures import RATIOS
from reduce_bench_report.side_by_side import evaluate_devices, of_ratios


def device(folder: Path, name: str, points: list[Json], *, gpu: bool = True) -> Device:
    document = made_up.results(points, gpu=gpu)
    (document["environment"]["gpu"] or document["environment"]["cpu"])[
        "name" if gpu else "model"
    ] = name
    return Device([load(made_up.write(document, folder / f"{name}.json"))])


def of(name: str, *devices: Device) -> Evaluation | None:
    return evaluate_devices(EXPERIMENTS[name], devices, published.load_all())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_that_stands_side_by_side_has_a_unit_of_time(name: str) -> None:
    narrowed = of_ratios(EXPERIMENTS[name])
    if narrowed is not None:
        assert narrowed.y and set(narrowed.y) <= set(RATIOS)
        kept = [measure for measure in EXPERIMENTS[name].y if measure in RATIOS]
        assert list(narrowed.y) == (kept or ["ceiling_share"])
        assert ("as shares of the read ceiling" in narrowed.title) is (not kept)


def sums(share: float) -> list[Json]:
    return [
        made_up.point(variant, 1 << bits, 1000.0 + bits, ceiling_share=share)
        for variant in ("cub/reduce", "onepass/reduce")
        for bits in (10, 14, 18)
    ]


def test_each_card_has_panels_of_its_own(tmp_path: Path) -> None:
    shown = of(
        "reduce-share", device(tmp_path, "One", sums(0.5)), device(tmp_path, "Two", sums(0.25))
    )
    assert shown is not None
    assert [panel.facts["device"] for panel in shown.panels] == ["One", "Two"]
    assert [run.path.name for run in shown.runs] == ["One.json", "Two.json"]
    one, two = grids.grids(shown)
    assert {cell for row in one.rows for cell in row[1:]} == {"50.0%"}
    assert {cell for row in two.rows for cell in row[1:]} == {"25.0%"}
    assert one.title == "cuda, i32, sum, uniform, cold, One"
    titles = [axes.get_title() for axes in plots.draw(shown).axes]
    assert titles == [f"{name}\ncuda, i32, sum, uniform, cold" for name in ("One", "Two")]
    assert "drifted apart" not in " ".join(grids.notes(shown))


def test_one_card_and_a_processor_are_no_two_cards(tmp_path: Path) -> None:
    cpu = [p | {"backend": "cpu", "variant": "cpu/x"} for p in sums(0.5)[:3]]
    devices = [
        device(tmp_path, "One", sums(0.5)),
        device(tmp_path, "CPU", cpu, gpu=False),
        device(tmp_path, "Two", sums(0.5)[:1]),  # too few for the figure
    ]
    assert of("reduce-share", *devices) is None
    assert regenerate.evaluate_devices(devices, ["reduce-share"]) == []


def test_what_one_card_lacks_is_said_of_it(tmp_path: Path) -> None:
    whole = points_of("configs/papers/jradi-T2.json")
    part = [p for p in whole if p["params"].get("F") != "16"]
    assert len(part) < len(whole)
    shown = of("jradi-F4", device(tmp_path, "One", whole), device(tmp_path, "Two", part))
    assert shown is not None
    assert shown.missing and all(clause.endswith(" on Two") for clause in shown.missing)


def test_shares_instead_of_times_are_those_of_the_card(tmp_path: Path) -> None:
    """The processor has a ceiling of its own, of which its variants reach more."""
    points = points_of(EXPERIMENTS["multireduce-time"].config or "")
    assert {p["backend"] for p in points} == {"cuda", "cpu"}
    shown = of("multireduce-time", *(device(tmp_path, name, points) for name in ("One", "Two")))
    assert shown is not None
    forms = {row[1].split("/")[0] for grid in grids.grids(shown) for row in grid.rows}
    assert "onepass" in forms and "cpu" not in forms
    (legend,) = plots.draw(shown).legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert [label for label in labels if "ceiling" in label] == ["read ceiling"]


def test_panels_of_two_cards_have_one_axis(tmp_path: Path) -> None:
    points = points_of("configs/papers/jradi-T2.json")
    faster = [
        p | {"timing": {"cold": made_up.summary(100.0)}} if p["variant"].startswith("jradi") else p
        for p in points
    ]
    shown = of("jradi-F4", device(tmp_path, "One", points), device(tmp_path, "Two", faster))
    assert shown is not None
    limits = [axes.get_ylim() for axes in plots.draw(shown).axes]
    assert len(limits) == 4  # by type, too
    assert len(set(limits)) == 1 and limits[0][1] > 10
