"""Reads the publications' own tables, `published/<paper>.json`: checked here, trusted elsewhere."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reduce_bench_report.loader import InputError, checked_json
from reduce_bench_report.paths import (
    HARDWARE,
    HARDWARE_SCHEMA,
    PUBLISHED,
    PUBLISHED_SCHEMA,
)

Cell = float | str | None


@dataclass(frozen=True)
class Column:
    name: str
    unit: str | None


@dataclass(frozen=True)
class Hardware:
    """What a publication measured on. Facts that nobody states are None."""

    name: str
    peak_gb_per_s: float | None
    multiprocessors: int | None
    l2_bytes: int | None
    source: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Table:
    """A published table: each row has a cell for each of `columns`, as the source prints it."""

    paper: str
    paper_title: str
    id: str
    source: str
    hardware: Hardware | None
    conditions: dict[str, Any]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str | None

    @property
    def peak_gb_per_s(self) -> float | None:
        return self.hardware.peak_gb_per_s if self.hardware else None

    def column(self, name: str) -> list[Cell]:
        """The cells of one column, from top to bottom."""
        names = [column.name for column in self.columns]
        if name not in names:
            raise InputError(
                f"published table '{self.id}' has no column '{name}'; it has {', '.join(names)}"
            )
        index = names.index(name)
        return [row[index] for row in self.rows]

    def unit(self, name: str) -> str | None:
        return next(column.unit for column in self.columns if column.name == name)


@functools.cache
def load_hardware(path: Path = HARDWARE) -> dict[str, Hardware]:
    """The publications' cards and CPUs by name."""
    document = checked_json(path, HARDWARE_SCHEMA, "facts of hardware")
    return {raw["name"]: Hardware(**raw) for raw in document["hardware"]}


@functools.cache
def load_all(folder: Path = PUBLISHED) -> dict[str, Table]:
    """Every published table by its id."""
    tables: dict[str, Table] = {}
    for path in sorted(folder.glob("*.json")):
        for table in load(path):
            if table.id in tables:
                raise InputError(f"published table '{table.id}' stands twice; see '{path}'")
            tables[table.id] = table
    return tables


def load(path: Path) -> list[Table]:
    """The tables of one publication; `InputError` where the file is not as its schema says."""
    document = checked_json(path, PUBLISHED_SCHEMA, "published file")
    if document["paper"] != path.stem:
        raise InputError(f"'{path}' says that it is of paper '{document['paper']}'")
    return [_table(document, raw, path) for raw in document["tables"]]


def _table(document: dict[str, Any], raw: dict[str, Any], path: Path) -> Table:
    columns = tuple(Column(column["name"], column["unit"]) for column in raw["columns"])
    names = [column.name for column in columns]
    if len(set(names)) != len(names):
        raise InputError(f"'{path}' has two columns of one name in table '{raw['id']}'")
    if not raw["id"].startswith(document["paper"] + "-"):
        raise InputError(f"'{path}' has table '{raw['id']}', which is not named after its paper")
    for number, row in enumerate(raw["rows"], start=1):
        if len(row) != len(columns):
            raise InputError(
                f"'{path}' has {len(row)} cells in row {number} of table '{raw['id']}', which has "
                f"{len(columns)} columns"
            )
    hardware = raw["hardware"]
    if hardware and hardware not in load_hardware():
        raise InputError(
            f"'{path}' has table '{raw['id']}' of '{hardware}', which hardware.json does not have"
        )
    return Table(
        paper=document["paper"],
        paper_title=document["title"],
        id=raw["id"],
        source=raw["source"],
        hardware=load_hardware()[hardware] if hardware else None,
        conditions=raw["conditions"],
        columns=columns,
        rows=tuple(tuple(row) for row in raw["rows"]),
        note=raw["note"],
    )
