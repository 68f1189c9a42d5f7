"""The interface of plug-ins in Python: what `import reduce_bench_plugin` gives to a file that
`reduce-bench --plugin` names. docs/plugins.md shows how to write one.

The file defines one object, `reduce_bench_plugin`, a `Plugin`. Its variants are functions that get
a `Call`, the arrays and the stream, and return a function without arguments that puts the whole
operation on the stream. The first is called once for each set of arrays, the second for every
execution: what wraps an array belongs in the first, for a user of a framework has his arrays
wrapped already. All functions are called on one thread of a process of the plug-in's own.

The driver runs this file in that process. It needs nothing but the standard library, and turns the
plug-in into the structures of reduce_bench_plugin.h, which explains every member.
"""

import ctypes
import functools
import importlib.metadata
import importlib.util
import json
import os
import platform
import site
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

INTERFACE = 1  # the version of this interface

BACKENDS = ("cuda", "cpu")
OPERATIONS = (
    "reduce",
    "multireduce",
    "reduce-by-key",
    "histogram",
    "scatter",
    "gather",
    "sort",
    "multiscan",
    "scan-by-key",
)
TYPES = ("i32", "i64", "f32", "f64", "u8", "u32", "f16", "bf16", "u16")
OPS = ("sum", "min", "max", "prod", "and", "or", "xor", "right", "affine", "none")


class Param(NamedTuple):
    """An axis that a configuration can sweep. All values are text."""

    name: str
    default: str  # one of those allowed
    allowed: Sequence[str]
    meaning: str  # one clause


@dataclass(frozen=True)
class Problem:
    """One problem, before any memory exists."""

    operation: str
    type: str  # of the values; of the labels where there are no values. The result of halves is f32
    op: str
    n: int  # inputs
    buckets: int  # labels lie below it; 0 where the operation has none
    params: Mapping[str, str]  # the value of each parameter
    inclusive: bool  # of a scan: whether result i takes input i in
    any_wins: bool  # of a scatter: whether any of equal labels may win, else the last


class Array:
    """An array of the problem, in memory that is not Python's.

    NumPy takes it by `__array_interface__`, and the frameworks take it by
    `__cuda_array_interface__` or DLPack. It lies on the CPU or on the GPU that is current.
    """

    def __init__(self, pointer: int, type_: str, length: int, backend: str, device: int) -> None:
        self.pointer = pointer
        self.type = type_
        self.length = length
        self.backend = backend
        self.device = device

    def as_type(self, type_: str) -> "Array":
        """The same bits as elements of another type, for frameworks that lack one."""
        length = self.length * _BYTES[self.type] // _BYTES[type_]
        return Array(self.pointer, type_, length, self.backend, self.device)

    def copy_from(self, pointer: int, stream: int) -> None:
        """Takes all elements from other memory of the backend and waits for the copy: for
        frameworks that return arrays of their own."""
        size_bytes = self.length * _BYTES[self.type]
        if self.backend == "cpu":
            ctypes.memmove(self.pointer, pointer, size_bytes)
            return
        _cuda("cuMemcpyDtoDAsync_v2", self.pointer, pointer, ctypes.c_size_t(size_bytes), stream)
        _cuda("cuStreamSynchronize", stream)

    def __len__(self) -> int:
        return self.length

    def __getattr__(self, name: str) -> Any:
        # Each interface exists on its own backend alone, for frameworks ask which one there is.
        interface = {"cpu": "__array_interface__", "cuda": "__cuda_array_interface__"}[self.backend]
        if name == interface and self.type in _TYPESTR:
            return {
                "shape": (self.length,),
                "typestr": _TYPESTR[self.type],
                "data": (self.pointer, False),
                "version": 3,
            }
        raise AttributeError(f"an array of {self.type} on {self.backend} has no '{name}'")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_DL_CUDA, self.device) if self.backend == "cuda" else (_DL_CPU, 0)

    def __dlpack__(self, **_: object) -> Any:
        """Of the first version of DLPack. The caller's stream is not waited for: all work on the
        array goes to the stream of the `Call`."""
        exported = _Exported(self)
        _EXPORTED[ctypes.addressof(exported.tensor)] = exported
        return _new_capsule(ctypes.addressof(exported.tensor), b"dltensor", None)


