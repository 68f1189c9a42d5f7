"""The installed programs, run from another folder with nothing of this one in the environment."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from reduce_bench_report.loader import load

ROOT = Path(__file__).parents[2]
DRIVER = Path(os.environ.get("REDUCE_BENCH_BINARY", ROOT / "build" / "bin" / "reduce-bench"))
BUILD = DRIVER.parents[1]

pytestmark = [
    pytest.mark.skipif(
        not DRIVER.exists() or not (BUILD / "cmake_install.cmake").exists(),
        reason=f"{BUILD} is no build folder: run make build, or set REDUCE_BENCH_BINARY",
    ),
    pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no cmake"),
]

# What is built here is not run on a GPU, and to optimise its kernels takes longer than all else, so
# no machine code is made of them; `make build` makes it of the same headers for library/. With -O1
# the emulated kernels run twice as fast.
QUICK = [
    "-DCMAKE_CUDA_ARCHITECTURES=90-virtual",
    "-DCMAKE_CUDA_FLAGS=-Xcicc -O0",
    "-DCMAKE_CXX_FLAGS=-O1",
]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the build is installed; moved there, so that nothing may know its folder."""
    installed = tmp_path_factory.mktemp("install") / "first"
    command = ["cmake", "--install", str(BUILD), "--prefix", str(installed)]
    subprocess.run(command, check=True, capture_output=True)
    return installed.rename(installed.with_name("moved"))


def run(prefix: Path, program: str, *arguments: str, cwd: Path) -> str:
    """What the installed program prints; it must succeed."""
    done = subprocess.run(
        [prefix / "bin" / program, *arguments],
        cwd=cwd,
        env={"OMP_WAIT_POLICY": "passive"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_configuration_and_schema_and_the_licence_are_installed(prefix: Path) -> None:
    def contents(folder: Path) -> dict[Path, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder): path.read_bytes() for path in files}

    shared = prefix / "share" / "reduce-bench"
    assert contents(shared / "configs") == contents(ROOT / "configs")
    assert sorted(each.name for each in (shared / "frameworks").iterdir()) == sorted(
        each.name for each in (ROOT / "frameworks").glob("*.py")
    )
    documents = prefix / "share" / "doc" / "reduce-bench"
    assert (documents / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert contents(documents / "docs") == contents(ROOT / "docs")
    assert sorted(path.name for path in (prefix / "bin").iterdir()) == ["cache-sim", "reduce-bench"]


def test_list_and_verify(prefix: Path, tmp_path: Path) -> None:
    assert "harris/3" in run(prefix, "reduce-bench", "list", cwd=tmp_path)
    run(prefix, "reduce-bench", "verify", "--backend", "emu", "--filter", "harris/3", cwd=tmp_path)


def test_an_installed_configuration_is_measured_by_an_installed_worker(
    prefix: Path, tmp_path: Path
) -> None:
    config = prefix / "share" / "reduce-bench" / "configs" / "quick.json"
    choice = ["--backend", "cpu", "--filter", "cpu/sequential", "--set", "n=1024"]
    run(prefix, "reduce-bench", "run", "--config", str(config), *choice, cwd=tmp_path)
    (written,) = (tmp_path / "results" / "local").iterdir()
    assert {point.raw["status"] for point in load(written).points} == {"ok"}


def test_an_installed_hierarchy_is_simulated(prefix: Path, tmp_path: Path) -> None:
    machine = prefix / "share" / "reduce-bench" / "configs" / "hierarchies" / "core2-t7300.json"
    problem = ["--algorithm", "cpu/multireduce", "--n", "4096", "--buckets", "64"]
    printed = run(
        prefix, "cache-sim", "simulate", "--hierarchy", str(machine), *problem, cwd=tmp_path
    )
    assert "sequential: " in printed


def test_a_driver_of_another_project_has_its_variants_beside_the_catalogs(
    prefix: Path, tmp_path: Path
) -> None:
    example = prefix / "share" / "doc" / "reduce-bench" / "examples" / "driver"
    build = tmp_path / "build"
    package = f"-Dreduce_bench_DIR={next(prefix.glob('lib*/**/cmake/reduce_bench'))}"
    for command in (
        ["cmake", "-G", "Ninja", "-S", example, "-B", build, package, *QUICK],
        ["cmake", "--build", build],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    driver = build / "my-bench"

    def called(*arguments: str) -> str:
        ended = subprocess.run(
            [driver, *arguments], capture_output=True, text=True, check=False, timeout=120
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    listed = {each["id"]: each for each in json.loads(called("list", "--json"))}
    assert "harris/3" in listed
    assert listed["mine/block-sum"]["backends"][-1] == "emu"
    assert listed["mine/halves"]["backends"] == ["cpu"]
    assert {each for each in listed if each.startswith("mine/library-")} == {
        f"mine/library-{name}"
        for name in ("histogram", "multireduce", "multiscan", "reduce", "reduce-exact")
    }
    assert "mine/block-sum: one block" in called("show", "mine/block-sum")
    called("verify", "--filter", "mine/*", "--backend", "cpu")
    called("verify", "--filter", "mine/*", "--backend", "emu")


def test_a_program_calls_the_library_from_its_headers_alone(prefix: Path, tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        pytest.skip("there is no nvcc")
    example = prefix / "share" / "doc" / "reduce-bench" / "examples" / "library"
    package = f"-Donepass_DIR={next(prefix.glob('lib*/**/cmake/onepass'))}"
    build = tmp_path / "build"
    compiler = [f"-DCMAKE_CUDA_COMPILER={nvcc}", *QUICK]
    for command in (
        ["cmake", "-G", "Ninja", "-S", example, "-B", build, package, *compiler],
        ["cmake", "--build", build],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (build / "ranges").exists()
