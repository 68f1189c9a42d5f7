"""Reductions of arrays, and of labelled values, on a GPU: libonepass.so for Python.

Arrays are those of any framework that offers __cuda_array_interface__ or DLPack (PyTorch, CuPy,
JAX, Numba, ...), on one GPU, contiguous. Nothing is copied: results go to `out`, which the caller
brings and which is also returned. Work is put on `stream`, a number (a cudaStream_t), and no
function waits for it. If none is given, it is PyTorch's current stream for its tensors, else the
stream that the arrays name, else the default stream.

    counts = torch.empty(m, dtype=torch.int32, device="cuda")
    onepass.histogram(labels, out=counts)           # torch.bincount(labels, minlength=m)
    onepass.multireduce(values, labels, out=sums)   # sums.zero_().scatter_add_(0, labels, values)

Labels are i32 or u32, and are not checked: one that is not below the number of elements of `out`
is written beside it. docs/library.md says what each function takes and what its results depend on.
"""

import ctypes
import math
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

__all__ = ["OnepassError", "histogram", "multireduce", "multiscan", "reduce", "reduce_exact"]

Out = TypeVar("Out")

# As include/onepass.h numbers them.
_TYPES = {"i32": 0, "i64": 1, "f32": 2, "f64": 3, "u8": 4, "u32": 5, "u16": 8}
_OPS = {"sum": 0, "min": 1, "max": 2}
_VALUES = ("i32", "i64", "f32", "f64")
_LABELS = ("i32", "u32")  # labels are not negative, so the bits are the same


class OnepassError(RuntimeError):
    """CUDA refused a call, or the library cannot serve it on this device."""


def _load() -> ctypes.CDLL:
    path = os.environ.get("ONEPASS_LIBRARY") or Path(__file__).with_name("libonepass.so")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(
            f"{path} cannot be loaded ({error}): build it with nvcc, or name it by ONEPASS_LIBRARY"
        ) from error
    number, size, pointer = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
    bytes_pointer = ctypes.POINTER(ctypes.c_size_t)
    workspace, arrays = [pointer, bytes_pointer], [pointer, pointer, pointer]
    for name, arguments in {
        "reduce": [number, number, number, *workspace, pointer, pointer, size],
        "reduce_exact": [number, number, *workspace, pointer, pointer, size],
        "multireduce": [number, number, number, *workspace, *arrays, size, size],
        "histogram": [number, number, *workspace, pointer, pointer, size, size],
        "multiscan": [number, number, number, number, *workspace, *arrays, size, size],
    }.items():
        getattr(library, f"onepass_{name}").argtypes = [*arguments, pointer]
    library.onepass_create_workspace.argtypes = [number, size, ctypes.POINTER(pointer)]
    library.onepass_destroy_workspace.argtypes = [number, pointer]
    library.onepass_device_of.argtypes = [pointer]
    library.onepass_error_text.argtypes = [number]
    library.onepass_error_text.restype = ctypes.c_char_p
    return library


_library = _load()


# ---- arrays ------------------------------------------------------------------------------------


class _Array(NamedTuple):
    pointer: int
    type: str
    elements: int
    stream: int | None  # that the array names
    kept: Any  # while the call is made


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

_ON_GPU = (2, 13)  # kDLCUDA, kDLCUDAManaged
_DLPACK_LETTERS = {0: "i", 1: "u", 2: "f"}
_DEFAULT_STREAM = 1  # as DLPack and __cuda_array_interface__ number it


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    """Strides in elements."""
    if strides is None:
        return True
    expected = 1
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length > 1 and stride != expected:
            return False
        expected *= length
    return True


def _described(name: str, interface: dict[str, Any], kept: Any) -> _Array:
    shape = tuple(interface["shape"])
    typestr = interface["typestr"]
    order, letter, item_bytes = typestr[0], typestr[1], int(typestr[2:])
    if order == ">":
        raise TypeError(f"onepass: {name} is big-endian")
    pointer, is_read_only = interface["data"]
    if name == "out" and is_read_only:
        raise ValueError("onepass: out is read-only")
    strides = interface.get("strides")
    if strides is not None:
        strides = tuple(stride / item_bytes for stride in strides)
    if not _is_contiguous(shape, strides):
        raise ValueError(f"onepass: {name} is not contiguous: copy it first")
    stream = interface.get("stream")
    return _Array(pointer or 0, f"{letter}{8 * item_bytes}", math.prod(shape), stream, kept)


