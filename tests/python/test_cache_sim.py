"""cache-sim as a user runs it: output, files, exit codes."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import jsonschema
import made_up
import pytest
from reduce_bench_report import simulation
from reduce_bench_report.loader import Results

ROOT = Path(__file__).parents[2]
DRIVER = Path(os.environ.get("REDUCE_BENCH_BINARY", ROOT / "build" / "bin" / "reduce-bench"))
PROGRAM = DRIVER.with_name("cache-sim")
CORE2 = str(ROOT / "configs" / "hierarchies" / "core2-t7300.json")

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists(),
    reason=f"{PROGRAM} is not built: run make build, or set REDUCE_BENCH_BINARY",
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROGRAM), *arguments], capture_output=True, text=True, timeout=900, check=False
    )


def simulate(*arguments: str, algorithm: str = "cpu/multireduce", n: int = 4096) -> list[str]:
    return ["simulate", "--algorithm", algorithm, "--n", str(n), "--buckets", "64", *arguments]


def schema(name: str) -> dict[str, object]:
    text = (ROOT / "configs" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, object] = json.loads(text)
    return loaded


@pytest.mark.parametrize("path", sorted((ROOT / "configs" / "hierarchies").iterdir()))
def test_hierarchies_are_valid_and_simulated(path: Path) -> None:
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schema("hierarchy"))
    done = run(*simulate("--hierarchy", str(path)))
    assert done.returncode == 0, done.stderr
    assert "sequential: " in done.stdout
    assert "pipelined: " in done.stdout


def test_json_is_all_there_is_on_stdout() -> None:
    done = run(*simulate("--hierarchy", CORE2, "--json"))
    result = json.loads(done.stdout)
    jsonschema.validate(result, schema("simulation"))
    jsonschema.validate(result["hierarchy"], schema("hierarchy"))
    assert result["accesses"] == 64 + 4 * 4096
    assert run(*simulate("--hierarchy", CORE2, "--json")).stdout == done.stdout


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]])
def test_help_and_version_to_a_full_disk(arguments: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [str(PROGRAM), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "cannot write to standard output: No space left on device" in done.stderr


def test_what_memory_cannot_hold_is_not_begun() -> None:
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    kib = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    n = int(kib) * 1024 // 8 + (1 << 20)
    if n > 1 << 32:
        pytest.skip("this machine holds the most that can be asked for")
    done = run(*simulate("--hierarchy", CORE2, n=n))
    assert done.returncode == 4
    assert f"the labels of {n} inputs take {8 * n / 1e6:.1f} MB or more" in done.stderr


def test_result_file(tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    assert run(*simulate("--hierarchy", CORE2, "-o", str(output))).returncode == 0
    jsonschema.validate(json.loads(output.read_text(encoding="utf-8")), schema("simulation"))
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("command", [["probe"], simulate("--hierarchy", CORE2, n=1 << 28)])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    command: list[str], tmp_path: Path
) -> None:
    done = run(*command, "-o", str(tmp_path))
    assert done.returncode == 2
    said = f"cache-sim: cannot write '{tmp_path}': it is a directory; name a file with -o\n"
    assert done.stderr == said
    done = run(*command, "-o", str(tmp_path / "none" / "here.json"))
    assert done.returncode == 2
    assert f"there is no folder '{tmp_path / 'none'}'; make it, or choose" in done.stderr


def test_huge_pages_miss_less() -> None:
    def walks(*arguments: str) -> int:
        done = run(*simulate("--hierarchy", CORE2, "--json", *arguments))
        misses: int = json.loads(done.stdout)["tlb"][-1]["misses"]
        return misses

    assert walks("--page-bytes", "2097152") < walks()


def test_sequential_fetching_takes_longer_when_pipelined() -> None:
    def ns(fetch: str) -> float:
        done = run(
            "simulate", "--algorithm", "cpu/multireduce", "--n", "65536", "--buckets", "1048576",
            "--hierarchy", CORE2, "--json", "--fetch", fetch,
        )  # fmt: skip
        time: float = json.loads(done.stdout)["pipelined"]["ns_per_input"]
        return time

    assert ns("sequential") > 2 * ns("free")


def test_the_points_of_a_results_file_are_simulated(
    tmp_path: Path, loaded: Callable[..., Results]
) -> None:
    def point(variant: str, **changes: object) -> made_up.Json:
        facts = {"operation": "multireduce", "backend": "cpu", "buckets": 64}
        return made_up.point(variant, 4096, **(facts | {"labels": {"name": "zipf"}} | changes))

    chosen = {"fetch": "sequential", "pages": "huge"}
    scan = {"operation": "multiscan"}
    results = loaded(
        [
            point("cpu/multireduce", params=chosen),
            point("cpu/multireduce-parallel"),
            point("cpu/multiscan", params={"scan": "inclusive"}, **scan),
            point("cpu/multiscan-sorted", params={"scan": "exclusive", "sort_bits": "4"}, **scan),
            point("gpu/x", backend="cuda"),
        ]
    )
    script = ROOT / "scripts" / "simulate_points.sh"
    out = tmp_path / "simulated here"
    command = [str(script), str(results.path), CORE2, str(out)]

    def times() -> dict[Path, int]:
        """Of the predictions, when each was made."""
        done = subprocess.run(
            command, env=os.environ | {"BIN": str(PROGRAM.parent)}, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return {path: path.stat().st_mtime_ns for path in out.glob("*.json")}

    made = times()
    assert times() == made  # the hierarchy leaves defaults out that the predictions have
    out.rename(simulation.folder_of(results.path))
    assert simulation.predictions(results).keys() == {
        point.identity
        for point in results.points
        if point.variant == "cpu/multiscan-sorted" or point.params == tuple(chosen.items())
    }


BAD = [
    (["simulat"], "did you mean 'simulate'?"),
    (simulate("--hierarchy", "/nowhere/x.json"), "/nowhere/x.json"),
    (simulate("--hierarchy", CORE2, algorithm="cpu/multireduse"), "did you mean 'cpu/multireduce'"),
    (simulate("--hierarchy", CORE2, "--labels", "unifrom"), "did you mean 'uniform'?"),
    (simulate("--hierarchy", CORE2, "--labels", "image"), "no such distribution"),
    (simulate("--hierarchy", CORE2, "--sort-bits", "4"), "does not sort"),
    (simulate("--hierarchy", CORE2, "--sort-bits", "x", algorithm="cpu/scatter-sorted"), "1 to 24"),
    (simulate("--hierarchy", CORE2, "--fetch", "sequential", algorithm="cpu/gather"), "leave it"),
    (simulate("--hierarchy", CORE2, "--page-bytes", "8192"), "4096, 2097152"),
    (simulate("--hierarchy", CORE2, n=0), "1 to"),
    (simulate("--hierarchy", CORE2, n=-5), "--n -5: expected a whole number from 1 to"),
    (simulate("--hierarchy", CORE2, "--seed", "-5"), "--seed -5: expected"),
    (simulate("--hierarchy", CORE2, "--seed", str(2**64)), f"--seed {2**64}: expected a whole"),
    (simulate("--hierarchy", CORE2, "--page-bytes", "-5"), "--page-bytes -5: expected a whole"),
    (simulate("--hierarchy", CORE2, "-o", "/nowhere/x.json"), "cannot write"),
    (["probe", "--largest", "-5"], "--largest -5: expected"),
]


@pytest.mark.parametrize(("arguments", "told"), BAD)
def test_bad_usage_is_one_sentence_and_exit_2(arguments: list[str], told: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert told in done.stderr


@pytest.mark.alone
def test_probe_writes_what_simulate_reads(tmp_path: Path) -> None:
    here = tmp_path / "here.json"
    done = run("probe", "--largest", str(4 << 20), "-o", str(here))
    assert done.returncode == 0, done.stderr
    hierarchy = json.loads(here.read_text(encoding="utf-8"))
    jsonschema.validate(hierarchy, schema("hierarchy"))
    assert hierarchy["notes"]
    latencies = [level["latency_ns"] for level in hierarchy["caches"]]
    assert latencies == sorted(latencies)
    assert hierarchy["memory"]["latency_ns"] > 2 * latencies[0]
    assert run(*simulate("--hierarchy", str(here))).returncode == 0


def test_without_arguments_the_program_prints_its_help() -> None:
    alone, asked = run(), run("--help")
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, asked.stdout, "")
    assert "'cache-sim' alone prints too" in asked.stdout


def test_version_is_that_of_the_driver() -> None:
    done = run("--version")
    assert done.returncode == 0, done.stderr
    driver = subprocess.run([DRIVER, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == driver.stdout.splitlines()[0].replace("reduce-bench", "cache-sim") + "\n"
