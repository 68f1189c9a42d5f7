"""Made-up results documents: valid by default, altered by each test."""

import copy
import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from reduce_bench_report import configuration
from reduce_bench_report.identity import PointIdentity
from reduce_bench_report.loader import ELEMENT_BYTES, SCHEMA_PATH

Json = dict[str, Any]

CEILING_GB_PER_S = 4000.0
_COUNTERS = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))["definitions"]["point"][
    "properties"
]["counters"]["anyOf"]
CPU: Json = {
    "model": "Imaginary CPU",
    "logical_cores": 16,
    "l2_bytes": 1 << 20,
    "llc_bytes": 32 << 20,
}
GPU_COUNTERS = max((kind.get("required", []) for kind in _COUNTERS), key=len)


def summary(median_ns: float) -> Json:
    return {
        "median_ns": median_ns,
        "min_ns": 0.9 * median_ns,
        "max_ns": 1.5 * median_ns,
        "p25_ns": 0.95 * median_ns,
        "p75_ns": 1.1 * median_ns,
        "p95_ns": 1.3 * median_ns,
        "mean_ns": 1.02 * median_ns,
        "stddev_ns": 0.05 * median_ns,
        "ci_low_ns": 0.99 * median_ns,
        "ci_high_ns": 1.01 * median_ns,
        "samples": 20,
        "discarded": 0,
        "stopped_by": "ci",
        "sm_clock_mhz": {"median": 1980.0, "min": 1965.0},
    }


def verification(*, passed: bool = True) -> Json:
    return {
        "expected": "42",
        "actual": "42" if passed else "41",
        "error_abs": None,
        "error_relative": None,
        "error_ulp": None,
        "bound_abs": None,
        "condition": None,
        "passed_before": passed,
        "passed_after": passed,
        "deterministic": True,
    }


def point(variant: str, n: int, median_ns: float = 1000.0, **changes: Any) -> Json:
    """A verified, timed point; `changes` replace its keys."""
    element_type = changes.get("type", "i32")
    byte_count = n * ELEMENT_BYTES[element_type]
    gb_per_s = byte_count / median_ns
    mode = changes.get("primary_mode", "cold")
    made: Json = {
        "index": 0,
        "variant": variant,
        "title": f"title of {variant}",
        "paper": "Made-up paper, section 1",
        "fidelity": "adapted",
        "operation": "reduce",
        "backend": "cuda",
        "n": n,
        "buckets": None,
        "type": element_type,
        "op": "sum",
        "distribution": {"name": "uniform"},
        "seed": 1,
        "input_checksum": "00ff",
        "params": {},
        "launch": {"kernels": 2, "grid": 264, "block": 256, "shared_bytes": 1024, "registers": 32},
        "finish": "device",
        "synchronous": False,
        "status": "ok",
        "known_wrong": False,
        "reason": None,
        "verification": verification(),
        "primary_mode": mode,
        "timing": {mode: summary(median_ns)},
        "bytes": byte_count,
        "bytes_read": byte_count,
        "bytes_written": 0,
        "gb_per_s": gb_per_s,
        "items_per_s": n / median_ns * 1e9,
        "ns_per_item": median_ns / n if n else None,
        "ceiling_share": gb_per_s / CEILING_GB_PER_S,
        "peak_share": gb_per_s / 4800.0,
    }
    if changes.get("backend") == "cpu":
        made["counters"] = counters(dtlb_loads=4 * n, dtlb_load_misses=n)
    else:
        made["counters"] = gpu_counters(n)
    if changes.get("params", {}).get("pages") == "huge":
        made["pages"] = {"bytes": 4 << 20, "huge_bytes": 4 << 20}
    return made | changes


def counters(**counts: int) -> Json:
    """Counters of which only these are available."""
    names = ("dtlb_loads", "dtlb_load_misses", "l1d_load_misses", "llc_load_misses")
    return {
        name: {
            "count": counts.get(name),
            "unavailable": None if name in counts else "no such counter",
        }
        for name in names
    }


def gpu_counters(n: int, **counts: int) -> Json:
    """What a GPU counts of a call on n elements; `counts` replace some."""
    made = dict.fromkeys(GPU_COUNTERS, n) | {"stalled_barrier": n} | counts
    return {name: {"count": count, "unavailable": None} for name, count in made.items()}


