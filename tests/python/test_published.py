"""The publications' tables: read, checked, and refused where they are not as their schema says."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reduce_bench_report.loader import InputError
from reduce_bench_report.published import Column, load, load_all, load_hardware

Json = dict[str, Any]

DOCUMENT: Json = {
    "paper": "some",
    "title": "Someone, Something (2000)",
    "tables": [
        {
            "id": "some-T1",
            "source": "section 1, Table 1",
            "hardware": "G80",
            "conditions": {"n": 1024},
            "columns": [{"name": "F", "unit": None}, {"name": "time", "unit": "ms"}],
            "rows": [[1, 0.5], [2, None]],
            "note": None,
        }
    ],
}


def write(folder: Path, document: Json, name: str = "some.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_table_is_read(tmp_path: Path) -> None:
    (table,) = load(write(tmp_path, DOCUMENT))
    assert (table.id, table.paper, str(table.hardware), table.peak_gb_per_s) == (
        "some-T1",
        "some",
        "G80",
        86.4,
    )
    assert table.columns == (Column("F", None), Column("time", "ms"))
    assert table.column("time") == [0.5, None]
    assert table.unit("time") == "ms"
    with pytest.raises(InputError, match=r"no column 'speed'; it has F, time"):
        table.column("speed")


def alteration(change: Callable[[Json], object]) -> Json:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return document


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (alteration(lambda d: d.pop("title")), "'title' is a required property"),
        (alteration(lambda d: d["tables"][0].update(unit="ms")), "/tables/0"),
        (alteration(lambda d: d["tables"][0]["rows"].append([3, True])), "/tables/0/rows/2/1"),
        (alteration(lambda d: d["tables"][0]["rows"].append([3])), "1 cells in row 3 of table"),
        (alteration(lambda d: d["tables"][0].update(id="other-T1")), "not named after its paper"),
        (alteration(lambda d: d.update(paper="other")), "of paper 'other'"),
        (alteration(lambda d: d["tables"][0].update(hardware="G8")), "of 'G8', which hardware"),
        (
            alteration(lambda d: d["tables"][0]["columns"][1].update(name="F")),
            "two columns of one name",
        ),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, document: Json, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(write(tmp_path, document))


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, DOCUMENT)
    path.write_text(path.read_text(encoding="utf-8")[:-5], encoding="utf-8")
    with pytest.raises(InputError, match="perhaps cut short"):
        load(path)


def test_ids_are_unique_over_all_papers(tmp_path: Path) -> None:
    document = copy.deepcopy(DOCUMENT)
    document["tables"] *= 2
    write(tmp_path, document)
    with pytest.raises(InputError, match="'some-T1' stands twice"):
        load_all(tmp_path)


def test_every_committed_table_is_valid() -> None:
    tables = load_all()
    assert tables["jradi-T1"].column("time")[0] == 8.054


def test_all_hardware_is_that_of_a_table() -> None:
    used = {str(table.hardware) for table in load_all().values() if table.hardware}
    assert used == set(load_hardware())
