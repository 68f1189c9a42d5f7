"""The built program as a user runs it: what it prints, writes and returns."""

import fcntl
import fnmatch
import json
import os
import pty
import re
import shlex
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reduce_bench_report import configuration
from reduce_bench_report.loader import ELEMENT_BYTES, Results, load

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("REDUCE_BENCH_BINARY", ROOT / "build" / "bin" / "reduce-bench"))

pytestmark = pytest.mark.skipif(
    not BINARY.exists(), reason=f"{BINARY} is not built: run make build, or set REDUCE_BENCH_BINARY"
)

GOOD, USAGE, INTERRUPTED = 0, 2, 130
INCOMPLETE = 4

Json = dict[str, Any]
SaveConfig = Callable[..., Path]


def drive(*arguments: str | Path | bytes, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs the program to its end; text output."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | options
    return subprocess.run(
        [BINARY, *arguments], encoding="utf-8", errors="replace", check=False, **options
    )


def complaint(*arguments: str | Path | bytes, **options: Any) -> str:
    """The one line with which the program refuses, by the exit code for bad usage."""
    ended = drive(*arguments, **options)
    assert ended.returncode == USAGE, ended.stderr
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("backend ")]
    assert len(lines) == 1, ended.stderr
    assert not ended.stdout
    return lines[0]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def config(tmp_path: Path) -> SaveConfig:
    """Writes a configuration of one sweep over small inputs."""

    def save(**changes: Any) -> Path:
        sweep = {"variants": ["cpu/sequential"], "n": [100, 1000]} | changes
        path = tmp_path / "config.json"
        path.write_text(json.dumps({"schema": 1, "sweeps": [sweep]}), encoding="utf-8")
        return path

    return save


def quick(config_file: Path, *more: str | Path | bytes) -> list[str | Path | bytes]:
    """Arguments of a run as short as it gets."""
    settings = ["--set", "measurement.max_time_ms=1", "--set", "measurement.modes=hot"]
    return ["run", "--config", config_file, "--backend", "cpu", *settings, *more]


# ---- run ------------------------------------------------------------------------------------