@dataclass(frozen=True)
class Call:
    """The arrays of a problem and where its work belongs. Arrays that the operation does not have
    are None. Inputs may change between executions and are never written; outputs hold garbage
    when one begins."""

    problem: Problem
    stream: int  # the cudaStream_t; 0 on a CPU
    device: int  # the number of the GPU
    values: Array
    labels: Array
    results: Array
    result_labels: Array | None
    result_count: Array | None


Prepare = Callable[[Call], Callable[[], object]]


class Plugin:
    """What a file declares.

    `version` is the plug-in's own. `packages` are those that its variants need: results name
    their versions, and where one is not installed all points are skipped. So variants import them
    in their functions, not at the head of the file.
    """

    def __init__(self, *, interface: int, version: str, packages: Sequence[str] = ()) -> None:
        self.interface = interface
        self.version = version
        self.packages = packages
        self.variants: list[_Variant] = []

    def variant(
        self,
        id: str,
        *,
        title: str,
        operation: str,
        backend: str,
        types: Sequence[str],
        ops: Sequence[str] = ("none",),
        source: str = "",
        description: str = "",
        params: Sequence[Param] = (),
        max_buckets: int = 0,
        synchronous: bool = False,
        launches: int = 0,
        refuse: Callable[[Problem], str | None] | None = None,
        depth: Callable[[Problem], int] | None = None,
    ) -> Callable[[Prepare], Prepare]:
        """Declares the decorated function as a variant, on all `types` with all `ops`.

        A variant that waits for the GPU, as one that reads a result back, must be `synchronous`.
        The source is the packages' names where none is given.
        """
        combinations = [
            _Combination(_index(TYPES, "type", type_), _index(OPS, "operator", op))
            for type_ in types
            for op in ops
        ]
        declared = _DeclaredVariant(
            id=_text(id),
            title=_text(title),
            source=_text(source or ", ".join(self.packages)),
            description=_text(description),
            backend=_index(BACKENDS, "backend", backend),
            operation=_index(OPERATIONS, "operation", operation),
            combinations=_array(_Combination, combinations),
            combination_count=len(combinations),
            params=_array(_DeclaredParam, [_declared_param(param) for param in params]),
            param_count=len(params),
            max_buckets=max_buckets,
            synchronous=synchronous,
            launches=launches,
        )

        def declare(prepare: Prepare) -> Prepare:
            names = [param.name for param in params]
            self.variants.append(_Variant(self, declared, names, prepare, refuse, depth))
            return prepare

        return declare


# ---- the structures of reduce_bench_plugin.h --------------------------------------------------


class _Problem(ctypes.Structure):
    _fields_ = (
        ("operation", ctypes.c_uint32),
        ("type", ctypes.c_uint32),
        ("op", ctypes.c_uint32),
        ("inclusive", ctypes.c_uint32),
        ("any_wins", ctypes.c_uint32),
        ("multiprocessors", ctypes.c_uint32),
        ("max_threads_per_multiprocessor", ctypes.c_uint32),
        ("max_blocks_per_multiprocessor", ctypes.c_uint32),
        ("max_shared_bytes_per_block", ctypes.c_uint64),
        ("n", ctypes.c_uint64),
        ("buckets", ctypes.c_uint64),
        ("params", ctypes.POINTER(ctypes.c_char_p)),
    )