def unmeasured(variant: str, n: int, status: str, reason: str, **changes: Any) -> Json:
    """A point without a time: `skipped`, `wrong`, `failed` or `timeout`."""
    none = dict.fromkeys(
        ["gb_per_s", "items_per_s", "ns_per_item", "ceiling_share", "peak_share"], None
    )
    record = verification(passed=False) if status == "wrong" else None
    return (
        point(variant, n)
        | none
        | {"status": status, "reason": reason, "timing": {}, "verification": record}
        | changes
    )


def known_wrong(variant: str, n: int, median_ns: float, **changes: Any) -> Json:
    """A point timed although its result is wrong, as documented."""
    return point(
        variant,
        n,
        median_ns,
        status="wrong",
        known_wrong=True,
        reason="races, see errata",
        verification=verification(passed=False),
        **changes,
    )


def simulation(
    algorithm: str,
    params: Json,
    n: int,
    buckets: int,
    sequential: float,
    pipelined: float | None = None,
) -> Json:
    """What cache-sim predicts, in ns per input by either model."""

    def time(per_input: float | None) -> Json | None:
        return None if per_input is None else {"ns": per_input * n, "ns_per_input": per_input}

    return {
        "schema": 1,
        "kind": "cache-sim-simulation",
        "git": {"revision": "0123456789abcdef", "dirty": False},
        "hierarchy": {"name": "made up"},
        "page_bytes": 4096,
        "algorithm": algorithm,
        "params": params,
        "n": n,
        "buckets": buckets,
        "labels": "uniform",
        "seed": 1,
        "accesses": 4 * n,
        "caches": [{"name": "L1", "hits": 0, "misses": 0, "prefetches": 0, "write_backs": 0}],
        "memory": {"reads": 0, "writes": 0},
        "tlb": [],
        "sequential": time(sequential),
        "pipelined": time(pipelined),
    }


def simulated(measured: Json, sequential: float, pipelined: float | None = None) -> Json:
    """The simulation of a point."""
    keys = [measured[key] for key in ("variant", "params", "n", "buckets")]
    return simulation(*keys, sequential, pipelined)


def save_simulations(results: Path, simulations: list[Json]) -> None:
    """In the folder beside the results."""
    folder = results.with_suffix(".simulated")
    folder.mkdir()
    for index, each in enumerate(simulations):
        write(each, folder / f"{index}.json")


GPU: Json = {
    "name": "NVIDIA Imaginary 1",
    "compute_capability": "9.0",
    "sm_count": 132,
    "l2_bytes": 50 << 20,
    "memory_bytes": 141 << 30,
    "sm_clock_mhz_max": 1980,
    "memory_clock_mhz_max": 3201,
    "memory_bus_bits": 6144,
    "peak_gb_per_s": 4800.0,
    "driver": "580.65.06",
}


OPENCL = {
    "platform": "Imaginary OpenCL",
    "platform_version": "OpenCL 3.0",
    "name": GPU["name"],
    "vendor": "Imaginary",
    "version": "OpenCL 3.0",
    "driver": "580.65.06",
    "kind": "gpu",
    "compute_units": GPU["sm_count"],
    "wavefront": 32,
    "max_work_group_size": 1024,
    "local_memory_bytes": 48 << 10,
    "memory_bytes": GPU["memory_bytes"],
    "max_buffer_bytes": 32 << 30,
    "cache_bytes": 4 << 20,
    "clock_mhz_max": 1980,
    "timer_resolution_ns": 1000,
    "f64": True,
    "index": 0,
}


