"""The published schemas accept what the program writes and nothing that would mislead."""

import importlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import made_up
import pytest
from reduce_bench_report import loader, schema_fault

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "configs" / "schema"

Json = dict[str, Any]


def validator(name: str) -> jsonschema.Draft7Validator:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


CONFIG = validator("config.schema.json")
RESULTS = validator("results.schema.json")
CHECKER = schema_fault.Checker(RESULTS.schema)
THRESHOLDS = validator("thresholds.schema.json")
HIERARCHY = validator("hierarchy.schema.json")


def sweep(**changes: Any) -> Json:
    return {"schema": 1, "sweeps": [{"variants": ["harris/*"], "n": [1024], **changes}]}


def measured(**settings: Any) -> Json:
    return {**sweep(), "measurement": settings}


GOOD_CONFIGS: dict[str, Json] = {
    "smallest": {
        "schema": 1,
        "sweeps": [
            {
                "variants": ["harris/*", "cub/reduce"],
                "n": [5533214, {"pow2": [10, 30, 2]}],
                "type": ["i32", "f32"],
            }
        ],
    },
    "every key": {
        "$schema": "schema/config.schema.json",
        "schema": 1,
        "description": "all of it",
        "measurement": {
            "modes": ["cold", "hot", "graph"],
            "min_samples": 10,
            "max_samples": 100,
            "max_time_ms": 200,
            "relative_ci": 0.005,
            "interleave": 3,
            "clock_floor": 0.75,
            "counters": True,
            "energy": True,
        },
        "sweeps": [
            {
                "variants": ["*"],
                "operation": "reduce",
                "backends": ["cuda", "cpu"],
                "n": [0, {"pow2": [10, 20]}, "2^40"],
                "type": ["f64"],
                "op": ["sum", "affine"],
                "distribution": [
                    "uniform",
                    {"name": "ones"},
                    {"name": "cancelling", "condition": 1e6},
                ],
                "params": {"block": [128, "256"], "unroll": [1, 2]},
                "zip": [["block", "unroll"]],
                "measurement": {"modes": ["hot"]},
            }
        ],
    },
}

BAD_CONFIGS: dict[str, Json] = {
    "no sweeps": {"schema": 1, "sweeps": []},
    "other version": sweep() | {"schema": 2},
    "unknown key": sweep() | {"sweep": []},
    "unknown sweep key": sweep(types=["i32"]),
    "no variants": {"schema": 1, "sweeps": [{"n": [1]}]},
    "no n": {"schema": 1, "sweeps": [{"variants": ["*"]}]},
    "negative n": sweep(n=[-1]),
    "fractional n": sweep(n=[1.5]),
    "n as text": sweep(n=["1024"]),
    "n a power that is too large": sweep(n=["2^41"]),
    "pow2 with one end": sweep(n=[{"pow2": [10]}]),
    "pow2 with step 0": sweep(n=[{"pow2": [10, 20, 0]}]),
    "pow2 too large": sweep(n=[{"pow2": [10, 64]}]),
    "pow2 of four": sweep(n=[{"pow2": [10, 20, 1, 1]}]),
    "size object without pow2": sweep(n=[{}]),
    "unknown type": sweep(type=["int"]),
    "type not a list": sweep(type="i32"),
    "unknown op": sweep(op=["mean"]),
    "unknown backend": sweep(backends=["emu"]),
    "unknown distribution": sweep(distribution=["gauss"]),
    "condition of another distribution": sweep(distribution=[{"name": "ones", "condition": 10}]),
    "condition below 1": sweep(distribution=[{"name": "cancelling", "condition": 0.5}]),
    "parameter not a list": sweep(params={"block": 128}),
    "parameter name": sweep(params={"Block Size": [128]}),
    "zip without params": sweep(zip=[["a", "b"]]),
    "zip of one": sweep(params={"a": [1]}, zip=[["a"]]),
    "unknown mode": measured(modes=["warm"]),
    "no mode": measured(modes=[]),
    "time budget 0": measured(max_time_ms=0),
    "counters of 1": measured(counters=1),
    "clock floor above 1": measured(clock_floor=90),
    "interleave 0": measured(interleave=0),
    "unknown setting": measured(min_time_ms=5),
}


