"""Numba's cuda.reduce, and kernels as one writes them with it.

Choice: two blocks of 1024 threads for each SM; an SM of an H200 holds no more. 2^24 uniform labels
are counted there in 256 and in 4096 bins in 30.5 and 33.7 us. With four blocks of 512 threads it is
31.4 and 35.5 us, with eight of 256 36.4 and 40.5, with eight of 128 43.4 and 47.8, and with fewer
threads up to 139. Atomic additions to 4096 buckets take 490 to 505 us with any of 20 shapes.
"""

import functools
import os
from types import SimpleNamespace

from reduce_bench_plugin import Call, Plugin

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0", packages=["numba"])

# Else it warns of every small grid.
os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"

THREADS = 1024
BLOCKS_PER_SM = 2


def arrays(call: Call):
    """The stream, and values, labels and results."""
    from numba import cuda

    cuda.select_device(call.device)
    return cuda.external_stream(call.stream), *(
        None if array is None else cuda.as_cuda_array(array)
        for array in (call.values, call.labels, call.results)
    )


def blocks(length: int) -> int:
    """As many as are of use, and no more than BLOCKS_PER_SM for each SM."""
    from numba import cuda

    resident = BLOCKS_PER_SM * cuda.get_current_device().MULTIPROCESSOR_COUNT
    return max(1, min(-(-length // THREADS), resident))


@functools.cache
def kernels() -> SimpleNamespace:
    """Compiled once for each type."""
    from numba import cuda, uint32

    @cuda.jit
    def zero(results):
        for i in range(cuda.grid(1), results.size, cuda.gridsize(1)):
            results[i] = 0

    @cuda.jit
    def count(labels, results):
        counts = cuda.shared.array(0, uint32)
        for bucket in range(cuda.threadIdx.x, results.size, cuda.blockDim.x):
            counts[bucket] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
            cuda.atomic.add(counts, labels[i], 1)
        cuda.syncthreads()
        for bucket in range(cuda.threadIdx.x, results.size, cuda.blockDim.x):
            cuda.atomic.add(results, bucket, counts[bucket])

    @cuda.jit
    def add(values, labels, results):
        for i in range(cuda.grid(1), labels.size, cuda.gridsize(1)):
            cuda.atomic.add(results, labels[i], values[i])

    return SimpleNamespace(
        zero=zero,
        count=count,
        add=add,
        sum=cuda.reduce(lambda a, b: a + b),
        max=cuda.reduce(lambda a, b: max(a, b)),
    )


@plugin.variant(
    "numba/reduce",
    title="numba.cuda.reduce",
    operation="reduce",
    backend="cuda",
    types=["f32", "f64"],
    ops=["sum", "max"],
    description="Written to the output by res=.",
)
def reduce(call: Call):
    stream, values, _, results = arrays(call)
    if call.problem.op == "sum":
        function, init = kernels().sum, 0
    else:
        function, init = kernels().max, -float("inf")
    return lambda: function(values, res=results, init=init, stream=stream)


@plugin.variant(
    "numba/histogram",
    title="counts in shared memory, then atomics",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    max_buckets=8192,
    launches=2,
)
def histogram(call: Call):
    stream, _, labels, results = arrays(call)
    zero = kernels().zero[blocks(len(results)), THREADS, stream]
    count_all = kernels().count[blocks(len(labels)), THREADS, stream, 4 * len(results)]

    def run():
        zero(results)
        count_all(labels, results)

    return run


@plugin.variant(
    "numba/atomic-add",
    title="cuda.atomic.add to the buckets",
    operation="multireduce",
    backend="cuda",
    types=["i32", "f32", "f64"],
    ops=["sum"],
    launches=2,
)
def atomic_add(call: Call):
    stream, values, labels, results = arrays(call)
    zero = kernels().zero[blocks(len(results)), THREADS, stream]
    add_all = kernels().add[blocks(len(labels)), THREADS, stream]

    def run():
        zero(results)
        add_all(values, labels, results)

    return run
