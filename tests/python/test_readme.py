"""The README's table and figure are those of the committed results."""

import hashlib
import re
from pathlib import Path

from reduce_bench_report.__main__ import main

ROOT = Path(__file__).parents[2]
RESULTS = Path("results/nvidia-h200/full.json")


def selection() -> list[str]:
    """The options that `make readme` passes for the table."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = dict(re.findall(r"^readme_(selection|sizes) := (.*)$", makefile, re.MULTILINE))
    return [*found["selection"].split(), "--n", found["sizes"]]


def test_table_is_of_the_committed_results(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["table", str(RESULTS), *selection(), "--readme", "README.md", "--check"]) == 0


def test_stale_table_is_noticed(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = readme.index("<!-- begin: reduce-table -->")
    stale = tmp_path / "README.md"
    stale.write_text(readme[:begin] + readme[begin:].replace("2^10", "2^11", 1), encoding="utf-8")
    arguments = ["table", str(RESULTS), *selection(), "--readme", str(stale), "--check"]
    assert main(arguments) == 1


def test_figure_is_of_the_committed_results() -> None:
    digest = hashlib.sha256((ROOT / RESULTS).read_bytes()).hexdigest()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = re.findall(r"\]\((docs/figures/[^)]*\.svg)\)", readme)
    assert figures
    for figure in figures:
        drawn = (ROOT / figure).read_text(encoding="utf-8")
        assert digest[:12] in drawn, f"{figure} is stale: run make readme"


def test_committed_results_are_clean() -> None:
    """Made by a committed revision, on the device that their folder names, without raw samples."""
    files = sorted((ROOT / "results").glob("*/**/*.json"))
    committed = [file for file in files if "local" not in file.parts]
    assert committed
    for file in committed:
        text = file.read_text(encoding="utf-8")
        assert re.search(r'"revision": "[0-9a-f]{40}"', text), file
        assert re.search(r'"dirty": false', text), file
        assert "samples_ns" not in text, file
        assert len(text) < 5_000_000, file
