"""CuPy's calls. It has none that scans the values of each label.

cupy.maximum.at is left out: of f64 it gives maxima rounded to f32 (CuPy 14.2 on an H200).
"""

from reduce_bench_plugin import Call, Plugin, Problem

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0", packages=["cupy"])


def arrays(call: Call):
    """Values, labels and results."""
    import cupy

    cupy.cuda.Device(call.device).use()
    cupy.cuda.ExternalStream(call.stream, call.device).use()
    return [
        None if array is None else cupy.asarray(array)
        for array in (call.values, call.labels, call.results)
    ]


def refuse_nothing(problem: Problem) -> str | None:
    if problem.op == "max" and problem.n == 0:
        return "cupy.max refuses an array without elements"
    return None


@plugin.variant(
    "cupy/reduce",
    title="cupy.sum, cupy.max",
    operation="reduce",
    backend="cuda",
    types=["f32", "f64", "f16"],
    ops=["sum", "max"],
    description="Written to the output by out=. Halves are summed with dtype=float32; their "
    "maximum, a half, is copied to the output.",
    refuse=refuse_nothing,
)
def reduce(call: Call):
    import cupy

    values, _, results = arrays(call)
    if call.problem.op == "sum":
        return lambda: cupy.sum(values, dtype=results.dtype, keepdims=True, out=results)
    if values.dtype == results.dtype:
        return lambda: cupy.max(values, keepdims=True, out=results)

    def run():
        results[:] = cupy.max(values)

    return run


@plugin.variant(
    "cupy/bincount",
    title="cupy.bincount",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    synchronous=True,
    description="It reads the largest label back to the host. It returns m counts of 64 bits, "
    "which are copied to the output of 32 bits.",
)
def bincount(call: Call):
    import cupy

    _, labels, results = arrays(call)

    def run():
        results[:] = cupy.bincount(labels, minlength=len(results))

    return run


@plugin.variant(
    "cupy/add-at",
    title="cupy.add.at",
    operation="multireduce",
    backend="cuda",
    types=["i32", "f32", "f64"],
    ops=["sum"],
    description="In place, after the output was zeroed.",
)
def add_at(call: Call):
    import cupy

    values, labels, results = arrays(call)

    def run():
        results.fill(0)
        cupy.add.at(results, labels, values)

    return run