def with_point(made: Json) -> Json:
    return made_up.results([made])


def without(made: Json, key: str) -> Json:
    return {name: value for name, value in made.items() if name != key}


def with_summary(**changes: Any) -> Json:
    return with_point(
        made_up.point("a/b", 1024, timing={"cold": made_up.summary(1000.0) | changes})
    )


TIMING = {"cold": made_up.summary(1000.0)}

GOOD_RESULTS: dict[str, Json] = {
    "no points": made_up.results([]),
    "cpu only": made_up.results([made_up.point("cpu/serial", 8, backend="cpu")], gpu=False),
    "ok": with_point(made_up.point("harris/0", 1024)),
    "library": with_point(made_up.point("cub/x", 1024, count_bits=32)),
    "all samples": with_summary(samples_ns=[1000.0, 1001.5]),
    "no clock": with_summary(sm_clock_mhz=None),
    "the host waits": with_summary(
        round_trip={"median_ns": 9000.0, "p25_ns": 8990.0, "p75_ns": 9100.0}
    ),
    "the host does not wait": with_summary(round_trip=None),
    "skipped": with_point(made_up.unmeasured("a/b", 1024, "skipped", "needs a power of two")),
    "skipped before anything was made": with_point(
        made_up.unmeasured(
            "a/b",
            1 << 40,
            "skipped",
            "does not fit",
            input_checksum=None,
            launch=None,
            bytes=None,
            bytes_read=None,
            bytes_written=None,
        )
    ),
    "wrong": with_point(made_up.unmeasured("a/b", 1024, "wrong", "differs")),
    "known wrong": with_point(made_up.known_wrong("a/b", 1024, 1000.0)),
    "failed": with_point(made_up.unmeasured("a/b", 1024, "failed", "crashed")),
    "timeout": with_point(made_up.unmeasured("a/b", 1024, "timeout", "hung")),
    "empty input": with_point(made_up.point("a/b", 0, items_per_s=None, ceiling_share=None)),
    "largest 64-bit seed": with_point(made_up.point("a/b", 1, seed=2**63 - 1)),
}

BAD_RESULTS: dict[str, Json] = {
    "half a round trip": with_summary(round_trip={"median_ns": 9000.0}),
    "other version": made_up.results([]) | {"schema": 2},
    "counts of 16 bits": with_point(made_up.point("cub/x", 1024, count_bits=16)),
    "other kind": made_up.results([]) | {"kind": "something"},
    "unknown key": made_up.results([]) | {"extra": 1},
    "time of a wrong result": with_point(
        made_up.unmeasured("a/b", 1024, "wrong", "differs", timing=TIMING)
    ),
    "time of a skipped point": with_point(
        made_up.unmeasured("a/b", 1024, "skipped", "no", timing=TIMING)
    ),
    "time of a failed known-wrong point": with_point(
        made_up.unmeasured("a/b", 1024, "failed", "no", timing=TIMING, known_wrong=True)
    ),
    "bandwidth of a wrong result": with_point(
        made_up.unmeasured("a/b", 1024, "wrong", "differs", gb_per_s=10.0)
    ),
    "ok without verification": with_point(made_up.point("a/b", 1024, verification=None)),
    "ok but failed after timing": with_point(
        made_up.point("a/b", 1024, verification=made_up.verification() | {"passed_after": False})
    ),
    "ok but not verified after timing": with_point(
        made_up.point("a/b", 1024, verification=made_up.verification() | {"passed_after": None})
    ),
    "ok without a time": with_point(made_up.point("a/b", 1024, timing={})),
    "wrong without verification": with_point(
        made_up.unmeasured("a/b", 1024, "wrong", "differs", verification=None)
    ),
    "skipped without a reason": with_point(
        made_up.unmeasured("a/b", 1024, "skipped", "no") | {"reason": None}
    ),
    "unknown status": with_point(made_up.unmeasured("a/b", 1024, "broken", "no")),
    "NaN as text": with_point(made_up.point("a/b", 1024, gb_per_s="NaN")),
    "median as text": with_summary(median_ns="inf"),
    "median of null": with_summary(median_ns=None),
    "median of 0": with_summary(median_ns=0),
    "unknown mode": with_point(made_up.point("a/b", 1024, timing={"warm": TIMING["cold"]})),
    "numeric parameter": with_point(made_up.point("a/b", 1024, params={"block": 128})),
    "unknown point key": with_point(made_up.point("a/b", 1024) | {"time": 1}),
    "point without bytes": with_point(without(made_up.point("a/b", 1024), "bytes")),
    "emulated point": with_point(made_up.point("a/b", 1024, backend="emu")),
    "id without a source": with_point(made_up.point("reduce", 1024)),
    "date without a zone": made_up.results([])
    | {"environment": made_up.results([])["environment"] | {"date_utc": "2026-01-31 12:00"}},
}