class _Call(ctypes.Structure):
    _fields_ = (
        ("problem", ctypes.POINTER(_Problem)),
        ("stream", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("labels", ctypes.c_void_p),
        ("results", ctypes.c_void_p),
        ("result_labels", ctypes.c_void_p),
        ("result_count", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
    )


class _Combination(ctypes.Structure):
    _fields_ = (("type", ctypes.c_uint32), ("op", ctypes.c_uint32))


class _DeclaredParam(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("default_value", ctypes.c_char_p),
        ("allowed", ctypes.POINTER(ctypes.c_char_p)),
        ("allowed_count", ctypes.c_size_t),
        ("meaning", ctypes.c_char_p),
    )


# A text is returned as its address: ctypes would not keep it alive.
_REFUSE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Problem))
_DEPTH = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.POINTER(_Problem))
_ENQUEUE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class _DeclaredVariant(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_char_p),
        ("title", ctypes.c_char_p),
        ("source", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("backend", ctypes.c_uint32),
        ("operation", ctypes.c_uint32),
        ("combinations", ctypes.POINTER(_Combination)),
        ("combination_count", ctypes.c_size_t),
        ("params", ctypes.POINTER(_DeclaredParam)),
        ("param_count", ctypes.c_size_t),
        ("max_buckets", ctypes.c_uint64),
        ("synchronous", ctypes.c_uint32),
        ("launches", ctypes.c_uint32),
        ("refuse", _REFUSE),
        ("depth", _DEPTH),
        ("workspace", ctypes.c_void_p),  # frameworks have memory of their own
        ("enqueue", _ENQUEUE),
    )


class _DeclaredPlugin(ctypes.Structure):
    _fields_ = (
        ("interface", ctypes.c_uint32),
        ("version", ctypes.c_char_p),
        ("variants", ctypes.POINTER(_DeclaredVariant)),
        ("variant_count", ctypes.c_size_t),
    )


class _Handover(ctypes.Structure):
    """What load_python.cpp gives and takes."""

    _fields_ = (
        ("path", ctypes.c_char_p),
        ("python", ctypes.c_char_p),
        ("plugin", ctypes.c_void_p),
        ("fault", ctypes.c_char_p),
    )


_POINTERS = slice(_Call.stream.offset, ctypes.sizeof(_Call))
_SCALARS_BYTES = _Problem.params.offset


def _text(text: str) -> bytes:
    return text.encode(errors="replace")


def _array(of: Any, elements: Sequence[Any]) -> Any:
    return (of * len(elements))(*elements)


def _index(names: Sequence[str], what: str, name: str) -> int:
    if name not in names:
        raise ValueError(f"'{name}' is no {what}: use one of {', '.join(names)}")
    return names.index(name)


def _declared_param(param: Param) -> _DeclaredParam:
    allowed = [_text(value) for value in param.allowed]
    return _DeclaredParam(
        name=_text(param.name),
        default_value=_text(param.default),
        allowed=_array(ctypes.c_char_p, allowed),
        allowed_count=len(allowed),
        meaning=_text(param.meaning),
    )


# ---- DLPack -----------------------------------------------------------------------------------

_BYTES = {"i32": 4, "i64": 8, "f32": 4, "f64": 8, "u8": 1, "u32": 4, "f16": 2, "bf16": 2, "u16": 2}
# As the array interfaces have them, which have no bf16.
_TYPESTR = {
    "i32": "<i4",
    "i64": "<i8",
    "f32": "<f4",
    "f64": "<f8",
    "u8": "|u1",
    "u32": "<u4",
    "f16": "<f2",
    "u16": "<u2",
}
_DL_CODE = {"i": 0, "u": 1, "f": 2, "b": 4}
_DL_CPU, _DL_CUDA = 1, 2

_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


