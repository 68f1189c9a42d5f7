// gpu/gather: each thread fetches what its label names
//
// Source: eilers Algorithm 3.3, section 3.2.2.
// Idea: every block takes a contiguous share of the labels, which its threads read side by side:
//   labels are read and results written in whole cache lines, and only the values lie where the
//   labels say.
// Fixes: the PRAM algorithm's one processor per label: here the grid has a size that suits the
//   device.
// Launch: blocks_per_sm blocks for each SM, as far as there is work, of B threads.
// Traffic: n labels and, of the m values, min(n, m) read; n results written. Beyond the caches each
//   random value costs a sector of 32 bytes and more: with m = 2^24 and n = 2^26 an H200 reads 41
//   bytes for each value, and moves 5.5 times these bytes in all.
// Preconditions: none.
// Deviations: shares are rounded up to whole steps and bounds-checked; the listing takes n as a
//   multiple of the blocks. Blocks and threads are not stated.

#include <algorithm>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::gpu_gather {

template <class T>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_block,
                       T* results) {
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t i = first + threadIdx.x; i < last; i += blockDim.x)
    results[i] = values[labels[i]];
}

struct GpuGather {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const unsigned block = call.params().number("block");
    const std::size_t most =
        std::size_t{call.device().sm_count} * call.params().number("blocks_per_sm");
    const std::size_t per_block = ceil_div(ceil_div(call.n(), most), block) * block;
    const auto blocks = static_cast<unsigned>(ceil_div(call.n(), per_block));
    launch(kernel<T>, {blocks, block, 0, call.stream}, call.values(), call.labels(), call.n(),
           per_block, call.results());
  }
};

Variant variant() {
  return {
      .id = "gpu/gather",
      .title = "each thread fetches what its label names",
      .source = "eilers Algorithm 3.3",
      .operation = Operation::kGather,
      .fidelity = Fidelity::kAdapted,
      .params = {{"block", "256", {"64", "128", "256", "512", "1024"}, "threads (not stated)"},
                 {"blocks_per_sm",
                  "32",
                  {"1", "2", "4", "8", "16", "32"},
                  "most blocks per SM (not stated)"}},
      .enqueue = instantiate<GpuGather, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::gpu_gather
