"""Plug-ins: shared libraries with kernels that were not built with the driver."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SaveConfig
from reduce_bench_report.loader import load
from test_driver import BINARY, GOOD, INCOMPLETE, ROOT, USAGE, Json, complaint, drive

PLUGINS = ROOT / "tests" / "plugins"
EXAMPLE = ROOT / "examples" / "plugin" / "mine.c"
WRONG = 1

pytestmark = [
    pytest.mark.skipif(
        not BINARY.exists(),
        reason=f"{BINARY} is not built: run make build, or set REDUCE_BENCH_BINARY",
    ),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

Build = Callable[..., Path]


def compiled(source: Path, output: Path, **macros: str) -> Path:
    definitions = [f"-D{name}={value}" for name, value in macros.items()]
    command: list[str | Path] = ["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]
    command += ["-shared", "-fPIC", "-pthread", "-I", ROOT / "include", *definitions, source]
    subprocess.run([*command, "-o", output], check=True)
    return output


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(EXAMPLE, tmp_path_factory.mktemp("example") / "mine.so")


@pytest.fixture
def faulty(tmp_path: Path) -> Build:
    """A plug-in with the fault that the macros choose."""

    def build(**macros: str) -> Path:
        return compiled(PLUGINS / "faulty.c", tmp_path / "faulty.so", **macros)

    return build


def run(config: Path, *plugins: Path) -> tuple[subprocess.CompletedProcess[str], list[Json]]:
    """A run and the records of its points."""
    out = config.with_name("r.json")
    options = [word for plugin in plugins for word in ("--plugin", plugin)]
    ended = drive("run", "--config", config, "-o", out, *options)
    records = [point.raw for point in load(out).points] if out.exists() else []
    return ended, records


# ---- a good plug-in -------------------------------------------------------------------------


def test_the_example_is_verified(example: Path) -> None:
    ended = drive("verify", "--plugin", example, "--filter", "mine/*", "--backend", "cpu")
    assert ended.returncode == GOOD, ended.stderr + ended.stdout
    assert "1 variant verified, 0 failed" in ended.stderr


def test_the_example_is_timed_beside_the_catalog_and_named_in_the_results(
    example: Path, config: SaveConfig
) -> None:
    path = config(
        "mine/*", "cpu/sequential", type=["i32", "f64"], measurement={"modes": ["cold", "hot"]}
    )
    ended, records = run(path, example)
    assert ended.returncode == GOOD, ended.stderr
    assert [(each["variant"], each["status"]) for each in records] == [
        ("cpu/sequential", "ok"),
        ("mine/sum", "ok"),
    ] * 4
    for each in records:
        assert set(each["timing"]) == {"cold", "hot"}
        if each["variant"] == "cpu/sequential":
            assert each["plugin"] is None
            continue
        assert each["params"] == {"accumulators": "8"}
        assert each["plugin"]["file"] == "mine.so"
        assert each["plugin"]["version"] == "1.0"
        assert len(each["plugin"]["checksum"]) == 16
    assert "mine/sum" in ended.stdout


def test_parameters_of_a_plugin_are_axes(example: Path, config: SaveConfig) -> None:
    ended, records = run(config("mine/*", params={"accumulators": [1, 4]}), example)
    assert ended.returncode == GOOD, ended.stderr
    assert [each["params"]["accumulators"] for each in records] == ["1", "4"] * 2
    axes = config("mine/*", params={"accumulators": [3]})
    assert "'accumulators' cannot be 3" in complaint(
        "run", "--config", axes, "--plugin", example, "-o", "-"
    )


def test_two_runs_with_it_are_compared(example: Path, config: SaveConfig) -> None:
    ended, _ = run(config("mine/*"), example)
    assert ended.returncode == GOOD, ended.stderr
    first = config("mine/*").with_name("r.json")
    second = first.rename(first.with_name("first.json"))
    run(config("mine/*"), example)
    compared = drive("compare", second, first, "--format", "json")
    assert "mine/sum" in compared.stdout, compared.stderr


def test_list_and_show_have_it(example: Path) -> None:
    listed = json.loads(drive("list", "--json", "--plugin", example).stdout)
    (mine,) = [each for each in listed if each["id"] == "mine/sum"]
    assert mine["backends"] == mine["built"] == ["cpu"]
    assert mine["ops"] == ["sum"]
    assert mine["plugin"]["file"] == "mine.so"
    assert all(each["plugin"] is None for each in listed if each["id"] != "mine/sum")
    shown = drive("show", "--plugin", example, "mine/sum").stdout
    assert "mine/sum: several accumulators" in shown
    assert "Plug-in: mine.so, version 1.0, checksum " in shown
    assert "additions of one accumulator wait" in shown


def test_resuming_takes_the_same_plugin(example: Path, config: SaveConfig, tmp_path: Path) -> None:
    # A run with an unfinished journal, as a kill leaves it.
    path = config("mine/*", n=[1000])
    arguments = ["run", "--config", path, "-o", tmp_path / "r.json", "--plugin", example]
    with subprocess.Popen(
        [BINARY, *arguments, "--set", "measurement.max_time_ms=60000", "--set", "n=1000,2000"],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("measuring"):
                break
        running.kill()
    settings = ["--set", "measurement.max_time_ms=60000", "--set", "n=1000,2000"]
    other = compiled(EXAMPLE, tmp_path / "mine.so", EXTRA="1")
    other.write_bytes(other.read_bytes() + b"more")
    refused = complaint(*arguments[:-1], other, *settings, "--resume")
    assert "was written by another configuration, build or device" in refused


# What writes to the worker's socket, in descriptor 3: bytes that are no message, and a message that
# is no answer.
NO_MESSAGE = 'if(write(3,"this is no message",18)<0)abort()'
NO_RECORD = r'if(write(3,"\1\0\0\0\0\0\0\0\xf6",9)<0)abort()'

# ---- what cannot be loaded ------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "no symbol": ({"SYMBOL": "other"}, "it has no symbol 'reduce_bench_plugin'"),
    "another interface": ({"INTERFACE": "99"}, "it is built for version 99 of the interface"),
    "undefined symbol": ({"AT_CALL": "missing()"}, "it does not load: undefined symbol: missing"),
    "no variants": ({"COUNT": "0"}, "it declares no variant"),
    "too many variants": ({"COUNT": "65"}, "it declares 65 variants"),
    "no version": ({"VERSION": "NULL"}, "'version' is missing"),
    "no id": ({"ID": "NULL"}, "'id' is missing"),
    "bad id": ({"ID": '"Faulty Sum"'}, "'Faulty Sum' is no id"),
    "id of the catalog": ({"ID": '"cpu/sequential"'}, "has the id of one in the catalog"),
    "unknown operation": ({"OPERATION": "9"}, "'operation' is 9, and the largest is 8"),
    "unknown type": ({"TYPE": "77"}, "'type' is 77"),
    "unknown backend": ({"BACKEND": "2"}, "'backend' is 2, and the largest is 1 ('cpu')"),
    "undefined combination": (
        {"OPERATION": "REDUCE_BENCH_HISTOGRAM"},
        "'sum' of 'histogram' is not defined on i32",
    ),
    "no enqueue": ({"ENQUEUE": "NULL"}, "'enqueue' is missing"),
    "default not allowed": ({"DEFAULT": '"3"'}, "the default of 'block' is not among"),
    "name of a parameter": ({"PARAM": '"two words"'}, "'two words' is no name of a parameter"),
    "reserved parameter": ({"PARAM": '"form"'}, "the parameter 'form' has a meaning of its own"),
    "scan axis of no scan": ({"PARAM": '"scan"'}, "the parameter 'scan' has a meaning of its own"),
    "second without a title": ({"COUNT": "2"}, "'title' is missing"),
    "crash at load": ({"AT_LOAD": "raise(SIGSEGV)"}, "was killed by SIGSEGV"),
    "abort at load": ({"AT_LOAD": "abort()"}, "was killed by SIGABRT"),
    "exit at load": ({"AT_LOAD": "exit(0)"}, "exited with status 0"),
    "message at load": ({"AT_LOAD": NO_RECORD}, "sent what is no answer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_sentence_says_why_it_is_refused(name: str, faulty: Build) -> None:
    macros, reason = REFUSED[name]
    for command in (["list"], ["verify"]):
        said = complaint(*command, "--plugin", faulty(**macros))
        assert said.startswith("reduce-bench: the plug-in '"), said
        assert reason in said


def test_one_that_hangs_at_load_is_given_up(faulty: Build, tmp_path: Path) -> None:
    """In a twentieth of the driver's limit, since its time passes so much faster."""
    limit_s, faster = 20, 20
    fast_time = compiled(PLUGINS / "fast_time.c", tmp_path / "fast_time.so", FASTER=str(faster))
    hangs = faulty(AT_LOAD="for(;;)pause()")
    started = time.monotonic()
    said = complaint("list", "--plugin", hangs, env=os.environ | {"LD_PRELOAD": str(fast_time)})
    assert f"did not answer within {limit_s} s" in said
    assert limit_s / faster <= time.monotonic() - started < limit_s / 2


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library", encoding="utf-8")
    assert "it does not load" in complaint("list", "--plugin", text)
    assert "there is no such file" in complaint("list", "--plugin", tmp_path / "none.so")
    assert "it is not a regular file" in complaint("list", "--plugin", tmp_path)


