"""`reduce-bench compare` and the scripts around it, as a user and a CI server run them."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from made_up import Json, known_wrong, point, results, unmeasured, write
from test_driver import BINARY, GOOD, INCOMPLETE, ROOT, complaint, drive
from test_driver import pytestmark as pytestmark

REGRESSION, OTHER_ENVIRONMENT = 1, 3
COMMITTED = ROOT / "results" / "nvidia-h200" / "full.json"
FAULTS, SLOWED = (BINARY.with_name(name) for name in ("reduce-bench-faults", "reduce-bench-slowed"))

Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Writes a made-up document around the points."""

    def save_points(name: str, *points: Json) -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        return write(results(list(points)), tmp_path / name)

    return save_points


def verdicts(*arguments: str | Path) -> dict[str, str]:
    """The verdict on each point of one size."""
    ended = drive("compare", *arguments, "--format", "json")
    document = json.loads(ended.stdout)
    assert document["kind"] == "reduce-bench-comparison"
    return {compared["variant"]: compared["verdict"] for compared in document["points"]}


# ---- the command ----------------------------------------------------------------------------


def test_the_same_run_is_good(save: Save) -> None:
    base = save("base.json", point("a/x", 1024), known_wrong("a/racy", 1024, 10.0))
    ended = drive("compare", base, base)
    assert ended.returncode == GOOD, ended.stderr
    assert ended.stdout.splitlines()[-1] == "identical, 1 not compared, 1 same"
    # Also where a copy has an interval that would leave it open.
    document = results([point("a/x", 1024)])
    document["points"][0]["timing"]["cold"] |= {"ci_low_ns": 500.0, "ci_high_ns": 2000.0}
    copies = [write(document, base.with_name(name)) for name in ("vague.json", "copy.json")]
    ended = drive("compare", *copies)
    assert ended.returncode == GOOD, ended.stdout
    assert "both sides are the same measurements" in ended.stdout


def test_each_verdict_and_the_exit_code_of_a_regression(save: Save) -> None:
    base = save(
        "base.json",
        point("a/slower", 1024, 1000.0),
        point("a/faster", 1024, 1000.0),
        point("a/same", 1024, 1000.0),
        point("a/broken", 1024, 1000.0),
        point("a/gone", 1024, 1000.0),
        unmeasured("a/fixed", 1024, "wrong", "races"),
        known_wrong("a/racy", 1024, 1000.0),
    )
    new = save(
        "new.json",
        point("a/slower", 1024, 1300.0),
        point("a/faster", 1024, 700.0),
        point("a/same", 1024, 1001.0),
        unmeasured("a/broken", 1024, "failed", "fell over"),
        point("a/new", 1024, 1000.0),
        point("a/fixed", 1024, 1000.0),
        known_wrong("a/racy", 1024, 2000.0),
    )
    assert verdicts(base, new) == {
        "a/slower": "slower",
        "a/faster": "faster",
        "a/same": "same",
        "a/broken": "broken",
        "a/gone": "lost",
        "a/new": "only in new",
        "a/fixed": "fixed",
        "a/racy": "not compared",
    }
    ended = drive("compare", base, new)
    assert ended.returncode == REGRESSION
    assert "(ok -> failed: fell over)" in ended.stdout
    cases = ElementTree.fromstring(drive("compare", base, new, "--format", "junit").stdout)
    assert cases.get("failures") == "3"
    assert drive("compare", base, new, "--format", "markdown").stdout.startswith("### reduce-bench")


def test_lost_points_fail_unless_they_are_allowed(save: Save) -> None:
    base = save("base.json", point("a/kept", 8), point("a/gone", 8), point("b/gone", 8))
    new = save("new.json", point("a/kept", 8), point("a/new", 8))
    ended = drive("compare", base, new)
    assert ended.returncode == REGRESSION
    assert "2 points are lost: measured in base" in ended.stdout
    ended = drive("compare", base, new, "--allow-missing")
    assert ended.returncode == GOOD, ended.stdout
    assert "2 only in base, 1 only in new, 1 same" in ended.stdout
    assert drive("compare", save("one.json", point("a/kept", 8)), new).returncode == GOOD