def test_run_writes_a_valid_document_and_prints_a_table(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "new" / "r.json"
    ended = drive(*quick(config(), "-o", out))
    assert ended.returncode == GOOD, ended.stderr
    points = load(out).points
    assert [(p.variant, p.n, p.ranked) for p in points] == [
        ("cpu/sequential", 100, True),
        ("cpu/sequential", 1000, True),
    ]
    assert "cpu/sequential" in ended.stdout
    assert "[2/2] cpu/sequential n=1000 i32 sum uniform on cpu: " in ended.stderr
    assert names_in(out.parent) == ["r.json"]  # the journal is gone


def test_output_to_stdout_is_json_and_nothing_else(config: SaveConfig, tmp_path: Path) -> None:
    ended = drive(*quick(config(), "-o", "-"), cwd=tmp_path)
    assert ended.returncode == GOOD, ended.stderr
    saved = tmp_path / "saved.json"
    saved.write_text(ended.stdout, encoding="utf-8")
    assert len(load(saved).points) == 2
    assert "cpu/sequential" in ended.stderr
    assert names_in(tmp_path) == ["config.json", "saved.json"]


def test_default_output_is_named_by_time_and_device(config: SaveConfig, tmp_path: Path) -> None:
    assert drive(*quick(config()), cwd=tmp_path).returncode == GOOD
    (out,) = (tmp_path / "results" / "local").iterdir()
    assert out.name.endswith("Z-cpu.json")
    load(out)


def test_operations_with_labels(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    keyed = config(
        variants=["cpu/multireduce"],
        operation="multireduce",
        labels=["sorted", {"name": "zipf", "exponent": 1.5}],
        type=["i32", "f32"],
    )
    ended = drive(*quick(keyed, "-o", out, "--set", "buckets=1,300", "--set", "n=1000"))
    assert ended.returncode == GOOD, ended.stderr
    points = load(out).points
    assert len(points) == len({point.identity for point in points}) == 2 * 2 * 2
    assert {(p.buckets, str(p.labels)) for p in points} == {
        (buckets, labels) for buckets in (1, 300) for labels in ("sorted", "zipf(exponent=1.5)")
    }
    for point in points:
        assert point.ranked
        assert point.buckets is not None
        assert point.raw["verification"]["elements"] == point.buckets
        assert point.raw["bytes_read"] == 8000
        assert point.raw["bytes_written"] == 4 * point.buckets
    assert "sum of f32 (uniform values, sorted labels, n=1000)" in ended.stdout
    assert "m=300" in ended.stdout


def test_elements_are_of_the_size_that_the_schema_says(config: SaveConfig, tmp_path: Path) -> None:
    read: dict[str, int] = {}
    for sweep in (
        {"type": ["i32", "i64", "f32", "f64"]},
        {
            "operation": "histogram",
            "variants": ["cpu/histogram"],
            "type": ["u8", "u16", "u32"],
            "buckets": [16],
            "labels": ["uniform"],
        },
    ):
        out = tmp_path / "r.json"
        ended = drive(*quick(config(n=[1000], **sweep), "-o", out))
        assert ended.returncode == GOOD, ended.stderr
        read |= {point.type: point.raw["bytes_read"] for point in load(out).points}
        out.unlink()
    halves = {"f16", "bf16"}  # no CPU algorithm takes them
    assert read == {type: 1000 * ELEMENT_BYTES[type] for type in ELEMENT_BYTES.keys() - halves}


def test_histograms_of_an_image(config: SaveConfig, tmp_path: Path) -> None:
    image = tmp_path / "grey.pgm"
    image.write_bytes(b"P5 2 2 255\n" + bytes([0, 7, 7, 200]))
    labels = {"name": "image", "file": str(image)}
    types = ["u8", "u16", "u32"]
    histogram = {"variants": ["cpu/histogram"], "operation": "histogram", "type": types}
    out = tmp_path / "r.json"
    ended = drive(*quick(config(**histogram, labels=[labels], n=[4]), "-o", out))
    assert ended.returncode == GOOD, ended.stderr
    assert all(point.ranked and point.op == "none" for point in load(out).points)
    ended = drive(*quick(config(**histogram, labels=[labels], n=[4], buckets=[200]), "-o", out))
    assert ended.returncode == INCOMPLETE
    assert "the label 200 of pixel 3 (row 1, column 1) is not below 200 buckets" in ended.stdout
    labels["file"] = str(tmp_path / "none.pgm")
    message = complaint(*quick(config(**histogram, labels=[labels], n=[4]), "-o", out))
    assert f"there is no '{tmp_path / 'none.pgm'}': " in message


def test_samples_are_kept_on_request(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    assert drive(*quick(config(), "-o", out)).returncode == GOOD
    assert "samples_ns" not in load(out).points[0].timing["hot"]
    assert drive(*quick(config(), "-o", out, "--keep-samples")).returncode == GOOD
    timing = load(out).points[0].timing["hot"]
    assert len(timing["samples_ns"]) == timing["samples"] >= 10


def test_what_a_configuration_leaves_out_is_as_the_schema_says(tmp_path: Path) -> None:
    variants = json.loads(drive("list", "--json").stdout)
    operations = dict.fromkeys(v["operation"] for v in variants if v["id"].startswith("cpu/"))
    assert {"reduce", "multireduce", "histogram", "scatter"} <= operations.keys()
    sweeps = [
        {"variants": ["cpu/*"], "n": [16], **({} if name == "reduce" else {"operation": name})}
        for name in operations
    ]
    path = tmp_path / "config.json"
    out = tmp_path / "r.json"
    path.write_text(json.dumps({"schema": 1, "sweeps": sweeps}), encoding="utf-8")
    few = ["--backend", "cpu", "--set", "measurement.max_time_ms=1"]
    assert drive("run", "--config", path, "-o", out, *few).returncode == GOOD
    results = load(out)
    stated = results.document["config"]["sweeps"]
    resolved = configuration.of_run(results).sweeps
    for ours, theirs, raw in zip(configuration.load(path).sweeps, resolved, stated, strict=True):
        assert {"type", "op", "operation"} <= raw.keys()
        assert (ours.axes, ours.mode) == (theirs.axes, theirs.mode), raw["operation"]


def test_dry_run_lists_the_points_and_writes_nothing(config: SaveConfig, tmp_path: Path) -> None:
    ended = drive(*quick(config(), "-o", tmp_path / "r.json", "--dry-run", "--set", "op=min,max"))
    assert ended.returncode == GOOD
    assert ended.stdout.splitlines() == [
        f"cpu/sequential n={n} i32 {op} uniform on cpu"
        for n in (100, 1000)
        for op in ("min", "max")
    ]
    assert names_in(tmp_path) == ["config.json"]


def test_the_seed_decides_the_inputs(config: SaveConfig, tmp_path: Path) -> None:
    def checksum(seed: str) -> str:
        out = tmp_path / "r.json"
        assert drive(*quick(config(), "-o", out, "--seed", seed)).returncode == GOOD
        point = load(out).points[0]
        assert point.seed == int(seed)
        return str(point.raw["input_checksum"])

    assert checksum("5") == checksum("5")
    assert checksum("5") != checksum("6")


def test_interleaved_rounds_make_whole_points(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    path = config(variants=["cpu/sequential", "cpu/parallel"])
    assert drive(*quick(path, "-o", out, "--set", "measurement.interleave=3")).returncode == GOOD
    points = load(out).points
    assert [p.raw["index"] for p in points] == [0, 1, 2, 3]
    assert all(p.ranked and p.timing["hot"]["samples"] >= 10 for p in points)


def test_a_primary_mode_that_the_backend_lacks_is_told(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    ended = drive(*quick(config(), "-o", out, "--set", "measurement.modes=graph,hot"))
    assert ended.returncode == GOOD, ended.stderr
    assert "not graph" in ended.stdout
    assert load(out).points[0].outcome == "not timed graph"


def test_points_without_any_mode_are_skipped(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    ended = drive(*quick(config(), "-o", out, "--set", "measurement.modes=graph"))
    assert ended.returncode == INCOMPLETE, ended.stderr
    assert "nothing was measured" in ended.stderr
    assert {p.status for p in load(out).points} == {"skipped"}
    assert "none of the modes asked for" in ended.stdout


def test_files_that_are_not_results_are_kept(config: SaveConfig, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    assert "is not a results file" in complaint(*quick(config(), "-o", notes))
    assert notes.read_text(encoding="utf-8") == "mine"
    assert "names a directory" in complaint(*quick(config(), "-o", f"{tmp_path}/new/"))


def test_a_link_to_results_is_followed(config: SaveConfig, tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.touch()
    link.symlink_to(real.name)
    assert drive(*quick(config(), "-o", link)).returncode == GOOD
    assert link.is_symlink()
    assert len(load(real).points) == 2


def test_links_are_followed_to_what_is_not_there_yet(config: SaveConfig, tmp_path: Path) -> None:
    real, link = tmp_path / "folder" / "real.json", tmp_path / "link.json"
    real.parent.mkdir()
    link.symlink_to("between.json")
    (tmp_path / "between.json").symlink_to(real)
    with Path(f"{real}.journal").open("w", encoding="utf-8") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        assert "another run is writing" in complaint(*quick(config(), "-o", link))
    assert drive(*quick(config(), "-o", link)).returncode == GOOD
    assert link.is_symlink()
    assert len(load(real).points) == 2
    assert names_in(real.parent) == ["real.json"]
    (tmp_path / "between.json").unlink()
    (tmp_path / "between.json").symlink_to(link)
    assert "links have no end" in complaint(*quick(config(), "-o", link))


@pytest.mark.parametrize("beside", ["r.json.tmp", "r.json.journal"])
def test_what_is_in_the_way_is_told_before_measuring(
    config: SaveConfig, tmp_path: Path, beside: str
) -> None:
    (tmp_path / beside).mkdir()
    assert f"{beside}'" in complaint(*quick(config(), "-o", tmp_path / "r.json"))
    assert names_in(tmp_path) == sorted(["config.json", beside])


def test_hostile_configurations_are_refused(tmp_path: Path) -> None:
    for text, why in {
        "[" * 200000 + "]" * 200000: "nests deeper",
        '{"schema": 1, "schema": 1, "sweeps": []}': "stands twice",
        '{"schema": 1, "sweeps": [{"variants": ["cpu/*"], "n": [1e400]}]}': "a number larger",
    }.items():
        file = tmp_path / "hostile.json"
        file.write_text(text, encoding="utf-8")
        assert why in complaint("run", "--config", file, "--dry-run")


def test_a_damaged_journal_is_refused(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    journal = Path(f"{out}.journal")
    command = quick(config(), "-o", out)
    process = subprocess.Popen(
        [str(BINARY), *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not journal.exists() or not journal.read_text(encoding="utf-8").endswith("\n"):
        assert process.poll() is None, "the run ended before its journal was seen"
    process.kill()
    process.wait()
    header = journal.read_text(encoding="utf-8").splitlines()[0]
    hostile = ["5", "null", '{"index": 9999}', '{"index": 1e300}', '{"index": 0}']
    for line in [*hostile, '{"ceilings": {"gpu": {}}}', '{"ceilings": {"cpu": {"read": [5]}}}']:
        journal.write_text(f"{header}\n{line}\n", encoding="utf-8")
        assert "is damaged: line 2" in complaint(*command, "--resume"), line


def test_sizes_that_do_not_fit_are_skipped(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    ended = drive(*quick(config(n=[100, 1 << 40]), "-o", out))
    assert ended.returncode == GOOD, ended.stderr
    small, large = load(out).points
    assert (small.status, large.status) == ("ok", "skipped")
    assert large.reason is not None
    assert large.reason.startswith("needs 4398046.5 MB of memory, ")


def test_a_command_line_that_is_not_utf_8_is_recorded(config: SaveConfig, tmp_path: Path) -> None:
    out = os.fsencode(tmp_path) + b"/\xff.json"
    assert drive(*quick(config(), "-o", out)).returncode == GOOD
    document = json.loads(Path(os.fsdecode(out)).read_text(encoding="utf-8"))
    assert document["environment"]["command_line"][-1].endswith("/\ufffd.json")


# ---- interrupting and resuming --------------------------------------------------------------

MANY = {
    "n": [1000],
    "type": ["i32", "f32"],
    "op": ["sum", "min", "max"],
    "distribution": ["uniform", "ones", "ramp", "normal"],
}
MANY_COUNT = 24


def slow(config_file: Path, *more: str | Path) -> list[str | Path]:
    """Arguments of a run long enough to be caught at work: caches are flushed for every sample."""
    setting = ["--set", "measurement.max_time_ms=1"]
    return ["run", "--config", config_file, "--backend", "cpu", *setting, *more]


def stop_after_two_points(arguments: list[str | Path], with_signal: signal.Signals) -> int:
    """Starts the program, sends it the signal once two points are done; its exit code."""
    with subprocess.Popen(
        [BINARY, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(f"[2/{MANY_COUNT}]"):
                process.send_signal(with_signal)
        return process.wait(60)


def identities(results: Results) -> set[tuple[object, ...]]:
    return {point.identity for point in results.points}


def test_an_interrupt_saves_what_is_done_and_resume_does_the_rest(
    config: SaveConfig, tmp_path: Path
) -> None:
    out, journal = tmp_path / "r.json", tmp_path / "r.json.journal"
    arguments = slow(config(**MANY), "-o", out)
    assert stop_after_two_points(arguments, signal.SIGINT) == INTERRUPTED
    partial = load(out)
    assert partial.document["interrupted"] is True
    assert 2 <= len(partial.points) < MANY_COUNT
    assert journal.exists()

    saved = out.read_bytes(), journal.read_bytes()
    refusal = complaint(*arguments, "--resume", "--seed", "2")
    assert "another configuration, build or device" in refusal
    assert "another configuration" in complaint(*arguments, "--resume", "--set", "n=999")
    assert (out.read_bytes(), journal.read_bytes()) == saved

    ended = drive(*arguments, "--resume")
    assert ended.returncode == GOOD, ended.stderr
    assert f"resumed: {len(partial.points)} of {MANY_COUNT} points were done" in ended.stderr
    whole = load(out)
    assert whole.document["interrupted"] is False
    assert len(whole.points) == len(identities(whole)) == MANY_COUNT
    assert [point.raw for point in whole.points[: len(partial.points)]] == [
        point.raw for point in partial.points
    ]
    assert not journal.exists()


def test_a_kill_loses_no_finished_point(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    arguments = slow(config(**MANY), "-o", out)
    assert stop_after_two_points(arguments, signal.SIGKILL) == -signal.SIGKILL
    assert not out.exists()
    ended = drive(*arguments, "--resume")
    assert ended.returncode == GOOD, ended.stderr
    assert "resumed: 0 of" not in ended.stderr
    assert "resumed: 1 of" not in ended.stderr
    assert len(identities(load(out))) == MANY_COUNT


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_an_older_result_stays_until_the_new_one_is_complete(
    config: SaveConfig, tmp_path: Path, kind: signal.Signals
) -> None:
    out, journal = tmp_path / "r.json", tmp_path / "r.json.journal"
    assert drive(*quick(config(), "-o", out)).returncode == GOOD
    older = out.read_bytes()
    arguments = slow(config(**MANY), "-o", out)
    stop_after_two_points(arguments, kind)
    assert out.read_bytes() == older
    assert journal.exists()
    ended = drive(*arguments, "--resume")
    assert ended.returncode == GOOD, ended.stderr
    assert len(load(out).points) == MANY_COUNT
    assert not journal.exists()


def test_an_interrupted_run_says_what_stays_and_where_the_rest_is(
    config: SaveConfig, tmp_path: Path
) -> None:
    out = tmp_path / "r.json"
    assert drive(*quick(config(), "-o", out)).returncode == GOOD
    arguments = slow(config(**MANY), "-o", out)
    with subprocess.Popen(
        [BINARY, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(f"[2/{MANY_COUNT}]"):
                process.send_signal(signal.SIGINT)
        assert process.wait(60) == INTERRUPTED
    replaces = f"replaces '{out}', 2 points of another configuration, when this run is complete"
    (warned,) = (i for i, line in enumerate(said) if line.startswith(replaces))
    (measuring,) = (i for i, line in enumerate(said) if line.startswith("measuring the ceilings"))
    assert warned < measuring
    assert (
        f"'{out}' keeps its older result; what was measured lies in the journal beside it\n"
    ) in said
    assert not any(line.startswith("results: ") for line in said)


def test_only_a_result_of_another_configuration_is_warned_of(
    config: SaveConfig, tmp_path: Path
) -> None:
    out = tmp_path / "r.json"
    path = config()
    warning = "of another configuration"
    assert warning not in drive(*quick(path, "-o", out)).stderr
    assert warning not in drive(*quick(path, "-o", out)).stderr  # the same once more
    ended = drive(*quick(path, "-o", out, "--set", "n=7"))
    assert "2 points of another configuration" in ended.stderr


def test_a_run_that_measures_nothing_replaces_nothing(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    assert drive(*quick(config(), "-o", out)).returncode == GOOD
    older = out.read_bytes()
    ended = drive(*quick(config(), "-o", out, "--set", "measurement.modes=graph"))
    assert ended.returncode == INCOMPLETE
    assert f"'{out}' keeps its older result\n" in ended.stderr
    assert out.read_bytes() == older
    assert names_in(tmp_path) == ["config.json", "r.json"]


def test_two_runs_do_not_write_one_file(config: SaveConfig, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    with (tmp_path / "r.json.journal").open("w", encoding="utf-8") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        assert "another run is writing" in complaint(*quick(config(), "-o", out))


def test_resume_needs_the_file(config: SaveConfig) -> None:
    assert "name it with -o" in complaint(*quick(config(), "--resume"))
    assert "name it with -o" in complaint(*quick(config(), "--resume", "-o", "-"))


# ---- what run refuses -----------------------------------------------------------------------


def test_unknown_variants_are_answered_with_the_nearest(config: SaveConfig) -> None:
    hint = " (did you mean 'cpu/sequential'?); 'reduce-bench list' shows them all"
    assert complaint("show", "cpu/seqential").endswith(f"unknown variant 'cpu/seqential'{hint}")
    unmatched = f"no variant matches 'cpu/seqential'{hint}"
    assert complaint(*quick(config(), "--filter", "cpu/seqential")).endswith(unmatched)
    in_file = complaint(*quick(config(variants=["cpu/*", "cpu/seqential"])))
    assert in_file.endswith(f"config.json: /sweeps/0/variants/1: {unmatched}")
    assert complaint("list", "--filter", "cpu/seqential").endswith(unmatched)
    assert complaint("verify", "--filter", "cpu/seqential").endswith(unmatched)


def test_globs_that_match_nothing_are_answered_with_the_nearest() -> None:
    for glob, near in (("harri/*", "harris/*"), ("cpu2/seq*", "cpu/seq*")):
        hint = f"no variant matches '{glob}' (did you mean '{near}'?); "
        assert hint in complaint("list", "--filter", glob)
    assert "no variant matches 'nothing/*'; " in complaint("list", "--filter", "nothing/*")


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    unknown = "reduce-bench: unknown option"
    shown = "; --help shows what is allowed"
    assert complaint("run", "--confg", "x") == (
        f"{unknown} '--confg' (did you mean '--config'?){shown}"
    )
    assert complaint("list", "--flter=a/*") == (
        f"{unknown} '--flter' (did you mean '--filter'?){shown}"
    )
    assert complaint("--verson") == f"{unknown} '--verson' (did you mean '--version'?){shown}"
    assert "unknown option" not in complaint("compare", "one.json")


def test_an_option_without_its_value_is_named() -> None:
    assert complaint("run", "--config") == (
        "reduce-bench: --config needs a value; --help shows what is allowed"
    )
    assert "--set needs a value; " in complaint("run", "--config", "x", "--set")
    assert "--seed needs a value; " in complaint("run", "--config", "x", "--seed")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["list"],
        ["list", "--json"],
        ["show", "harris/3"],
        ["verify", "--filter", "cpu/sequential", "--backend", "cpu"],
        ["info"],
        ["compare", "results/nvidia-h200/quick.json", "results/nvidia-h200/quick.json"],
    ],
)
def test_a_closed_pipe_is_told_by_every_command(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = drive(*arguments, stdout=writing, cwd=ROOT)
    os.close(writing)
    assert ended.returncode == USAGE
    assert "Broken pipe; check where" in ended.stderr.splitlines()[-1]


def test_one_point_is_a_point(config: SaveConfig) -> None:
    ended = drive("run", "--config", config(n=[100]), "--dry-run")
    assert ended.stderr.splitlines()[-1] == "1 point"
    ended = drive("run", "--config", config(n=[100, 1000]), "--dry-run")
    assert ended.stderr.splitlines()[-1] == "2 points"


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    commands = "expected 'run', 'list', 'show', 'verify', 'compare', 'explain' or 'info'"
    unknown = "reduce-bench: unknown command"
    assert complaint("lsit") == f"{unknown} 'lsit' (did you mean 'list'?), {commands}"
    assert complaint("ran") == f"{unknown} 'ran', {commands}"


def test_a_parameter_that_no_variant_has_is_named_by_its_json_pointer(config: SaveConfig) -> None:
    message = complaint(*quick(config(params={"blok": [64]})))
    assert "config.json: /sweeps/0/params/blok: no variant of cpu/sequential" in message


def test_unknown_key_is_named_by_its_json_pointer(config: SaveConfig) -> None:
    message = complaint(*quick(config(typ=["i32"])))
    assert "config.json: /sweeps/0: unknown key 'typ' (did you mean 'type'?), allowed" in message


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ('{"schema": 2, "sweeps": []}', ["/schema: found 2", "from 1 to 1"]),
        ('{"schema": 1, "sweeps": [', ["not valid JSON at line 1, column 26", "perhaps cut short"]),
        ("", ["the file is empty"]),
        ("\x00\ufffd", ["not valid JSON"]),
    ],
)
def test_broken_configurations(tmp_path: Path, text: str, fragments: list[str]) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    message = complaint(*quick(path))
    for fragment in ["broken.json", *fragments]:
        assert fragment in message


def test_a_missing_configuration(tmp_path: Path) -> None:
    assert "No such file" in complaint(*quick(tmp_path / "none.json"))
    assert "Is a directory" in complaint(*quick(tmp_path))


def test_impossible_combinations(config: SaveConfig) -> None:
    assert "'xor' is not defined on f32" in complaint(*quick(config(type=["f32"], op=["xor"])))
    assert "harris/0 does not run on cpu" in complaint(*quick(config(variants=["harris/0"])))


@pytest.mark.parametrize(
    ("setting", "fragment"),
    [
        ("nonsense", "expected key=value"),
        ("n=2^64", '/sweeps/0/n/0: found "2^64", expected an integer from 0 to 1099511627776'),
        ("n=1e30", "/sweeps/0/n/0: found 1e+30, expected an integer"),
        ("nn=5", "unknown key 'nn', allowed are n, buckets, type"),
        ("n=many", '/sweeps/0/n/0: found "many"'),
        ("measurement.max_time=5", "did you mean 'max_time_ms'?"),
        ("params.blok=5", "has a parameter 'blok'"),
    ],
)
def test_settings_that_make_no_sense(config: SaveConfig, setting: str, fragment: str) -> None:
    assert fragment in complaint(*quick(config(), "--set", setting))


def test_unwritable_output_is_told_before_anything_is_measured(
    config: SaveConfig, tmp_path: Path
) -> None:
    path = config()
    message = complaint(*quick(path, "-o", path / "r.json"))
    assert f"'{path / 'r.json'}'" in message
    assert "Not a directory" in message
    assert f"cannot write '{tmp_path}': it is a directory" in complaint(
        *quick(path, "-o", tmp_path)
    )
    assert "it is not a regular file" in complaint(*quick(path, "-o", "/dev/full"))
    assert names_in(tmp_path) == ["config.json"]


def test_output_to_a_full_disk(config: SaveConfig) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = drive(*quick(config(), "-o", "-"), stdout=full)
        assert ended.returncode == USAGE
        assert "cannot write the results to standard output" in ended.stderr
        for arguments in (["list"], ["verify", "--filter", "cpu/kahan", "cpu/pairwise"]):
            ended = drive(*arguments, stdout=full)
            assert ended.returncode == USAGE
            assert "No space left on device" in ended.stderr


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["run", "--help"]])
def test_help_and_version_to_a_full_disk(arguments: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = drive(*arguments, stdout=full)
    assert ended.returncode == USAGE
    assert "cannot write to standard output: No space left on device" in ended.stderr


def test_backends_that_run_refuses(config: SaveConfig) -> None:
    base = ["run", "--config", config(), "-o", "-"]
    assert "reduce-bench verify" in complaint(*base, "--backend", "emu")
    assert "--backend gpu: " in complaint(*base, "--backend", "gpu")
    assert "--device 99: " in complaint(*base, "--device", "99")


def test_every_variant_of_a_gpu_is_counted() -> None:
    """configs/counted.json, which the table of declared and counted bytes is made of."""
    planned = drive("run", "--config", ROOT / "configs" / "counted.json", "--dry-run").stdout
    listed = json.loads(drive("list", "--json").stdout)
    on_gpus = {
        entry["id"]
        for entry in listed
        if {"cuda", "emu"} & {*entry["backends"]}
        and not any(axis["name"] == "devices" for axis in entry["params"])  # not counted on several
    }
    assert {line.split()[0] for line in planned.splitlines()} >= on_gpus


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is an NVIDIA GPU")
def test_what_a_plan_leaves_out_is_told_first() -> None:
    quick_json = ROOT / "configs" / "quick.json"
    ended = drive("run", "--config", quick_json, "--dry-run")
    assert ended.returncode == GOOD
    (variants, sweeps) = (
        line for line in ended.stderr.splitlines() if line.startswith("left out: ")
    )
    listed = json.loads(drive("list", "--json").stdout)
    planned = json.loads(quick_json.read_text(encoding="utf-8"))["sweeps"]
    left_out = [sweep for sweep in planned if sweep["variants"] != ["cpu/*"]]
    gpu = {
        entry["id"]
        for entry in listed
        for sweep in left_out
        if any(fnmatch.fnmatch(entry["id"], glob) for glob in sweep["variants"])
        and entry["operation"] == "reduce"
    }
    assert re.match(
        rf"left out: \d+ points of {len(gpu)} variants that do not run on cpu: .* and \d+ more$",
        variants,
    )
    assert sweeps == (
        f"left out: all points of {len(left_out)} of {len(planned)} sweeps, for the reasons above"
    )


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is an NVIDIA GPU")
def test_points_on_an_absent_backend_are_told_first(config: SaveConfig) -> None:
    path = config(variants=["harris/0", "cpu/sequential"], backends=["cuda", "cpu"])
    ended = drive("run", "--config", path, "--dry-run")
    assert ended.returncode == GOOD
    assert re.search(r"^skipped: 2 points on cuda: .+$", ended.stderr, re.MULTILINE)
    assert "left out" not in ended.stderr


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is an NVIDIA GPU")
def test_cuda_without_a_gpu(config: SaveConfig) -> None:
    base = ["run", "--config", config(variants=["harris/0"]), "-o", "-"]
    message = complaint(*base, "--backend", "cuda")
    assert "--backend cuda: " in message
    assert "use --backend cpu" in message


def test_a_configured_backend_that_is_not_there_is_skipped(
    config: SaveConfig, tmp_path: Path
) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there is an NVIDIA GPU")
    out = tmp_path / "r.json"
    path = config(variants=["harris/0", "cpu/sequential"], backends=["cuda", "cpu"])
    ended = drive(*slow(path, "-o", out)[:3], "--set", "n=100", "-o", out)
    assert ended.returncode == GOOD, ended.stderr
    assert [p.status for p in load(out).points] == ["skipped", "ok"]


# ---- the other commands ---------------------------------------------------------------------


def test_list_as_json() -> None:
    ended = drive("list", "--json")
    assert ended.returncode == GOOD
    entries = json.loads(ended.stdout)
    keys = {"id", "operation", "backends", "types", "ops", "fidelity", "source", "params"}
    assert all(keys <= entry.keys() for entry in entries)
    by_id = {entry["id"]: entry for entry in entries}
    assert len(by_id) == len(entries)
    harris = by_id["harris/0"]
    assert harris["operation"] == "reduce"
    assert harris["backends"] == ["cuda", "emu"]
    assert harris["types"] == ["i32", "i64", "f32", "f64"]
    assert harris["ops"] == ["sum", "min", "max", "right", "affine"]
    assert harris["order"] == "preserving"
    assert harris["description"].startswith("harris/0: ")
    assert [param["name"] for param in harris["params"]] == ["block"]
    assert by_id["cpu/sequential"]["backends"] == ["cpu"]


def test_list_as_a_table() -> None:
    lines = drive("list", "--filter", "harris/[01]").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["variant", "harris/0", "harris/1"]


def test_show_says_what_only_cuda_runs() -> None:
    ended = drive("show", "eilers/sort-shared")
    assert "; allowed: suite, cub; on cuda alone: cub\n" in ended.stdout
    assert ended.stdout.count("on cuda alone") == 1


def test_show_explains_a_variant() -> None:
    ended = drive("show", "harris/4")
    assert ended.returncode == GOOD
    assert ended.stdout.startswith("harris/4: ")
    for part in ("Source:", "Deviations:", "Parameters:\n  block=128", "Known wrong with form="):
        assert part in ended.stdout


def test_show_tells_the_defects_of_the_defaults() -> None:
    ended = drive("show", "cub/reduce-gpu-to-gpu")
    if ended.returncode != GOOD:
        pytest.skip("this build has no variants that CUDA alone runs")
    for problem in ("n=1000003 and distribution=zeros", "n=2^30 and distribution=uniform"):
        assert ended.stdout.count(f"Known wrong with {problem}: ") == 1
    assert ended.stdout.count("Known wrong with ") == 2


def test_verify() -> None:
    ended = drive("verify", "--backend", "cpu", "--filter", "cpu/[ks]*", "--json")
    assert ended.returncode == GOOD, ended.stdout
    report = json.loads(ended.stdout)
    assert {entry["backend"] for entry in report} == {"cpu"}
    assert all(entry["passed"] > 0 and entry["failures"] == [] for entry in report)
    assert f"{len(report)} variants verified, 0 failed" in ended.stderr


@pytest.mark.parametrize("backend", ["cpu", "emu"])
def test_verify_refuses_a_device_that_nothing_runs_on(backend: str) -> None:
    message = complaint("verify", "--backend", backend, "--device", "0", "--filter", "harris/0")
    assert "--device 0: nothing runs on a backend that has numbered devices" in message


def test_verify_shows_documented_defects() -> None:
    ended = drive("verify", "--backend", "emu", "--filter", "harris/6", "--json")
    assert ended.returncode == GOOD, ended.stdout
    (entry,) = json.loads(ended.stdout)
    assert entry["known_wrong"] > 0


def test_verify_of_nothing_that_runs_here() -> None:
    message = complaint("verify", "--backend", "cpu", "--filter", "harris/0")
    assert "none of the variants" in message


def test_info_as_json() -> None:
    ended = drive("info", "--json")
    assert ended.returncode == GOOD, ended.stderr
    document = json.loads(ended.stdout)
    assert document["environment"]["cpu"]["logical_cores"] >= 1
    (ceilings,) = document["ceilings"].values()
    assert [read["gb_per_s"] > 0 for read in ceilings["read"]] == [True, True]


@pytest.mark.parametrize("command", [(), ("run",), ("list",), ("show",), ("verify",), ("info",)])
def test_help_with_an_example(command: tuple[str, ...]) -> None:
    ended = drive(*command, "--help")
    assert ended.returncode == GOOD
    assert "Example" in ended.stdout


def test_without_arguments_the_program_prints_its_help() -> None:
    alone, asked = drive(), drive("--help")
    assert (alone.returncode, alone.stdout, alone.stderr) == (GOOD, asked.stdout, "")
    assert "'reduce-bench' alone prints too" in asked.stdout


def test_version_says_what_was_built() -> None:
    ended = drive("--version")
    assert (ended.returncode, ended.stderr) == (GOOD, "")
    program, cuda = ended.stdout.splitlines()
    environment = json.loads(drive("info", "--json").stdout)["environment"]
    (version,) = re.findall(
        r"project\(reduce-bench .*VERSION ([\d.]+)\)",
        (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"),
    )
    git = environment["git"]
    assert program == (
        f"reduce-bench {version}, revision {git['revision'] or 'unknown'}"
        f"{' with uncommitted changes' if git['dirty'] else ''}"
    )
    assert cuda == f"CUDA: {environment['cuda_compiler'] or 'not in this build'}"


def on_a_terminal(*arguments: str | Path) -> str:
    """What the program writes to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([BINARY, *arguments], stdout=subprocess.DEVNULL, stderr=theirs) as ended:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 1 << 16):
                seen += part
        except OSError:  # how a terminal without a writer ends
            pass
        os.close(ours)
        assert ended.wait(120) == GOOD, seen
    return seen.decode()


def test_verify_shows_how_far_it_is() -> None:
    few = ["verify", "--backend", "cpu", "--filter", "cpu/sequential", "cpu/[kp]*"]
    rows = drive(*few).stdout.splitlines()
    assert len(rows) > 2
    seen = on_a_terminal(*few)
    assert f"\r\x1b[K[1/{len(rows)}] " in seen
    assert re.search(rf"\[\d+/{len(rows)}\] \d+ s elapsed, about \d+ s left \| cpu/", seen)
    # Elsewhere a line at each tenth part, or at each variant of a few.
    lines = [line for line in drive(*few).stderr.splitlines() if line.startswith("[")]
    assert [line.split("]")[0] for line in lines] == [
        f"[{k}/{len(rows)}" for k in range(2, len(rows) + 1)
    ]


def test_a_run_shows_how_far_its_ceilings_are(config: SaveConfig, tmp_path: Path) -> None:
    arguments = quick(config(n=[100, 10000, 1000000]), "-o", tmp_path / "r.json")
    said = drive(*arguments).stderr
    assert "measuring the ceilings of cpu at 3 sizes\n[2/3] " in said
    assert re.search(r"^\[3/3\] \d+ s elapsed, about \d+ s left \| sizes of the ceil", said, re.M)
    assert "\r\x1b[K[1/3] " in on_a_terminal(*arguments)


# ---- numbers, names and the length of messages ------------------------------------------------


@pytest.mark.parametrize("value", ["-1", str(2**64), "1.5", "x", "", "99999999999999999999999"])
@pytest.mark.parametrize("command", ["run --device", "run --seed", "verify --device"])
def test_numbers_that_no_option_takes(config: SaveConfig, command: str, value: str) -> None:
    name, option = command.split()
    more = quick(config(), "-o", "-")[1:] if name == "run" else []
    message = complaint(name, *more, option, value)
    assert message.startswith(f"reduce-bench: {option} {value}: expected a whole number from 0")
    assert "info' lists the devices" in message or option == "--seed"


def test_the_largest_seed_is_taken(config: SaveConfig) -> None:
    largest = str(2**64 - 1)
    assert drive(*quick(config(), "--dry-run", "--seed", largest)).returncode == GOOD
    assert drive(*quick(config(), "--dry-run", "--seed", "2^63")).returncode == GOOD


def test_images_lie_beside_the_configuration(config: SaveConfig, tmp_path: Path) -> None:
    """Also for the worker, wherever the program is started."""
    (tmp_path / "grey").mkdir()
    (tmp_path / "grey" / "a.pgm").write_bytes(b"P5 2 2 255\n" + bytes([0, 7, 7, 200]))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    histogram = {"variants": ["cpu/histogram"], "operation": "histogram", "n": [4]}
    path = config(**histogram, labels=[{"name": "image", "file": "grey/a.pgm"}])
    out = tmp_path / "r.json"
    ended = drive(*quick(path, "-o", out), cwd=elsewhere)
    assert ended.returncode == GOOD, ended.stderr
    assert [point.raw["labels"] for point in load(out).points] == [
        {"name": "image", "file": "grey/a.pgm"}
    ]
    message = complaint(*quick(path, "--set", "labels=image(b.pgm)"), cwd=elsewhere)
    assert f"there is no '{tmp_path / 'b.pgm'}': an image's path begins at the conf" in message


LONG = "x" * 1000


@pytest.mark.parametrize(
    "arguments",
    [
        (LONG,),
        ("run", f"--{LONG}"),
        ("run", "--config", LONG),
        ("show", LONG),
        ("show", "eilers/shared"),
        ("list", "--filter", LONG),
        ("verify", "--filter", LONG),
        ("verify", "--backend", LONG),
        ("verify", "--device", LONG),
        ("compare", LONG, LONG),
        ("compare", "a", "b", "--format", LONG),
    ],
)
def test_messages_are_short(arguments: tuple[str, ...]) -> None:
    assert len(complaint(*arguments)) < 300


@pytest.mark.parametrize(
    "change",
    [
        {LONG: 1},
        {"variants": ["*", LONG]},
        {"operation": "reducee"},
        {"operation": "multireduce", "variants": ["*"], "labels": ["unifrom"]},
        {"operation": "multireduce", "variants": ["*"], "labels": [LONG]},
        {"variants": ["*"], "params": {"blok": [1]}},
        {"variants": ["*"], "params": {"block": [7]}},
        {"variants": ["*"], "params": {LONG: [7]}},
        {"variants": [f"{a}*" for a in "abcdefghijklmnop"], "params": {"blok": [7]}},
        {"op": ["avreage"], "type": ["u64"]},
        {"typ": 1},
        {"measurement": {"max_tim": 1}},
        {"distribution": ["cancel"]},
        {"backends": ["gpu"]},
        {"n": [{"pow": [1, 2]}]},
        {"operation": "histogram", "labels": [{"name": "image", "file": LONG}]},
        {"operation": "histogram", "labels": [{"name": "image", "file": f"{'a/' * 60}x.pgm"}]},
    ],
    ids=lambda change: str(change)[:40],
)
def test_messages_about_configurations_are_short(config: SaveConfig, change: Json) -> None:
    message = complaint(*quick(config(**change)))
    assert len(message) < 300
    assert "config.json: /sweeps/0" in message or "no variant" in message


@pytest.mark.parametrize(
    "setting", [f"{LONG}=1", f"n={LONG}", f"labels={LONG}", f"params.{LONG}=1", LONG, "labels=x(1)"]
)
def test_messages_about_settings_are_short(config: SaveConfig, setting: str) -> None:
    assert len(complaint(*quick(config(), "--set", setting))) < 300


@pytest.mark.parametrize("arguments", [("ran",), ("run",), ("list", "--jsn"), ("show",)])
def test_bad_usage(arguments: tuple[str, ...]) -> None:
    ended = drive(*arguments)
    assert ended.returncode == USAGE
    assert ended.stderr
    assert not ended.stdout


def test_the_course_tells_what_the_emulator_counts() -> None:
    lines = (ROOT / "docs" / "course.md").read_text().splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| harris/")]
    counted = [row for row in rows if len(row) == 5 and row[4].replace(",", "").isdigit()]
    assert len(counted) == 6
    for variant, *shown in counted:
        ended = drive("show", variant, "--counts")
        assert ended.returncode == GOOD, ended.stderr
        kernels = re.findall(r"the whole kernel\n((?:    .*\n)+)", ended.stdout)
        counts: Counter[str] = Counter()
        for kernel in kernels:
            counts.update({name: int(count) for name, count in map(str.split, kernel.splitlines())})
        lanes = counts["active_lanes"] / counts["requests"]
        assert shown == [
            f"{counts['requests']:,}",
            f"{lanes:.1f}",
            f"{counts['bank_conflicts']:,}",
            f"{counts['barriers']:,}",
        ], variant


COUNT = ("run", "--config", ROOT / "configs" / "counts.json", "--filter", "harris/1", "--count")


def test_counts_are_compared_without_noise(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.json" for name in ("base", "same", "grown")]
    for file in files:
        assert drive(*COUNT, "-o", file).returncode == GOOD
    base, same, grown = files
    documents = [json.loads(file.read_text()) for file in files]
    assert documents[0]["kind"] == "reduce-bench-counts"
    assert documents[0]["points"] == documents[1]["points"]
    ended = drive("compare", base, same)
    assert ended.returncode == GOOD
    assert "the counts of 2 points are identical" in ended.stdout

    documents[2]["points"][1]["counts"]["bank_conflicts"] *= 2
    grown.write_text(json.dumps(documents[2]))
    ended = drive("compare", base, grown)
    assert ended.returncode == 1
    assert re.search(r"^grown .*bank_conflicts \d+ -> \d+$", ended.stdout, re.MULTILINE)
    assert drive("compare", grown, base).returncode == GOOD


def test_a_point_that_takes_too_long_to_count_makes_the_counts_incomplete(tmp_path: Path) -> None:
    sweeps = [
        {"variants": ["harris/1"], "n": [1000]},
        {"variants": ["harris/1"], "n": [1 << 16], "measurement": {"point_timeout_s": 1e-4}},
    ]
    path, counts = tmp_path / "config.json", tmp_path / "counts.json"
    path.write_text(json.dumps({"schema": 1, "sweeps": sweeps}), encoding="utf-8")
    ended = drive("run", "--config", path, "--count", "-o", counts)
    assert ended.returncode == INCOMPLETE, ended.stderr
    assert "timeout: did not end within 0.0001 s" in ended.stderr


def test_counts_are_not_compared_with_times(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    assert drive(*COUNT, "-o", counts).returncode == GOOD
    times = ROOT / "results" / "nvidia-h200" / "quick.json"
    ended = drive("compare", times, counts)
    assert ended.returncode == USAGE
    assert "compare counts with counts" in ended.stderr


def test_counts_replace_counts_and_nothing_else(config: SaveConfig, tmp_path: Path) -> None:
    counts, times = tmp_path / "counts.json", tmp_path / "times.json"
    assert drive(*COUNT, "-o", counts).returncode == GOOD
    counts.write_text(counts.read_text().replace('"points"', '"former"'))
    assert drive(*COUNT, "-o", counts).returncode == GOOD
    assert '"former"' not in counts.read_text()
    timed = quick(config())
    assert drive(*timed, "-o", times).returncode == GOOD
    kept = counts.read_bytes(), times.read_bytes()
    for arguments, kind in (((*COUNT, "-o", times), "counts"), ((*timed, "-o", counts), "results")):
        ended = drive(*arguments)
        assert ended.returncode == USAGE
        assert f"exists and is not a {kind} file: name another with -o" in ended.stderr
    assert kept == (counts.read_bytes(), times.read_bytes())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--backend", "cuda"), "counts are the emulator's; leave --backend out"),
        (("--set", "n=2^23"), "choose less with --set n=..."),
        (("--keep-samples",), "are of timed runs; leave them out"),
        (("--counters",), "are of timed runs; leave them out"),
    ],
)
def test_what_cannot_be_counted_is_refused(arguments: tuple[str, ...], complaint: str) -> None:
    ended = drive(*COUNT, *arguments)
    assert ended.returncode == USAGE
    assert complaint in ended.stderr
    assert len(ended.stderr.splitlines()[-1]) <= 300


@pytest.mark.parametrize("name", ["README.md", "docs/course.md", "docs/commands.md"])
def test_pages_show_what_commands_print(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / name).read_text(encoding="utf-8")
    shown = re.findall(r"^\$ reduce-bench (.*)\n((?s:.*?))^```$", page, re.MULTILINE)
    assert shown
    for command, printed in shown:
        ended = drive(*shlex.split(command))
        assert ended.returncode == GOOD, ended.stderr
        # What a page leaves out is a line of dots.
        parts = map(re.escape, re.split(r"^ *\.\.\.\n", printed, flags=re.MULTILINE))
        assert re.fullmatch(r"(?s:.*?)".join(parts), ended.stdout), command


H200 = ROOT / "results" / "nvidia-h200" / "quick.json"


def test_counts_of_the_emulator_explain_without_times(tmp_path: Path) -> None:
    ended = drive("explain", "harris/[01]", "harris/2", "--backend", "emu")
    assert ended.returncode == GOOD, ended.stderr
    assert "n=65536 i32 sum" in ended.stdout.splitlines()[0]
    first, second = ended.stdout.split("\n\n")[1:3]
    assert first.startswith("harris/0 to harris/1\n")
    assert re.search(r"[Bb]ank conflicts 0 to 23,265", first)
    assert re.search(r"requests of memory 40,840 to 17,575", first)
    assert re.search(r"[Bb]ank conflicts 23,265 to 0", second)
    assert not re.search(r"faster|slower|binds", ended.stdout)

    counts = tmp_path / "counts.json"
    pair = ("--filter", "harris/0", "harris/1", "--set", "n=2^16")
    config = ROOT / "configs" / "counts.json"
    assert drive("run", "--config", config, *pair, "--count", "-o", counts).returncode == GOOD
    of_file = drive("explain", "harris/0", "harris/1", "--results", counts)
    assert of_file.returncode == GOOD, of_file.stderr
    assert first.rstrip() in of_file.stdout


def test_of_a_glob_the_emulator_explains_what_it_runs() -> None:
    ended = drive("explain", "harris/[6g]*", "harris/7", "--backend", "emu")
    assert ended.returncode == GOOD, ended.stderr
    assert ended.stderr == "left out: harris/grid-sync, which the emulator does not run\n"
    assert ended.stdout.split("\n\n")[1].startswith("harris/6 to harris/7\n")


def test_times_without_counters_give_ratios_and_no_cause() -> None:
    ended = drive("explain", "harris/*", "--results", H200)
    assert ended.returncode == GOOD, ended.stderr
    assert re.search(r"^harris/2 to harris/3: 1\.\d\d times faster", ended.stdout, re.MULTILINE)
    assert "Not counted: " in ended.stdout
    assert "binds" not in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("harris/0", "harris/1"), "name the results with --results FILE, or --backend emu"),
        (("harris/0", "harris/1", "--backend", "cuda"), "only emu counts by itself"),
        (("harris/0", "--backend", "emu"), "name two, or a glob"),
        (("cpu/*", "--backend", "emu"), "name two, or a glob"),
        (("harris/0", "cub/reduce", "--backend", "emu"), "cub/reduce has no traced build here"),
        (("harris/0", "harris/1", "--backend", "emu", "-n", "2^23"), "take the emulator too long"),
        (("harris/0", "atomic/global", "--backend", "emu"), "compute different things"),
        (("harris/0", "harris/1", "--results", str(H200), "-n", "77"), "has no problem of 77"),
        (("harris/0", "gpu/gather", "--results", str(H200)), "has no step between two of"),
        (("harris/0", "harris/1", "--results", "/nonexistent"), "/nonexistent"),
    ],
)
def test_what_cannot_be_explained_is_refused(arguments: tuple[str, ...], said: str) -> None:
    ended = drive("explain", *arguments)
    assert ended.returncode == USAGE
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()[-1]) < 300
    assert not ended.stdout