def results(points: list[Json], *, gpu: bool = True) -> Json:
    """A whole document around `points`, numbered in order; with a GPU, OpenCL runs on the same."""
    of_opencl = any(made["backend"] == "opencl" for made in points)
    read = [
        {
            "bytes": byte_count,
            "median_ns": byte_count / (share * CEILING_GB_PER_S),
            "gb_per_s": share * CEILING_GB_PER_S,
            "shape": shape,
        }
        for byte_count, best in ((1 << 22, 0.25), (1 << 26, 0.8), (1 << 30, 1.0))
        for share, shape in ((0.9 * best, "grid 132, block 1024"), (best, "grid 1056, block 256"))
    ]
    backend = "cuda" if gpu else "cpu"
    document: Json = {
        "schema": 1,
        "kind": "reduce-bench-results",
        "config": {"schema": 1, "sweeps": [{"variants": ["*"], "n": [1024]}]},
        "environment": {
            "host": "imaginary",
            "cpu": CPU,
            "gpu": GPU if gpu else None,
            "opencl": OPENCL if of_opencl else None,
            "cuda_runtime": "13.0" if gpu else None,
            "cuda_driver": "13.0" if gpu else None,
            "os": "Linux 6.1",
            "compiler": "g++ 12.2.0",
            "cuda_compiler": "nvcc 13.0" if gpu else None,
            "cccl": "3.5.0" if gpu else None,
            "flags": "-O3",
            "build_type": "Release",
            "git": {"revision": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
            "date_utc": "2026-01-31T12:00:00Z",
            "command_line": ["reduce-bench", "run", "--config", "configs/quick.json"],
            "seed": 1,
            "backend_choice": f"{backend}: the best present",
        },
        "ceilings": {
            each: {
                "read": read,
                "copy": {"bytes": 1 << 31, "median_ns": 600000.0, "gb_per_s": 3579.1},
                "empty_launch_ns": 2200.0 if gpu else None,
            }
            for each in [backend, *(["opencl"] if of_opencl else [])]
        },
        "noise_floor": {
            "aa": [
                {
                    "variant": "cub/reduce",
                    "backend": backend,
                    "n": 1 << 20,
                    "type": "i32",
                    "op": "sum",
                    "mode": "cold",
                    "median_a_ns": 1000.0,
                    "median_b_ns": 1004.0,
                    "ratio": 1.004,
                }
            ],
            "relative": 0.004,
        },
        "interrupted": False,
        "points": [made | {"index": index} for index, made in enumerate(points)],
    }
    return copy.deepcopy(document)


def write(document: Json, path: Path) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def points_of(*configs: Path | str, median_ns: float = 1000.0) -> list[Json]:
    """A point for everything that the configurations ask for.

    A variant has every parameter that any of them states for it; the first value is the default.
    """
    sweeps = [sweep for path in configs for sweep in configuration.load(Path(path)).sweeps]
    named = {(each.operation, id) for each in sweeps for id in each.variants if "*" not in id}
    variants = [
        {glob.replace("*", "some") for glob in each.variants}
        | {
            id
            for glob in each.variants
            for operation, id in named
            if operation == each.operation and fnmatchcase(id, glob)
        }
        for each in sweeps
    ]
    defaults: dict[str, dict[str, str]] = {}
    for sweep, ids in zip(sweeps, variants, strict=True):
        for variant in ids:
            for name, values in sweep.params.items():
                defaults.setdefault(variant, {}).setdefault(name, values[0])
    made = []
    for sweep, ids in zip(sweeps, variants, strict=True):
        for variant in sorted(ids):
            for asked in sweep.combinations(sweep.params):
                labels = asked.get("labels")
                params = {name: asked[name] for name in sweep.params}
                made.append(
                    point(
                        variant,
                        int(asked["n"]),
                        median_ns,
                        type=asked["type"],
                        op=asked["op"],
                        operation=sweep.operation,
                        backend=asked.get("backend", "cuda"),
                        buckets=int(asked["buckets"]) if labels else None,
                        labels=spec(labels) if labels else None,
                        distribution={"name": asked.get("distribution", "uniform")},
                        params=defaults.get(variant, {}) | params,
                        primary_mode=sweep.mode,
                    )
                )
    # What several sweeps ask for is measured once.
    return list({PointIdentity.of(each): each for each in reversed(made)}.values())[::-1]


def spec(text: str) -> Json:
    """`runs(length=4)` as results have it."""
    name, _, params = text.partition("(")
    values = dict(pair.split("=") for pair in params.rstrip(")").split(", ") if pair)
    return {"name": name, **{key: json.loads(value) for key, value in values.items()}}
