"""What CHANGELOG.md says that a user of version 1 can rely on.

tests/promises/1.json has the names of version 1.0.0: the variants with their parameters, and the
keys and values of the formats. Names may be added without a line there, and none may go.
"""

import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_driver import drive
from test_driver import pytestmark as pytestmark

ROOT = Path(__file__).parents[2]
PROMISED = json.loads((ROOT / "tests" / "promises" / "1.json").read_text(encoding="utf-8"))
KINDS = ("key", "value", "required")
FORMATS = ("config", "results", "thresholds", "hierarchy")

Json = dict[str, Any]


def schema_of(name: str) -> Json:
    path = ROOT / "configs" / "schema" / f"{name}.schema.json"
    schema: Json = json.loads(path.read_text(encoding="utf-8"))
    return schema


def words(schema: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Each key and each value that a schema names, with the keyword before and the place."""
    if isinstance(schema, list):
        for each in schema:
            yield from words(each, where)
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword in ("properties", "definitions"):
            for name, below in value.items():
                if keyword == "properties":
                    yield "key", f"{where}/{name}"
                yield from words(below, f"{where}/{name}")
        elif keyword == "required":
            yield from (("required", f"{where}/{name}") for name in value)
        elif keyword in ("enum", "const"):
            values = value if keyword == "enum" else [value]
            yield from (("value", f"{where}={each}") for each in values)
        else:
            yield from words(value, where)


def named(schema: Json) -> dict[str, list[str]]:
    """The words of a schema by their keyword."""
    found = [*words(schema)]
    return {kind: sorted({word for k, word in found if k == kind}) for kind in KINDS}


def parent(word: str) -> str:
    return word.rpartition("/")[0]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_keeps_its_keys_and_values(name: str) -> None:
    now, promised = named(schema_of(name)), PROMISED["formats"][name]
    for kind in ("key", "value"):
        assert {*promised[kind]} <= {*now[kind]}, kind
    # An older file need not have more in the objects that it has.
    older = {parent(word) for word in promised["key"]}
    required = {word for word in now["required"] if parent(word) in older}
    assert required <= {*promised["required"]}


def test_variants_keep_their_ids_and_parameters() -> None:
    listed = json.loads(drive("list", "--json").stdout)
    now = {each["id"]: {axis["name"] for axis in each["params"]} for each in listed}
    assert {*PROMISED["variants"]} <= {*now}
    for variant, params in PROMISED["variants"].items():
        assert {*params} <= now[variant], variant


def test_the_interface_of_plug_ins_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    header = (ROOT / "include" / "reduce_bench_plugin.h").read_text(encoding="utf-8")
    (interface,) = re.findall(r"#define REDUCE_BENCH_PLUGIN_INTERFACE (\d+)u", header)
    monkeypatch.syspath_prepend(ROOT / "include")
    of_python = importlib.import_module("reduce_bench_plugin").INTERFACE
    assert int(interface) == of_python == PROMISED["plugin_interface"]


def test_there_is_one_version() -> None:
    """Of the programs, the package and the newest section of CHANGELOG.md."""
    build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = re.search(package["tool"]["hatch"]["version"]["pattern"], build)
    assert found is not None
    version = found["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\d+\.\d+\.\d+), \d{4}-\d\d-\d\d$", changes, re.M)
    assert headings[0] == version
    assert drive("--version").stdout.startswith(f"reduce-bench {version}, ")
    assert version.partition(".")[0] == "1", "tests/promises has the names of version 1"
