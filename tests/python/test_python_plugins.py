"""Plug-ins in Python: the interpreter in the worker, NumPy's calls, and what goes wrong."""

import ast
import json
import os
import re
import stat
import sys
import textwrap
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from conftest import SaveConfig
from test_driver import BINARY, GOOD, INCOMPLETE, ROOT, complaint, drive
from test_plugins import IN_TIMING, WRONG, run

FRAMEWORKS = ROOT / "frameworks"
NUMPY = FRAMEWORKS / "numpy_calls.py"
CALLS = sorted(FRAMEWORKS.glob("*_calls.py"))
PARTS = json.loads((ROOT / "scripts" / "results.json").read_text(encoding="utf-8"))["parts"]

# The worker takes the Python of these tests, which has NumPy.
os.environ["REDUCE_BENCH_PYTHON"] = sys.executable


def why_not() -> str:
    if not BINARY.exists():
        return f"{BINARY} is not built: run make build, or set REDUCE_BENCH_BINARY"
    refusal = drive("list", "--plugin", NUMPY).stderr
    return refusal if "no shared library" in refusal else ""


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

Write = Callable[..., Path]

PLUGIN = """\
import os
import numpy as np
from reduce_bench_plugin import Param, Plugin

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0", packages=["numpy"])


@plugin.variant("mine/sum", title="a sum", operation="reduce", backend="cpu", types=["i32"],
                ops=["sum"], params=[Param("block", "1", ["1", "2"], "of no use")])
def sum_all(call):
    values, results = np.asarray(call.values), np.asarray(call.results)

    def run():
        results[0] = values.sum(dtype=np.int32)

    return run
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A plug-in: PLUGIN, in which each text is replaced by another."""

    def written(*replaced: tuple[str, str]) -> Path:
        text = PLUGIN
        for old, new in replaced:
            assert text.count(old) == 1
            text = text.replace(old, new)
        path = tmp_path / "mine.py"
        path.write_text(text, encoding="utf-8")
        return path

    return written


# ---- good plug-ins --------------------------------------------------------------------------


def test_numpy_is_verified() -> None:
    ended = drive("verify", "--plugin", NUMPY, "--filter", "numpy/*", "--backend", "cpu")
    assert ended.returncode == GOOD, ended.stderr + ended.stdout
    assert "4 variants verified, 0 failed" in ended.stderr


def test_numpy_is_timed_beside_the_catalog(config: SaveConfig) -> None:
    path = config(
        "numpy/*", "cpu/sequential", type=["f32"], measurement={"modes": ["cold", "hot", "wall"]}
    )
    ended, records = run(path, NUMPY)
    assert ended.returncode == GOOD, ended.stderr
    assert [(each["variant"], each["status"]) for each in records] == [
        ("cpu/sequential", "ok"),
        ("numpy/reduce", "ok"),
    ] * 2
    for each in records:
        assert set(each["timing"]) == {"cold", "hot", "wall"}
    used = f"1.0 (numpy {version('numpy')}, Python {sys.version.split()[0]})"
    assert records[1]["plugin"]["file"] == "numpy_calls.py"
    assert records[1]["plugin"]["version"] == used


def test_halves_are_combined_in_f32(write: Write, config: SaveConfig) -> None:
    axes: dict[str, Any] = {
        "type": ["f16"],
        "op": ["sum", "max"],
        "measurement": {"modes": ["cold"]},
    }
    ended, records = run(config("numpy/reduce", **axes), NUMPY)
    assert ended.returncode == GOOD, ended.stderr
    assert [(each["type"], each["status"]) for each in records] == [("f16", "ok")] * 4
    # 2 bytes for each value, and 4 for the result.
    assert records[0]["bytes"] == 2 * records[0]["n"] + 4
    plugin = write(('types=["i32"]', 'types=["f16"]'), ("dtype=np.int32", "dtype=np.float16"))
    ended, records = run(config("mine/sum", type=["f16"]), plugin)
    assert ended.returncode == WRONG
    assert "within 0" in records[0]["reason"]


@pytest.mark.parametrize("path", CALLS, ids=lambda path: path.stem)
def test_every_shipped_plugin_declares_its_variants(path: Path) -> None:
    ended = drive("list", "--json", "--plugin", path)
    assert ended.returncode == GOOD, ended.stderr
    own = [each for each in json.loads(ended.stdout) if each["plugin"]]
    assert own
    assert {each["id"].split("/")[0] for each in own} == {path.stem.removesuffix("_calls")}


