"""CuPy's calls. It has none that scans the values of each label.

Choice: variants are the calls that come to mind first, and those that were faster on the device by
more than a tenth at any of four numbers of buckets. One H200, CuPy 14.2, 2^24 uniform labels, us:

    buckets                                              16      256     4096    65536
    histogram                                           207      196      395     1120
    the same for the host                               547      576      838     1481
    bincount                                            576      399      446     1328
    the same for the host                               566      351      567     1234
    add.at of ones                                     3110     4333      484      219
    the same for the host                              3334     4588      672      352
    f32 sums by add.at                                 4309     4340      819      223
    by cupyx.scatter_add                               4305     4339      489      223
    by add.at with labels as i32                       4307     4340      489      223
    by add.at with labels made i64                     4390     4430      577      313
    by bincount with weights                           7604     3040      684      470

In another process calls that read something back took 0.7 to 1.2 of these times. add.at into 4096
buckets took 819 to 903 us in three processes of five and 489 in two, which is not explained. A sum
of 2^26 f32 takes 77 us by CUB, which is CuPy's default, and 107 by its own kernels; one of 2^18 8.5
and 6.4.

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
    description="It reads back whether a label is negative, and the largest. It returns m counts "
    "of 64 bits, which are copied to the output of 32 bits.",
)
def bincount(call: Call):
    import cupy

    _, labels, results = arrays(call)

    def run():
        results[:] = cupy.bincount(labels, minlength=len(results))

    return run


@plugin.variant(
    "cupy/histogram",
    title="cupy.histogram",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    description="With a bin for each label. It returns m counts of 64 bits, which are copied to "
    "the output of 32 bits.",
)
def histogram(call: Call):
    import cupy

    _, labels, results = arrays(call)
    m = len(results)

    def run():
        results[:] = cupy.histogram(labels, bins=m, range=(0, m))[0]

    return run


@plugin.variant(
    "cupy/add-at-ones",
    title="cupy.add.at of ones",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    description="In place, after the output was zeroed.",
)
def add_at_ones(call: Call):
    import cupy

    _, labels, results = arrays(call)
    one = cupy.uint32(1)

    def run():
        results.fill(0)
        cupy.add.at(results, labels, one)

    return run


@plugin.variant(
    "cupy/bincount-weights",
    title="cupy.bincount with weights",
    operation="multireduce",
    backend="cuda",
    types=["f32", "f64"],
    ops=["sum"],
    synchronous=True,
    description="It reads back whether a label is negative, and the largest. It adds in f64 and "
    "returns m sums, which are copied to the output.",
)
def bincount_weights(call: Call):
    import cupy

    values, labels, results = arrays(call)

    def run():
        results[:] = cupy.bincount(labels, weights=values, minlength=len(results))

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
