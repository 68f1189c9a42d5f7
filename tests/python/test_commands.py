"""The commands as a user runs them: output, files, exit codes."""

from collections.abc import Callable
from pathlib import Path

import made_up
import pytest
from made_up import known_wrong, point, unmeasured
from reduce_bench_report.__main__ import main
from reduce_bench_report.tables import MARKERS, spread

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


def test_table(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", save(POINTS)]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert rows == [
        "| variant | 2^10 | 2^20 |",
        "| --- | ---: | ---: |",
        "| cub/reduce | **81.92 (2%)** | **2097 (52%)** |",
        "| harris/0 | 40.96 (1%) | 1049 (26%) |",
        "| amp/x (host) | skipped | 524.3 (13%) |",
    ]


def test_table_of_chosen_sizes(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", save(POINTS), "--n", "2^20,7"]) == 0
    out = capsys.readouterr().out
    assert "| variant | 2^20 | 7 |" in out
    assert "| harris/0 | 1049 (26%) | - |" in out


def test_spread_keeps_both_ends() -> None:
    assert spread(list(range(10, 31))) == [10, 14, 18, 22, 26, 30]
    assert spread([5]) == [5]
    assert spread([1, 2, 3]) == [1, 2, 3]


def test_known_wrong_time_is_not_in_the_table(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [
        point("a/x", 1024, 100.0),
        known_wrong("a/x", 2048, 1.0),
        point("b/y", 1024, 200.0),
        point("b/y", 2048, 200.0),
    ]
    assert main(["table", save(points)]) == 0
    out = capsys.readouterr().out
    assert "| a/x | **40.96 (1%)** | wrong (known) |" in out
    assert "| b/y | 20.48 (1%) | **40.96 (1%)** |" in out


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    path = tmp_path / "README.md"
    path.write_text(f"# Title\n\n{MARKERS[0]}\nformer\n{MARKERS[1]}\n\nAfter.\n", encoding="utf-8")
    return path


def test_readme_table_is_replaced_and_nothing_else(save: Save, readme: Path) -> None:
    arguments = ["table", save(POINTS), "--readme", str(readme)]
    assert main(arguments) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"# Title\n\n{MARKERS[0]}\n**i32 sum")
    assert text.endswith(f"\n{MARKERS[1]}\n\nAfter.\n")
    assert "former" not in text
    assert main(arguments) == 0
    assert readme.read_text(encoding="utf-8") == text


def test_check_fails_when_the_table_is_stale(save: Save, readme: Path) -> None:
    results = save(POINTS)
    arguments = ["table", results, "--readme", str(readme)]
    before = readme.read_text(encoding="utf-8")
    assert main([*arguments, "--check"]) == 1
    assert readme.read_text(encoding="utf-8") == before
    main(arguments)
    assert main([*arguments, "--check"]) == 0
    readme.write_text(readme.read_text(encoding="utf-8").replace("2097", "2098"), encoding="utf-8")
    assert main([*arguments, "--check"]) == 1
    main(arguments)
    save([*POINTS[:-1], point("amp/x", 1 << 20, 8001.0, finish="host")])
    assert main([*arguments, "--check"]) == 1


@pytest.mark.parametrize("text", ["", f"{MARKERS[1]}\n{MARKERS[0]}\n", f"{MARKERS[0]}\n" * 2])
def test_readme_without_its_markers(
    save: Save, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "README.md"
    path.write_text(text, encoding="utf-8")
    assert main(["table", save(POINTS), "--readme", str(path)]) == 2
    assert MARKERS[0] in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text


def test_figures(save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "figures"
    results = save(POINTS)
    arguments = ["figures", "--results", results, "-o", str(folder), "--format", "svg"]
    assert main([*arguments, "--where", "type=i32"]) == 0
    names = ["reduce-gbs.svg", "reduce-share.svg", "reduce-time.svg"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert capsys.readouterr().out.splitlines() == [str(folder / name) for name in names]


@pytest.mark.parametrize(
    "arguments",
    [
        ["table", "none.json"],
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


def test_bad_input_is_exit_2(save: Save, tmp_path: Path) -> None:
    results = save(POINTS)
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    assert main(["table", save([], "empty.json")]) == 2
    assert main(["table", results, "--check"]) == 2
    assert main(["table", results, "--where", "type=f64"]) == 2
    assert main(["table", results, "--readme", str(tmp_path / "none.md")]) == 2
    assert main(["figures", "--results", results, "-o", str(blocked)]) == 2
    assert main(["report", results, "-o", str(tmp_path / "none" / "r.html")]) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["draw"],
        ["figures", "--format", "gif"],
        ["figures", "--only", "jradi-T9"],
        ["table", "r.json", "--n", "2^x"],
    ],
)
def test_bad_usage_is_exit_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