def test_a_library_that_is_cut_off_is_refused(example: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.so"
    whole = example.read_bytes()
    for share in (0.01, 0.1, 0.5):
        cut.write_bytes(whole[: int(len(whole) * share)])
        assert "the plug-in '" in complaint("list", "--plugin", cut)


def test_the_same_plugin_twice_is_refused(example: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(example, tmp_path / "copy.so"))
    said = complaint("list", "--plugin", example, "--plugin", copy)
    assert "'mine/sum' has the id of one of 'mine.so'" in said


# ---- what goes wrong in a run ---------------------------------------------------------------

FAULTS: dict[str, tuple[dict[str, str], str, str]] = {
    "crash": ({"AT_CALL": "raise(SIGSEGV)"}, "failed", "was killed by SIGSEGV"),
    "exit": ({"AT_CALL": "exit(3)"}, "failed", "exited with status 3"),
    "hang": ({"AT_CALL": "for(;;)pause()"}, "timeout", "did not end within 1 s"),
    "error": ({"AT_CALL": 'return"no luck"'}, "failed", "no luck"),
    "wrong": ({"AT_CALL": "++*(int*)call->results"}, "wrong", "got "),
    "out of bounds": (
        {"AT_CALL": "((char*)call->workspace)[8]=1"},
        "wrong",
        "wrote out of the bounds of its scratch memory",
    ),
    "flood": (
        {"AT_CALL": "for(;;)puts(call->problem->params[0])"},
        "failed",
        "printed more than 1048576 bytes",
    ),
    "refused": ({"REFUSE": '"not on a full moon"'}, "skipped", "not on a full moon"),
    "no message": ({"AT_CALL": NO_MESSAGE}, "failed", "sent what is no answer"),
    "no record": ({"AT_CALL": NO_RECORD}, "failed", "sent what is no answer"),
    "workspace": ({"ZEROED": "9"}, "failed", "asked for 8 bytes of scratch memory, of which 9"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_its_points_alone(name: str, faulty: Build, config: SaveConfig) -> None:
    macros, status, reason = FAULTS[name]
    path = config("faulty/sum", "cpu/sequential", measurement={"point_timeout_s": 1})
    ended, records = run(path, faulty(**macros))
    assert ended.returncode == {"wrong": WRONG, "skipped": GOOD}.get(status, INCOMPLETE)
    assert [(each["variant"], each["status"]) for each in records] == [
        ("cpu/sequential", "ok"),
        ("faulty/sum", status),
    ] * 2
    for each in records[1::2]:
        assert reason in each["reason"]
        assert each["timing"] == {}
        assert each["plugin"]["file"] == "faulty.so"


def test_one_that_does_not_load_again_costs_its_points(
    faulty: Build, config: SaveConfig, tmp_path: Path
) -> None:
    once = tmp_path / "once"
    macro = f'if(access("{once}",F_OK)==0)abort();else fclose(fopen("{once}","w"))'
    ended, records = run(config("faulty/sum", "cpu/sequential"), faulty(AT_LOAD=macro))
    assert ended.returncode == INCOMPLETE
    assert [each["status"] for each in records] == ["ok", "failed"] * 2
    assert "no worker process for cpu came up" in records[1]["reason"]


def test_a_lost_device_is_no_fault_of_the_plugin(
    faulty: Build, config: SaveConfig, tmp_path: Path
) -> None:
    """Every process that begins after the plug-in's first call dies, with or without it."""
    lost, out = tmp_path / "lost", tmp_path / "r.json"
    plugin = faulty(
        AT_LOAD=f'if(access("{lost}",F_OK)==0)abort()',
        AT_CALL=f'{{fclose(fopen("{lost}","w"));abort();}}',
    )
    arguments = ["run", "--config", config("faulty/sum"), "-o", out, "--plugin", plugin]
    ended = drive(*arguments, env=os.environ | {"LD_PRELOAD": str(plugin)})
    assert ended.returncode == INCOMPLETE, ended.stderr
    assert "not run: no worker process for cpu came up" in ended.stdout + ended.stderr
    assert "1 point could not be run; --resume" in ended.stderr
    lost.unlink()
    resumed = drive(*arguments, "--resume")
    assert resumed.returncode == INCOMPLETE, resumed.stderr
    assert "resumed: 1 of 2 points were done" in resumed.stderr
    assert [point.raw["status"] for point in load(out).points] == ["failed"] * 2


def test_last_words_that_are_no_text_are_told_as_json(faulty: Build) -> None:
    plugin = faulty(AT_CALL=r'if(call->problem->n==33){puts("bytes \xff");fflush(stdout);abort();}')
    arguments = ["--plugin", plugin, "--filter", "faulty/*", "--backend", "cpu", "--json"]
    ended = drive("verify", *arguments)
    assert ended.returncode == WRONG, ended.stderr
    (report,) = json.loads(ended.stdout)
    assert 'its last output was "bytes \ufffd"' in report["failures"][0]


def test_verify_tells_a_fault(faulty: Build) -> None:
    plugin = faulty(AT_CALL="*(int*)call->results+=call->problem->n==33")
    ended = drive("verify", "--plugin", plugin, "--filter", "faulty/*", "--backend", "cpu")
    assert ended.returncode == WRONG
    assert "n=33" in ended.stdout


# ---- cheats ---------------------------------------------------------------------------------

IN_TIMING = "right before timing, but not in "
CHEATS = {
    "memo": IN_TIMING,
    "prepared": IN_TIMING,
    "nothing": IN_TIMING,
    "every-second": IN_TIMING,
    "half": "got ",
    "half-later": IN_TIMING,
    "sampled": IN_TIMING,
    "oracle": IN_TIMING,
    "max-memo": IN_TIMING,
    "clock": "the clock did not run as the system's",
    # These may also be found out while they are verified.
    "mark": "",
    "host-thread": "",
}


@pytest.fixture(scope="session")
def cheats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(PLUGINS / "cheats.c", tmp_path_factory.mktemp("cheats") / "cheats.so")


def caught(cheats: Path, config: Path, reason: str = IN_TIMING) -> None:
    ended, records = run(config, cheats)
    assert ended.returncode in (WRONG, INCOMPLETE), ended.stdout
    assert records
    for each in records:
        assert each["status"] in ("wrong", "failed"), each["variant"]
        assert reason in each["reason"]
        assert not each["timing"]


@pytest.mark.parametrize("mode", ["cold", "hot"])
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_found_out(name: str, mode: str, cheats: Path, config: SaveConfig) -> None:
    op = ["max"] if name == "max-memo" else ["sum"]
    path = config(f"cheat/{name}", n=[1 << 20], op=op, measurement={"modes": [mode]})
    if name != "every-second":
        caught(cheats, path, CHEATS[name])
        return
    # It works in half of the calls that are checked: each point shows it with a chance of 7/8.
    path = config(f"cheat/{name}", n=list(range(1 << 20, (1 << 20) + 8)), op=op)
    ended, _ = run(path, cheats)
    assert ended.returncode == WRONG


@pytest.mark.parametrize("name", ["short-floats", "float-memo"])
def test_a_cheat_with_floats_is_found_out(name: str, cheats: Path, config: SaveConfig) -> None:
    caught(cheats, config(f"cheat/{name}", n=[1000, 1 << 20], type=["f32"]))


@pytest.mark.parametrize("name", ["histogram-memo", "histogram-nothing"])
def test_a_cheat_with_labels_is_found_out(name: str, cheats: Path, config: SaveConfig) -> None:
    axes = {"operation": "histogram", "buckets": [256], "labels": ["uniform", "degenerate"]}
    caught(cheats, config(f"cheat/{name}", n=[1 << 18], **axes))


def test_usage_names_what_to_do() -> None:
    ended = drive("list", "--plugin")
    assert ended.returncode == USAGE
