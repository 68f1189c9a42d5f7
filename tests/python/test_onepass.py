"""library/onepass.py, from NumPy's arrays to the kernels, on the emulator."""

import importlib
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("REDUCE_BENCH_BINARY", ROOT / "build" / "bin" / "reduce-bench"))
FOLDER = BINARY.parents[1] / "lib" / "onepass"
EMULATED = FOLDER / "libonepass_emulated.so"

pytestmark = pytest.mark.skipif(
    not EMULATED.exists(), reason=f"{EMULATED} is not built: run make build"
)

DTYPES = {"i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}


@pytest.fixture(scope="module")
def onepass() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONEPASS_LIBRARY", str(EMULATED))
        patch.syspath_prepend(str(ROOT / "library"))
        yield importlib.import_module("onepass")


def made(n: int, buckets: int, dtype: Any = np.int32) -> tuple[Any, Any]:
    """Values whose sums are exact, and labels."""
    random = np.random.default_rng(n + buckets)
    return (
        random.integers(-100, 100, n).astype(dtype),
        random.integers(0, buckets, n).astype(np.uint32),
    )


def poisoned(count: int, dtype: Any) -> Any:
    return np.full(count, 77, dtype)


COMBINE = {"sum": np.add, "min": np.minimum, "max": np.maximum}


def identity(op: str, dtype: Any) -> Any:
    if op == "sum":
        return dtype(0)
    if np.issubdtype(dtype, np.floating):
        return dtype(math.inf if op == "min" else -math.inf)
    return np.iinfo(dtype).max if op == "min" else np.iinfo(dtype).min


@pytest.mark.parametrize("op", COMBINE)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_values_are_reduced(onepass: ModuleType, dtype: Any, op: str) -> None:
    for n in (0, 1, 1000, 40000):
        values, _ = made(n, 1, dtype)
        out = poisoned(1, dtype)
        assert onepass.reduce(values, out=out, op=op) is out
        assert out[0] == COMBINE[op].reduce(values, initial=identity(op, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_exact_sum_does_not_depend_on_the_order(onepass: ModuleType, dtype: Any) -> None:
    values = np.random.default_rng(5).standard_normal(3000).astype(dtype)
    values[:2] = [1e30, -1e30]
    out = poisoned(1, dtype)
    for given in (values, values[::-1].copy()):
        onepass.reduce_exact(given, out=out)
        assert out[0] == dtype(math.fsum(values.tolist()))


@pytest.mark.parametrize("op", COMBINE)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_values_are_reduced_by_label(onepass: ModuleType, dtype: Any, op: str) -> None:
    for n, buckets in ((0, 3), (0, 5000), (5000, 1), (20000, 300), (3000, 9000)):
        values, labels = made(n, buckets, dtype)
        expected = np.full(buckets, identity(op, dtype), dtype)
        COMBINE[op].at(expected, labels, values)
        out = poisoned(buckets, dtype)
        assert onepass.multireduce(values, labels, out=out, op=op) is out
        assert (out == expected).all()


@pytest.mark.parametrize("dtype", [np.int32, np.float32], ids=["i32", "f32"])
@pytest.mark.parametrize(
    ("n", "buckets"),
    [((1 << 20) + 5, 70000), ((1 << 21) + 5, 300000), ((1 << 21) + 25, (1 << 20) + 9)],
    ids=["split", "partitions", "wide-partitions"],
)
def test_many_inputs_in_many_buckets_are_reduced(
    onepass: ModuleType, n: int, buckets: int, dtype: Any
) -> None:
    # Of small integers floats have exact sums, whatever the order.
    values, labels = made(n, buckets, dtype)
    out = poisoned(buckets, dtype)
    onepass.multireduce(values, labels, out=out)
    assert (out == np.bincount(labels, values, buckets)).all()


def test_labels_are_counted(onepass: ModuleType) -> None:
    for n, buckets in (
        (0, 3),
        (5000, 1),
        (20000, 200),
        (70000, 1 << 16),
        (70000, 70000),
        (50000, 1 << 20),
    ):
        _, labels = made(n, buckets)
        narrow = [t for t in (np.uint8, np.uint16) if buckets <= np.iinfo(t).max + 1]
        for type_of_labels in (np.uint32, np.int32, *narrow):
            for type_of_counts in (np.uint32, np.int32):
                out = poisoned(buckets, type_of_counts)
                assert onepass.histogram(labels.astype(type_of_labels), out=out) is out
                assert (out == np.bincount(labels, minlength=buckets)).all()


@pytest.mark.parametrize("buckets", [100_000, 400_000], ids=["split", "partitions"])
def test_many_labels_are_counted_in_many_bins(onepass: ModuleType, buckets: int) -> None:
    _, labels = made((1 << 20) + 5, buckets)
    out = poisoned(buckets, np.uint32)
    onepass.histogram(labels, out=out)
    assert (out == np.bincount(labels, minlength=buckets)).all()


def scanned(values: Any, labels: Any, inclusive: bool, op: str) -> Any:
    combine, before = COMBINE[op], {}
    results = []
    for value, label in zip(values, labels.tolist(), strict=True):
        held = before.get(label, identity(op, values.dtype.type))
        before[label] = combine(held, value)
        results.append(before[label] if inclusive else held)
    return np.array(results, values.dtype)


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_values_are_scanned_by_label(onepass: ModuleType, dtype: Any, inclusive: bool) -> None:
    for n, buckets, op in (
        (0, 1, "sum"),
        (5000, 300, "sum"),
        (5000, 300, "max"),
        (9000, 20000, "sum"),
    ):
        values, labels = made(n, buckets, dtype)
        out = poisoned(n, dtype)
        onepass.multiscan(values, labels, buckets=buckets, out=out, op=op, inclusive=inclusive)
        assert (out == scanned(values, labels, inclusive, op)).all()


def test_one_workspace_serves_calls_of_all_kinds_one_after_the_other(onepass: ModuleType) -> None:
    """Calls leave their own in it, which the next must not take for its own."""
    random = np.random.default_rng(11)
    for _ in range(12):
        n, buckets = int(random.integers(1, 6000)), int(random.choice([5, 1000, 9000, 20000]))
        values, labels = made(n, buckets)
        out = poisoned(n, np.int32)
        onepass.multiscan(values, labels, buckets=buckets, out=out)
        assert (out == scanned(values, labels, False, "sum")).all()
        one = poisoned(1, np.int32)
        assert onepass.reduce(values, out=one)[0] == values.sum()
        sums = poisoned(buckets, np.int32)
        onepass.multireduce(values, labels, out=sums)
        assert (sums == np.bincount(labels, values, buckets)).all()
        exact = poisoned(1, np.float64)
        assert onepass.reduce_exact(values / 3, out=exact)[0] == math.fsum(values / 3)


class ByDLPack:
    """An array of a framework that offers nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **given: Any) -> Any:
        return self.array.__dlpack__(**given)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self.array.__dlpack_device__()
        return device


def test_arrays_come_by_dlpack_and_are_given_back(onepass: ModuleType) -> None:
    values, labels = made(1000, 7)
    out = poisoned(7, np.int32)
    held = sys.getrefcount(values)
    onepass.multireduce(ByDLPack(values), ByDLPack(labels), out=ByDLPack(out))
    assert (out == np.bincount(labels, values, 7)).all()
    onepass.multireduce(ByDLPack(values[10:]), ByDLPack(labels[10:]), out=out)
    assert (out == np.bincount(labels[10:], values[10:], 7)).all()
    assert sys.getrefcount(values) == held


class OnStream:
    """An array that names its stream, as CuPy's do."""

    def __init__(self, array: Any, stream: int | None) -> None:
        self.__cuda_array_interface__ = {**array.__array_interface__, "stream": stream}


def test_arrays_of_two_streams_are_refused_unless_a_stream_is_given(onepass: ModuleType) -> None:
    values, _ = made(100, 1)
    out = poisoned(1, np.int32)
    onepass.reduce(OnStream(values, 7), out=OnStream(out, 7))
    onepass.reduce(OnStream(values, 7), out=OnStream(out, None))
    with pytest.raises(ValueError, match="different streams"):
        onepass.reduce(OnStream(values, 7), out=OnStream(out, 8))
    onepass.reduce(OnStream(values, 7), out=OnStream(out, 8), stream=8)
    assert out[0] == values.sum()


VALUES, LABELS = made(10, 4)
OUT = np.zeros(4, np.int32)


@pytest.mark.parametrize(
    "name, given, error, said",
    [
        ("reduce", {"values": [1], "out": OUT[:1]}, TypeError, "values is a list, which offers"),
        ("reduce", {"values": VALUES.astype(">i4"), "out": OUT[:1]}, TypeError, "big-endian"),
        ("reduce", {"values": VALUES[::2], "out": OUT[:1]}, ValueError, "values is not contiguous"),
        ("reduce", {"values": ByDLPack(VALUES[::2]), "out": OUT[:1]}, ValueError, "not contiguous"),
        ("reduce", {"values": VALUES, "out": OUT}, ValueError, "out has 4 elements: it must have"),
        ("reduce", {"values": VALUES, "out": np.zeros(1)}, TypeError, "out is f64: it must be i32"),
        ("reduce", {"values": VALUES.astype("f2"), "out": OUT}, TypeError, "values is f16"),
        ("reduce", {"values": VALUES.astype("c8"), "out": OUT}, TypeError, "values is c64"),
        ("reduce", {"values": VALUES, "out": OUT[:1], "op": "mean"}, ValueError, "operator 'mean'"),
        ("reduce_exact", {"values": VALUES, "out": OUT}, TypeError, "must be f32 or f64"),
        (
            "multireduce",
            {"values": VALUES, "labels": LABELS.astype(np.int64), "out": OUT},
            TypeError,
            "labels is i64: it must be i32 or u32",
        ),
        (
            "multireduce",
            {"values": VALUES, "labels": LABELS[:9], "out": OUT},
            ValueError,
            "10 values and 9 labels",
        ),
        (
            "multireduce",
            {"values": VALUES, "labels": LABELS, "out": OUT[:0]},
            ValueError,
            "out has no elements",
        ),
        (
            "multiscan",
            {"values": VALUES, "labels": LABELS, "buckets": 4, "out": OUT},
            ValueError,
            "out has 4 elements and there are 10 values",
        ),
        ("histogram", {"labels": LABELS, "out": OUT.astype("f4")}, TypeError, "out is f32"),
    ],
)
def test_bad_arrays_are_refused_by_one_sentence(
    onepass: ModuleType, name: str, given: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=re.escape(said)) as raised:
        getattr(onepass, name)(**given)
    assert "\n" not in str(raised.value)
    assert (OUT == 0).all()


def test_a_read_only_out_is_refused(onepass: ModuleType) -> None:
    out = np.zeros(1, np.int32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        onepass.reduce(VALUES, out=out)


def test_what_the_library_refuses_is_an_error_with_its_reason(onepass: ModuleType) -> None:
    with pytest.raises(onepass.OnepassError, match="multiscan of 10 i32 in 0: invalid argument"):
        onepass.multiscan(VALUES, LABELS, buckets=0, out=VALUES.copy())
    with pytest.raises(onepass.OnepassError, match="operation not supported"):
        onepass.multiscan(VALUES, LABELS, buckets=1 << 31, out=VALUES.copy())


def test_values_between_the_places_of_elements_are_refused(onepass: ModuleType) -> None:
    """Kernels read elements of 8 bytes in one access, which faults at other addresses."""
    between = np.frombuffer(bytearray(8 * 11), np.float64, count=10, offset=4)
    out = poisoned(1, np.float64)
    with pytest.raises(onepass.OnepassError, match="invalid argument"):
        onepass.reduce(between, out=out)
    with pytest.raises(onepass.OnepassError, match="invalid argument"):
        onepass.multireduce(between, LABELS, out=poisoned(4, np.float64))
    assert out[0] == 77


def test_without_its_library_the_module_says_what_to_do(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import onepass"],
        env={"PYTHONPATH": str(ROOT / "library"), "ONEPASS_LIBRARY": str(tmp_path / "no.so")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no.so cannot be loaded" in ended.stderr
    assert "name it by ONEPASS_LIBRARY" in ended.stderr


def test_the_numbers_of_the_module_are_those_of_the_header(onepass: ModuleType) -> None:
    header = (ROOT / "include" / "onepass.h").read_text(encoding="utf-8")
    numbers = {name.lower(): int(of) for name, of in re.findall(r"ONEPASS_(\w+) = (\d+)", header)}
    assert numbers == onepass._TYPES | onepass._OPS


def test_the_example_replaces_calls_and_finds_equal_results(onepass: ModuleType) -> None:
    example = ROOT / "examples" / "library" / "replace.py"
    ended = subprocess.run(
        [sys.executable, example, "numpy", "20000", "300"],
        env={"PYTHONPATH": str(ROOT / "library"), "ONEPASS_LIBRARY": str(EMULATED)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "numpy: the results are equal, n = 20000, m = 300\n"
