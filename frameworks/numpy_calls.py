"""NumPy's calls on the CPU. It has none that scans the values of each label."""

from reduce_bench_plugin import Call, Plugin, Problem

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0", packages=["numpy"])


def refuse_nothing(problem: Problem) -> str | None:
    if problem.op == "max" and problem.n == 0:
        return "numpy.max refuses an array without elements"
    return None


@plugin.variant(
    "numpy/reduce",
    title="numpy.sum, numpy.max",
    operation="reduce",
    backend="cpu",
    types=["f32", "f64", "f16"],
    ops=["sum", "max"],
    description="Written to the output by out=. Halves are summed with dtype=float32; their "
    "maximum, a half, is copied to the output.",
    refuse=refuse_nothing,
)
def reduce(call: Call):
    import numpy as np

    values, results = np.asarray(call.values), np.asarray(call.results)
    if call.problem.op == "sum":
        return lambda: np.sum(values, dtype=results.dtype, keepdims=True, out=results)
    if values.dtype == results.dtype:
        return lambda: np.max(values, keepdims=True, out=results)

    def run():
        results[:] = np.max(values)

    return run


@plugin.variant(
    "numpy/bincount",
    title="numpy.bincount",
    operation="histogram",
    backend="cpu",
    types=["u8", "u32"],
    description="It returns m counts of 64 bits, which are copied to the output of 32 bits.",
)
def bincount(call: Call):
    import numpy as np

    labels, results = np.asarray(call.labels), np.asarray(call.results)

    def run():
        results[:] = np.bincount(labels, minlength=len(results))

    return run


@plugin.variant(
    "numpy/bincount-weights",
    title="numpy.bincount with weights",
    operation="multireduce",
    backend="cpu",
    types=["f32", "f64"],
    ops=["sum"],
    description="It adds in f64 and returns m sums, which are copied to the output.",
)
def bincount_weights(call: Call):
    import numpy as np

    values, labels = np.asarray(call.values), np.asarray(call.labels)
    results = np.asarray(call.results)

    def run():
        results[:] = np.bincount(labels, weights=values, minlength=len(results))

    return run


@plugin.variant(
    "numpy/ufunc-at",
    title="numpy.add.at, numpy.maximum.at",
    operation="multireduce",
    backend="cpu",
    types=["i32", "f32", "f64"],
    ops=["sum", "max"],
    description="In place, after the output was filled with the neutral element.",
)
def ufunc_at(call: Call):
    import numpy as np

    values, labels = np.asarray(call.values), np.asarray(call.labels)
    results = np.asarray(call.results)
    least = -np.inf if results.dtype.kind == "f" else np.iinfo(results.dtype).min
    neutral, at = {"sum": (0, np.add.at), "max": (least, np.maximum.at)}[call.problem.op]

    def run():
        results.fill(neutral)
        at(results, labels, values)

    return run
