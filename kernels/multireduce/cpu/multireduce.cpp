// cpu/multireduce: one loop over the inputs
//
// Source: eilers Algorithm 2.2, section 2.1; the CPU baseline of its chapters 2 and 4.
// Idea: every bucket starts as the neutral element; every value is combined with what its bucket
//   holds.
// Fixes: nothing: it is what the parallel algorithms are measured against. Beyond the caches every
//   input costs a miss in the buckets.
// Launch: the calling thread.
// Traffic: n labels and n values read, m results written.
// Preconditions: none. Order-preserving.
// Deviations: none. pages=huge is Figure 2.4's. fetch=sequential is Figure 2.8's: the choice of
//   every bucket depends on the value of the one before, as the thesis describes, which does not
//   say by what arithmetic; stores are chained, too.

#include "kernels/multireduce/cpu/multireduce.hpp"

#include "kernels/api/pages_axis.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_multireduce {

struct CpuMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.params().is("fetch", "sequential"))
      multireduce<Op, T>(call.n(), call.buckets(), call.labels(), call.values(),
                         Chained<T>(call.results()));
    else multireduce<Op, T>(call.n(), call.buckets(), call.labels(), call.values(), call.results());
  }
};

Variant variant() {
  return {
      .id = "cpu/multireduce",
      .title = "one loop",
      .source = "eilers Algorithm 2.2",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      .params = {fetch_axis(), pages_axis()},
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .enqueue = instantiate<CpuMultireduce, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_multireduce
