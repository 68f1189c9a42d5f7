"""What the driver survives: faulty variants, kills, full disks, interrupts, clock jumps."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from reduce_bench_report.loader import load
from test_driver import (
    BINARY,
    GOOD,
    INCOMPLETE,
    INTERRUPTED,
    USAGE,
    Json,
    names_in,
)

FAULTS = BINARY.with_name("reduce-bench-faults")
CLOCK_JUMPS = BINARY.with_name("libclock_jumps.so")
WRONG = 1

pytestmark = pytest.mark.skipif(
    not FAULTS.exists(), reason=f"{FAULTS} is not built: run make build, or set REDUCE_BENCH_BINARY"
)

Arguments = list[str | Path]
SavePlan = Callable[..., Arguments]


@pytest.fixture
def plan(tmp_path: Path) -> SavePlan:
    """Writes a configuration; the arguments of a short run of it to r.json."""

    def save(*variants: str, n: list[Any] | None = None, **axes: Any) -> Arguments:
        sweep = {"variants": list(variants), "n": n or [1000]} | axes
        sweep["measurement"] = {"max_time_ms": 1, "modes": ["hot"]} | axes.get("measurement", {})
        path = tmp_path / "config.json"
        path.write_text(json.dumps({"schema": 1, "sweeps": [sweep]}), encoding="utf-8")
        return ["run", "--config", path, "--backend", "cpu", "-o", tmp_path / "r.json"]

    return save


def drive(arguments: Arguments, **options: Any) -> subprocess.CompletedProcess[str]:
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | options
    return subprocess.run(
        [FAULTS, *arguments], encoding="utf-8", errors="replace", check=False, **options
    )


@contextmanager
def running(arguments: Arguments) -> Iterator[subprocess.Popen[str]]:
    """The driver at work; its messages are on stderr."""
    with subprocess.Popen(
        [FAULTS, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], start: str) -> None:
    """Reads messages until one starts so."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(start):
            return
    pytest.fail(f"the run ended before it said '{start}'")


