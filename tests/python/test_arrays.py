"""Values and labels from arrays that NumPy wrote, through the driver."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reduce_bench_report.loader import load
from test_driver import BINARY, GOOD, Json, complaint, drive

pytestmark = pytest.mark.skipif(
    not BINARY.exists(), reason=f"{BINARY} is not built: run make build, or set REDUCE_BENCH_BINARY"
)

SaveConfig = Callable[..., Path]
VALUES = {"name": "file", "file": "data/values.npy"}
LABELS = {"name": "file", "file": "data/labels.npy"}


@pytest.fixture
def config(tmp_path: Path) -> SaveConfig:
    (tmp_path / "data").mkdir()

    def save(**axes: Any) -> Path:
        sweep = {"variants": ["cpu/*"], "n": [1000], "backends": ["cpu"]} | axes
        sweep["measurement"] = {"max_time_ms": 1, "modes": ["hot"]}
        path = tmp_path / "config.json"
        path.write_text(json.dumps({"schema": 1, "sweeps": [sweep]}), encoding="utf-8")
        return path

    return save


def save(path: Path, array: Any, version: tuple[int, int] | None = None) -> None:
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.asarray(array), version=version)


def run(path: Path, tmp_path: Path) -> tuple[int, list[Json]]:
    out = tmp_path / "r.json"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    ended = drive("run", "--config", path, "-o", out, cwd=elsewhere)
    return ended.returncode, [point.raw for point in load(out).points]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("kind", ["i4", "i8", "f4", "f8"])
def test_sums_are_of_the_files_values(
    kind: str, version: tuple[int, int], config: SaveConfig, tmp_path: Path
) -> None:
    values = np.arange(-300, 900).astype(kind)
    save(tmp_path / "data" / "values.npy", values, version)
    element_type = f"{kind[0]}{8 * int(kind[1])}"
    code, records = run(config(distribution=[VALUES], type=[element_type]), tmp_path)
    assert code == GOOD
    measured = [each for each in records if each["status"] == "ok"]
    assert len(measured) >= 2  # some add floats alone
    for each in measured:
        assert each["distribution"] == VALUES
        assert float(each["verification"]["expected"]) == values[:1000].sum()
    assert len({each["input_checksum"] for each in measured}) == 1


def test_another_file_has_another_checksum(config: SaveConfig, tmp_path: Path) -> None:
    checksums = set()
    for last in (1, 2):
        # What lies beyond the first n does not count.
        save(tmp_path / "data" / "values.npy", [0] * 999 + [last] + [last] * 5)
        values = np.load(tmp_path / "data" / "values.npy").astype("i4")
        save(tmp_path / "data" / "values.npy", values)
        checksums.add(run(config(distribution=[VALUES]), tmp_path)[1][0]["input_checksum"])
    assert len(checksums) == 2


def test_labels_and_values_of_a_keyed_operation(config: SaveConfig, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    save(tmp_path / "data" / "values.npy", random.random(5000, dtype="f4"))
    save(tmp_path / "data" / "labels.npy", random.integers(0, 50, 5000, dtype="u4"))
    axes = {"operation": "multireduce", "buckets": [50], "type": ["f32"], "n": [1000, 5000]}
    code, records = run(config(distribution=[VALUES], labels=[LABELS], **axes), tmp_path)
    assert code == GOOD
    assert records
    assert all(each["status"] == "ok" and each["labels"] == LABELS for each in records)


def test_points_beyond_the_file_are_skipped(config: SaveConfig, tmp_path: Path) -> None:
    save(tmp_path / "data" / "labels.npy", np.array([1, 2, 300, 4], "u4"))
    axes: Json = {"operation": "histogram", "n": [2, 4, 5], "buckets": [256, 512]}
    code, records = run(config(labels=[LABELS], **axes), tmp_path)
    assert code == GOOD
    told = {(each["n"], each["buckets"]): each["reason"] for each in records}
    assert told[2, 256] is told[2, 512] is told[4, 512] is None
    assert "the label 300 of element 2 is not below 256 buckets" in told[4, 256]
    assert "it has 4 elements, fewer than 5" in told[5, 512]


def test_values_without_a_result_are_skipped(config: SaveConfig, tmp_path: Path) -> None:
    save(tmp_path / "data" / "values.npy", np.array([1, np.nan, 3], "f4"))
    code, records = run(config(n=[1, 3], type=["f32"], distribution=[VALUES]), tmp_path)
    assert code == GOOD
    assert {each["status"] for each in records if each["n"] == 1} == {"ok"}
    assert {each["status"] for each in records if each["n"] == 3} == {"skipped"}


BAD: dict[str, tuple[Any, str]] = {
    "big-endian": (np.arange(9, dtype=">i4"), "its numbers are big-endian"),
    "Fortran order": (np.asfortranarray(np.ones((3, 3), "i4")), "it is in Fortran order"),
    "two dimensions": (np.ones((3, 3), "i4"), "it has 2 dimensions"),
    "no dimension": (np.array(1, "i4"), "it has 0 dimensions"),
    "objects": (np.array([1, None], object), "it holds objects of Python"),
    "records": (np.zeros(3, [("x", "<i4"), ("y", "<f4")]), "it holds records"),
    "half precision": (np.ones(9, "f2"), "the array holds f16, not i32"),
    "long doubles": (np.ones(9, "g"), "its elements are '<f16'"),
    "truths": (np.ones(9, bool), "its elements are '|b1'"),
    "text": (np.array(["a", "b"]), "its elements are '<U1'"),
    "times": (np.array(["2026-01-01"], "M8[D]"), "its elements are '<M8[D]'"),
    "another type": (np.ones(9, "f8"), "the array holds f64, not i32"),
    "too few": (np.ones(9, "i4"), "the array has 9 elements, fewer than 1000"),
}


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_says_what_is_wrong(name: str, config: SaveConfig, tmp_path: Path) -> None:
    array, reason = BAD[name]
    with (tmp_path / "data" / "values.npy").open("wb") as file:
        np.lib.format.write_array(file, array, allow_pickle=True)
    said = complaint("run", "--config", config(distribution=[VALUES]), "-o", "-")
    assert reason in said
    assert "values.npy" in said or "/sweeps/0/distribution/0" in said


def test_a_file_that_is_cut_off_is_refused(config: SaveConfig, tmp_path: Path) -> None:
    path = tmp_path / "data" / "values.npy"
    save(path, np.arange(1000, dtype="i4"))
    whole = path.read_bytes()
    for size in (0, 5, 9, 60, 127, 128, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert "values.npy" in complaint(
            "run", "--config", config(distribution=[VALUES]), "-o", "-"
        )


def test_a_file_that_vanishes_costs_its_points(config: SaveConfig, tmp_path: Path) -> None:
    """Once the plan is made, only the worker reads it."""
    path = tmp_path / "data" / "values.npy"
    save(path, np.arange(1000, dtype="i4"))
    settings = config(distribution=[VALUES], variants=["cpu/sequential"])
    assert drive("run", "--config", settings, "--dry-run").returncode == GOOD
    path.unlink()
    assert "there is no '" in complaint("run", "--config", settings, "-o", "-")


def test_set_takes_a_file(config: SaveConfig, tmp_path: Path) -> None:
    save(tmp_path / "data" / "values.npy", np.arange(1000, dtype="i4"))
    listed = drive(
        "run", "--config", config(), "--dry-run", "--set", "distribution=file(data/values.npy)"
    )
    assert listed.returncode == GOOD, listed.stderr
    assert "cpu/sequential n=1000 i32 sum file(data/values.npy) on cpu" in listed.stdout
