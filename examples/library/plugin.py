"""onepass's functions of Python as variants, to be verified and timed beside the kernels that they
launch and the calls of other frameworks (docs/plugins.md):

    PYTHONPATH=<prefix>/lib/onepass reduce-bench verify --plugin plugin.py --filter 'library/*'
"""

from reduce_bench_plugin import Call, Plugin, Problem

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0")

TYPES = ["i32", "i64", "f32", "f64"]
OPS = ["sum", "min", "max"]


def at_most_all(problem: Problem) -> int:
    return problem.n


@plugin.variant(
    "library/reduce",
    source="docs/library.md",
    title="onepass.reduce",
    operation="reduce",
    backend="cuda",
    types=TYPES,
    ops=OPS,
    depth=at_most_all,
)
def reduce(call: Call):
    import onepass

    op = call.problem.op
    return lambda: onepass.reduce(call.values, out=call.results, op=op, stream=call.stream)


@plugin.variant(
    "library/reduce-exact",
    source="docs/library.md",
    title="onepass.reduce_exact",
    operation="reduce",
    backend="cuda",
    types=["f32", "f64"],
    ops=["sum"],
    depth=at_most_all,
)
def reduce_exact(call: Call):
    import onepass

    return lambda: onepass.reduce_exact(call.values, out=call.results, stream=call.stream)


@plugin.variant(
    "library/multireduce",
    source="docs/library.md",
    title="onepass.multireduce",
    operation="multireduce",
    backend="cuda",
    types=TYPES,
    ops=OPS,
    depth=at_most_all,
)
def multireduce(call: Call):
    import onepass

    op = call.problem.op
    return lambda: onepass.multireduce(
        call.values, call.labels, out=call.results, op=op, stream=call.stream
    )


@plugin.variant(
    "library/histogram",
    source="docs/library.md",
    title="onepass.histogram",
    operation="histogram",
    backend="cuda",
    types=["u8", "u16", "u32"],
)
def histogram(call: Call):
    import onepass

    return lambda: onepass.histogram(call.labels, out=call.results, stream=call.stream)


@plugin.variant(
    "library/multiscan",
    source="docs/library.md",
    title="onepass.multiscan",
    operation="multiscan",
    backend="cuda",
    types=TYPES,
    ops=OPS,
    depth=at_most_all,
)
def multiscan(call: Call):
    import onepass

    problem = call.problem
    return lambda: onepass.multiscan(
        call.values,
        call.labels,
        buckets=problem.buckets,
        out=call.results,
        op=problem.op,
        inclusive=problem.inclusive,
        stream=call.stream,
    )