def worker_of(process: subprocess.Popen[str]) -> int:
    """The worker's process id, as soon as there is one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(500):
        if ids := children.read_text(encoding="ascii").split():
            return int(ids[-1])
        time.sleep(0.01)
    return pytest.fail("no worker process was started")


def is_running(process_id: int) -> bool:
    try:
        status = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


def ends_within(seconds: float, process_id: int) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_running(process_id):
            return True
        time.sleep(0.02)
    return False


# ---- faulty variants ------------------------------------------------------------------------

FAULT_REASONS = {
    "wrong": ("wrong", "got "),
    "wrong-later": ("wrong", "right before timing, wrong after hot timing: got "),
    "nondeterministic": ("wrong", "right in a first call, but the second got "),
    "out-of-bounds": ("wrong", "wrote out of the bounds of its output"),
    "illegal-address": ("failed", "the worker process was killed by SIGSEGV"),
    "abort": ("failed", "the worker process was killed by SIGABRT (Aborted); its last output was"),
    "hog": ("failed", "asked for more host memory than there is"),
    "flood": ("failed", "the worker process printed more than 1048576 bytes"),
    "hang": ("timeout", "did not end within 2 s (measurement.point_timeout_s sets the limit)"),
}
# A kernel's first launch loads its code, so points have more time.
GPU_REASONS = FAULT_REASONS | {
    "illegal-address": ("failed", "cudaErrorIllegalAddress"),
    "hang": ("timeout", "did not end within 5 s (measurement.point_timeout_s sets the limit)"),
}


@pytest.fixture(params=["cpu", "cuda"])
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda" and not Path("/dev/nvidiactl").exists():
        pytest.skip("there is no NVIDIA GPU")
    return str(request.param)


def on(backend: str, arguments: Arguments) -> Arguments:
    """The same run on another backend."""
    position = arguments.index("--backend") + 1
    return [*arguments[:position], backend, *arguments[position + 1 :]]


def test_each_fault_costs_its_point_alone(plan: SavePlan, tmp_path: Path, backend: str) -> None:
    reasons, limit_s = (GPU_REASONS, 5) if backend == "cuda" else (FAULT_REASONS, 2)
    # Sizes are the outer loop: every fault runs twice, sound variants between.
    arguments = on(backend, plan("*", n=[100, 1000], measurement={"point_timeout_s": limit_s}))
    sound = "cpu/*" if backend == "cpu" else "harris/[0-3]"
    ended = drive([*arguments, "--filter", "fault/*", sound], timeout=400)
    assert ended.returncode == WRONG, ended.stderr
    seen = {name: 0 for name in reasons}
    for point in load(tmp_path / "r.json").points:
        family, name = point.variant.split("/")
        if family == "fault" and name in reasons:
            status, reason = reasons[name]
            assert (point.status, point.timing) == (status, {}), point.variant
            assert point.reason is not None
            assert reason in point.reason
            seen[name] += 1
        else:
            assert point.status in {"ok", "skipped"}, point.reason
    assert set(seen.values()) == {2}
    assert len(ended.stderr) < 5 << 20  # what the flood printed is cut off


def test_no_time_is_shown_of_a_wrong_result(plan: SavePlan, tmp_path: Path) -> None:
    ended = drive(plan("fault/wrong", "fault/wrong-later"))
    assert ended.returncode == WRONG
    for point in load(tmp_path / "r.json").points:
        assert point.timing == {}
        assert point.gb_per_s is None
        assert point.ceiling_share is None
    rows = [line.split() for line in ended.stdout.splitlines() if line.startswith("fault/")]
    assert rows == [["fault/wrong", "wrong"], ["fault/wrong-later", "wrong"]]
    assert "GB/s" not in "".join(ln for ln in ended.stderr.splitlines() if "] fault/" in ln)


def test_failed_points_alone_are_an_incomplete_run(plan: SavePlan) -> None:
    assert drive(plan("fault/abort", "fault/none")).returncode == INCOMPLETE


@pytest.mark.parametrize("backend", ["cpu", "emu"])
@pytest.mark.parametrize("fault", ["wrong", "illegal-address", "out-of-bounds", "hog"])
def test_verify_names_the_fault(fault: str, backend: str) -> None:
    arguments = ["verify", "--filter", f"fault/{fault}", "fault/none", "--backend", backend]
    ended = drive([*arguments, "--json"])
    assert ended.returncode == WRONG
    none, faulty = json.loads(ended.stdout)
    assert none["failures"] == []
    assert any(FAULT_REASONS[fault][1] in failure for failure in faulty["failures"])


def test_the_shipped_driver_has_no_faults() -> None:
    listed = subprocess.run([BINARY, "list"], capture_output=True, text=True, check=True).stdout
    assert "cpu/sequential" in listed
    assert "fault/" not in listed


# ---- kills ----------------------------------------------------------------------------------


SOUND = {"cpu": "cpu/sequential", "cuda": "harris/0"}


def test_a_killed_worker_costs_one_point(plan: SavePlan, tmp_path: Path, backend: str) -> None:
    arguments = plan(SOUND[backend], "fault/hang", n=[100, 1000])
    with running(on(backend, arguments)) as process:
        for sound_point in ("[1/4]", "[3/4]"):
            wait_for(process, sound_point)
            time.sleep(0.2)  # into the point that hangs
            os.kill(worker_of(process), signal.SIGKILL)
        assert process.wait(60) == INCOMPLETE
    points = load(tmp_path / "r.json").points
    assert [point.status for point in points] == ["ok", "failed", "ok", "failed"]
    for point in points[1::2]:
        assert point.reason is not None
        assert point.reason.startswith("the worker process was killed by SIGKILL")


def test_a_killed_driver_takes_its_worker_along(plan: SavePlan, backend: str) -> None:
    with running(on(backend, plan(SOUND[backend], "fault/hang"))) as process:
        wait_for(process, "[1/2]")
        worker = worker_of(process)
        time.sleep(0.5)  # into the point that hangs: idle, it would see the socket close
        assert is_running(worker)
        process.kill()
        process.wait()
        assert ends_within(10, worker)


FEW: Json = {
    "type": ["i32", "i64", "f32"],
    "op": ["sum", "min", "max"],
    "distribution": ["uniform", "ones", "ramp", "normal"],
}
FEW_COUNT = 36
MANY: Json = {
    "type": ["i32", "i64", "f32", "f64"],
    "op": ["sum", "min", "max", "prod", "and", "or", "xor"],
    "distribution": ["uniform", "ones", "ramp", "normal", "cancelling", "zeros", "extremes"],
}
TIMED = {"timing", "gb_per_s", "items_per_s", "ns_per_item", "ceiling_share", "peak_share"}


def untimed(path: Path) -> tuple[Json, list[Json]]:
    """What two runs of one plan must agree on."""
    document = load(path).document
    points = [{k: v for k, v in point.items() if k not in TIMED} for point in document["points"]]
    for point, whole in zip(points, document["points"], strict=True):
        point["modes"] = sorted(whole["timing"])
    return document["config"], points


@pytest.mark.slow
def test_kills_at_random_moments_lose_and_double_nothing(
    plan: SavePlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REDUCE_BENCH_KILLS sets how many; each is followed by a resumed run."""
    # Threads that wait for each other take a busy machine ten times as long as one does.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    kills = int(os.environ.get("REDUCE_BENCH_KILLS", "10"))
    out, journal = tmp_path / "r.json", tmp_path / "r.json.journal"
    arguments = plan("cpu/sequential", "cpu/parallel", **MANY)
    started = time.monotonic()
    assert drive(arguments).returncode == GOOD
    whole_s = time.monotonic() - started
    expected = untimed(out)
    assert len(expected[1]) >= 300
    chance = random.Random(1)
    killed = whole_runs = 0
    while killed < kills:
        out.unlink()
        done = 0
        while True:
            # A kill before the journal has its header leaves nothing to resume.
            started_well = journal.exists() and journal.stat().st_size > 0
            begun = time.monotonic()
            with running([*arguments, *(["--resume"] if started_well else [])]) as process:
                try:
                    _, messages = process.communicate(
                        timeout=chance.uniform(0, whole_s / 2) if killed < kills else 120
                    )
                except subprocess.TimeoutExpired:
                    process.kill()
                    _, messages = process.communicate()
                    killed += 1
                else:
                    # Of a machine that was busy at first, most runs would end unharmed.
                    if not started_well:
                        whole_s = min(whole_s, time.monotonic() - begun)
            told = [line for line in messages.splitlines() if line.startswith("resumed: ")]
            if told:
                resumed = int(told[0].split()[1])
                assert resumed >= done, "a finished point was lost"
                done = resumed
            done += messages.count(" on cpu: ")
            if out.exists():
                break
            assert process.returncode == -signal.SIGKILL, messages
        assert untimed(out) == expected
        # A kill between the document and the end may leave the journal: it holds the same.
        if journal.exists():
            out.unlink()
            assert drive([*arguments, "--resume"]).returncode == GOOD
            assert untimed(out) == expected
        whole_runs += 1
    assert names_in(tmp_path) in (
        ["config.json", "r.json"],
        ["config.json", "r.json", journal.name],
    )
    print(f"{killed} kills in {whole_runs} runs of {len(expected[1])} points, {whole_s:.1f} s each")


