// cpu/multireduce: one loop over the inputs
//
// Source: eilers Algorithm 2.2, section 2.1; the CPU baseline of its chapters 2 and 4.
// Idea: every bucket starts as the neutral element; every value is combined with what its bucket
//   holds.
// Fixes: nothing, it is what the parallel algorithms are measured against. Beyond the caches every
//   input costs a miss in the buckets.
// Launch: the calling thread.
// Traffic: n labels and n values read, m results written.
// Preconditions: none. Order-preserving.
// Deviations: without the huge pages and the enforced sequential fetch of Figures 2.4 and 2.8.

#include <algorithm>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {
namespace {

struct CpuMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.in();
    const Label* labels = call.labels();
    T* buckets = call.out();
    std::fill_n(buckets, call.buckets(), Op::template identity<T>());
    for (std::size_t i = 0; i < call.n(); ++i)
      buckets[labels[i]] = Op::combine(buckets[labels[i]], values[i]);
  }
};

}  // namespace

Variant cpu_multireduce() {
  return {
      .id = "cpu/multireduce",
      .title = "one loop",
      .source = "eilers Algorithm 2.2",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .enqueue = instantiate<CpuMultireduce, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND
