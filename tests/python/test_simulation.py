"""Simulated beside measured times: what is paired, drawn and tabulated, and the error stated."""

import csv
import io
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import made_up
import pytest
from made_up import known_wrong, point
from matplotlib.axes import Axes
from reduce_bench_report import grids, plots, regenerate, simulation
from reduce_bench_report.__main__ import main
from reduce_bench_report.evaluate import Evaluation, Panel, evaluate
from reduce_bench_report.experiments import EXPERIMENTS
from reduce_bench_report.loader import InputError, Results
from reduce_bench_report.paths import ROOT

Loaded = Callable[..., Results]

N = 1 << 24
SIMPLE = {"fetch": "sequential", "pages": "small"}
SORTING = {"fetch": "sequential", "sort_bits": "auto"}
BUCKETS = [1 << 18, 1 << 19]
COMMITTED = ROOT / "results" / "cpu"  # a folder for each processor


def measured(buckets: int, per_input: float, **changes: object) -> made_up.Json:
    keyed = {
        "operation": "multireduce",
        "backend": "cpu",
        "buckets": buckets,
        "labels": {"name": "uniform"},
        "params": SIMPLE,
    }
    return point("cpu/multireduce", N, per_input * N, **(keyed | changes))


def sorting(buckets: int, per_input: float) -> made_up.Json:
    return measured(buckets, per_input) | {"variant": "cpu/multireduce-sorted", "params": SORTING}


def shown(run: Results) -> Evaluation:
    """The figure that asks for these points, and others."""
    made = evaluate(EXPERIMENTS["eilers-F2.8"], [run], {})
    assert isinstance(made, Evaluation)
    return made


def simulated_lines(axes: Axes) -> dict[str, dict[float, float]]:
    """y by x of what is drawn, without gaps."""
    return {
        str(line.get_gid()).removeprefix("simulated "): {
            float(x): float(y)
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
            if not math.isnan(y)
        }
        for line in axes.lines
        if str(line.get_gid()).startswith("simulated ")
    }


def test_each_simulation_is_paired_with_its_point(loaded: Loaded) -> None:
    of_16, of_64 = measured(16, 2.0), measured(64, 3.0)
    results = loaded([of_16, of_64])
    made_up.save_simulations(
        results.path, [made_up.simulated(of_64, 4.0, 6.0), made_up.simulated(of_16, 5.0)]
    )
    predicted = simulation.predictions(results)
    assert [predicted[p.identity]["sequential"]["ns_per_input"] for p in results.points] == [5, 4]
    assert len(predicted) == 2


@pytest.mark.parametrize(
    "other",
    [
        measured(16, 1.0, params={"fetch": "free", "pages": "small"}),
        measured(32, 1.0),
        measured(16, 1.0, labels={"name": "sorted"}),
        measured(16, 1.0, backend="cuda"),
        measured(16, 1.0, op="max"),
        known_wrong("cpu/multireduce", N, 1.0, **{
            key: measured(16, 1.0)[key] for key in ("operation", "backend", "buckets", "params")
        }),
    ],
)  # fmt: skip
def test_other_points_are_not_paired(loaded: Loaded, other: made_up.Json) -> None:
    results = loaded([other])
    made_up.save_simulations(results.path, [made_up.simulated(measured(16, 1.0), 4.0)])
    assert simulation.predictions(results) == {}


@pytest.mark.parametrize(
    ("labels", "drawn"),
    [
        ({"name": "zipf"}, True),
        ({"name": "zipf", "exponent": 1.0}, True),
        ({"name": "zipf", "exponent": 2.0}, False),
        ({"name": "runs", "length": 64}, True),
        ({"name": "runs", "length": 16}, False),
        ({"name": "file", "file": "labels.npy"}, False),
    ],
)
def test_labels_that_cache_sim_does_not_draw_are_not_paired(
    loaded: Loaded, labels: made_up.Json, drawn: bool
) -> None:
    of = measured(16, 1.0, labels=labels)
    results = loaded([of])
    made_up.save_simulations(
        results.path, [made_up.simulated(of, 4.0) | {"labels": labels["name"]}]
    )
    assert len(simulation.predictions(results)) == (1 if drawn else 0)