class _DlTensor(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class _Exported:
    """A tensor and its shape, alive until the framework that took it calls the deleter."""

    def __init__(self, array: Array) -> None:
        self.shape = ctypes.c_int64(array.length)
        device_type, device_id = array.__dlpack_device__()
        self.tensor = _DlTensor(
            data=array.pointer,
            device_type=device_type,
            device_id=device_id,
            ndim=1,
            code=_DL_CODE[array.type[0]],
            bits=8 * _BYTES[array.type],
            lanes=1,
            shape=ctypes.addressof(self.shape),
            deleter=ctypes.cast(_DELETER, ctypes.c_void_p),
        )


_EXPORTED: dict[int, _Exported] = {}


def _release(tensor: int) -> None:
    _EXPORTED.pop(tensor, None)


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_release)


# ---- what the driver calls --------------------------------------------------------------------


def _fault(error: BaseException, path: str) -> str:
    """The last line of the traceback, and the last place of it in the plug-in."""
    last = traceback.format_exception_only(type(error), error)[-1].strip()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines = [error.lineno]
    return f"{last} (line {lines[-1]})" if lines and lines[-1] else last


class _Variant:
    """A variant's functions as the driver calls them."""

    MOST_PREPARED = 8  # of the arrays of one point there are fewer

    def __init__(
        self,
        plugin: Plugin,
        declared: _DeclaredVariant,
        params: Sequence[str],
        prepare: Prepare,
        refuse: Callable[[Problem], str | None] | None,
        depth: Callable[[Problem], int] | None,
    ) -> None:
        self.plugin = plugin
        self.declared = declared
        self.params = params
        self.prepare = prepare
        self.own_refuse = refuse
        self.own_depth = depth
        self.prepared: dict[tuple[bytes, ...], Callable[[], object]] = {}
        self.said = ctypes.create_string_buffer(b"")
        self.path = ""
        declared.refuse = _REFUSE(self.refuse)
        declared.enqueue = _ENQUEUE(self.enqueue)
        if depth is not None:
            declared.depth = _DEPTH(self.depth)

    def say(self, text: str) -> int:
        """The address of the text, which is valid until the next is said."""
        self.said = ctypes.create_string_buffer(_text(text))
        return ctypes.addressof(self.said)

    def problem(self, problem: _Problem) -> Problem:
        return Problem(
            operation=OPERATIONS[problem.operation],
            type=TYPES[problem.type],
            op=OPS[problem.op],
            n=problem.n,
            buckets=problem.buckets,
            params={
                name: problem.params[i].decode(errors="replace")
                for i, name in enumerate(self.params)
            },
            inclusive=bool(problem.inclusive),
            any_wins=bool(problem.any_wins),
        )

    def refuse(self, problem: Any) -> int | None:
        try:
            for package in self.plugin.packages:
                if importlib.util.find_spec(package) is None:
                    return self.say(
                        f"the package '{package}' is not installed for {sys.executable}"
                    )
            why = self.own_refuse(self.problem(problem[0])) if self.own_refuse else None
            if why:
                return self.say(why)
            # Its faults are told here, because a depth is a number and nothing else.
            depth = self.own_depth(self.problem(problem[0])) if self.own_depth else 1
            if not isinstance(depth, int) or depth < 1:
                raise ValueError(f"the depth is {depth!r}, and should be a positive int")
            return None
        except BaseException as error:
            return self.say(_fault(error, self.path))

    def depth(self, problem: Any) -> int:
        assert self.own_depth is not None
        return self.own_depth(self.problem(problem[0]))

    def enqueue(self, address: int) -> int | None:
        # Called in what is timed: the arrays are recognised by the bytes of the structures.
        try:
            call = _Call.from_address(address)
            problem = call.problem[0]
            key = (
                ctypes.string_at(address, ctypes.sizeof(_Call))[_POINTERS],
                ctypes.string_at(ctypes.addressof(problem), _SCALARS_BYTES),
                *(problem.params[i] for i in range(len(self.params))),
            )
            run = self.prepared.get(key)
            if run is None:
                if len(self.prepared) == self.MOST_PREPARED:
                    self.prepared.clear()
                run = self.prepared[key] = self.prepare(self.call(call))
            run()
            return None
        except BaseException as error:
            return self.say(_fault(error, self.path))

    def call(self, call: _Call) -> Call:
        problem = self.problem(call.problem[0])
        backend = BACKENDS[self.declared.backend]
        device = _current_gpu() if backend == "cuda" else 0
        n, buckets, type_ = problem.n, problem.buckets, problem.type
        histogram = problem.operation == "histogram"
        one_for_each_bucket = problem.operation in ("multireduce", "scatter", "histogram")

        def array(pointer: int | None, of: str, length: int) -> Any:
            # An array without elements may lie nowhere.
            return None if pointer is None else Array(pointer, of, length, backend, device)

        return Call(
            problem=problem,
            stream=call.stream or 0,
            device=device,
            values=array(call.values, type_, buckets if problem.operation == "gather" else n),
            labels=array(call.labels, type_ if histogram else "u32", n),
            results=array(
                call.results,
                "u32" if histogram else "f32" if type_ in ("f16", "bf16") else type_,
                1 if problem.operation == "reduce" else buckets if one_for_each_bucket else n,
            ),
            result_labels=array(call.result_labels, "u32", n),
            result_count=array(call.result_count, "u32", 1),
        )


