"""The prediction for more GPUs than two, and efficiency: on times that follow known terms."""

import json
from pathlib import Path

import made_up
import pytest
from reduce_bench_report import plots
from reduce_bench_report.evaluate import Evaluation, Panel, Series, evaluate
from reduce_bench_report.experiments import ALL
from reduce_bench_report.loader import load
from reduce_bench_report.more_devices import NETWORK_BYTES_PER_NS, NETWORK_NS, Machine

LAUNCH_NS, BYTES_PER_NS, COMBINE_NS, WORD_NS = 2000.0, 4.0, 1000.0, 700.0
SIZES = [2**bits for bits in range(14, 33)]
FOUR, EIGHT, TWO_NODES = Machine(4, 1), Machine(8, 1), Machine(8, 2)


def one_gpu_ns(n: float) -> float:
    return LAUNCH_NS + n / BYTES_PER_NS


def spread(devices: int) -> made_up.Json:
    return {"devices": devices, "links": 18, "link_bytes": 4, "algorithm_gb_per_s": 1.0,
            "bus_gb_per_s": 1.0}  # fmt: skip


def sum_points(variant: str, combine_ns: float) -> list[made_up.Json]:
    return [
        made_up.point(
            variant,
            n,
            one_gpu_ns(n / 2) + combine_ns,
            params={"devices": "2", "result": "one"},
            spread=spread(2),
        )
        for n in SIZES
    ]


def table_ns(buckets: int) -> float:
    return 10_000 + 4 * buckets / 600


def table_points(variant: str) -> list[made_up.Json]:
    return [
        made_up.point(
            variant,
            2**16,
            table_ns(buckets),
            operation="multireduce",
            buckets=buckets,
            labels={"name": "uniform"},
            params={"devices": "2", "result": "all"},
            spread=spread(2),
        )
        for buckets in (1, *(2**bits for bits in range(4, 25, 2)))
    ]


def shown(id: str, points: list[made_up.Json], folder: Path) -> Evaluation:
    document = made_up.results(points)
    document["ceilings"]["cuda"]["between_devices"] = {
        "read": document["ceilings"]["cuda"]["read"][0],
        "word_ns": WORD_NS,
    }
    path = folder / "results.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    found = evaluate(next(each for each in ALL if each.id == id), [load(path)], {})
    assert isinstance(found, Evaluation), found
    return found


def series_of(panel: Panel, family: str) -> Series:
    return next(each for each in panel.series if next(iter(each.points.values())).family == family)


@pytest.fixture
def sums(tmp_path: Path) -> Panel:
    points = [made_up.point("onepass/reduce", n, one_gpu_ns(n)) for n in SIZES]
    points += sum_points("peers/reduce", COMBINE_NS)
    points += sum_points("nccl/reduce", 6 * COMBINE_NS)
    return shown("devices-predicted", points, tmp_path).panels[0]


def test_a_sum_takes_its_share_and_what_combining_took_on_two(sums: Panel) -> None:
    predicted = series_of(sums, "peers").predicted
    for machine in (FOUR, EIGHT):
        for n in SIZES[3:]:
            expected = one_gpu_ns(n / machine.devices) + COMBINE_NS
            assert predicted[machine][str(n)] == pytest.approx(expected)


def test_nccl_passes_words_on_and_reaches_other_nodes(sums: Panel) -> None:
    predicted = series_of(sums, "nccl").predicted
    n = SIZES[-1]
    within = one_gpu_ns(n / 8) + 6 * COMBINE_NS + 6 * WORD_NS
    assert predicted[EIGHT][str(n)] == pytest.approx(within)
    assert predicted[TWO_NODES][str(n)] == pytest.approx(within + NETWORK_NS)
    assert TWO_NODES not in series_of(sums, "peers").predicted


def test_nothing_is_predicted_of_one_gpu_nor_below_the_sizes_measured(sums: Panel) -> None:
    assert not series_of(sums, "onepass").predicted
    assert str(SIZES[1]) not in series_of(sums, "peers").predicted[FOUR]


def test_a_predicted_speed_up_is_over_one_gpu(sums: Panel) -> None:
    n = SIZES[-1]
    found = sums.predicted_value(series_of(sums, "peers"), FOUR, str(n), "speed_up")
    assert found == pytest.approx(one_gpu_ns(n) / (one_gpu_ns(n / 4) + COMBINE_NS))
    assert found is not None
    assert 3.9 < found < 4


@pytest.mark.parametrize(
    ("id", "points", "measured"),
    [
        (
            "devices-predicted",
            [
                *(made_up.point("onepass/reduce", n, one_gpu_ns(n)) for n in SIZES),
                *sum_points("nccl/reduce", COMBINE_NS),
            ],
            "measured: 1 and 2 GPUs",
        ),
        ("tables-predicted", table_points("nccl/multireduce"), "measured: 2 GPUs"),
    ],
)
def test_the_legend_tells_measured_lines_from_predicted_ones(
    id: str, points: list[made_up.Json], measured: str, tmp_path: Path
) -> None:
    (legend,) = plots.draw(shown(id, points, tmp_path)).legends
    styles = {
        text.get_text(): handle.get_linestyle()
        for text, handle in zip(legend.get_texts()[:4], legend.legend_handles[:4], strict=True)
    }
    assert styles == {
        measured: "-",
        "predicted: 4 GPUs": "--",
        "predicted: 8 GPUs": ":",
        "predicted: 8 GPUs on 2 nodes": "-.",
    }


def test_a_table_takes_the_latency_of_the_smallest_and_moves_more_of_it(tmp_path: Path) -> None:
    points = [*table_points("peers/multireduce"), *table_points("nccl/multireduce")]
    panel = shown("tables-predicted", points, tmp_path).panels[0]
    largest, latency = 2**24, table_ns(1)
    moving = table_ns(largest) - latency
    peers, nccl = series_of(panel, "peers").predicted, series_of(panel, "nccl").predicted
    assert peers[FOUR][str(largest)] == pytest.approx(latency + 1.5 * moving)
    assert peers[EIGHT][str(largest)] == pytest.approx(latency + 1.75 * moving)
    between = 4 * largest / (4 * NETWORK_BYTES_PER_NS)
    assert between > 1.75 * moving, "the network is what binds"
    assert nccl[TWO_NODES][str(largest)] == pytest.approx(
        latency + 6 * WORD_NS + NETWORK_NS + between
    )


def test_efficiency_is_one_where_each_gpu_does_as_much_as_one_alone(tmp_path: Path) -> None:
    points = [
        made_up.point("onepass/reduce", 2**30, 1e6),
        made_up.point(
            "peers/reduce",
            2**31,
            1.25e6,
            params={"devices": "2", "result": "one"},
            spread=spread(2),
        ),
    ]
    panel = shown("devices-weak", points, tmp_path).panels[0]
    value = panel.value(series_of(panel, "peers"), "2", "efficiency")
    assert value is not None
    assert value[1] == pytest.approx(0.8)
    base = panel.value(series_of(panel, "onepass"), "1", "efficiency")
    assert base == (1, 1, 1)
