// cpu/histogram: one loop over the labels
//
// Source: eilers Algorithm 2.2 with ones for values; what a CPU programmer would write.
// Idea: every label increments its bucket.
// Fixes: nothing: it is what the parallel algorithms are measured against. Equal labels in
//   succession wait for each other's store.
// Launch: the calling thread.
// Traffic: n labels read, m counts written.
// Preconditions: none.
// Deviations: none.

#include <algorithm>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_histogram {

struct CpuHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const L* labels = call.labels();
    Count* counts = call.results();
    std::fill_n(counts, call.buckets(), Count{0});
    for (std::size_t i = 0; i < call.n(); ++i) ++counts[labels[i]];
  }
};

Variant variant() {
  return {
      .id = "cpu/histogram",
      .title = "one loop",
      .source = "eilers Algorithm 2.2 on ones",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBaseline,
      .enqueue = instantiate_histogram<CpuHistogram>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_histogram
