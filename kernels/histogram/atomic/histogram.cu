// atomic/histogram: one global atomic per label
//
// Source: the naive approach.
// Idea: every thread adds one to the counter of its label in global memory.
// Fixes: nothing: it is the starting point, and works for any number of bins. Equal labels wait for
//   each other, and random counters beyond the L2 cache cost a memory access each.
// Launch: a fill of the counters, then ceil(n / B) blocks of B threads.
// Traffic: n labels read, m counts written; while the counters fit into the L2 cache, the atomics
//   stay there.
// Preconditions: none.
// Deviations: the fill is part of the measured time. Compilers may fold the atomics of a warp on
//   one address.

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::atomic_histogram {

template <class L>
__global__ void kernel(const L* labels, std::size_t n, Count* counts) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[labels[i]], 1u);
}

struct AtomicHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const unsigned block = call.params().number("block");
    enqueue_fill(call.stream, call.results(), call.buckets(), 0);
    if (call.n() == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(call.n(), block));
    launch(kernel<L>, {blocks, block, 0, call.stream}, call.labels(), call.n(), call.results());
  }
};

Variant variant() {
  return {
      .id = "atomic/histogram",
      .title = "one global atomic per label",
      .source = "the naive approach",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBaseline,
      .params = {{"block", "256", {"64", "128", "256", "512", "1024"}, "threads"}},
      .enqueue = instantiate_histogram<AtomicHistogram>(),
  };
}

}  // namespace reduce_bench::BACKEND::atomic_histogram
