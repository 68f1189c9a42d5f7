import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_up
import pytest
from reduce_bench_report.loader import Results, load

Loaded = Callable[..., Results]
SaveConfig = Callable[..., Path]

# Files with the tests that take longest, which begin first: what is left at the end is short, so
# that no process of pytest-xdist is idle while another is in the midst of a long one. The first
# process gets them, and the others take from it what is left when they are done.
LONGEST = (
    "test_install.py",
    "test_ranks.py",
    "test_readme.py",
    "test_overhead.py",
    "test_experiments.py",
    "test_python_plugins.py",
    "test_faults.py",
    "test_driver.py",
)


def pytest_configure() -> None:
    """Shares the processors among the processes of pytest-xdist.

    Drivers pin their threads, all of them the first to the first processor that they may use, and
    threads that wait for each other spin.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        number, count = int(worker[2:]), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        if share := sorted(os.sched_getaffinity(0))[number::count]:
            os.sched_setaffinity(0, share)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Writes a made-up document around the points and loads it again."""

    def load_points(points: list[made_up.Json], *, gpu: bool = True) -> Results:
        return load(made_up.write(made_up.results(points, gpu=gpu), tmp_path / "made-up.json"))

    return load_points


@pytest.fixture
def config(tmp_path: Path) -> SaveConfig:
    """Saves a configuration of one quick sweep on the CPU."""

    def save(*variants: str, **axes: Any) -> Path:
        sweep = {"variants": list(variants), "n": [1000, 70000], "backends": ["cpu"]} | axes
        sweep["measurement"] = {"max_time_ms": 1, "modes": ["hot"]} | axes.get("measurement", {})
        path = tmp_path / "config.json"
        path.write_text(json.dumps({"schema": 1, "sweeps": [sweep]}), encoding="utf-8")
        return path

    return save