def test_kills_at_random_moments_leave_an_older_result(plan: SavePlan, tmp_path: Path) -> None:
    """The file is at all times the older result or the whole new one."""
    out, journal = tmp_path / "r.json", tmp_path / "r.json.journal"
    assert drive(plan("cpu/parallel")).returncode == GOOD
    older = out.read_bytes()
    arguments = plan("cpu/sequential", **FEW)
    chance = random.Random(1)
    killed = 0
    while killed < 8:
        resume = journal.exists() and journal.stat().st_size > 0
        with running([*arguments, *(["--resume"] if resume else [])]) as process:
            try:
                process.communicate(timeout=chance.uniform(0, 0.5))
            except subprocess.TimeoutExpired:
                process.send_signal(chance.choice([signal.SIGKILL, signal.SIGINT]))
                process.communicate()
                killed += 1
        if out.read_bytes() == older:
            assert process.returncode != GOOD
            continue
        assert len(load(out).points) == FEW_COUNT
        out.write_bytes(older)
        journal.unlink(missing_ok=True)


def test_a_journal_torn_anywhere_is_resumed(plan: SavePlan, tmp_path: Path) -> None:
    out, journal = tmp_path / "r.json", tmp_path / "r.json.journal"
    arguments = plan("cpu/sequential", **FEW)
    assert drive(arguments).returncode == GOOD
    expected = untimed(out)
    with running(arguments) as process:
        wait_for(process, f"[5/{FEW_COUNT}]")
    whole = journal.read_bytes()
    first = whole.index(b'{"index"')
    chance = random.Random(1)
    anywhere = (chance.randrange(first, len(whole)) for _ in range(6))
    for length in [first, whole.index(b"\n") + 1, len(whole) - 1, *anywhere]:
        journal.write_bytes(whole[:length])
        ended = drive([*arguments, "--resume"])
        assert ended.returncode == GOOD, ended.stderr
        kept = sum(ln.startswith(b'{"index"') for ln in whole[:length].split(b"\n")[:-1])
        assert f"resumed: {kept} of {FEW_COUNT} points were done" in ended.stderr
        assert untimed(out) == expected