@pytest.mark.parametrize("name", GOOD_CONFIGS)
def test_config_schema_accepts(name: str) -> None:
    CONFIG.validate(GOOD_CONFIGS[name])


@pytest.mark.parametrize("name", BAD_CONFIGS)
def test_config_schema_rejects(name: str) -> None:
    assert not CONFIG.is_valid(BAD_CONFIGS[name])


@pytest.mark.parametrize("name", GOOD_RESULTS)
def test_results_schema_accepts(name: str) -> None:
    RESULTS.validate(GOOD_RESULTS[name])
    assert CHECKER.fault(GOOD_RESULTS[name]) is None


@pytest.mark.parametrize("name", BAD_RESULTS)
def test_results_schema_rejects(name: str) -> None:
    assert not RESULTS.is_valid(BAD_RESULTS[name])
    assert CHECKER.fault(BAD_RESULTS[name]) is not None


def test_what_tells_the_fault_knows_every_keyword_of_the_schema() -> None:
    annotations = {"$schema", "title", "description", "definitions", "unit", "bytes", "default"}
    source = Path(schema_fault.__file__).read_text(encoding="utf-8")

    def keywords(schema: Any) -> set[str]:
        found = set(schema) - annotations
        for key in ("properties", "definitions"):
            found |= {k for each in schema.get(key, {}).values() for k in keywords(each)}
        for key in ("items", "additionalProperties", "if", "then", "else"):
            found |= keywords(schema[key]) if isinstance(schema.get(key), dict) else set()
        for key in ("anyOf", "oneOf", "allOf"):
            found |= {k for each in schema.get(key, []) for k in keywords(each)}
        return found

    assert len(keywords(RESULTS.schema)) > 15
    for keyword in keywords(RESULTS.schema):
        assert f'"{keyword}"' in source, keyword


def test_each_type_has_a_size_and_each_name_one_title_and_unit() -> None:
    types = RESULTS.schema["definitions"]["type"]
    assert list(types["bytes"]) == types["enum"]
    said: dict[str, set[tuple[str, str]]] = {}
    for name, annotations in loader._annotations(RESULTS.schema):
        for key in ("title", "unit"):
            if isinstance(annotations.get(key), str):
                said.setdefault(f"{key} of {name}", set()).add(annotations[key])
    assert {"title of gb_per_s", "unit of gb_per_s", "unit of median_ns"} <= set(said)
    assert all(len(different) == 1 for different in said.values()), said


def test_every_committed_configuration_is_valid() -> None:
    for path in SCHEMAS.parent.rglob("*.json"):
        if path.parent != SCHEMAS:
            schema = THRESHOLDS if path.name == "thresholds.json" else CONFIG
            schema = HIERARCHY if path.parent.name == "hierarchies" else schema
            schema.validate(json.loads(path.read_text(encoding="utf-8")))


def test_plug_ins_in_python_name_what_the_schemas_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "include"))
    plugin = importlib.import_module("reduce_bench_plugin")
    defined = RESULTS.schema["definitions"]
    assert list(plugin.TYPES) == defined["type"]["enum"]
    assert defined["type"]["bytes"] == plugin._BYTES
    assert list(plugin.OPS) == defined["op"]["enum"]
    assert list(plugin.OPERATIONS) == defined["point"]["properties"]["operation"]["enum"]
    # OpenCL has no plug-ins.
    assert [*plugin.BACKENDS] == [name for name in defined["backend"]["enum"] if name != "opencl"]
