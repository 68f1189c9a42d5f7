"""The commands as a user runs them: output, files, exit codes."""

import hashlib
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import made_up
import pytest
from made_up import point, points_of, unmeasured
from reduce_bench_report.__main__ import main
from reduce_bench_report.claim_registry import load_registry
from reduce_bench_report.experiments import EXPERIMENTS
from reduce_bench_report.loader import load, named_results
from reduce_bench_report.paths import ROOT

Save = Callable[..., str]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(points: list[made_up.Json], name: str = "r.json") -> str:
        return str(made_up.write(made_up.results(points), tmp_path / name))

    return write


POINTS = [
    point("harris/0", 1024, 100.0),
    point("harris/0", 1 << 20, 4000.0),
    point("cub/reduce", 1024, 50.0),
    point("cub/reduce", 1 << 20, 2000.0),
    unmeasured("amp/x", 1024, "skipped", "too small"),
    point("amp/x", 1 << 20, 8000.0, finish="host"),
]


def test_figures(save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "figures"
    results = save([*POINTS, point("cub/reduce", 4096, 60.0)])
    arguments = ["figures", "--results", results, "-o", str(folder), "--format", "svg"]
    assert main([*arguments, "--where", "type=i32"]) == 0
    names = [
        f"{name}.{extension}"
        for name in ("reduce-gbs", "reduce-share", "reduce-time")
        for extension in ("md", "csv", "tex", "svg")
    ]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert capsys.readouterr().out.splitlines() == [str(folder / name) for name in names]


def test_a_file_carries_the_command_that_draws_it_again(save: Save, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    results = save([*POINTS, point("cub/reduce", 4096, 60.0)])
    wanted = ["--only", "reduce-time", "--where", "type=i32", "--output", str(folder)]
    assert main(["figures", "--results", results, *wanted, "--format", "svg"]) == 0
    text = (folder / "reduce-time.csv").read_text(encoding="utf-8")
    command = shlex.split(text.partition("# Redraw: ")[2].splitlines()[0])
    assert command[:4] == ["PYTHONPATH=scripts", ".venv/bin/python", "-m", "reduce_bench_report"]
    drawn = {path: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    assert main(command[4:]) == 0
    assert {path: path.read_bytes() for path in folder.iterdir()} == drawn


def test_packages_that_are_missing(tmp_path: Path) -> None:
    lacking = "raise ModuleNotFoundError(\"No module named 'matplotlib'\")"
    (tmp_path / "matplotlib.py").write_text(lacking, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "reduce_bench_report", "figures"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT / 'scripts'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "requirements.txt (No module named 'matplotlib'): make" in done.stderr


JRADI_T1 = [
    point(f"harris/{number}", 1 << 22, 8000.0 / (number + 1), params={"block": "128"})
    for number in range(7)
]


def test_experiments_are_written_as_tables_and_figures(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report7 = points_of("configs/papers/report7-T1.json")
    arguments = [
        "figures",
        "--results",
        save(JRADI_T1),
        save(report7, "r7.json"),
        "-o",
        str(tmp_path),
    ]
    assert main([*arguments, "--only", "jradi-T1,report7-F3", "--format", "svg,png,pdf"]) == 0
    captured = capsys.readouterr()
    names = [Path(line).name for line in captured.out.splitlines()]
    assert names == [f"jradi-T1.{e}" for e in ("md", "csv", "tex")] + [
        f"report7-F3.{e}" for e in ("md", "csv", "tex", "svg", "png", "pdf")
    ]
    assert captured.err == ""
    rows = (tmp_path / "jradi-T1.md").read_text(encoding="utf-8").splitlines()
    assert rows[4].startswith(
        "| harris/0 | title of harris/0 | 0.008 | 8.054 | 2097 | 2.083 | - | - |"
    )
    digest = hashlib.sha256((tmp_path / "r7.json").read_bytes()).hexdigest()[:12]
    pdf = (tmp_path / "report7-F3.pdf").read_bytes()
    assert digest.encode("utf-16-be") in pdf
    for extension in ("md", "csv", "tex", "svg", "png"):
        content = (tmp_path / f"report7-F3.{extension}").read_bytes()
        assert digest.encode() in content, extension
        words = " ".join(content.decode(errors="replace").replace("\n%", " ").split())
        assert f"--results {tmp_path / 'r7.json'} --only report7-F3" in words, extension
        assert "NVIDIA Imaginary 1" in words and "0123456789" in words, extension


def test_figures_say_what_is_missing(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["figures", "--results", save(JRADI_T1[:-1]), "-o", str(tmp_path)]
    arguments += ["--format", "svg"]
    assert main(arguments) == 0
    count = len(EXPERIMENTS)
    assert capsys.readouterr().err == (
        f"Points are missing of {count} of {count} tables and figures, {count - 1} of which are "
        "not drawn; --missing (make: MISSING=1) lists them.\n"
    )
    assert main([*arguments, "--missing"]) == 0
    about = dict(line.split(": ", 1) for line in capsys.readouterr().err.splitlines())
    assert about.keys() == EXPERIMENTS.keys()
    assert about["reduce-gbs"] == "not drawn: no reduce has points at 3 or more n"
    assert about["jradi-T1"] == (
        "drawn in part: missing every point of harris/6: run configs/papers/jradi-T1.json"
    )
    assert about["eilers-F4.18"] == (
        "not drawn: every point of eilers/sort-global: run configs/papers/eilers-F4.18.json"
    )


def test_claims_and_report_say_what_is_missing(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, page = save(JRADI_T1), str(tmp_path / "r.html")
    lists, count = "--missing (make: MISSING=1) lists them.", len(load_registry().claims)
    assert main(["claims", "--results", results]) == 0
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert re.fullmatch(rf"Points are missing of \d+ of {count} claims; {re.escape(lists)}", line)
    assert "not testable here  " not in said.out
    assert main(["report", results, "-o", page]) == 0
    figures, claims = capsys.readouterr().err.splitlines()
    assert claims == line
    assert "tables and figures" in figures and figures.endswith(lists)
    assert main(["claims", "--results", results, "--missing"]) == 0
    listed = capsys.readouterr().err.splitlines()
    (last,) = [line for line in listed if line.startswith("claim 75: ")]
    assert last.startswith("claim 75: no point of operation histogram")
    assert last.endswith("more: run configs/papers/eilers-claims.json")
    assert f" {len(listed)} of {count} claims" in line
    assert main(["report", results, "-o", page, "--missing"]) == 0
    assert capsys.readouterr().err.splitlines()[-len(listed) :] == listed


def test_figures_without_a_folder_go_where_make_draws_them(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    monkeypatch.setattr("reduce_bench_report.__main__.FIGURES", made)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert main(["figures", "--results", save(JRADI_T1), "--only", "jradi-T1"]) == 0
    assert sorted(path.name for path in made.iterdir()) == [
        "jradi-T1.csv", "jradi-T1.md", "jradi-T1.tex"
    ]  # fmt: skip
    assert list(here.iterdir()) == []


def test_ids_may_have_spaces_after_their_commas(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["figures", "--results", save(JRADI_T1), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--only", "jradi-F3, jradi-T1"]) == 0
    assert (tmp_path / "out" / "jradi-T1.md").exists()
    assert capsys.readouterr().err.startswith("jradi-F3: not drawn: ")


def test_help_lists_every_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["figures", "--help"]) == 0
    listed = capsys.readouterr().out.partition("Ids: ")[2]
    assert listed.replace(",", " ").split() == list(EXPERIMENTS)


@pytest.mark.parametrize("only", [",jradi-T1", "jradi-T1,,jradi-F3", "jradi-T1,"])
def test_empty_ids_are_passed_over(save: Save, tmp_path: Path, only: str) -> None:
    arguments = ["figures", "--results", save(JRADI_T1), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--only", only]) == 0
    assert (tmp_path / "out" / "jradi-T1.md").exists()


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ("nope", "there is no 'nope'; "),
        ("jradi-T1,jradi-T9", "there is no 'jradi-T9' (did you mean 'jradi-T"),
        ("x" * 2000, f"there is no '{'x' * 37}...'; "),
        (" , ", "it names no id; "),
    ],
)
def test_an_id_that_there_is_not_is_told_in_a_line_with_the_ids_below(
    capsys: pytest.CaptureFixture[str], only: str, said: str
) -> None:
    assert main(["figures", "--only", only]) == 2
    sentence, _, listed = capsys.readouterr().err.partition("\n")
    assert sentence.startswith(f"reduce_bench_report: --only: {said}")
    assert sentence.endswith("; name ids of this list.")
    assert len(sentence) < 300
    assert listed.removeprefix("Ids: ").replace(",", " ").split() == list(EXPERIMENTS)


def make(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Calls make in `folder`; programs in its folder `path`, if named, are found first."""
    # Below another make, as in `make test`, it would be a sub-make, which says where it works.
    above = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: text for name, text in os.environ.items() if name not in above}
    if path:
        environment["PATH"] = f"{folder / path}:{environment['PATH']}"
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("target", "variables", "arguments"),
    [
        ("figures", ["ONLY=a, b", "MISSING=1"], ["figures", "--only", "a, b", "--missing"]),
        ("figures", ["RESULTS=x.json y.json"], ["figures", "--results", "x.json", "y.json"]),
        ("claims", ["MISSING=1"], ["claims", "--output", "results/local/claims", "--missing"]),
        (
            "report",
            ["MISSING=1", "RESULTS=x.json"],
            ["report", "--output", "results/local/report.html", "--missing", "x.json"],
        ),
    ],
)
def test_make_passes_its_variables_on(
    tmp_path: Path, target: str, variables: list[str], arguments: list[str]
) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name, line in {
        "scripts/setup.sh": "exit 0",
        ".venv/bin/python": 'printf "%s\\n" "$@" > arguments',
    }.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        program.chmod(0o755)
    assert make(tmp_path, target, *variables).returncode == 0
    given = (tmp_path / "arguments").read_text(encoding="utf-8").splitlines()
    assert given == ["-m", "reduce_bench_report", *arguments]


def test_nothing_drawn_is_exit_2(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["figures", "--results", save(POINTS), "-o", str(tmp_path), "--only", "eilers-F4.9"]
    assert main(arguments) == 2
    assert "nothing was drawn" in capsys.readouterr().err


@pytest.mark.parametrize("code", [0, 4])
def test_bench_keeps_the_code_of_a_run_without_figures(tmp_path: Path, code: int) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "quick.json").touch()
    for name, line in {
        "scripts/setup.sh": "exit 0",
        "path/cmake": "exit 0",
        "build/bin/reduce-bench": f"mkdir -p results/local; > results/local/r.json; exit {code}",
        ".venv/bin/python": "echo nothing was drawn >&2; exit 2",
    }.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        program.chmod(0o755)
    done = make(tmp_path, "bench", path="path")
    assert "bench: results/local/r.json has no figures, for the reasons above\n" in done.stderr
    assert (done.returncode == 0) == (code == 0)
    assert (f"Error {code}" in done.stderr) == (code != 0)


def test_make_alone_prints_the_targets(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    done = make(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (phony,) = (
        line.split()[1:]
        for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
        if line.startswith(".PHONY:")
    )
    assert {"bench", "test", "build"} < set(phony)
    for target in set(phony) - {"help"}:
        assert f"make {target} " in done.stdout
    assert "SHELL" not in done.stdout


def test_bench_without_its_configuration_fails_before_it_builds(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)  # without what it would build with
    done = make(tmp_path, "bench", "CONFIG=nope")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "make bench: there is no configuration 'nope': name a file" in done.stderr
    assert "setup.sh" not in done.stderr


def test_figures_of_several_devices_show_no_times(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made_up.results(
        [each | {"ceiling_share": 0.25} for each in JRADI_T1],
    )
    other["environment"]["gpu"]["name"] = "NVIDIA Imaginary 2"
    made_up.write(other, tmp_path / "other.json")
    files = [save(JRADI_T1), str(tmp_path / "other.json")]
    output = tmp_path / "figures"
    arguments = ["--only", "jradi-T1", "-o", str(output)]
    assert main(["figures", "--results", *files, *arguments]) == 0
    table = (output / "jradi-T1.md").read_text(encoding="utf-8")
    headings = [line for line in table.splitlines() if line.startswith("| variant")]
    assert len(headings) == 2
    assert not any("time" in each or "GB/s" in each for each in headings)
    assert "share of datasheet peak" in headings[0]
    for device in ("NVIDIA Imaginary 1", "NVIDIA Imaginary 2"):
        assert f"*{device}*" in table
    own = (output / "nvidia-imaginary-2" / "jradi-T1.md").read_text(encoding="utf-8")
    assert "NVIDIA Imaginary 1" not in own and "median time" in own
    redraw = own.partition("Redraw: ")[2]
    assert f"--output {output / 'nvidia-imaginary-2'}" in redraw
    written = capsys.readouterr().out.splitlines()
    # of one device alone, nothing stands side by side
    assert main(["figures", "--results", files[0], *arguments]) == 0
    assert str(output / "jradi-T1.md") in written


def test_a_folder_stands_for_the_first_rounds_in_it(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "card"
    places = ["a.json", "papers/b.json", "again/a.json", "tuning/t.json", "local/l.json"]
    for place in [*places, "a.simulated/0.json"]:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(save(JRADI_T1), folder / place)
    assert named_results([folder]) == [folder / "a.json", folder / "papers" / "b.json"]
    assert named_results([folder / "tuning", folder / "a.json"]) == [
        folder / "tuning" / "t.json",
        folder / "a.json",
    ]
    assert main(["claims", "--results", str(folder)]) == 0
    (tmp_path / "empty").mkdir()
    assert main(["claims", "--results", str(tmp_path / "empty")]) == 2
    assert "empty' has no results; name a file or another folder" in capsys.readouterr().err


def test_a_truncated_file_among_several_is_refused(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = Path(save(JRADI_T1, "cut.json"))
    cut.write_bytes(cut.read_bytes()[:-100])
    assert main(["figures", "--results", save(POINTS), str(cut), "-o", str(tmp_path / "f")]) == 2
    assert "cut.json" in capsys.readouterr().err
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize("command", ["figures", "claims", "report"])
def test_commands_share_one_default(
    command: str,
    save: Save,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    nothing = Path(save([], "nothing.json"))
    monkeypatch.setattr("reduce_bench_report.__main__.default_results", lambda: [nothing])
    assert main([command, "-o", str(tmp_path / "out")]) == 2
    chosen, refused = capsys.readouterr().err.splitlines()
    assert chosen == f"No results are named; taking {nothing}."
    assert "nothing.json' has no points; run a configuration" in refused
    assert not (tmp_path / "out").exists()


def test_an_interrupted_run_is_told_by_claims(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = made_up.results(JRADI_T1)
    path = made_up.write(document, tmp_path / "r.json")
    assert main(["claims", "--results", str(path), "-o", str(tmp_path)]) == 0
    assert "interrupted" not in capsys.readouterr().err
    path = made_up.write(document | {"interrupted": True}, tmp_path / "r.json")
    assert main(["claims", "--results", str(path), "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().err.splitlines()[0] == (
        "r.json was interrupted and holds only 7 of its points; run the same command with "
        "--resume to measure the rest."
    )
    run = load(path)
    provenance = run.provenance
    assert provenance.endswith(", interrupted")
    run.document["planned"] = {"points": 7, "sweeps": [], "missing": []}
    assert run.shortfall == "r.json was interrupted after its last point: it has no noise floor"
    assert f"* {provenance}\n" in (tmp_path / "claims.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ["figures", "--results", "none.json"],
        ["report", "none.json"],
    ],
)
def test_missing_file_is_one_sentence_and_exit_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "none.json" in captured.err


def test_bad_input_is_exit_2(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = save(POINTS)
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    assert main(["figures", "--results", save([], "empty.json")]) == 2
    assert main(["figures", "--results", results, "--where", "type=f64"]) == 2
    sweep = save([point("a/x", n) for n in (8, 16, 32)], "sweep.json")
    assert main(["figures", "--results", sweep, "-o", str(blocked)]) == 2
    assert f"'{blocked}/" in capsys.readouterr().err
    taken = tmp_path / "folder" / "reduce-gbs.md"
    taken.mkdir(parents=True)
    assert main(["figures", "--results", sweep, "-o", str(taken.parent)]) == 2
    assert f"'{taken}'" in capsys.readouterr().err
    assert main(["report", results, "-o", str(blocked / "r.html")]) == 2


def test_only_the_report_needs_the_packages_of_the_page(save: Save, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        without = "import sys; sys.modules.update(jinja2=None, plotly=None)"
        program = f"{without}; from reduce_bench_report.__main__ import main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")},
            check=False,
        )

    results = save(POINTS)
    assert run("claims", "--results", results).returncode == 0
    done = run("report", results, "-o", str(tmp_path / "r.html"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "jinja2" in done.stderr and "make report" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["draw"],
        ["figures", "--format", "gif"],
        ["figures", "--represent", "harris/7"],
        ["claims", "x\ny" * 1000],
        ["claims", "--results", "x\ny" * 1000],
    ],
)
def test_bad_usage_is_one_line_and_exit_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert (message.count("\n"), len(message) < 300) == (1, True), message


def test_several_committed_files_are_named_by_their_folder(
    save: Save, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Path(save(JRADI_T1, "first.json"))
    second = Path(save(POINTS, "second.json"))
    monkeypatch.setattr("reduce_bench_report.__main__.default_results", lambda: [first, second])
    assert main(["claims"]) == 0
    chosen = capsys.readouterr().err.splitlines()[0]
    assert chosen == f"No results are named; taking the 2 files of {first.parent}."


# ---- what ends a command from outside ---------------------------------------------------------

BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
PACKAGE = {"PYTHONPATH": str(ROOT / "scripts")}


@pytest.mark.parametrize(
    ("command", "output"),
    [
        *(("claims", output) for output in ("full", "closed pipe", "closed")),
        *((command, "full") for command in ("--help", "figures", "report")),
    ],
)
@pytest.mark.parametrize("buffering", [{}, {"PYTHONUNBUFFERED": "1"}])
def test_output_that_cannot_be_written(
    save: Save, tmp_path: Path, command: str, output: str, buffering: dict[str, str]
) -> None:
    where = str(tmp_path / "out")
    arguments = {
        "--help": ["--help"],
        "figures": ["figures", "--results", save(JRADI_T1), "-o", where, "--only", "jradi-T1"],
        "claims": ["claims", "--results", save(JRADI_T1)],
        "report": ["report", save(JRADI_T1), "-o", where],
    }[command]
    line = shlex.join([sys.executable, "-m", "reduce_bench_report", *arguments])
    unread, pipe = os.pipe()
    os.close(unread)
    redirected = {"full": ">/dev/full", "closed pipe": f">&{pipe}", "closed": ">&-"}[output]
    ended = subprocess.run(
        ["bash", "-c", f"{line} {redirected}"],
        env=BUFFERED | buffering | PACKAGE,
        pass_fds=[pipe],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(pipe)
    why = {
        "full": "No space left on device", "closed pipe": "Broken pipe",
        "closed": "Bad file descriptor",
    }[output]  # fmt: skip
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == (
        f"reduce_bench_report: cannot write to standard output: {why}; check where it goes."
    )
    assert "Traceback" not in ended.stderr and "Exception" not in ended.stderr


@pytest.mark.parametrize("command", ["figures", "claims", "report"])
def test_files_that_cannot_grow_stay_as_they_were(save: Save, tmp_path: Path, command: str) -> None:
    out, results = tmp_path / "out", save(JRADI_T1)
    arguments = {
        "figures": ["--results", results, "-o", str(out), "--only", "jradi-T1"],
        "claims": ["--results", results, "-o", str(out)],
        "report": [results, "-o", str(out / "report.html")],
    }[command]
    name = {"figures": "jradi-T1.md", "claims": "claims.md", "report": "report.html"}[command]
    out.mkdir()
    (out / name).write_text("older", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "reduce_bench_report", command, *arguments],
        env=BUFFERED | PACKAGE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    said = ended.stderr.splitlines()[-1]
    assert f"cannot write '{out / name}': File too large; " in said, ended.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {name: b"older"}


def test_what_is_no_file_is_written_to_and_a_link_stays(save: Save, tmp_path: Path) -> None:
    link, page = tmp_path / "link.html", tmp_path / "page.html"
    link.symlink_to(page)
    assert main(["report", save(JRADI_T1), "-o", str(link)]) == 0
    assert link.is_symlink()
    piped = subprocess.run(
        [
            sys.executable,
            "-m",
            "reduce_bench_report",
            "report",
            save(JRADI_T1),
            "-o",
            "/dev/stdout",
        ],
        env=BUFFERED | PACKAGE,
        capture_output=True,
        check=True,
    )
    assert page.read_bytes() in piped.stdout


def test_messages_that_nobody_takes(save: Save) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "reduce_bench_report", "report", "none.json"],
            env=BUFFERED | PACKAGE,
            stderr=full,
            check=False,
        )
    assert ended.returncode == 2


def interrupted(*arguments: str, folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """What became of Python that is sent what Ctrl-C sends, to its whole group."""
    # A shell starts what runs in its background with the signal ignored.
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**BUFFERED, "PYTHONPATH": f"{path}:{ROOT / 'scripts'}"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
    )


CTRL_C = "os.killpg(0, signal.SIGINT)"
BEGIN = "import os, signal, sys, time\nfrom reduce_bench_report import program, __main__, figures\n"
TOLD = (130, "reduce_bench_report: interrupted.\n")


@pytest.mark.parametrize("command", ["figures", "claims", "report", "readme"])
def test_ctrl_c_is_told_in_a_line(tmp_path: Path, command: str) -> None:
    ended = interrupted(
        "-c",
        f"{BEGIN}__main__.load_devices = lambda *_: {CTRL_C}\n"
        f"sys.argv = ['', '{command}']\nsys.exit(program.main())",
        folder=tmp_path,
    )
    told = ended.stderr.partition("\n")[2] or ended.stderr  # after which results are taken
    assert (ended.returncode, told) == TOLD


def lives(process_id: str) -> bool:
    try:
        status = Path("/proc", process_id, "stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_ctrl_c_while_drawing_ends_the_processes_that_draw(tmp_path: Path) -> None:
    ended = interrupted(
        "-c",
        f"{BEGIN}os.cpu_count = lambda: 2\n"
        "def draw(k):\n"
        "    open(f'{k}-{os.getpid()}', 'w').close()\n"
        f"    {CTRL_C} if k == 0 else time.sleep(0.3)\n"
        "__main__.load_devices = lambda *_: figures.in_parallel(draw, [(k,) for k in range(100)])\n"
        "sys.argv = ['', 'claims', '--results', 'x.json']\nsys.exit(program.main())",
        folder=tmp_path,
    )
    assert (ended.returncode, ended.stderr) == TOLD
    begun = [path.name for path in tmp_path.iterdir()]
    assert len(begun) < 50  # a few had
    # Killed, and waited for by whoever adopts them; on a busy machine they take a moment to die.
    for name in begun:
        deadline = time.monotonic() + 30
        while lives(name.partition("-")[2]):
            assert time.monotonic() < deadline, f"process {name} draws on"
            time.sleep(0.05)


@pytest.mark.parametrize("package", ["argparse", "matplotlib", "jinja2"])
def test_ctrl_c_while_packages_are_imported(tmp_path: Path, package: str) -> None:
    """Packages may take what Python then raises for a fault of their own."""
    (tmp_path / f"{package}.py").write_text(
        f"import os, signal\ntry:\n    {CTRL_C}\nexcept BaseException:\n"
        "    raise ImportError('it is broken')",
        encoding="utf-8",
    )
    results = made_up.write(made_up.results(POINTS), tmp_path / "r.json")
    ended = interrupted(
        "-m", "reduce_bench_report", "report", str(results), folder=tmp_path, path=str(tmp_path)
    )
    assert (ended.returncode, ended.stderr) == TOLD