def test_a_new_run_says_what_it_overwrites(plan: SavePlan, tmp_path: Path) -> None:
    arguments = plan("cpu/sequential", **FEW)
    with running(arguments) as process:
        wait_for(process, f"[5/{FEW_COUNT}]")
    journal = (tmp_path / "r.json.journal").read_bytes()
    done = sum(line.startswith(b'{"index"') for line in journal.split(b"\n")[:-1])
    ended = drive(arguments)
    assert ended.returncode == GOOD, ended.stderr
    assert (
        f"overwrites {done} finished points of an interrupted run; --resume would have kept them\n"
    ) in ended.stderr
    assert "overwrites" not in drive(arguments).stderr


def test_another_build_does_not_resume(plan: SavePlan, tmp_path: Path) -> None:
    arguments = plan("cpu/sequential", "fault/hang")
    with running(arguments) as process:
        wait_for(process, "[1/2]")
    other = tmp_path / "other"
    shutil.copy(FAULTS, other)
    with other.open("ab") as program:
        program.write(b"one more word of this")
    ended = subprocess.run(
        [other, *arguments, "--resume"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == USAGE
    assert "another configuration, build or device" in ended.stderr


# ---- interrupts -----------------------------------------------------------------------------


@pytest.fixture
def hangups() -> Iterator[None]:
    """As without nohup, whose children ignore them."""
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, inherited)


@pytest.mark.usefixtures("hangups")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_interrupt_waits_for_the_point_and_a_second_gives_it_up(
    plan: SavePlan, tmp_path: Path, kind: signal.Signals
) -> None:
    out = tmp_path / "r.json"
    with running(plan("cpu/sequential", "fault/hang")) as process:
        wait_for(process, "[1/2]")
        worker = worker_of(process)
        time.sleep(0.3)  # into the point that hangs
        process.send_signal(kind)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(kind)
        assert process.wait(10) == INTERRUPTED
        assert ends_within(10, worker)
    results = load(out)
    assert results.document["interrupted"] is True
    assert [point.variant for point in results.points] == ["cpu/sequential"]
    assert names_in(tmp_path) == ["config.json", "r.json", "r.json.journal"]


def test_a_run_that_ignores_hangups_goes_on(plan: SavePlan) -> None:
    arguments = plan("cpu/sequential", **FEW)
    command = ["nohup", FAULTS, *arguments]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        wait_for(process, "[1/")
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        process.stderr.read()
        assert process.wait(60) == GOOD


def test_a_point_in_flight_still_ends_after_an_interrupt(plan: SavePlan, tmp_path: Path) -> None:
    arguments = plan("cpu/sequential", "fault/hang", measurement={"point_timeout_s": 3})
    with running(arguments) as process:
        wait_for(process, "[1/2]")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == INTERRUPTED
    statuses = [point.status for point in load(tmp_path / "r.json").points]
    assert statuses in (["ok", "timeout"], ["ok"])  # the second may not have begun


@pytest.mark.alone
def test_an_interrupt_stops_the_measuring_of_ceilings(plan: SavePlan, tmp_path: Path) -> None:
    # Streams over many sizes take far longer than stopping may.
    arguments = plan("cpu/sequential", n=list(range(1 << 24, (1 << 24) + 200)))
    with running(arguments) as process:
        wait_for(process, "measuring the ceilings")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        assert process.wait(30) == INTERRUPTED
        assert time.monotonic() - started < 5
    results = load(tmp_path / "r.json")
    assert results.document["interrupted"] is True
    assert len(results.points) == 0


# ---- files, pipes and clocks ----------------------------------------------------------------


def test_a_file_that_cannot_grow_ends_the_run_and_resume_goes_on(
    plan: SavePlan, tmp_path: Path
) -> None:
    out = tmp_path / "r.json"
    assert drive(plan("cpu/parallel")).returncode == GOOD
    older = out.read_bytes()
    arguments = plan("cpu/sequential", **FEW)

    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    ended = drive(arguments, preexec_fn=limit_files)
    assert ended.returncode == USAGE
    assert f"cannot write '{out}.journal': File too large" in ended.stderr.splitlines()[-1]
    assert out.read_bytes() == older
    ended = drive([*arguments, "--resume"])
    assert ended.returncode == GOOD, ended.stderr
    assert "resumed: 0 of" not in ended.stderr
    assert [point.raw["index"] for point in load(out).points] == list(range(FEW_COUNT))


def test_a_full_disk_ends_the_run_and_resume_goes_on(plan: SavePlan, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "none", disk]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("cannot mount a small file system here")
    try:
        out = disk / "r.json"
        arguments = [*plan("cpu/sequential", **FEW)[:-1], out]
        ended = drive(arguments)
        assert ended.returncode == USAGE
        assert "No space left on device" in ended.stderr.splitlines()[-1]
        assert names_in(disk) == ["r.json.journal"]
        grown = ["mount", "-o", "remount,size=4m", disk]
        subprocess.run(grown, check=True, capture_output=True)
        assert drive([*arguments, "--resume"]).returncode == GOOD
        assert len(load(out).points) == FEW_COUNT
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("files", range(4, 9))
def test_too_few_files_are_a_limit_to_raise(plan: SavePlan, files: int) -> None:
    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    ended = drive(plan("cpu/sequential"), preexec_fn=limit_files)
    assert ended.returncode == USAGE
    assert ended.stderr.splitlines()[-1].endswith(
        "Too many open files; close files or raise the limit (ulimit -n)"
    )


def test_too_few_files_do_not_cost_the_journal(plan: SavePlan, tmp_path: Path) -> None:
    arguments = plan("cpu/sequential", **FEW)
    with running(arguments) as process:
        wait_for(process, f"[5/{FEW_COUNT}]")
    journal = tmp_path / "r.json.journal"
    before = journal.read_bytes()
    for files in range(4, 9):

        def limit_files(files: int = files) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        assert drive([*arguments, "--resume"], preexec_fn=limit_files).returncode == USAGE
        assert journal.read_bytes() == before


def test_a_directory_that_nobody_writes_to(plan: SavePlan) -> None:
    ended = drive([*plan("cpu/sequential")[:-1], "/sys/r.json"])
    assert ended.returncode == USAGE
    message = ended.stderr.splitlines()[-1]
    assert message.startswith("reduce-bench: cannot write the journal '/sys/r.json.journal': ")


@pytest.mark.parametrize("to_stdout", [False, True])
def test_a_closed_pipe(plan: SavePlan, tmp_path: Path, to_stdout: bool) -> None:
    arguments = plan("cpu/sequential")
    if to_stdout:
        arguments[-1] = "-"
    reading, writing = os.pipe()
    os.close(reading)
    ended = drive(arguments, stdout=writing)
    os.close(writing)
    assert ended.returncode == USAGE
    assert "Broken pipe" in ended.stderr.splitlines()[-1]
    if not to_stdout:
        assert len(load(tmp_path / "r.json").points) == 1  # written before the table


@pytest.mark.parametrize("closed", [[0], [2], [0, 2], [0, 1, 2]])
def test_closed_standard_streams_are_not_taken_for_files(
    plan: SavePlan, tmp_path: Path, closed: list[int]
) -> None:
    def close() -> None:
        for descriptor in closed:
            os.close(descriptor)

    ended = drive(plan("cpu/sequential"), preexec_fn=close)
    assert ended.returncode == (USAGE if 1 in closed else GOOD)
    assert [point.status for point in load(tmp_path / "r.json").points] == ["ok"]
    assert names_in(tmp_path) == ["config.json", "r.json"]


def test_messages_that_nobody_takes_end_the_run_and_resume_goes_on(
    plan: SavePlan, tmp_path: Path
) -> None:
    arguments = plan("cpu/sequential", **FEW)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        assert drive(arguments, stderr=full).returncode == USAGE
    with running(arguments) as process:
        wait_for(process, "[1/")
        assert process.stderr is not None
        process.stderr.close()
        assert process.wait(60) == USAGE
    ended = drive([*arguments, "--resume"])
    assert ended.returncode == GOOD
    assert "resumed: 0 of" not in ended.stderr
    assert len(load(tmp_path / "r.json").points) == FEW_COUNT


def test_of_two_runs_to_one_file_one_is_refused(plan: SavePlan, tmp_path: Path) -> None:
    # The first still runs when the second begins.
    slow = {"max_time_ms": 200, "relative_ci": 1e-6, "max_samples": 1000000}
    arguments = plan("cpu/sequential", **FEW, measurement=slow)
    with running(arguments) as first:
        wait_for(first, "[1/")
        second = drive(arguments)
        assert second.returncode == USAGE
        assert "another run is writing" in second.stderr
        assert second.stderr.count("\n") == 2  # the backend, the refusal
        assert first.stderr is not None
        first.stderr.read()
        assert first.wait(60) == GOOD
    assert len(load(tmp_path / "r.json").points) == FEW_COUNT


@pytest.mark.alone
def test_jumps_of_the_clock_change_no_time(plan: SavePlan, tmp_path: Path) -> None:
    """The wall clock jumps by an hour, back and forth, every time it is read."""
    arguments = plan("fault/delay", params={"delay_us": ["1000"]})
    started = time.monotonic()
    ended = drive(arguments, env=os.environ | {"LD_PRELOAD": str(CLOCK_JUMPS)})
    assert ended.returncode == GOOD, ended.stderr
    assert time.monotonic() - started < 60
    timing = load(tmp_path / "r.json").points[0].timing["hot"]
    assert 1e6 <= timing["min_ns"] <= timing["median_ns"] < 1e8