@pytest.mark.parametrize("path", CALLS, ids=lambda path: path.stem)
def test_every_shipped_plugin_says_why_its_calls_were_chosen(path: Path) -> None:
    head = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    choice = head.partition("\n\nChoice: ")[2]
    assert re.search(r"\b(us|ms)\b", choice), "it tells no times"
    assert len(re.findall(r"\b\d+\b", choice)) > 8, "it does not tell what the alternatives took"


def test_the_library_is_declared_by_its_example() -> None:
    ended = drive("list", "--json", "--plugin", ROOT / "examples" / "library" / "plugin.py")
    assert ended.returncode == GOOD, ended.stderr
    names = {each["id"] for each in json.loads(ended.stdout) if each["plugin"]}
    assert names == {
        f"library/{name}"
        for name in ("histogram", "multireduce", "multiscan", "reduce", "reduce-exact")
    }


@pytest.mark.parametrize(
    "part", [each for each in PARTS if "plugins" in each], ids=lambda part: str(part["config"])
)
def test_a_committed_part_s_variants_are_in_its_plugins_or_the_catalog(part: Any) -> None:
    plugins = [word for path in part["plugins"] for word in ("--plugin", ROOT / path)]
    there = {each["id"] for each in json.loads(drive("list", "--json", *plugins).stdout)}
    asked = json.loads((ROOT / part["config"]).read_text(encoding="utf-8"))["sweeps"]
    assert {variant for sweep in asked for variant in sweep["variants"]} <= there


def test_parameters_reach_the_function(write: Write, config: SaveConfig) -> None:
    plugin = write(
        (
            "results[0] = values",
            'assert call.problem.params == {"block": "2"}\n        results[0] = values',
        )
    )
    ended, records = run(config("mine/*", params={"block": [1, 2]}), plugin)
    assert ended.returncode == INCOMPLETE
    assert [each["status"] for each in records] == ["failed", "ok"] * 2
    assert "AssertionError (line 14)" in records[0]["reason"]


def test_arrays_are_taken_by_dlpack(write: Write, config: SaveConfig) -> None:
    plugin = write(("np.asarray(call.values)", "np.from_dlpack(call.values)"))
    ended, records = run(config("mine/*"), plugin)
    assert ended.returncode == GOOD, ended.stdout
    assert [each["status"] for each in records] == ["ok", "ok"]


def test_a_result_is_copied(write: Write, config: SaveConfig) -> None:
    plugin = write(
        (
            "results[0] = values.sum(dtype=np.int32)",
            "own = values.sum(dtype=np.int32, keepdims=True)\n"
            "        call.results.copy_from(own.ctypes.data, call.stream)",
        )
    )
    ended, records = run(config("mine/*"), plugin)
    assert ended.returncode == GOOD, ended.stdout
    assert [each["status"] for each in records] == ["ok", "ok"]