def slower_copy(path: Path, factor: float, **where: str) -> Path:
    """The committed results, of which some points took longer."""
    document = json.loads(COMMITTED.read_text())
    for measured in document["points"]:
        if any(measured[key] != value for key, value in where.items()):
            continue
        for times in measured["timing"].values():
            times |= {key: times[key] * factor for key in times if key.endswith("_ns")}
    return write(document, path)


def waits(measured: Json) -> bool:
    """Whether the point's time on the GPU includes that the host has the result."""
    return bool(measured["backend"] == "cuda" and measured["finish"] == "host")


@pytest.mark.parametrize("factor", [3.0, 10.0, 1000.0])
@pytest.mark.parametrize("element_type", ["i32", "f32"])
def test_single_files_show_a_type_that_became_slower(
    factor: float, element_type: str, tmp_path: Path
) -> None:
    new = slower_copy(tmp_path / "new.json", factor, type=element_type)
    document = json.loads(drive("compare", COMMITTED, new, "--format", "json").stdout)
    timed = [compared for compared in document["points"] if "ratio" in compared]
    slowed = [compared for compared in timed if compared["type"] == element_type]
    assert len(slowed) > 400
    # Where the host waits, a single round that shows much noise need not be sure of three times.
    waiting = {p["variant"] for p in json.loads(COMMITTED.read_text())["points"] if waits(p)}
    unsure = [compared for compared in slowed if compared["verdict"] != "slower"]
    assert {c["verdict"] for c in unsure} <= {"inconclusive"}
    assert {c["variant"] for c in unsure} <= (waiting if factor == 3.0 else set())
    assert len(unsure) < len(slowed) / 100
    assert "slower" not in {c["verdict"] for c in timed if c["type"] != element_type}
    assert document["common_shifts"] == []
    assert drive("compare", COMMITTED, new).returncode == REGRESSION


def test_single_files_show_that_everything_became_slower(tmp_path: Path) -> None:
    ended = drive("compare", COMMITTED, slower_copy(tmp_path / "new.json", 1000.0))
    assert ended.returncode == REGRESSION
    assert "everything is slower: 1000 x in " in ended.stdout
    assert "; build, machine or clocks" in ended.stdout
    assert "inconclusive" not in ended.stdout.splitlines()[-1]


def test_a_wide_interval_is_inconclusive(save: Save) -> None:
    base = save("base.json", point("a/x", 1024))
    document = results([point("a/x", 1024)])
    document["points"][0]["timing"]["cold"] |= {"ci_low_ns": 900.0, "ci_high_ns": 1200.0}
    assert (
        drive("compare", base, write(document, base.with_name("n.json"))).returncode == INCOMPLETE
    )


def test_nothing_compared_is_no_good_news(save: Save) -> None:
    base = save("base.json", point("a/x", 1024))
    skipped = save("skipped.json", unmeasured("a/x", 1024, "skipped", "needs a device"))
    other_mode = save("hot.json", point("a/x", 1024, primary_mode="hot"))
    racy = save("racy.json", known_wrong("a/racy", 1024, 10.0))
    for sides, why in (
        ((skipped, skipped), "is not compared: skipped: needs a device)"),
        ((base, skipped), "is lost: ok -> skipped: needs a device)"),
        ((base, other_mode), "on cuda, cold, is lost)"),
        ((racy, racy), "is not compared: wrong (known)"),
        ((base, save("y.json", point("a/y", 1024))), "no point in common"),
    ):
        assert why in complaint("compare", *sides)


def test_thresholds_are_set_per_variant(save: Save, tmp_path: Path) -> None:
    base = save("base.json", point("harris/7", 1024), point("harris/6", 1024))
    new = save("new.json", point("harris/7", 1024, 1300.0), point("harris/6", 1024, 1300.0))
    limits = [{"variants": ["harris/7"], "threshold": 0.4}]
    thresholds = write({"schema": 1, "limits": limits}, tmp_path / "t.json")
    assert verdicts(base, new, "--config", thresholds) == {
        "harris/7": "same",
        "harris/6": "slower",
    }


