"""The figure of simulated against measured times: what is paired, and the error it states."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import made_up
import pytest
from made_up import known_wrong, point
from reduce_bench_report import simulation
from reduce_bench_report.__main__ import main
from reduce_bench_report.loader import ROOT, InputError, Results

Loaded = Callable[..., Results]

N = 1000
FREE = {"fetch": "free"}


def measured(buckets: int, median_ns: float, **changes: object) -> made_up.Json:
    keyed = {
        "operation": "multireduce",
        "backend": "cpu",
        "buckets": buckets,
        "labels": {"name": "uniform"},
        "params": FREE,
    }
    return point("cpu/multireduce", N, median_ns, **(keyed | changes))


def simulated(
    buckets: int, sequential: float, pipelined: float | None, **changes: object
) -> made_up.Json:
    document = made_up.simulation("cpu/multireduce", FREE, N, buckets, sequential, pipelined)
    return document | changes


def test_each_simulation_is_paired_with_its_point(loaded: Loaded) -> None:
    results = loaded([measured(16, 2000.0), measured(64, 3000.0)])
    pairs = simulation.pair(results, [simulated(64, 4.0, 6.0), simulated(16, 4.0, None)])
    assert [(p.buckets, p.measured) for p in pairs] == [(16, 2.0), (64, 3.0)]
    assert pairs[0].simulated == {"sequential": 4.0}
    assert pairs[1].simulated == {"sequential": 4.0, "pipelined": 6.0}


@pytest.mark.parametrize(
    "other",
    [
        measured(16, 1.0, params={"fetch": "sequential"}),
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
    with pytest.raises(InputError, match="no simulation is of a point"):
        simulation.pair(loaded([other]), [simulated(16, 4.0, None)])


def test_error_is_the_geometric_mean_and_the_worst(loaded: Loaded) -> None:
    results = loaded([measured(16, 2000.0), measured(64, 2000.0)])
    pairs = simulation.pair(results, [simulated(16, 4.0, None), simulated(64, 0.25, None)])
    # ratios 2 and 1/8: the mean is the root of 1/4
    text = simulation.error_text(pairs, "sequential")
    assert "0.50 in the geometric mean of 2 points, 0.12 at worst" in text
    assert simulation.error_text(pairs, "pipelined") == "pipelined: not simulated"


def test_errors_are_told_apart_by_the_way_of_fetching(loaded: Loaded) -> None:
    chained = {"fetch": "sequential"}
    results = loaded([measured(16, 2000.0), measured(16, 8000.0, params=chained)])
    pairs = simulation.pair(
        results, [simulated(16, 6.0, 1.0), simulated(16, 8.0, None, params=chained)]
    )
    free_sequential, free_pipelined, sequential, pipelined = simulation.errors(pairs)
    assert free_sequential.startswith("fetch=free, sequential: simulated / measured is 3.00")
    assert free_pipelined.startswith("fetch=free, pipelined: simulated / measured is 0.50")
    assert sequential.startswith("fetch=sequential, sequential: simulated / measured is 1.00")
    assert pipelined == "fetch=sequential, pipelined: not simulated"


def test_command_draws_and_states_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = made_up.write(made_up.results([measured(16, 2000.0)]), tmp_path / "r.json")
    predicted = tmp_path / "s.json"
    predicted.write_text(json.dumps(simulated(16, 4.0, 1.0)), encoding="utf-8")
    output = tmp_path / "f.svg"
    assert main(["simulation", str(results), str(predicted), "-o", str(output)]) == 0
    assert output.stat().st_size > 0
    assert "2.00 in the geometric mean of 1 points" in capsys.readouterr().out
    predicted.write_text("{}", encoding="utf-8")
    assert main(["simulation", str(results), str(predicted)]) == 2
    error = capsys.readouterr().err
    assert "breaks its schema" in error and "cache-sim simulate -o FILE" in error
    assert error.count("\n") == 1


def test_points_are_simulated_as_the_loader_reads_them(tmp_path: Path) -> None:
    for name in ("configs", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    program(tmp_path / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    program(tmp_path / "build" / "bin" / "cache-sim", 'echo "$@" >> called')
    points = [measured(16, 2000.0), measured(64, 2000.0, backend="cuda")]
    results = made_up.write(made_up.results(points), tmp_path / "r.json")

    def run() -> subprocess.CompletedProcess[str]:
        command = ["scripts/simulate_points.sh", str(results), "made-up", "out"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "called").read_text(encoding="utf-8") == (
        "simulate --hierarchy made-up --algorithm cpu/multireduce --n 1000 --buckets 16 "
        "--labels uniform --seed 1 --fetch free -o out/0.json\n"
    )
    results.write_bytes(results.read_bytes()[:-100])
    done = run()
    assert done.returncode != 0
    assert "not valid JSON" in done.stderr and done.stderr.count("\n") == 1


def program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)