def test_a_module_beside_the_file_is_found(write: Write, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text('TITLE = "from beside"\n', encoding="utf-8")
    plugin = write(("import os\n", "import beside\n"), ('title="a sum"', "title=beside.TITLE"))
    assert "mine/sum: from beside" in drive("show", "--plugin", plugin, "mine/sum").stdout


# ---- what cannot be loaded ------------------------------------------------------------------

REFUSED: dict[str, tuple[str, str, str]] = {
    "another interface": (
        "interface=1",
        "interface=2",
        "it is built for version 2 of the interface",
    ),
    "missing package": (
        "import numpy as np",
        "import no_such_package",
        "No module named 'no_such_package' (line 2)",
    ),
    "exception": ("import os", "raise OSError('no luck')", "OSError: no luck (line 1)"),
    "syntax": ("import os", "import import", "SyntaxError: invalid syntax (line 1)"),
    "no plug-in": ("reduce_bench_plugin = plugin = ", "plugin = ", "it defines no 'reduce_bench_"),
    "unknown operation": ('"reduce"', '"reduction"', "'reduction' is no operation: use one of"),
    "unknown type": ('"i32"', '"f8"', "'f8' is no type"),
    "bad id": ('"mine/sum"', '"Mine Sum"', "'Mine Sum' is no id"),
    "undefined": ('ops=["sum"]', 'ops=["affine"]', "'affine' of 'reduce' is not defined on i32"),
    "exit": ("import os", "raise SystemExit(3)", "SystemExit: 3 (line 1)"),
    "exit of the process": ("import os\n", "import os\nos._exit(3)\n", "exited with status 3"),
    "crash": ("import os\n", "import os\nos.abort()\n", "was killed by SIGABRT"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_sentence_says_why_it_is_refused(name: str, write: Write) -> None:
    old, new, reason = REFUSED[name]
    said = complaint("list", "--plugin", write((old, new)))
    assert "mine.py'" in said
    assert reason in said


def test_a_python_that_does_not_run(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDUCE_BENCH_PYTHON", "/no/such/python3")
    said = complaint("list", "--plugin", write())
    assert "'/no/such/python3' does not run; let REDUCE_BENCH_PYTHON name a" in said


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ('"libraries": ["/no/such.so"]', "install it (Debian, Ubuntu: libpython3-dev)"),
        (
            '"new_enough": False, "version": "3.9"',
            "has version 3.9; let REDUCE_BENCH_PYTHON name a Python 3.10",
        ),
    ],
)
def test_a_python_that_is_of_no_use(
    change: str, reason: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = f"""\
        #!{sys.executable}
        import json, subprocess, sys
        answer = json.loads(subprocess.check_output([{sys.executable!r}, *sys.argv[1:]]))
        print(json.dumps(answer | {{{change}}}))
        """
    other = tmp_path / "python3"
    other.write_text(textwrap.dedent(answer), encoding="utf-8")
    other.chmod(other.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("REDUCE_BENCH_PYTHON", str(other))
    assert reason in complaint("list", "--plugin", write())


# ---- what goes wrong in a run ---------------------------------------------------------------

LINE = "results[0] = values"
FAULTS: dict[str, tuple[str, str, str, str]] = {
    "exception": (
        LINE + ".sum",
        "raise ValueError('no luck') ; results.sum",
        "failed",
        "ValueError: no luck (line 14)",
    ),
    "exception before": (
        "values, results =",
        "raise ValueError('no luck')\n    values, results =",
        "failed",
        "ValueError: no luck (line 11)",
    ),
    "crash": (LINE, f"os.abort()\n        {LINE}", "failed", "was killed by SIGABRT"),
    "exit": (LINE, f"raise SystemExit\n        {LINE}", "failed", "SystemExit"),
    "hang": (LINE, f"while True: pass\n        {LINE}", "timeout", "did not end within 2 s"),
    "wrong": (LINE, "results[0] = 1 + values", "wrong", "got "),
    "changed input": (LINE, f"values[0] = 7\n        {LINE}", "wrong", ""),
    "refused": (
        'title="a sum"',
        'title="a sum", refuse=lambda problem: f"not {problem.n}"',
        "skipped",
        "not 1000",
    ),
    "depth": (
        'title="a sum"',
        'title="a sum", depth=lambda problem: 1 // 0',
        "skipped",
        "ZeroDivisionError",
    ),
    "depth of no inputs": (
        'title="a sum"',
        'title="a sum", depth=lambda problem: 0',
        "skipped",
        "the depth is 0, and should be a positive int",
    ),
    "package": (
        '["numpy"]',
        '["no_such_package"]',
        "skipped",
        "the package 'no_such_package' is not installed",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_its_points_alone(name: str, write: Write, config: SaveConfig) -> None:
    old, new, status, reason = FAULTS[name]
    path = config("mine/sum", "cpu/sequential", n=[1000], measurement={"point_timeout_s": 2})
    ended, records = run(path, write((old, new)))
    assert ended.returncode == {"wrong": WRONG, "skipped": GOOD}.get(status, INCOMPLETE)
    assert [(each["variant"], each["status"]) for each in records] == [
        ("cpu/sequential", "ok"),
        ("mine/sum", status),
    ]
    assert reason in records[1]["reason"]
    assert records[1]["timing"] == {}


@pytest.mark.parametrize("mode", ["cold", "hot", "wall"])
def test_a_result_that_is_kept_is_found_out(mode: str, write: Write, config: SaveConfig) -> None:
    plugin = write(
        (f"{LINE}.sum(dtype=np.int32)", "results[0] = total"),
        ("    def run", "    total = values.sum(dtype=np.int32)\n\n    def run"),
    )
    ended, records = run(config("mine/sum", n=[70000], measurement={"modes": [mode]}), plugin)
    assert ended.returncode == WRONG
    assert IN_TIMING in records[0]["reason"]