def test_rounds_are_a_folder_of_results(save: Save) -> None:
    for k, noise in enumerate((1.0, 1.01, 0.99, 1.005)):
        save(f"base/{k}.json", point("a/x", 8, 1000.0 * noise), point("a/y", 8, 1000.0))
        save(f"new/{k}.json", point("a/x", 8, 1200.0), point("a/y", 8, 1001.0 * noise))
    folder = save("new/0.json", point("a/x", 8, 1200.0), point("a/y", 8, 1001.0)).parent
    base = folder.with_name("base")
    assert verdicts(base, folder) == {"a/x": "slower", "a/y": "same"}
    assert "4 rounds" in drive("compare", base, folder).stdout
    (folder / "3.json").unlink()
    assert "has 4 rounds and" in complaint("compare", base, folder)


def test_other_environments_are_refused_unless_allowed(save: Save) -> None:
    base = save("base.json", point("a/x", 1024))
    document = json.loads(base.read_text())
    document["environment"]["gpu"]["name"] = "NVIDIA Imaginary 2"
    document["environment"]["flags"] = "-O0 " * 100
    new = write(document, base.with_name("new.json"))
    ended = drive("compare", base, new)
    assert ended.returncode == OTHER_ENVIRONMENT
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert '"NVIDIA Imaginary 1" against "NVIDIA Imaginary 2", and 1 more)' in ended.stderr
    assert len(ended.stderr) < 300
    ended = drive("compare", base, new, "--allow-environment")
    assert ended.returncode == GOOD
    assert "environments differ: gpu name" in ended.stdout


def test_a_round_of_another_environment_is_named(save: Save) -> None:
    rounds = [save(f"base/{k}.json", point("a/x", 8)) for k in range(3)]
    document = json.loads(rounds[1].read_text())
    document["environment"]["gpu"]["name"] = "NVIDIA Imaginary 2"
    write(document, rounds[1])
    base = rounds[0].parent
    ended = drive("compare", base, base)
    assert ended.returncode == OTHER_ENVIRONMENT
    assert f"2\" within '{base}', between 0.json and 1.json" in ended.stderr
    assert "2.json" not in ended.stderr


def test_bad_input_is_one_sentence(save: Save, tmp_path: Path) -> None:
    base = save("base.json", point("a/x", 1024))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "No such file" in complaint("compare", base, tmp_path / "none.json")
    assert "holds no results" in complaint("compare", base, empty)
    (tmp_path / "cut.json").write_text(base.read_text()[:1000])
    assert "perhaps cut short" in complaint("compare", base, tmp_path / "cut.json")
    assert "is not a results file" in complaint("compare", base, ROOT / "configs" / "quick.json")
    assert "no point in common" in complaint("compare", base, save("b.json", point("a/y", 8)))
    assert "unknown key 'measurement'" in complaint(
        "compare", base, base, "--config", ROOT / "configs" / "quick.json"
    )


def test_a_path_that_is_no_utf_8_is_told_as_well_as_json_can(save: Save, tmp_path: Path) -> None:
    base = save("base.json", point("a/x", 1024))
    odd = os.fsencode(tmp_path) + b"/\xff.json"
    shutil.copy(base, odd)
    ended = drive("compare", odd, odd, "--format", "json")
    assert ended.returncode == GOOD, ended.stderr
    assert json.loads(ended.stdout)["base"]["name"].endswith("\ufffd.json")


def test_results_beyond_the_memory_that_is_allowed_are_bad_usage(save: Save) -> None:
    document = results([point("a/x", 1024)])
    document["points"][0]["timing"]["cold"] |= {"samples": 2**22, "samples_ns": [1000.0] * 2**22}
    large = write(document, save("base.json", point("a/x", 1024)))

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))

    assert "raise the limit" in complaint("compare", large, large, preexec_fn=limit_memory)


@pytest.mark.parametrize(("base", "new"), [("quick", "full"), ("full", "quick")])
def test_sweeps_of_one_build_show_no_regression(base: str, new: str) -> None:
    # The points in common of sweeps of quick.json and full.json by one build on one H200.
    sides = [ROOT / "tests" / "sweeps" / f"{side}.json" for side in (base, new)]
    ended = drive("compare", *sides, "--allow-environment")
    assert ended.returncode == INCOMPLETE, ended.stdout + ended.stderr
    assert "reduce on cuda: new / base is" in ended.stdout
    assert "from the summaries" in ended.stdout


# ---- the recipe -----------------------------------------------------------------------------

needs_faults = pytest.mark.skipif(
    not SLOWED.exists(), reason=f"{SLOWED} is not built: run make build, or set REDUCE_BENCH_BINARY"
)