CACHES: made_up.Json = {
    "caches": [{"size_bytes": 32768, "associativity": 8}, {"size_bytes": 65536}],
    "memory": {"latency_ns": 100},
}


@pytest.mark.parametrize(
    ("hierarchy", "same"),
    [
        (CACHES, True),
        (CACHES | {"$schema": "hierarchy.schema.json"}, True),
        ({"memory": {"latency_ns": 100.0}}, True),
        ({"memory": {}}, True),
        ({"memory": {"latency_ns": 101}}, False),
        ({"caches": CACHES["caches"][:1]}, False),
        ({"caches": [*CACHES["caches"], {}]}, False),
        ({"caches": CACHES["caches"][::-1]}, False),
        (CACHES | {"overlap": {"misses": 8}}, False),
        ({"memory": [100]}, False),
    ],
)
def test_a_prediction_repeats_its_hierarchy_with_defaults(
    hierarchy: made_up.Json, same: bool
) -> None:
    assert simulation.repeats(CACHES, hierarchy) is same
    assert not simulation.repeats(None, hierarchy)


@pytest.fixture
def both(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Two lines of two points. One lacks a simulation, and one of the others a model."""
    # The figure asks for many more points, and would be left out.
    monkeypatch.setattr(Panel, "is_mostly_missing", False)
    simple = [measured(m, 2.0) for m in BUCKETS]
    sorted_first = [sorting(m, 8.0) for m in BUCKETS]
    results = loaded([*simple, *sorted_first])
    made_up.save_simulations(
        results.path,
        [
            made_up.simulated(simple[0], 4.0, 1.0),
            made_up.simulated(simple[1], 0.25),
            made_up.simulated(sorted_first[1], 16.0, 4.0),
        ],
    )
    return results


def test_simulations_are_drawn_beside_what_they_predict(both: Results) -> None:
    figure = plots.draw(shown(both))
    (axes,) = figure.axes
    assert simulated_lines(axes) == {
        "sequential cpu/multireduce": {BUCKETS[0]: 4, BUCKETS[1]: 0.25},
        "sequential cpu/multireduce-sorted": {BUCKETS[1]: 16},
        "pipelined cpu/multireduce": {BUCKETS[0]: 1},
        "pipelined cpu/multireduce-sorted": {BUCKETS[1]: 4},
    }
    drawn = {str(line.get_gid()): line for line in axes.lines}
    for container in axes.containers:
        line, name = container[0], container.get_label()
        assert line.get_linestyle() == "-"
        for model, style in (("sequential", "--"), ("pipelined", ":")):
            predicted = drawn[f"simulated {model} {name}"]
            assert predicted.get_linestyle() == style
            assert predicted.get_color() == line.get_color()
            assert predicted.get_marker() == line.get_marker()
    y_low, y_high = axes.get_ylim()
    assert y_low < 0.25 and y_high > 16


def test_the_legend_names_lines_and_styles_once(both: Results) -> None:
    (legend,) = plots.draw(shown(both)).legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "measured",
        "simulated, each access waits",
        "simulated, pipelined",
        "read ceiling",
        "cpu/multireduce",
        "cpu/multireduce-sorted",
        "missing",  # what else the configuration asks for
    ]
    styles = [handle.get_linestyle() for handle in legend.legend_handles[:3]]
    assert styles == ["-", "--", ":"]


def test_tables_have_the_simulated_beside_the_measured(both: Results) -> None:
    evaluation = shown(both)
    (grid,) = grids.grids(evaluation)
    assert grid.headings == [
        "m",
        "cpu/multireduce",
        "cpu/multireduce, simulated (each access waits)",
        "cpu/multireduce, simulated (pipelined)",
        "cpu/multireduce-sorted",
        "cpu/multireduce-sorted, simulated (each access waits)",
        "cpu/multireduce-sorted, simulated (pipelined)",
    ]
    rows = {row[0]: row[1:] for row in grid.rows}
    assert rows["2^18"] == ["2", "4", "1", "8", "-", "-"]
    assert rows["2^19"] == ["2", "0.25", "-", "8", "16", "4"]
    text = grids.csv_text(evaluation, "")
    lines = csv.DictReader(io.StringIO(text[text.index("experiment,") :]))
    assert {
        (line["series"], line["x"], line["source"], line["value"])
        for line in lines
        if line["source"].startswith("simulated")
    } == {
        ("cpu/multireduce", str(1 << 18), "simulated (each access waits)", "4.0"),
        ("cpu/multireduce", str(1 << 18), "simulated (pipelined)", "1.0"),
        ("cpu/multireduce", str(1 << 19), "simulated (each access waits)", "0.25"),
        ("cpu/multireduce-sorted", str(1 << 19), "simulated (each access waits)", "16.0"),
        ("cpu/multireduce-sorted", str(1 << 19), "simulated (pipelined)", "4.0"),
    }


def test_the_error_is_the_geometric_mean_and_the_worst(both: Results) -> None:
    # ratios 2, 1/8 and 2: the mean is the third root of a half
    assert grids.simulation_errors(shown(both)) == (
        "Simulated on hierarchy made up over measured time, each access waits: 0.79 in the "
        "geometric mean of 3 points, 0.12 at worst; pipelined: 0.50 in the geometric mean of 2 "
        "points, 0.50 at worst."
    )
    assert grids.simulation_errors(shown(both)) in grids.notes(shown(both))


def test_what_is_not_simulated_is_said_to_be_missing(both: Results) -> None:
    lacking = (
        "simulations (each access waits) of 1 of 4 points",
        "simulations (pipelined) of 2 of 4 points",
    )
    evaluation = shown(both)
    assert list(evaluation.missing[-2:]) == list(lacking)
    title = plots.draw(evaluation).legends[0].get_title().get_text().replace("\n", " ")
    assert title.endswith(", ".join(lacking))
    line = regenerate.missing_line(evaluation)
    assert line and line.endswith(
        ": run configs/papers/eilers-F2.8.json and scripts/simulate_points.sh"
    )


def test_without_simulations_all_are_missing(loaded: Loaded) -> None:
    points = made_up.points_of("configs/papers/eilers-F2.8.json")
    evaluation = shown(loaded(points))
    assert evaluation.missing == [
        "simulations (each access waits) of 28 of 28 points",
        "simulations (pipelined) of 28 of 28 points",
    ]
    figure = plots.draw(evaluation)
    (axes,) = figure.axes
    assert simulated_lines(axes) == {}
    assert all(container[0].get_linestyle() == "-" for container in axes.containers)
    assert "pipelined: not simulated." in grids.simulation_errors(evaluation)
    line = regenerate.missing_line(evaluation)
    assert line and line.endswith(": run scripts/simulate_points.sh")


@pytest.mark.parametrize("name", ["eilers-F2.7", "eilers-F2.8"])
def test_the_committed_points_are_all_simulated(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = list(COMMITTED.glob(f"*/papers/{name}.json"))
    assert found
    for results in map(str, found):
        arguments = ["figures", "--results", results, "--only", name, "--format", "svg"]
        assert main([*arguments, "-o", str(tmp_path)]) == 0
        assert capsys.readouterr().err == ""
        table = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert "not simulated" not in table
        assert table.count("in the geometric mean of 28 points") == 2


def test_a_file_that_is_no_simulation_is_refused(both: Results) -> None:
    (simulation.folder_of(both.path) / "0.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"breaks its schema .*simulate_points\.sh"):
        shown(both)


Simulate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def simulate(tmp_path: Path) -> Simulate:
    """scripts/simulate_points.sh with a simulator that writes its arguments to a file alone."""
    for name in ("configs", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    program(tmp_path / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    program(tmp_path / "build" / "bin" / "cache-sim", 'echo "$@" >> called')
    (tmp_path / "called").touch()
    made_up.write(hierarchy(), tmp_path / "made-up")

    def run(results: Path) -> subprocess.CompletedProcess[str]:
        command = ["scripts/simulate_points.sh", str(results), "made-up", "out"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def hierarchy(size_bytes: int = 32768, *page_bytes: int) -> made_up.Json:
    """One as people write it, which leaves defaults out."""
    caches = [{"size_bytes": size_bytes, "associativity": 8, "latency_ns": 1}]
    pages = {"pages": [{"bytes": each} for each in page_bytes]} if page_bytes else {}
    return {"schema": 1, "name": "made up", "caches": caches, "memory": {"latency_ns": 100}} | pages


def test_points_are_simulated_as_the_loader_reads_them(tmp_path: Path, simulate: Simulate) -> None:
    points = [measured(16, 2000.0), measured(64, 2000.0, backend="cuda")]
    results = made_up.write(made_up.results(points), tmp_path / "r.json")
    done = simulate(results)
    assert done.returncode == 0, done.stderr
    called = tmp_path / "called"
    assert called.read_text(encoding="utf-8") == (
        "simulate --hierarchy made-up --algorithm cpu/multireduce --n 16777216 --buckets 16 "
        "--labels uniform --seed 1 --fetch sequential -o out/0.json\n"
    )

    def simulated_in_all() -> int:
        assert simulate(results).returncode == 0
        return called.read_text(encoding="utf-8").count("simulate")

    prediction, caches = tmp_path / "out" / "0.json", tmp_path / "made-up"
    made = hierarchy(32768, 4096)  # with a default
    made["caches"][0] |= {"line_bytes": 64, "replacement": "approximate-lru", "prefetch": "none"}
    made_up.write({"hierarchy": made}, prediction)
    made_up.write(hierarchy() | {"$schema": "../schema/hierarchy.schema.json"}, caches)
    assert simulated_in_all() == 1
    os.utime(results, (prediction.stat().st_mtime + 1,) * 2)
    assert simulated_in_all() == 2
    os.utime(results, (1, 1))
    assert simulated_in_all() == 2
    made_up.write(hierarchy(65536), caches)
    os.utime(caches, (1, 1))  # older than the prediction, and other caches
    assert simulated_in_all() == 3
    results.write_bytes(results.read_bytes()[:-100])
    done = simulate(results)
    assert done.returncode != 0
    assert "not valid JSON" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("changes", "page_bytes", "simulated"),
    [
        ({"labels": {"name": "zipf", "exponent": 1.0}}, [], True),
        ({"labels": {"name": "zipf", "exponent": 2.0}}, [], False),
        ({"labels": {"name": "runs", "length": 16}}, [], False),
        ({"labels": {"name": "image", "file": "a.pgm"}}, [], False),
        ({"params": SIMPLE | {"pages": "huge"}}, [4096, 2 << 20], True),
        ({"params": SIMPLE | {"pages": "huge"}}, [4096], False),
        ({"params": SIMPLE | {"pages": "huge"}}, [], False),
    ],
)
def test_no_point_is_simulated_as_another(
    tmp_path: Path,
    simulate: Simulate,
    changes: made_up.Json,
    page_bytes: list[int],
    simulated: bool,
) -> None:
    points = [measured(16, 2000.0, **changes)]
    results = made_up.write(made_up.results(points), tmp_path / "r.json")
    made_up.write(hierarchy(32768, *page_bytes), tmp_path / "made-up")
    assert simulate(results).returncode == 0
    called = (tmp_path / "called").read_text(encoding="utf-8")
    assert called.count("simulate") == (1 if simulated else 0)


@pytest.mark.parametrize(
    ("text", "told"), [(None, "cannot read hierarchy 'made-up'"), ("{}", "breaks its schema")]
)
def test_what_is_no_hierarchy_is_refused(
    tmp_path: Path, simulate: Simulate, text: str | None, told: str
) -> None:
    results = made_up.write(made_up.results([measured(16, 2000.0)]), tmp_path / "r.json")
    (tmp_path / "made-up").unlink()
    if text is not None:
        (tmp_path / "made-up").write_text(text)
    done = simulate(results)
    assert done.returncode != 0
    assert told in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / "called").read_text() == ""


def program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)
