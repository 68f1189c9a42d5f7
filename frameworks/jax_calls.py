"""JAX's functions, compiled. It has none that scans the values of each label.

JAX cannot be told the stream, and returns arrays of its own: calls wait for the result, which is
then copied to the output, so all are synchronous.

Choice: variants are the calls that come to mind first, and of those that were faster by more than
a tenth at any of four numbers of buckets one. One H200, JAX 0.11, 2^24 uniform labels, us with the
wait:

    buckets                                              16      256     4096    65536
    bincount                                           5466     3113      692      418
    bincount of labels as i32                          5451     3100      648      594
    at[].add of ones, promised in bounds               3498     4733      718      394
    at[].add of ones                                   3554     4745      851      487
    segment_sum of ones                                3491     4610      858      433
    f32 sums by segment_sum                            4852     4826      849      505
    by segment_sum, promised in bounds                 4711     4785      804      640
    by at[].add                                        4863     4910      885      562
    by at[].add, promised in bounds                    4686     4897      857      540
    by bincount with weights                           4912     4826      797      565

Times below 1000 us differ by up to a fifth from process to process.
"""

import os

from reduce_bench_plugin import Array, Call, Plugin, Problem

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0", packages=["jax"])

WAITS = "The call waits for the result, which is copied to the output."
ALIGNMENT_BYTES = 16  # of arrays that JAX takes; others are copied, within the time


def compiled(call: Call, make):
    """`make` gets jax and jax.numpy, and gives the function of values or labels, or of both."""
    # Else it takes three quarters of the GPU's memory.
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    arguments, copies = [], []
    for array in (call.values, call.labels):
        if array is None:
            continue
        argument = jax.dlpack.from_dlpack(array)
        if array.pointer % ALIGNMENT_BYTES:
            argument = jnp.zeros(argument.shape, argument.dtype).block_until_ready()
            place = argument.unsafe_buffer_pointer()
            copies.append(
                (Array(place, array.type, len(array), array.backend, array.device), array.pointer)
            )
        arguments.append(argument)
    function = jax.jit(make(jax, jnp))

    def run():
        for copy, pointer in copies:
            copy.copy_from(pointer, call.stream)
        result = function(*arguments).block_until_ready()
        call.results.copy_from(result.unsafe_buffer_pointer(), call.stream)

    return run


def refuse_nothing(problem: Problem) -> str | None:
    if problem.op == "max" and problem.n == 0:
        return "jax.numpy.max refuses an array without elements"
    return None


@plugin.variant(
    "jax/reduce",
    title="jax.numpy.sum, jax.numpy.max",
    operation="reduce",
    backend="cuda",
    types=["f32", "f64", "f16", "bf16"],
    ops=["sum", "max"],
    synchronous=True,
    description=f"{WAITS} Halves are summed with dtype=float32; their maximum is made one.",
    refuse=refuse_nothing,
)
def reduce(call: Call):
    type_ = {"f32": "float32", "f64": "float64"}[call.results.type]

    def make(jax, jnp):
        return {
            "sum": lambda values: jnp.sum(values, dtype=type_),
            "max": lambda values: jnp.max(values).astype(type_),
        }[call.problem.op]

    return compiled(call, make)


@plugin.variant(
    "jax/bincount",
    title="jax.numpy.bincount",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    synchronous=True,
    description=f"{WAITS} Its m counts are made 32 bits wide.",
)
def bincount(call: Call):
    m = call.problem.buckets
    return compiled(
        call,
        lambda jax, jnp: lambda labels: jnp.bincount(labels, length=m).astype(jnp.uint32),
    )


@plugin.variant(
    "jax/add-at-ones",
    title="jax.numpy.ndarray.at[].add of ones",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    synchronous=True,
    description=f"{WAITS} It promises that all labels are in bounds.",
)
def add_at_ones(call: Call):
    m = call.problem.buckets

    def make(jax, jnp):
        def count(labels):
            counts = jnp.zeros(m, jnp.uint32)
            return counts.at[labels].add(jnp.uint32(1), mode="promise_in_bounds")

        return count

    return compiled(call, make)


@plugin.variant(
    "jax/segment-reduce",
    title="jax.ops.segment_sum, jax.ops.segment_max",
    operation="multireduce",
    backend="cuda",
    types=["i32", "f32", "f64"],
    ops=["sum", "max"],
    synchronous=True,
    description=WAITS,
)
def segment_reduce(call: Call):
    m = call.problem.buckets

    def make(jax, jnp):
        function = {"sum": jax.ops.segment_sum, "max": jax.ops.segment_max}[call.problem.op]
        return lambda values, labels: function(values, labels, num_segments=m)

    return compiled(call, make)
