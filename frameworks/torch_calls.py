"""PyTorch's calls. It has none that scans the values of each label."""

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
    description="It reads the largest label back to the host. It returns m counts of 64 bits, "
    "which are copied to the output of 32 bits.",
)
def bincount(call: Call):
    import torch

    _, labels, results = tensors(call)
    return lambda: results.copy_(torch.bincount(labels, minlength=len(results)))


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
