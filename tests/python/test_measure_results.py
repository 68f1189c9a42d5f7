"""`make results`: which parts are measured where, what a cut leaves, and what counts as done.

The driver is a stand-in: what it is called with is the subject here, not what it measures.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure_results
import pytest
from reduce_bench_report import configuration, loader

ROOT = Path(__file__).parents[2]
PARTS = json.loads((ROOT / "scripts" / "results.json").read_text(encoding="utf-8"))["parts"]
REVISION, OTHER_REVISION = "ab" * 20, "cd" * 20
# Measured, but never committed: what another command compares or verifies by them.
NOT_COMMITTED = {"ci.json", "counts.json", "racecheck.json", "ranks.json", "thresholds.json"}

DRIVER = f"""\
#!{sys.executable}
import json, os, signal, sys, time
from pathlib import Path

said = json.loads(Path("driver.json").read_text())
if sys.argv[1] in said.get("instead", {{}}):
    print(said["instead"][sys.argv[1]])
    sys.exit()
git = {{"revision": said["revision"], "dirty": False}}
if sys.argv[1] == "--version":
    changes = " with uncommitted changes" if said.get("dirty") else ""
    print(f"reduce-bench 1.0.0, revision {{said['revision']}}{{changes}}")
    sys.exit()
gpu = {{"name": said["gpu"]}} if said["gpus"] else None
environment = {{"cpu": {{"model": said["cpu"]}}, "gpu": gpu, "git": git, "command_line": sys.argv}}
environment |= {{"compiler": "g++", "cuda_compiler": None, "cccl": said["cccl"], "flags": "-O3"}}
if sys.argv[1] == "info":
    devices = [gpu] * said["gpus"]
    print(json.dumps({{"environment": environment, "cuda_devices": devices}}))
    sys.exit()
with open("calls.txt", "a") as calls:
    print(*sys.argv[1:], file=calls)
config = sys.argv[sys.argv.index("--config") + 1]
output = Path(sys.argv[sys.argv.index("-o") + 1])
output.parent.mkdir(parents=True, exist_ok=True)
journal = output.with_name(output.name + ".journal")
status = said["status"].get(Path(config).stem, 0)
if status == 2:
    sys.exit("reduce-bench: refused")
if Path(config).stem == said.get("endless") and "--resume" not in sys.argv:
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    journal.write_text("a point")
    time.sleep(60)
if Path(config).stem == said.get("killed"):
    journal.write_text("a point")
    os.kill(os.getpid(), signal.SIGKILL)
journal.unlink(missing_ok=True)
of_point = {{1: "wrong", 4: "failed"}}.get(status, "ok")
points = [{{"status": "ok", "known_wrong": False}}, {{"status": of_point, "known_wrong": False}}]
points.append({{"status": "wrong", "known_wrong": True}})
output.write_text(
    json.dumps({{"environment": environment, "interrupted": False, "points": points}})
)
sys.exit(status)
"""

Measure = Callable[..., int]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a driver and a few parts."""
    folder = tmp_path / "checkout"
    for name in ("scripts", "results", "build/bin"):
        (folder / name).mkdir(parents=True)
    parts = [
        {"config": "configs/one.json", "on": "gpu"},
        {"config": "configs/papers/two.json", "on": "gpu", "backend": "cuda"},
        {"config": "configs/more.json", "on": "gpus"},
        {"config": "configs/calls.json", "on": "gpu", "plugins": ["a.py"], "modules": ["no_such"]},
        {"config": "configs/of-cpu.json", "on": "cpu", "simulated": True},
        {"config": "configs/one.json", "on": "cpu"},  # a result of the same name
    ]
    (folder / "scripts" / "results.json").write_text(json.dumps({"parts": parts}))
    driver = folder / "build" / "bin" / "reduce-bench"
    driver.write_text(DRIVER)
    driver.chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("BIN", raising=False)
    monkeypatch.setenv("PYTHONPATH", "")  # which the program extends
    return folder


@pytest.fixture
def measure(root: Path) -> Measure:
    def measured(*arguments: str, gpus: int = 1, **said: Any) -> int:
        told = {"revision": REVISION, "gpu": "Some GPU", "gpus": gpus, "status": {}}
        told |= {"cpu": "Some CPU", "cccl": "3.5.0"} | said
        (root / "driver.json").write_text(json.dumps(told))
        (root / "calls.txt").write_text("")
        try:
            return measure_results.main(arguments, root)
        except SystemExit as ended:
            return int(ended.code or 0)

    return measured