@functools.cache
def _driver_of_cuda() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _cuda(function: str, *arguments: Any) -> None:
    """Calls a function of CUDA's driver. A number stands for a pointer or a handle."""
    called = [ctypes.c_void_p(each) if isinstance(each, int) else each for each in arguments]
    status = getattr(_driver_of_cuda(), function)(*called)
    if status != 0:
        raise RuntimeError(f"{function}: error {status} of CUDA")


def _current_gpu() -> int:
    device = ctypes.c_int()
    _cuda("cuCtxGetDevice", ctypes.byref(device))
    return device.value


def _version_of(package: str) -> str:
    """The name and version of what is installed; of a package whose distribution has another name,
    as `cupy` of `cupy-cuda13x`, too."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(package, ())
        return f"{package} {importlib.metadata.version(names[0])}" if names else f"no {package}"


def _take_environment(python: Mapping[str, Any]) -> None:
    """Makes this interpreter find what the Python of the command line finds."""
    del os.environ["PYTHONHOME"]  # of this process alone
    sys.executable = python["executable"]
    sys.path[:] = [folder for folder in python["path"] if folder]
    for folder in python["sites"]:
        site.addsitedir(folder)


def _import(path: str) -> Plugin:
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Packages come before what stands beside the file, which may have the name of one.
    sys.path.append(str(Path(path).parent))
    sys.modules[name] = module
    spec.loader.exec_module(module)
    plugin = getattr(module, "reduce_bench_plugin", None)
    if not isinstance(plugin, Plugin):
        raise TypeError("it defines no 'reduce_bench_plugin' that is a Plugin")
    return plugin


_KEPT: list[object] = []  # what the driver holds pointers to


def _load(address: int) -> None:
    """Leaves a `struct reduce_bench_plugin` in the handover, or why there is none."""
    handover = _Handover.from_address(address)
    path = handover.path.decode(errors="surrogateescape")
    try:
        _take_environment(json.loads(handover.python))
        plugin = _import(path)
        for variant in plugin.variants:
            variant.path = path
        packages = [_version_of(package) for package in plugin.packages]
        about = ", ".join([*packages, f"Python {platform.python_version()}"])
        declared = _DeclaredPlugin(
            interface=plugin.interface,
            version=_text(f"{plugin.version} ({about})"),
            variants=_array(_DeclaredVariant, [variant.declared for variant in plugin.variants]),
            variant_count=len(plugin.variants),
        )
        _KEPT.extend([plugin, declared])
        handover.plugin = ctypes.addressof(declared)
    except BaseException as error:
        fault = ctypes.create_string_buffer(_text(_fault(error, path)))
        _KEPT.append(fault)
        handover.fault = ctypes.addressof(fault)
