// cpu/gather: one loop over the labels
//
// Source: eilers section 2.1, after Algorithm 2.1.
// Idea: every result is fetched from where its label says.
// Fixes: nothing: it is what the parallel algorithms are measured against.
// Launch: the calling thread.
// Traffic: n labels and the values that they name read, n results written.
// Preconditions: none.
// Deviations: the thesis gives no listing.

#include "kernels/gather/cpu/gather.hpp"

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_gather {

struct CpuGather {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    gather<T>(call.n(), call.labels(), call.values(), call.results());
  }
};

Variant variant() {
  return {
      .id = "cpu/gather",
      .title = "one loop",
      .source = "eilers section 2.1",
      .operation = Operation::kGather,
      .fidelity = Fidelity::kBaseline,
      .enqueue = instantiate<CpuGather, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_gather
