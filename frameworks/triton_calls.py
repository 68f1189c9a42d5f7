"""Kernels as one writes them in Triton. It has no histogram of many buckets, and no scan by label
that spans blocks.

Choice: 16 programs for each SM, each of 8 warps and 4096 elements at a time. One H200, Triton 3.6,
us with these and where one of them is another:

                                         these  4 programs  4 warps  1024 elements  8192 elements
    2^18 f32 summed                        6.8         6.9      7.3            6.3            8.8
    2^24                                  26.8        27.8     27.5           28.4           31.4
    2^26                                  74.0        75.6     75.3           76.0           79.9
    2^24 labels counted in 256 bins         58          65       72             75             58
    2^24 f32 added into 4096 buckets       579         594      626            574

The last takes 550 with 64 programs and 1024 elements.
"""

from reduce_bench_plugin import Call, Plugin

try:
    import triton
    import triton.language as tl
except ImportError:  # then all is refused below
    triton = None

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0", packages=["torch", "triton"])

BLOCK = 4096
PROGRAMS_PER_SM = 16


def tensors(call: Call):
    """Values, labels and results, as PyTorch's tensors. Labels are i32: the same bits."""
    import torch

    torch.cuda.set_stream(torch.cuda.ExternalStream(call.stream, device=call.device))

    def tensor(array):
        if array is None:
            return None
        return torch.from_dlpack(array.as_type("i32") if array.type == "u32" else array)

    return tensor(call.values), tensor(call.labels), tensor(call.results)


def programs(call: Call) -> int:
    """As many as are of use, and no more than PROGRAMS_PER_SM for each SM."""
    import torch

    sms = torch.cuda.get_device_properties(call.device).multi_processor_count
    return max(1, min(triton.cdiv(call.problem.n, BLOCK), PROGRAMS_PER_SM * sms))


if triton:

    @triton.jit
    def reduce_kernel(values, results, n, is_max: tl.constexpr, block: tl.constexpr):
        identity = -float("inf") if is_max else 0.0
        kept = tl.full((block,), identity, results.dtype.element_ty)
        stride = tl.num_programs(0) * block
        for begin in range(tl.program_id(0) * block, n, stride):
            at = begin + tl.arange(0, block)
            value = tl.load(values + at, mask=at < n, other=identity).to(kept.dtype)
            kept = tl.maximum(kept, value) if is_max else kept + value
        result = tl.max(kept, 0) if is_max else tl.sum(kept, 0)
        tl.store(results + tl.program_id(0), result)

    @triton.jit
    def histogram_kernel(labels, results, n, m, bins: tl.constexpr, block: tl.constexpr):
        counts = tl.zeros((bins,), tl.int32)
        stride = tl.num_programs(0) * block
        for begin in range(tl.program_id(0) * block, n, stride):
            at = begin + tl.arange(0, block)
            label = tl.load(labels + at, mask=at < n, other=0).to(tl.int32)
            counts += tl.histogram(label, bins, mask=at < n)
        bucket = tl.arange(0, bins)
        tl.atomic_add(results + bucket, counts, mask=(bucket < m) & (counts > 0))

    @triton.jit
    def scatter_add_kernel(values, labels, results, n, block: tl.constexpr):
        stride = tl.num_programs(0) * block
        for begin in range(tl.program_id(0) * block, n, stride):
            at = begin + tl.arange(0, block)
            value = tl.load(values + at, mask=at < n)
            label = tl.load(labels + at, mask=at < n)
            tl.atomic_add(results + label, value, mask=at < n)


@plugin.variant(
    "triton/reduce",
    title="a sum or maximum for each program, then theirs",
    operation="reduce",
    backend="cuda",
    types=["f32", "f64", "f16", "bf16"],
    ops=["sum", "max"],
    launches=2,
)
def reduce(call: Call):
    import torch

    values, _, results = tensors(call)
    n, is_max, grid = call.problem.n, call.problem.op == "max", programs(call)
    partial = torch.empty(grid, dtype=results.dtype, device=values.device)

    def run():
        reduce_kernel[(grid,)](values, partial, n, is_max, BLOCK, num_warps=8)
        reduce_kernel[(1,)](partial, results, grid, is_max, BLOCK, num_warps=8)

    return run


@plugin.variant(
    "triton/histogram",
    title="tl.histogram in each program, then atomics",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    max_buckets=1024,
    launches=2,
)
def histogram(call: Call):
    _, labels, results = tensors(call)
    n, m, grid = call.problem.n, call.problem.buckets, programs(call)
    bins = max(32, triton.next_power_of_2(m))

    def run():
        results.zero_()
        histogram_kernel[(grid,)](labels, results, n, m, bins, BLOCK, num_warps=8)

    return run


@plugin.variant(
    "triton/atomic-add",
    title="tl.atomic_add to the buckets",
    operation="multireduce",
    backend="cuda",
    types=["i32", "f32", "f64"],
    ops=["sum"],
    launches=2,
)
def atomic_add(call: Call):
    values, labels, results = tensors(call)
    n, grid = call.problem.n, programs(call)

    def run():
        results.zero_()
        scatter_add_kernel[(grid,)](values, labels, results, n, BLOCK, num_warps=8)

    return run
