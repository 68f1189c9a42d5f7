"""NumPy's calls on the CPU. It has none that scans the values of each label.

Choice: variants are the calls that come to mind for it. One core of an AMD EPYC, NumPy 2.4, 2^22
uniform labels, ms:

    buckets                                              16      256     4096    65536
    bincount                                            7.6      7.7              10.6
    bincount of labels made intp                        7.6      7.6              10.7
    histogram                                          19.8     19.2              23.6
    add.at of ones                                    161.2    161.8             162.3
    f32 sums by add.at                                  7.2               7.1      7.2
    by add.at with labels made intp                     6.4               6.3      9.4
    by bincount with weights                           10.8              11.0     14.0
    by argsort and add.reduceat                       155.5             331.7    399.2
    f32 maxima by maximum.at                            8.9               8.6      8.7
    by argsort and maximum.reduceat                   143.6             312.6    394.4

With labels made intp, add.at takes a ninth less at 16 and 4096 buckets and a third more at 65536. A
sum of 2^22 f32 takes 0.58 ms by sum, 0.52 by dot with ones and 0.28 by einsum.
"""

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
