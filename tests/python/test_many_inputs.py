"""More inputs than 32 bits count, on a GPU that has room for them."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import SaveConfig
from reduce_bench_report.loader import load
from test_driver import BINARY, GOOD

MANY = 2**32 + 12345
GIB = 2**30


def memory_bytes() -> int:
    """Of the first GPU; 0 where there is none."""
    smi = shutil.which("nvidia-smi")
    if not Path("/dev/nvidiactl").exists() or smi is None:
        return 0
    query = [smi, "--query-gpu=memory.total", "--format=csv,noheader,nounits", "--id=0"]
    return int(subprocess.run(query, check=True, capture_output=True, text=True).stdout) * 2**20


# Values, labels and results, with what the kernels need beside them.
@pytest.mark.parametrize(
    ("needed_bytes", "axes"),
    [
        (24 * GIB, {"operation": "reduce", "type": ["i32"]}),
        (24 * GIB, {"operation": "reduce", "type": ["f32"]}),
        (48 * GIB, {"operation": "reduce", "type": ["f64"]}),
        (24 * GIB, {"operation": "reduce", "type": ["f32"], "distribution": ["wild"]}),
        (8 * GIB, {"operation": "histogram", "type": ["u8"], "buckets": [256]}),
        (12 * GIB, {"operation": "histogram", "type": ["u16"], "buckets": [1 << 16]}),
        (24 * GIB, {"operation": "histogram", "type": ["u32"], "buckets": [1 << 17]}),
        (40 * GIB, {"operation": "multireduce", "type": ["i32"], "buckets": [4096, 1 << 17]}),
        (40 * GIB, {"operation": "multireduce", "type": ["f32"], "buckets": [4096]}),
        (60 * GIB, {"operation": "multireduce", "type": ["i64"], "buckets": [4096]}),
        (40 * GIB, {"operation": "multireduce", "op": ["right"], "buckets": [256]}),
        (64 * GIB, {"operation": "multiscan", "type": ["i32"], "buckets": [256]}),
    ],
    ids=[
        "reduce",
        "reduce-floats",
        "reduce-doubles",
        "reduce-all-exponents",
        "histogram",
        "histogram-of-two-bytes",
        "histogram-in-shares",
        "multireduce",
        "multireduce-floats",
        "multireduce-eight-bytes",
        "multireduce-in-order",
        "multiscan",
    ],
)
def test_they_are_combined_rightly_or_refused_with_their_number(
    config: SaveConfig, tmp_path: Path, needed_bytes: int, axes: dict[str, object]
) -> None:
    if memory_bytes() < needed_bytes:
        pytest.skip(f"there is no NVIDIA GPU with {needed_bytes / GIB:.0f} GiB")
    variants = ("onepass/*", "partition/*", "twopass/*")
    saved = config(*variants, n=[MANY], backends=["cuda"], **axes)
    result = tmp_path / "r.json"
    command = [BINARY, "run", "--config", saved, "--backend", "cuda", "-o", result]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == GOOD, ended.stderr
    for point in load(result).points:
        reason = point.reason or ""
        # Partitions count places in 32 bits; exact sums of buckets have room for 2^31 inputs.
        refuses = point.variant.startswith("partition/") or (
            point.variant == "onepass/multireduce-exact"
        )
        assert (
            point.status == "ok"
            or "does not provide" in reason
            or "shared memory" in reason  # too many buckets for a table
            or "overflow on the way" in reason  # but in sums that are rounded once
            or (refuses and str(MANY) in reason)
        ), point
