"""The package as `pip install .` leaves it, away from the repository."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path

import made_up
import pytest
from reduce_bench_report.paths import ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the content of the wheel, built without the network."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "wheel")],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = (folder / "wheel").iterdir()
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """Runs the installed command line in a folder of its own."""
    (points,) = installed.glob("*.dist-info/entry_points.txt")
    scripts = ConfigParser()
    scripts.read_string(points.read_text(encoding="utf-8"))
    module, _, function = scripts["console_scripts"]["reduce-bench-report"].partition(":")

    program = f"import sys, {module}; sys.exit({module}.{function}())"

    def called(*arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(installed), "PATH": path or os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )

    return called


def test_figures_and_claims_away_from_the_repository(run: Run, tmp_path: Path) -> None:
    points = [
        made_up.point(f"harris/{number}", 1 << 22, 8000.0 / (number + 1), params={"block": "128"})
        for number in range(7)
    ]
    made_up.write(made_up.results(points), tmp_path / "x.json")
    drawn = run("figures", "--results", "x.json", "-o", "out", "--only", "jradi-T1")
    assert (drawn.returncode, drawn.stderr) == (0, "")
    table = (tmp_path / "out" / "jradi-T1.md").read_text(encoding="utf-8")
    assert "Redraw: reduce-bench-report figures --results x.json --only jradi-T1 --output out" in (
        table
    )
    judged = run("claims", "--results", "x.json", "-o", "out")
    assert judged.returncode == 0
    assert "(not written yet)" not in judged.stdout  # it has the configurations


def test_its_report_describes_variants_by_the_driver_on_the_path(run: Run, tmp_path: Path) -> None:
    made_up.write(made_up.results([made_up.point("a/b", 1024)]), tmp_path / "x.json")
    listed = [{"id": "a/b", "title": "a title", "description": "what the driver says of it"}]
    driver = tmp_path / "bin" / "reduce-bench"
    driver.parent.mkdir()
    driver.write_text(f"#!/bin/sh\necho '{json.dumps(listed)}'\n", encoding="utf-8")
    driver.chmod(0o755)
    for path, said in (("", "the driver is not"), (str(driver.parent), listed[0]["description"])):
        done = run("report", "x.json", path=path or "/nowhere")
        assert (done.returncode, done.stdout) == (0, "report.html\n"), done.stderr
        assert said in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_without_results_it_looks_in_the_current_folder(run: Run, tmp_path: Path) -> None:
    done = run("claims")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no result is in results/local or named" in done.stderr
    local = tmp_path / "results" / "local"
    local.mkdir(parents=True)
    made_up.write(made_up.results([made_up.point("a/b", 1024)]), local / "x.json")
    assert run("claims").returncode == 0


def test_only_a_checkout_writes_the_readme(run: Run) -> None:
    assert run("readme").returncode == 2


def test_what_the_package_depends_on_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].lower() for line in requirements}
    assert {name.lower() for name in project["dependencies"]} <= pinned
