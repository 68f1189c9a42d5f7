"""Plug-ins in CUDA that do less than they are timed for, on a GPU."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import SaveConfig
from test_driver import BINARY, GOOD, INCOMPLETE, ROOT
from test_plugins import IN_TIMING, PLUGINS, WRONG, run

NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

pytestmark = [
    pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="there is no NVIDIA GPU"),
    pytest.mark.skipif(not Path(NVCC).exists(), reason="there is no nvcc"),
    pytest.mark.skipif(not BINARY.exists(), reason=f"{BINARY} is not built: run make build"),
]

TOO_LATE = "work went on after the call was done"
CHEATS = {
    "memo": IN_TIMING,
    # Calls before the timing show these already.
    "prepared": "got ",
    "nothing": "got ",
    "half": "got ",
    "half-later": "got ",
    "oracle": IN_TIMING,
    "sampled": IN_TIMING,
    "max-memo": IN_TIMING,
    # They see the inputs of the sample before.
    "side-stream": IN_TIMING,
    "default-stream": IN_TIMING,
    # They write when the time is over.
    "early-end": TOO_LATE,
    "host-thread": "",
    "mark": "",
    "pins-l2": "sets L2 aside for persisting accesses",
}
ELSEWHERE = ("side-stream", "default-stream", "early-end", "host-thread", "pins-l2")


@pytest.fixture(scope="session")
def cheats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("cheats") / "cheats-cuda.so"
    command: list[str | Path] = [NVCC, "-O3", "-std=c++20", "-shared", "-Xcompiler", "-fPIC"]
    command += ["-arch=native", "-I", ROOT / "include", PLUGINS / "cheats.cu", "-o", output]
    subprocess.run(command, check=True)
    return output


def caught(cheats: Path, config: Path, reason: str) -> None:
    ended, records = run(config, cheats)
    assert ended.returncode in (WRONG, INCOMPLETE), ended.stdout
    assert records
    for each in records:
        if "the oracle's memory was not found" in (each["reason"] or ""):
            pytest.skip(each["reason"])  # nothing was read, so nothing could be caught
        assert each["status"] in ("wrong", "failed"), each["variant"]
        assert reason in each["reason"], each["reason"]
        assert not each["timing"]


@pytest.mark.parametrize("mode", ["cold", "hot", "wall"])
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_found_out(name: str, mode: str, cheats: Path, config: SaveConfig) -> None:
    if mode == "wall" and name in ELSEWHERE:
        pytest.skip("the host's clock runs until the whole GPU is idle, so that it gains nothing")
    op = ["max"] if name == "max-memo" else ["sum"]
    axes = {"n": [1 << 22], "op": op, "backends": ["cuda"], "measurement": {"modes": [mode]}}
    caught(cheats, config(f"cuda-cheat/{name}", **axes), CHEATS[name])


def test_a_cheat_in_half_of_the_calls_is_found_out(cheats: Path, config: SaveConfig) -> None:
    # Each point shows it with a chance of 7/8.
    sizes = list(range(1 << 20, (1 << 20) + 8))
    axes = {"n": sizes, "backends": ["cuda"], "measurement": {"modes": ["cold"]}}
    path = config("cuda-cheat/every-second", **axes)
    assert run(path, cheats)[0].returncode == WRONG


@pytest.mark.parametrize("name", ["short-floats", "float-memo"])
def test_a_cheat_with_floats_is_found_out(name: str, cheats: Path, config: SaveConfig) -> None:
    axes = {"n": [1000, 1 << 20], "type": ["f32"], "backends": ["cuda"]}
    caught(cheats, config(f"cuda-cheat/{name}", **axes), IN_TIMING)


def test_a_cheat_with_labels_is_found_out(cheats: Path, config: SaveConfig) -> None:
    axes = {"operation": "histogram", "buckets": [256], "labels": ["uniform", "degenerate"]}
    axes |= {"n": [1 << 18], "backends": ["cuda"]}
    # The second point gets what the first one kept, which shows before it is timed.
    caught(cheats, config("cuda-cheat/histogram-memo", **axes), "elements are wrong")


def test_sums_by_label_are_right_and_remembered_ones_are_found_out(
    cheats: Path, config: SaveConfig
) -> None:
    # The host keeps the values for the second point.
    axes = {"operation": "multireduce", "buckets": [256], "labels": ["uniform", "sorted"]}
    axes |= {"n": [1 << 18], "backends": ["cuda"]}
    ended, records = run(config("cuda-cheat/multireduce-honest", **axes), cheats)
    assert ended.returncode == GOOD, ended.stderr
    assert len(records) == 2
    axes |= {"labels": ["uniform"]}
    caught(cheats, config("cuda-cheat/multireduce-memo", **axes), IN_TIMING)


def test_another_clock_is_found_out(cheats: Path, config: SaveConfig) -> None:
    axes = {"n": [1 << 26], "backends": ["cuda"], "measurement": {"modes": ["wall"]}}
    path = config("cuda-cheat/clock", **axes)
    caught(cheats, path, "the clock did not run as the system's")


@pytest.mark.alone
@pytest.mark.parametrize("name", ["warm-l2", "pinned-l2", "clock"])
def test_what_was_in_the_l2_or_another_clock_gains_nothing(
    name: str, cheats: Path, config: SaveConfig
) -> None:
    axes = {"n": [1 << 21], "backends": ["cuda"]}
    axes["measurement"] = {"modes": ["cold"], "max_time_ms": 100}
    ended, records = run(config("cuda-cheat/honest", f"cuda-cheat/{name}", **axes), cheats)
    assert ended.returncode == GOOD, ended.stderr
    honest, cheat = (each["timing"]["cold"]["median_ns"] for each in records)
    assert cheat > 0.95 * honest
