// cpu/scatter: one loop over the inputs
//
// Source: eilers Algorithm 2.1, section 2.1.
// Idea: every value goes where its label says; the last of equal labels stays.
// Fixes: nothing: it is what the parallel algorithms are measured against.
// Launch: the calling thread.
// Traffic: n labels and n values read, as many results written as labels occur.
// Preconditions: none.
// Deviations: none.

#include "kernels/scatter/cpu/scatter.hpp"

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_scatter {

struct CpuScatter {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    scatter<T>(call.n(), call.labels(), call.values(), call.results());
  }
};

Variant variant() {
  return {
      .id = "cpu/scatter",
      .title = "one loop",
      .source = "eilers Algorithm 2.1",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kBaseline,
      .enqueue = instantiate<CpuScatter, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_scatter
