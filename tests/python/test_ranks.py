"""Runs that mpirun starts: several ranks, and what becomes of one that goes wrong."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_driver import BINARY, GOOD, USAGE, Json

FAULTS = BINARY.with_name("reduce-bench-faults")
WRONG = 1

pytestmark = [
    pytest.mark.skipif(not FAULTS.exists(), reason=f"{FAULTS} is not built"),
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun"),
]

Run = Callable[..., Json]
# Ranks that wait must leave the processors to those that work.
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_WAIT_POLICY": "passive",
}


def mpirun(ranks: int, *command: str | Path) -> list[str | Path]:
    return ["mpirun", "-n", str(ranks), "--oversubscribe", *command]


@pytest.fixture
def config(tmp_path: Path) -> Callable[..., Path]:
    def save(*sweeps: Json, **measurement: Any) -> Path:
        measurement = {"max_time_ms": 1, "min_samples": 10, "modes": ["cold", "hot"]} | measurement
        path = tmp_path / "config.json"
        document = {"schema": 1, "measurement": measurement, "sweeps": list(sweeps)}
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return save


def run(
    ranks: int, config: Path, *options: str, binary: Path = BINARY, code: int = GOOD
) -> tuple[list[Json], str]:
    """The points of the results, and what was printed."""
    output = config.with_name("r.json")
    command = mpirun(
        ranks, binary, "run", "--config", config, "--backend", "cpu", "-o", output, *options
    )
    ended = subprocess.run(
        command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300, check=False
    )
    printed = ended.stdout + ended.stderr
    assert ended.returncode == code, printed
    if not output.exists():
        return [], printed
    return json.loads(output.read_text(encoding="utf-8"))["points"], printed


def spread_over(*devices: int | str, result: tuple[str, ...] = ("one", "all")) -> Json:
    return {"devices": list(devices), "result": list(result)}


@pytest.mark.parametrize("ranks", [2, 3])
def test_points_are_spread_over_ranks_and_verified(ranks: int, config: Callable[..., Path]) -> None:
    points, printed = run(
        ranks,
        config(
            {
                "variants": ["cpu/parallel", "mpi/reduce"],
                "n": [0, 100001],
                "type": ["f32"],
                "params": spread_over(1, ranks),
            },
            {
                "operation": "multireduce",
                "variants": ["mpi/multireduce"],
                "n": [100001],
                "buckets": [1000],
                "params": spread_over(ranks),
            },
        ),
    )
    assert len(points) == 2 * (1 + 4) + 2
    assert printed.count("results: ") == 1, "rank 0 alone writes"
    for point in points:
        assert point["status"] == "ok", point
        assert {"cold", "hot"} <= set(point["timing"])
        if point["variant"] == "cpu/parallel":
            continue
        devices = int(point["params"]["devices"])
        assert (point["spread"]["devices"], point["spread"]["processes"]) == (devices, devices)
        assert point["library"].startswith("Open MPI ")


def test_more_devices_than_ranks_are_skipped_with_the_reason(
    config: Callable[..., Path],
) -> None:
    points, _ = run(
        2, config({"variants": ["mpi/reduce"], "n": [1000], "params": spread_over(2, 3, "all")})
    )
    by_devices = {
        point["params"]["devices"]: point for point in points if point["params"]["result"] == "one"
    }
    assert by_devices["2"]["status"] == by_devices["all"]["status"] == "ok"
    assert by_devices["all"]["spread"]["devices"] == 2
    assert by_devices["3"]["status"] == "skipped"
    assert "2 can be used (mpirun started 2)" in by_devices["3"]["reason"]


def test_without_mpirun_there_is_one_device(config: Callable[..., Path]) -> None:
    path = config({"variants": ["mpi/reduce"], "n": [1000], "params": spread_over(1, 2)})
    output = path.with_name("r.json")
    subprocess.run(
        [BINARY, "run", "--config", path, "--backend", "cpu", "-o", output],
        check=True,
        capture_output=True,
    )
    points = json.loads(output.read_text(encoding="utf-8"))["points"]
    assert {point["status"] for point in points if point["params"]["devices"] == "1"} == {"ok"}
    asked = [point for point in points if point["params"]["devices"] == "2"]
    assert {point["status"] for point in asked} == {"skipped"}
    assert "mpirun -n starts more" in asked[0]["reason"]


def test_verify_spreads_its_cases() -> None:
    ended = subprocess.run(
        mpirun(3, BINARY, "verify", "--backend", "cpu", "--filter", "mpi/*", "--json"),
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=200,
        check=True,
    )
    reports = {report["variant"]: report for report in json.loads(ended.stdout)}
    assert set(reports) == {"mpi/reduce", "mpi/multireduce"}
    for report in reports.values():
        assert not report["failures"]
        assert report["passed"] > 100
        assert not any("asks for 3 " in lack for lack in report["device_lacks"])


@pytest.mark.alone
def test_what_goes_wrong_on_a_rank_costs_its_point_and_names_the_rank(
    config: Callable[..., Path],
) -> None:
    """One run meets all of it, and goes on after each."""
    worker = "the worker process of rank 2 "
    killed, ended = f"{worker}was killed by SIGKILL", f"{worker}exited with status "
    expected = {
        ("killed", "one"): ("failed", killed, ""),
        ("exits", "one"): ("failed", f"{ended}7", ""),
        ("throws", "one"): ("failed", f"{ended}2", 'it said "thrown on purpose"'),
        ("hangs", "one"): ("timeout", "did not end within 4 s ", "; the others wait for rank 2"),
        ("wrong", "one"): ("wrong", "got ", ""),
        ("spoils", "all"): ("wrong", "on device 2 of the point, got ", ""),
        ("oversteps", "one"): ("wrong", "wrote out of the bounds of its scratch memory", ""),
        ("good", "one"): ("ok", "", ""),
        ("late", "one"): ("ok", "", ""),
        ("late", "all"): ("ok", "", ""),
    }
    sweeps = [
        {
            "variants": ["fault/rank"],
            "n": [1000],
            "params": {"devices": [3], "result": [result], "last": [last]},
        }
        for last, result in expected
    ]
    points, _ = run(3, config(*sweeps, point_timeout_s=4), binary=FAULTS, code=WRONG)
    assert len(points) == len(expected)
    for point in points:
        params = point["params"]
        status, start, end = expected[params["last"], params["result"]]
        assert point["status"] == status, point
        assert (point["reason"] or "").startswith(start)
        assert (point["reason"] or "").endswith(end)
        assert bool(point["timing"]) == (status == "ok")
        if params["last"] == "late":  # which the time of the first rank must show
            for timing in point["timing"].values():
                assert 20e6 <= timing["median_ns"] <= 80e6


def test_a_run_whose_ranks_are_killed_can_be_resumed(
    config: Callable[..., Path], tmp_path: Path
) -> None:
    path = config(
        {"variants": ["mpi/reduce"], "n": [1000 + i for i in range(9)], "params": spread_over(2)},
        max_time_ms=20,
        relative_ci=1e-6,
    )
    output = path.with_name("r.json")
    command = mpirun(2, BINARY, "run", "--config", path, "--backend", "cpu", "-o", output)
    journal = tmp_path / "r.json.journal"
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    ) as started:
        deadline = time.monotonic() + 60
        while not journal.exists() or len(journal.read_bytes().splitlines()) < 5:
            assert time.monotonic() < deadline
            assert started.poll() is None
            time.sleep(0.02)
        started.send_signal(signal.SIGKILL)
    # The driver may still end the point in flight, and holds the journal until then.
    deadline = time.monotonic() + 60
    while True:
        resumed = subprocess.run(
            [*command, "--resume"],
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            timeout=200,
            check=False,
        )
        if "another run is writing" not in resumed.stderr or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    assert resumed.returncode == GOOD, resumed.stderr
    points = json.loads(output.read_text(encoding="utf-8"))["points"]
    assert len(points) == 18
    assert {point["status"] for point in points} == {"ok"}


def test_mpirun_without_its_library_is_bad_usage(
    config: Callable[..., Path], tmp_path: Path
) -> None:
    """A library of that name that is none stands before the real one."""
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "libmpi.so.40").write_text("no library", encoding="utf-8")
    path = config({"variants": ["mpi/reduce"], "n": [1000]})
    ended = subprocess.run(
        [BINARY, "run", "--config", path, "--backend", "cpu", "-o", tmp_path / "r.json"],
        capture_output=True,
        text=True,
        env=os.environ | {"OMPI_COMM_WORLD_SIZE": "2", "LD_LIBRARY_PATH": str(tmp_path / "none")},
        timeout=60,
        check=False,
    )
    assert ended.returncode == USAGE
    assert ended.stderr.startswith("reduce-bench: mpirun started this program, but Open MPI is not")
    assert ended.stderr.count("\n") == 1
