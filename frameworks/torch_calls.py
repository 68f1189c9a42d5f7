"""PyTorch's calls. It has none that scans the values of each label.

Choice: variants are the calls that come to mind first, and those that were faster on the device by
more than a tenth at any of four numbers of buckets. One H200, PyTorch 2.11, 2^24 uniform labels,
us:

    buckets                                              16      256     4096    65536
    histc                                               144       93       89      210
    histc of labels made f32                            255      141      160      265
    bincount                                            453      242      266      351
    bincount of labels made i64                         525      322      357      439
    index_add_ of ones                                 3111     4333      486      202
    scatter_add_ of ones                               3182     4403      553      265
    f32 sums by index_add_                             4305     4343      493      233
    by index_add_ with labels made i64                 4368     4412      561      287
    by scatter_add_                                    4369     4412      559      288
    by scatter_reduce_                                 4369     4413      560      274
    by bincount with weights                            388      245      290      367
    by index_put_ that accumulates                   126378    10818     4020     3573
    f32 maxima by index_reduce_                        5413     7391     1025      506
    by scatter_reduce_                                 6266     8893     1017      563

In another process calls that read something back took 0.9 to 1.25 of these times. A sum of 2^26 f32
takes 77.6 us with out= and 80.2 where the result is copied, one of as many f16 47 with dtype= and
263 where a tensor of f32 is made first.
"""

from reduce_bench_plugin import Call, Plugin, Problem

reduce_bench_plugin = plugin = Plugin(interface=1, version="1.0", packages=["torch"])


def tensors(call: Call):
    """Values, labels and results. Labels are i32, the same bits, for few calls take uint32."""
    import torch

    torch.cuda.set_stream(torch.cuda.ExternalStream(call.stream, device=call.device))

    def tensor(array):
        if array is None:
            return None
        return torch.from_dlpack(array.as_type("i32") if array.type == "u32" else array)

    return tensor(call.values), tensor(call.labels), tensor(call.results)


def refuse_nothing(problem: Problem) -> str | None:
    if problem.op == "max" and problem.n == 0:
        return "torch.amax refuses a tensor without elements"
    return None


@plugin.variant(
    "torch/reduce",
    title="torch.sum, torch.amax",
    operation="reduce",
    backend="cuda",
    types=["f32", "f64", "f16", "bf16"],
    ops=["sum", "max"],
    description="Written to the output by out=. Halves are summed with dtype=float32; their "
    "maximum, a half, is copied to the output.",
    refuse=refuse_nothing,
)
def reduce(call: Call):
    import torch

    values, _, results = tensors(call)
    if call.problem.op == "sum":
        return lambda: torch.sum(values, 0, keepdim=True, dtype=results.dtype, out=results)
    if values.dtype == results.dtype:
        return lambda: torch.amax(values, 0, keepdim=True, out=results)
    return lambda: results.copy_(torch.amax(values, 0, keepdim=True))


@plugin.variant(
    "torch/bincount",
    title="torch.bincount",
    operation="histogram",
    backend="cuda",
    types=["u8", "u32"],
    synchronous=True,
    description="It reads the least and the largest label back to the host. It returns m counts of "
    "64 bits, which are copied to the output of 32 bits.",
)
def bincount(call: Call):
    import torch

    _, labels, results = tensors(call)
    return lambda: results.copy_(torch.bincount(labels, minlength=len(results)))


@plugin.variant(
    "torch/histc",
    title="torch.histc",
    operation="histogram",
    backend="cuda",
    types=["u32"],
    description="Of labels as integers of 32 bits, with a bin for each. It returns m counts of "
    "their type, which are copied to the output.",
)
def histc(call: Call):
    import torch

    _, labels, results = tensors(call)
    m = len(results)
    return lambda: results.copy_(torch.histc(labels, bins=m, min=0, max=m))


@plugin.variant(
    "torch/scatter-add",
    title="torch.Tensor.scatter_add_",
    operation="multireduce",
    backend="cuda",
    types=["i32", "f32", "f64"],
    ops=["sum"],
    description="In place, after the output was zeroed. It takes labels of 64 bits alone: that "
    "they are widened counts in the time.",
)
def scatter_add(call: Call):
    values, labels, results = tensors(call)
    return lambda: results.zero_().scatter_add_(0, labels.long(), values)


@plugin.variant(
    "torch/scatter-amax",
    title="torch.Tensor.scatter_reduce_ with amax",
    operation="multireduce",
    backend="cuda",
    types=["f32", "f64"],
    ops=["max"],
    description="As torch/scatter-add, on an output filled with minus infinity.",
)
def scatter_amax(call: Call):
    values, labels, results = tensors(call)
    return lambda: results.fill_(-float("inf")).scatter_reduce_(0, labels.long(), values, "amax")


@plugin.variant(
    "torch/index-amax",
    title="torch.Tensor.index_reduce_ with amax",
    operation="multireduce",
    backend="cuda",
    types=["f32", "f64"],
    ops=["max"],
    description="As torch/scatter-amax, but it takes labels of 32 bits.",
)
def index_amax(call: Call):
    values, labels, results = tensors(call)
    return lambda: results.fill_(-float("inf")).index_reduce_(0, labels, values, "amax")


@plugin.variant(
    "torch/bincount-weights",
    title="torch.bincount with weights",
    operation="multireduce",
    backend="cuda",
    types=["f32", "f64"],
    ops=["sum"],
    synchronous=True,
    description="It reads the least and the largest label back to the host. It returns m sums, "
    "which are copied to the output.",
)
def bincount_weights(call: Call):
    import torch

    values, labels, results = tensors(call)
    return lambda: results.copy_(torch.bincount(labels, values, minlength=len(results)))


@plugin.variant(
    "torch/index-add",
    title="torch.Tensor.index_add_",
    operation="multireduce",
    backend="cuda",
    types=["i32", "f32", "f64"],
    ops=["sum"],
    description="In place, after the output was zeroed. It takes labels of 32 bits.",
)
def index_add(call: Call):
    values, labels, results = tensors(call)
    return lambda: results.zero_().index_add_(0, labels, values)