# Builds, in no time, a driver that is the one named by the file DRIVER.
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(recipe NONE)
file(READ DRIVER driver)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/bin/reduce-bench DEPENDS ${CMAKE_SOURCE_DIR}/DRIVER
                   COMMAND ${CMAKE_COMMAND} -E create_symlink ${driver} bin/reduce-bench)
add_custom_target(driver ALL DEPENDS ${CMAKE_BINARY_DIR}/bin/reduce-bench)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Revisions `fast`, `slow`, of which fault/slowable takes half as long again, and `broken`."""
    repository = tmp_path / "repository"
    (repository / "scripts").mkdir(parents=True)
    for script in ("compare_revisions.sh", "compare_builds.sh"):
        shutil.copy(ROOT / "scripts" / script, repository / "scripts")
    for copied in (ROOT / "CMakePresets.json", ROOT / ".gitignore"):
        shutil.copy(copied, repository)
    for recipe in (ROOT / "tests" / "recipe").iterdir():
        shutil.copy(recipe, repository)
    (repository / "CMakeLists.txt").write_text(PROJECT)

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        command = ["git", "-C", str(repository), *identity, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    git("init", "--quiet")

    def commit(revision: str) -> None:
        git("add", "--all")
        git("commit", "--quiet", "--message", revision)
        git("tag", revision)

    for revision, driver in (("fast", FAULTS), ("slow", SLOWED)):
        (repository / "DRIVER").write_text(str(driver))
        commit(revision)
    (repository / "CMakeLists.txt").write_text('message(FATAL_ERROR "a library is missing")')
    commit("broken")
    git("checkout", "--quiet", "slow")
    return repository


def compare_revisions(
    repository: Path, *revisions: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CONFIG": "smoke.json", "THRESHOLDS": "thresholds.json"} | settings
    return subprocess.run(
        [repository / "scripts" / "compare_revisions.sh", *revisions],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@needs_faults
@pytest.mark.alone
def test_the_recipe_finds_a_slower_revision(repository: Path) -> None:
    # A machine that does much else leaves five rounds inconclusive; more rounds settle it.
    for rounds in (5, 9):
        ended = compare_revisions(repository, "fast", "slow", ROUNDS=str(rounds))
        if ended.returncode != INCOMPLETE:
            break
    output = repository / "build-compare" / "results"
    assert ended.returncode == REGRESSION, ended.stdout + ended.stderr
    regressions = [line for line in ended.stdout.splitlines() if line.startswith("slower")]
    assert len(regressions) == 1
    assert "fault/slowable" in regressions[0]
    assert "| slower |" in (output / "comparison.md").read_text()
    assert ElementTree.parse(output / "comparison.xml").getroot().get("failures") == "1"
    order = [line.split()[-1] for line in ended.stderr.splitlines() if ": round " in line]
    assert order == (["base", "new", "new", "base"] * 5)[: 2 * rounds]


@needs_faults
@pytest.mark.alone
def test_the_recipe_finds_nothing_between_two_builds_of_one_revision(repository: Path) -> None:
    ended = compare_revisions(repository, "fast", "fast")
    assert ended.returncode in (GOOD, INCOMPLETE), ended.stdout + ended.stderr
    sides = [repository / "build-compare" / side for side in ("base", "head")]
    assert all((side / "reduce-bench").exists() for side in sides)
    # Only the files of this comparison count as its rounds.
    ended = compare_revisions(repository, "fast", ROUNDS="1")
    # One round of few points on a CPU decides nothing.
    assert ended.returncode == INCOMPLETE, ended.stdout + ended.stderr
    assert len(list((repository / "build-compare" / "results" / "base").iterdir())) == 1


@needs_faults
def test_the_recipe_fails_where_a_revision_loses_points_unless_they_are_allowed(
    tmp_path: Path,
) -> None:
    config = ROOT / "tests" / "recipe" / "smoke.json"
    document = json.loads(config.read_text()) | {"measurement": {"max_time_ms": 1}}
    document.pop("$schema")
    both = write(document, tmp_path / "both.json")
    document["sweeps"][0]["variants"] = ["cpu/sequential"]
    fewer = write(document, tmp_path / "fewer.json")
    command = [ROOT / "scripts" / "compare_builds.sh", FAULTS, both, FAULTS, fewer, tmp_path / "o"]

    def compare(allow_missing: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=os.environ | {"ROUNDS": "1", "ALLOW_MISSING": allow_missing},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    ended = compare("0")
    assert ended.returncode == REGRESSION, ended.stdout + ended.stderr
    assert "1 point is lost" in ended.stdout
    assert "ALLOW_MISSING=1" in (tmp_path / "o" / "comparison.md").read_text()
    ended = compare("1")
    assert ended.returncode == INCOMPLETE, ended.stdout + ended.stderr
    assert "1 only in base" in ended.stdout
    assert compare("yes").returncode == 2


@pytest.mark.parametrize("workflow", ["cpu", "gpu"])
def test_the_workflow_shows_what_verdicts_there_are(workflow: str, tmp_path: Path) -> None:
    steps = (ROOT / "docs" / "ci" / f"{workflow}.yml").read_text().split("- name: ")
    show = next(step for step in steps if step.startswith("Show the verdicts"))
    command = ["bash", "-e", "-c", show.partition(" run: ")[2].splitlines()[0]]
    summary = tmp_path / "summary"
    environment = os.environ | {"GITHUB_STEP_SUMMARY": str(summary)}
    subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    assert not summary.exists()
    (tmp_path / "build-compare" / "results").mkdir(parents=True)
    (tmp_path / "build-compare" / "results" / "comparison.md").write_text("verdicts")
    subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    assert summary.read_text() == "verdicts"


@needs_faults
def test_a_driver_that_is_missing_is_named(tmp_path: Path) -> None:
    config = ROOT / "tests" / "recipe" / "smoke.json"
    missing = tmp_path / "none"
    for drivers in ((missing, FAULTS), (FAULTS, missing)):
        base, new = drivers
        ended = subprocess.run(
            [ROOT / "scripts" / "compare_builds.sh", base, config, new, config, tmp_path / "out"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 2
        assert ended.stderr.count("\n") == 1
        assert f"'{missing}' is not a program" in ended.stderr


@pytest.mark.parametrize("report", ["markdown", "junit", "text"])
def test_a_report_that_fails_is_no_verdict(report: str, tmp_path: Path) -> None:
    """With a driver that measures nothing, finds a regression, and cannot write one report."""
    driver = tmp_path / "driver"
    driver.write_text(
        f"""#!/bin/sh