def _from_dlpack(name: str, array: Any, stream: int) -> _Array:
    on_gpu = array.__dlpack_device__()[0] in _ON_GPU
    capsule = array.__dlpack__(stream=stream) if on_gpu else array.__dlpack__()
    # It keeps its name, so what is exported is given back when the capsule goes.
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    if not _is_contiguous(shape, strides):
        raise ValueError(f"onepass: {name} is not contiguous: copy it first")
    letter = _DLPACK_LETTERS.get(tensor.type_code, "other ")
    element = f"{letter}{tensor.type_bits}" + ("" if tensor.type_lanes == 1 else " vectors")
    return _Array((tensor.data or 0) + tensor.byte_offset, element, math.prod(shape), None, capsule)


def _array(name: str, array: Any, types: tuple[str, ...], stream: int | None) -> _Array:
    for protocol in ("__cuda_array_interface__", "__array_interface__"):
        interface = getattr(array, protocol, None)
        if interface is not None:
            found = _described(name, interface, array)
            break
    else:
        if not hasattr(array, "__dlpack__"):
            raise TypeError(
                f"onepass: {name} is a {type(array).__name__}, which offers neither "
                "__cuda_array_interface__ nor DLPack"
            )
        found = _from_dlpack(name, array, stream or _DEFAULT_STREAM)
    if found.type not in types:
        raise TypeError(f"onepass: {name} is {found.type}: it must be {' or '.join(types)}")
    return found


