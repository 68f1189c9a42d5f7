// atomic/global: one global atomic per input
//
// Source: the naive approach; eilers Algorithm 4.9 with one bucket set is the same.
// Idea: every thread atomically combines its value with its bucket in global memory.
// Fixes: nothing: it is the starting point. Equal labels wait for each other, and random buckets
//   beyond the L2 cache cost a memory access each.
// Launch: a fill of the buckets, then ceil(n / B) blocks of B threads.
// Traffic: n labels and n values read, m results written; while the buckets fit into the L2 cache,
//   the atomics stay there.
// Preconditions: the operator commutes.
// Deviations: the fill is part of the measured time. Compilers may fold the atomics of a warp on
//   one address. Min and max of floats loop on compare-and-swap. The order of the atomics varies,
//   so float sums differ from run to run.

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::atomic_global {

template <class T, class Op>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_combine<Op>(&results[labels[i]], values[i]);
}

struct AtomicGlobal {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(call.n(), block));
    launch(kernel<T, Op>, {blocks, block, 0, call.stream}, call.values(), call.labels(), call.n(),
           call.results());
  }
};

Variant variant() {
  return {
      .id = "atomic/global",
      .title = "one global atomic per input",
      .source = "the naive approach",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      .params = {{"block", "256", {"64", "128", "256", "512", "1024"}, "threads"}},
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .enqueue = instantiate<AtomicGlobal, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::atomic_global
