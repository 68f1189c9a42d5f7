from collections.abc import Callable
from pathlib import Path

import made_up
import pytest
from reduce_bench_report.loader import Results, load

Loaded = Callable[..., Results]


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Writes a made-up document around the points and loads it again."""

    def load_points(points: list[made_up.Json], *, gpu: bool = True) -> Results:
        return load(made_up.write(made_up.results(points, gpu=gpu), tmp_path / "made-up.json"))

    return load_points