def _current_stream(array: Any) -> int | None:
    """PyTorch's for its tensors, whose interface names none."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor) or not array.is_cuda:
        return None
    stream: int = torch.cuda.current_stream(array.device).cuda_stream
    return stream


# ---- calls -------------------------------------------------------------------------------------


class _Workspace:
    """Of one device and stream. It grows, and waits for the device before the smaller one goes."""

    def __init__(self, device: int) -> None:
        self.device, self.pointer, self.bytes = device, ctypes.c_void_p(), 0

    def reserve(self, size_bytes: int) -> None:
        if size_bytes <= self.bytes:
            return
        self.drop()
        _check(
            _library.onepass_create_workspace(self.device, size_bytes, ctypes.byref(self.pointer)),
            f"a workspace of {size_bytes} bytes",
        )
        self.bytes = size_bytes

    def drop(self) -> None:
        _library.onepass_destroy_workspace(self.device, self.pointer)
        self.pointer, self.bytes = ctypes.c_void_p(), 0


_workspaces: dict[tuple[int, int], _Workspace] = {}
_lock = threading.Lock()


def _check(code: int, what: str) -> None:
    if code != 0:
        raise OnepassError(f"onepass: {what}: {_library.onepass_error_text(code).decode()}")


def _device_of(arrays: dict[str, _Array]) -> int:
    devices: dict[str, int] = {
        name: _library.onepass_device_of(array.pointer)
        for name, array in arrays.items()
        if array.elements > 0
    }
    for name, of_array in devices.items():
        if of_array < 0:
            raise ValueError(f"onepass: {name} lies in no memory of a GPU")
    if len(set(devices.values())) > 1:
        raise ValueError(f"onepass: arrays of several GPUs: {devices}")
    return devices["out"]


def _stream_of(out: Any, arrays: dict[str, _Array], given: int | None) -> int:
    if given is not None:
        return given
    of_torch = _current_stream(out)
    named = {array.stream for array in arrays.values() if array.stream is not None}
    if of_torch is not None:
        named.add(of_torch)
    if len(named) > 1:
        raise ValueError(
            "onepass: the arrays belong to different streams: let one wait for the other, and give "
            "its number as stream"
        )
    return named.pop() if named else 0


def _call(
    what: str,
    out: Any,
    arrays: dict[str, _Array],
    stream: int | None,
    function: Callable[[int, Any, Any, int], int],
) -> None:
    """Calls `function(device, workspace, its size, stream)` twice."""
    device = _device_of(arrays)
    on = _stream_of(out, arrays, stream)
    with _lock:
        workspace = _workspaces.setdefault((device, on), _Workspace(device))
        needed = ctypes.c_size_t()
        _check(function(device, None, ctypes.byref(needed), on), what)
        workspace.reserve(needed.value)
        code = function(device, workspace.pointer, ctypes.byref(needed), on)
        if code != 0:  # what must be zero may not be
            workspace.drop()
        _check(code, what)


def _op(op: str) -> int:
    if op not in _OPS:
        raise ValueError(f"onepass: there is no operator {op!r}: choose from {', '.join(_OPS)}")
    return _OPS[op]


def _one_result(out: _Array) -> None:
    if out.elements != 1:
        raise ValueError(f"onepass: out has {out.elements} elements: it must have one")


def _same_count(values: _Array, labels: _Array) -> None:
    if values.elements != labels.elements:
        raise ValueError(
            f"onepass: there are {values.elements} values and {labels.elements} labels"
        )


def _some_results(out: _Array) -> None:
    if out.elements == 0:
        raise ValueError("onepass: out has no elements")


def reduce(values: Any, *, out: Out, op: str = "sum", stream: int | None = None) -> Out:
    """out[0] = all values combined by `op`: "sum", "min" or "max"."""
    v = _array("values", values, _VALUES, stream)
    r = _array("out", out, (v.type,), stream)
    number = _op(op)
    _one_result(r)
    _call(
        f"reduce of {v.elements} {v.type}", out, {"values": v, "out": r}, stream,
        lambda device, workspace, size, on: _library.onepass_reduce(
            device, _TYPES[v.type], number, workspace, size, v.pointer, r.pointer, v.elements, on
        ),
    )  # fmt: skip
    return out


def reduce_exact(values: Any, *, out: Out, stream: int | None = None) -> Out:
    """out[0] = the exact sum of f32 or f64 values, rounded once: the same bits in any order."""
    v = _array("values", values, ("f32", "f64"), stream)
    r = _array("out", out, (v.type,), stream)
    _one_result(r)
    _call(
        f"reduce_exact of {v.elements} {v.type}", out, {"values": v, "out": r}, stream,
        lambda device, workspace, size, on: _library.onepass_reduce_exact(
            device, _TYPES[v.type], workspace, size, v.pointer, r.pointer, v.elements, on
        ),
    )  # fmt: skip
    return out


def multireduce(
    values: Any, labels: Any, *, out: Out, op: str = "sum", stream: int | None = None
) -> Out:
    """out[b] = the values with label b, combined by `op`; its identity where there is none."""
    v = _array("values", values, _VALUES, stream)
    keys = _array("labels", labels, _LABELS, stream)
    r = _array("out", out, (v.type,), stream)
    number = _op(op)
    _same_count(v, keys)
    _some_results(r)
    _call(
        f"multireduce of {v.elements} {v.type} into {r.elements}", out,
        {"values": v, "labels": keys, "out": r}, stream,
        lambda device, workspace, size, on: _library.onepass_multireduce(
            device, _TYPES[v.type], number, workspace, size,
            v.pointer, keys.pointer, r.pointer, v.elements, r.elements, on,
        ),
    )  # fmt: skip
    return out


def histogram(labels: Any, *, out: Out, stream: int | None = None) -> Out:
    """out[b] = how many labels are b. Labels may also be u8 or u16; `out` is i32 or u32."""
    keys = _array("labels", labels, ("u8", "u16", *_LABELS), stream)
    r = _array("out", out, _LABELS, stream)
    _some_results(r)
    label_type = _TYPES[keys.type if keys.type in ("u8", "u16") else "u32"]
    _call(
        f"histogram of {keys.elements} labels into {r.elements}", out,
        {"labels": keys, "out": r}, stream,
        lambda device, workspace, size, on: _library.onepass_histogram(
            device, label_type, workspace, size,
            keys.pointer, r.pointer, keys.elements, r.elements, on,
        ),
    )  # fmt: skip
    return out


def multiscan(
    values: Any,
    labels: Any,
    *,
    buckets: int,
    out: Out,
    op: str = "sum",
    inclusive: bool = False,
    stream: int | None = None,
) -> Out:
    """out[i] = the values before i that have its label, with value i if `inclusive`, combined by
    `op` in their order. Labels lie below `buckets`."""
    v = _array("values", values, _VALUES, stream)
    keys = _array("labels", labels, _LABELS, stream)
    r = _array("out", out, (v.type,), stream)
    number = _op(op)
    _same_count(v, keys)
    if r.elements != v.elements:
        raise ValueError(
            f"onepass: out has {r.elements} elements and there are {v.elements} values"
        )
    if v.elements == 0:
        return out
    _call(
        f"multiscan of {v.elements} {v.type} in {buckets}", out,
        {"values": v, "labels": keys, "out": r}, stream,
        lambda device, workspace, size, on: _library.onepass_multiscan(
            device, _TYPES[v.type], number, int(inclusive), workspace, size,
            v.pointer, keys.pointer, r.pointer, v.elements, buckets, on,
        ),
    )  # fmt: skip
    return out