case "$*" in
  run*) exit 0 ;;
  *"--format {report}") exit 2 ;;
esac
exit {REGRESSION}
"""
    )
    driver.chmod(0o755)
    command = [ROOT / "scripts" / "compare_builds.sh", driver, "none", driver, "none"]
    ended = subprocess.run([*command, tmp_path / "out"], capture_output=True, check=False)
    assert ended.returncode == 2
    driver.write_text(driver.read_text().replace("exit 2", f"exit {REGRESSION}"))
    ended = subprocess.run([*command, tmp_path / "out"], capture_output=True, check=False)
    assert ended.returncode == REGRESSION


@needs_faults
def test_a_comparison_of_skipped_points_fails(tmp_path: Path) -> None:
    too_large_for_memory = 1 << 40
    sweep = {"variants": ["cpu/sequential"], "backends": ["cpu"], "n": [too_large_for_memory]}
    config = write({"schema": 1, "sweeps": [sweep]}, tmp_path / "config.json")
    command = [ROOT / "scripts" / "compare_builds.sh", FAULTS, config, FAULTS, config]
    ended = subprocess.run(
        [*command, tmp_path / "out"],
        env=os.environ | {"ROUNDS": "2"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert "nothing could be compared" in ended.stderr


@needs_faults
@pytest.mark.parametrize(
    ("revisions", "settings", "message"),
    [
        (["none"], {}, "'none' names no commit"),
        (["fast", "broken"], {}, "a library is missing"),
        (["fast"], {"CONFIG": "none.json"}, "has no none.json"),
        (["fast"], {"ROUNDS": "0"}, "ROUNDS is '0'"),
        (["fast"], {"CONFIG": "thresholds.json"}, "failed with exit code 2"),
    ],
)
def test_the_recipe_says_what_it_lacks(
    repository: Path, revisions: list[str], settings: dict[str, str], message: str
) -> None:
    ended = compare_revisions(repository, *revisions, **settings)
    assert ended.returncode == 2, ended.stderr
    assert message in ended.stderr