def calls(root: Path) -> list[str]:
    return (root / "calls.txt").read_text().splitlines()


def results(root: Path) -> set[str]:
    folder = root / "results"
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_every_part_is_measured_twice_where_it_can_be(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure() == 0
    assert calls(root) == [
        "run --config configs/one.json -o results/some-gpu/one.json",
        "run --config configs/papers/two.json -o results/some-gpu/papers/two.json --backend cuda",
        "run --config configs/one.json -o results/some-gpu/again/one.json",
        "run --config configs/papers/two.json -o results/some-gpu/papers/again/two.json "
        "--backend cuda",
    ]
    said = capsys.readouterr().err
    assert "left out, since a machine of two GPUs or more is needed: more.json\n" in said
    assert "left out, since a Python with no_such is needed: calls.json\n" in said
    assert "left out, since a machine without a GPU is needed: of-cpu.json, one.json\n" in said
    assert measure(gpus=2) == 0  # goes on with what it lacked
    assert [call.split()[2] for call in calls(root)] == ["configs/more.json"] * 2


def test_library_is_that_of_the_driver_s_build(
    root: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where PYTHONPATH names another one."""
    for folder, body in (("build/lib/onepass", ""), ("other", "raise ImportError")):
        (root / folder).mkdir(parents=True)
        (root / folder / "of_this_build.py").write_text(body)
    monkeypatch.setenv("PYTHONPATH", str(root / "other"))
    monkeypatch.setenv("REDUCE_BENCH_PYTHON", sys.executable)
    part = {"config": "configs/calls.json", "on": "gpu", "modules": ["of_this_build"]}
    (root / "scripts" / "results.json").write_text(json.dumps({"parts": [part]}))
    assert measure() == 0
    assert len(calls(root)) == 2


def test_what_is_whole_and_of_this_revision_stays(root: Path, measure: Measure) -> None:
    assert measure() == 0
    written = {name: (root / "results" / name).stat().st_mtime_ns for name in results(root)}
    assert measure() == 0
    assert calls(root) == []
    assert written == {name: (root / "results" / name).stat().st_mtime_ns for name in results(root)}
    cut = root / "results" / "some-gpu" / "one.json"
    cut.write_text(cut.read_text().replace('"interrupted": false', '"interrupted": true'))
    assert measure() == 0
    assert [call.split()[4] for call in calls(root)] == ["results/some-gpu/one.json"]
    # a device that was lost leaves points that were not run to the journal
    cut.with_name("one.json.journal").write_text("a point")
    assert measure() == 0
    assert [call.split()[-1] for call in calls(root)] == ["--resume"]
    assert measure(revision=OTHER_REVISION) == 0
    assert len(calls(root)) == 4
    assert measure(revision=OTHER_REVISION, cccl="3.0.1") == 0
    assert len(calls(root)) == 4


def test_another_processor_beside_the_card_is_refused(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure() == 0
    assert measure(cpu="Other CPU") == 2
    assert calls(root) == []
    said = capsys.readouterr().err
    assert "is of a machine with Some CPU, and this one has Other CPU: measure on one like" in said
    assert measure(cpu="Other CPU", revision=OTHER_REVISION) == 0
    assert len(calls(root)) == 4


def test_results_of_another_configuration_are_measured_anew(root: Path, measure: Measure) -> None:
    assert measure() == 0
    folder = root / "results" / "some-gpu"
    shutil.copy(folder / "one.json", folder / "papers" / "two.json")
    assert measure() == 0
    assert [call.split()[4] for call in calls(root)] == ["results/some-gpu/papers/two.json"]


def test_a_second_round_does_not_outlast_its_first(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pages refuse one of another revision, so that a visit which ended between the rounds
    would keep every device from them."""
    assert measure() == 0
    second = root / "results" / "some-gpu" / "again" / "one.json"
    begun = root / "results" / "some-gpu" / "papers" / "again" / "two.json"
    begun.with_name("two.json.journal").write_text("a point")
    assert measure(revision=OTHER_REVISION) == 0
    said = capsys.readouterr().err
    assert f"removed {second.relative_to(root)}: the first round" in said
    assert f"removed {begun.relative_to(root)}" not in said
    assert second.is_file()  # measured anew after that


@pytest.mark.parametrize(
    "text",
    ["", "\xff", "[]", "{}", "[" * 100000,
     '{"environment": [], "points": 1, "interrupted": false}'],
)  # fmt: skip
def test_what_is_no_results_file_is_measured_anew(root: Path, measure: Measure, text: str) -> None:
    assert measure() == 0
    (root / "results" / "some-gpu" / "one.json").write_text(text, encoding="latin-1")
    assert measure() == 0
    assert [call.split()[4] for call in calls(root)] == ["results/some-gpu/one.json"]


@pytest.mark.parametrize("gpu", ["Some GPU", "Some GPU 80GB"])
def test_the_folder_is_that_of_the_device(root: Path, measure: Measure, gpu: str) -> None:
    folder = root / "results" / "short-name"
    folder.mkdir()
    (folder / "a.json").write_text("{")  # which says nothing
    environment = {"gpu": {"name": gpu}, "git": {"dirty": True}, "command_line": []}
    environment["cpu"] = {"model": "Some CPU"}
    (folder / "old.json").write_text(
        json.dumps({"environment": environment, "interrupted": False, "points": []})
    )
    assert measure(gpu="Some GPU 80GB") == 0
    named = "short-name" if gpu == "Some GPU 80GB" else "some-gpu-80gb"
    assert f"{named}/again/one.json" in results(root)


def test_a_file_that_is_too_large_is_named(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure() == 0
    assert "too large" not in capsys.readouterr().err
    monkeypatch.setattr(measure_results, "MOST_BYTES", 10)
    assert measure() == 0
    said = capsys.readouterr().err
    assert "too large to be committed, 10 bytes or more: results/some-gpu/again/one.json, " in said


def test_what_no_part_measured_is_named(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = root / "results" / "some-gpu"
    folder.mkdir()
    (folder / "old.json").write_text("{}")
    assert measure() == 0
    assert "not of this build: results/some-gpu/old.json; no part" in capsys.readouterr().err


def test_a_driver_of_uncommitted_changes_measures_nothing(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(dirty=True) == 2
    assert results(root) == set() and calls(root) == []
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "was not built from a clean checkout" in said
    assert measure(revision="unknown") == 2
    (root / "build" / "bin" / "reduce-bench").unlink()
    assert measure() == 2
    assert "build it with make build" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "output", "why"),
    [
        ("--version", "", "was not built from a clean checkout (it says nothing): commit"),
        ("--version", "hello\n" * 50, "was not built from a clean checkout (hello"),
        ("info", "", "names no device (Expecting value"),
        ("info", "[]", "names no device ("),
        ("info", '{"cuda_devices": [{}]}', "names no device ('environment'): build it with make"),
    ],
)
def test_a_program_that_is_not_the_driver_is_refused(
    measure: Measure, capsys: pytest.CaptureFixture[str], command: str, output: str, why: str
) -> None:
    assert measure(instead={command: output}) == 2
    said = capsys.readouterr().err
    assert why in said and said.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\xff",
        "[]",
        '{"parts": []}',
        '{"parts": ["configs/one.json"]}',
        '{"parts": [{"on": "gpu"}]}',
        '{"parts": [{"config": "configs/one.json", "on": "tpu"}]}',
        '{"parts": [{"config": "configs/one.json", "on": "gpu", "plugins": 1}]}',
    ],
)
def test_a_mangled_list_of_parts_is_refused(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (root / "scripts" / "results.json").write_text(text, encoding="latin-1")
    assert measure() == 2
    said = capsys.readouterr().err
    assert "'scripts/results.json' is no list of parts (" in said and said.count("\n") == 1
    assert calls(root) == []


def test_a_folder_that_cannot_be_made_is_refused(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "results" / "some-gpu").write_text("")
    assert measure() == 2
    said = capsys.readouterr().err
    assert "cannot write to results/some-gpu: File exists; make it a folder" in said


def test_what_the_time_cuts_is_resumed(
    root: Path,
    measure: Measure,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(measure_results, "GRACE_S", 59.0)  # a minute's call has a second
    monkeypatch.setattr(measure_results, "LEAST_S", 0.0)
    assert measure("--minutes", "1", endless="two") == 130
    assert "1 of 4 results are whole, the same command goes on" in capsys.readouterr().err
    journal = "some-gpu/papers/two.json.journal"
    assert results(root) == {"some-gpu/one.json", journal}
    assert measure() == 0
    assert calls(root)[0].endswith("papers/two.json --backend cuda --resume")
    assert len(calls(root)) == 3 and journal not in results(root)


def test_no_time_is_left_for_another_call(
    root: Path, measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure_results, "GRACE_S", 59.0)
    assert measure("--minutes", "1") == 130
    assert calls(root) == []


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "soon"])
def test_minutes_are_a_number(
    measure: Measure, minutes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(f"--minutes={minutes}") == 2
    assert f"'{minutes}' is no number of minutes from 1 on" in capsys.readouterr().err


def test_a_part_that_is_refused_does_not_keep_others_from_being_measured(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(status={"one": 2}) == 2
    assert len(calls(root)) == 3  # no second round of what has no first
    said = capsys.readouterr().err
    assert "not measured: results/some-gpu/one.json, for" in said


def test_a_driver_that_was_killed_is_not_called_refused(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measure(killed="one") == 130
    assert len(calls(root)) == 3
    said = capsys.readouterr().err
    assert "results/some-gpu/one.json is cut: SIGKILL ended the driver; the same command" in said
    assert "not measured" not in said
    assert measure() == 0
    assert calls(root)[0].endswith("--resume")


@pytest.mark.parametrize("status", [1, 4])
def test_wrong_and_failed_points_are_results_too(root: Path, measure: Measure, status: int) -> None:
    assert measure(status={"one": status}) == status
    assert len(results(root)) == 4
    assert measure() == status and calls(root) == []


def test_wrong_points_are_told_before_failed_ones(root: Path, measure: Measure) -> None:
    assert measure(status={"one": 4, "two": 1}) == 1


def put_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def simulation(root: Path) -> str:
    """Programs that measure caches and predict a point, and then do what then.sh says. Where the
    predictions lie."""
    git = json.dumps({"git": {"revision": REVISION, "dirty": False}})
    probe = '[ "$1 $2" = "probe -o" ] && echo here > "$3"; echo probe >> calls.txt'
    put_program(root / "build" / "bin" / "cache-sim", f"#!/bin/sh\n{probe}\n")
    predict = f"mkdir -p $3; grep -q here $2 && echo '{git}' > $3/$(ls $3 | wc -l).json"
    script = f"#!/bin/sh\n{predict}\n. ./then.sh\n"
    put_program(root / "scripts" / "simulate_points.sh", script)
    (root / "then.sh").write_text("exit 0")
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").touch()
    return "cpu/some-cpu/of-cpu.simulated"


def test_the_simulation_of_a_processor_is_whole_or_not_there(
    root: Path, measure: Measure, simulation: str
) -> None:
    (root / "then.sh").write_text("exit 1")
    assert measure(gpus=0) == 2
    assert calls(root)[0].endswith("results/cpu/some-cpu/of-cpu.json --backend cpu")
    assert not {each for each in results(root) if each.startswith(simulation)}
    (root / "then.sh").write_text("exit 0")
    assert measure(gpus=0) == 0
    assert f"{simulation}/0.json" in results(root)
    assert not (root / "results" / "local" / "simulating").exists()
    (root / "results" / "local" / "simulating" / "of another").mkdir(parents=True)
    shutil.rmtree(root / "results" / simulation)
    assert measure(gpus=0) == 0
    assert (root / "results" / "local" / "simulating" / "of another").exists()
    put_program(root / "build" / "bin" / "cache-sim", "#!/bin/sh\nexit 4\n")
    assert measure(gpus=0) == 0  # what is there is of this revision
    assert measure(gpus=0, revision=OTHER_REVISION) == 2


def test_what_a_simulation_lacks_is_told(
    root: Path, measure: Measure, simulation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / ".venv" / "bin" / "python").unlink()
    assert measure(gpus=0) == 130
    said = "left out: the simulation of results/cpu/some-cpu/of-cpu.json, since .venv/bin/python is"
    assert said in capsys.readouterr().err
    assert not {each for each in results(root) if each.startswith(simulation)}


def test_refused_parts_are_told_where_a_simulation_fails_too(
    root: Path, measure: Measure, simulation: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "then.sh").write_text("exit 1")
    assert measure(gpus=0, status={"one": 2}) == 2
    said = capsys.readouterr().err
    assert said.count("not measured: results/cpu/some-cpu/one.json, for") == 1
    assert "the simulation of results/cpu/some-cpu/of-cpu.json failed" in said
    (root / "then.sh").write_text("exit 0")
    assert measure(gpus=0, status={"one": 2}) == 2
    said = capsys.readouterr().err
    assert said.count("not measured: results/cpu/some-cpu/one.json, for") == 1


def test_a_simulation_that_the_time_cuts_goes_on(
    root: Path,
    measure: Measure,
    simulation: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (root / "then.sh").write_text("exit 1")
    assert measure(gpus=0) == 2  # but all is measured
    monkeypatch.setattr(measure_results, "GRACE_S", 59.0)  # a minute's call has a second
    (root / "then.sh").write_text("sleep 60")
    assert measure("--minutes", "1", gpus=0) == 130
    said = capsys.readouterr().err
    assert "the simulation of results/cpu/some-cpu/of-cpu.json is lacking, the same command" in said
    (root / "then.sh").write_text("exit 0")
    assert measure("--minutes", "1", gpus=0) == 0
    assert "probe" not in calls(root)  # these predictions repeat the caches that others do
    assert {f"{simulation}/{i}.json" for i in range(3)} <= results(root)


def started(root: Path) -> subprocess.Popen[str]:
    """The command, once its driver measures a part without an end."""
    shutil.copy(ROOT / "scripts" / "measure_results.py", root / "scripts")
    told = {"revision": REVISION, "gpu": "G", "gpus": 1, "status": {}, "endless": "one"}
    (root / "driver.json").write_text(json.dumps(told | {"cpu": "C", "cccl": "3.5.0"}))
    command = [sys.executable, "scripts/measure_results.py"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=root)
    journal = root / "results" / "g" / "one.json.journal"
    begun = time.monotonic()
    while not journal.exists() and time.monotonic() - begun < 30:
        time.sleep(0.05)
    time.sleep(0.2)  # until the driver waits
    return running


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_end_of_the_command_is_the_driver_s_too(root: Path, number: signal.Signals) -> None:
    running = started(root)
    running.send_signal(number)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert said.endswith("interrupted; the same command goes on\n")
    assert results(root) == {"g/one.json.journal"}


def test_nothing_is_measured_beside_a_driver_that_was_left_running(
    root: Path, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    running = started(root)
    (driver,) = (
        int(pid)
        for pid in Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    )
    running.kill()
    running.wait()
    try:
        assert measure(gpu="G") == 2
        assert "another measurement writes to results/g: wait" in capsys.readouterr().err
        assert calls(root) == []
    finally:
        os.kill(driver, signal.SIGKILL)
    begun = time.monotonic()
    while measure(gpu="G") == 2 and time.monotonic() - begun < 30:
        time.sleep(0.05)
    assert "g/one.json" in results(root)


def test_make_results_needs_a_commit(tmp_path: Path) -> None:
    """Outside of results and documents, which it writes itself."""
    make = shutil.which("make")
    if make is None or shutil.which("cmake") is None:
        pytest.skip("needs make and cmake")
    for name in ("cmake", "scripts", "results", "docs"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "cmake" / "revision.cmake", tmp_path / "cmake")
    (tmp_path / ".gitignore").write_text("/build/\n")
    stub = tmp_path / "scripts" / "setup.sh"
    stub.write_text(
        textwrap.dedent("""\
        #!/usr/bin/env bash
        [[ $1 != python ]] || { echo reached >&2; exit 7; }
        """)
    )
    stub.chmod(0o755)
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
    environment = {**os.environ, **who}
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=environment)

    def made() -> str:
        done = subprocess.run(
            [make, "results"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2  # of make
        return done.stderr

    (tmp_path / "results" / "new.json").write_text("{}")
    (tmp_path / "docs" / "new.md").write_text("new")
    assert "reached" in made()
    (tmp_path / "configs.json").write_text("{}")
    refused = made()
    assert "reached" not in refused
    assert "committed results must come from a commit: commit or remove" in refused


def test_the_parts_are_of_configurations_that_there_are() -> None:
    for part in PARTS:
        assert configuration.load(ROOT / part["config"]).sweeps
        for plugin in part.get("plugins", []):
            assert (ROOT / plugin).is_file()
    for on in (("gpu", "gpus"), ("cpu",)):
        places = [measure_results.Part.of(part).result for part in PARTS if part["on"] in on]
        assert len(set(places)) == len(places)


def test_every_configuration_is_a_part_or_never_committed() -> None:
    listed = {part["config"] for part in PARTS}
    there = [*(ROOT / "configs").glob("*.json"), *(ROOT / "configs" / "papers").glob("*.json")]
    assert listed == {
        str(path.relative_to(ROOT)) for path in there if path.name not in NOT_COMMITTED
    }


def test_builds_differ_by_the_same_facts_where_they_are_measured_and_shown() -> None:
    assert measure_results.BUILD == loader.BUILD


def test_predictions_are_of_parts_on_a_processor() -> None:
    for part in PARTS:
        assert part["on"] == "cpu" or not part.get("simulated")
