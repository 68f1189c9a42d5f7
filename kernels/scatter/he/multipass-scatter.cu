// he/multipass-scatter: one pass over the labels for each part of the buckets
//
// Source: He et al., Efficient Gather and Scatter Operations on Graphics Processors (2007), as
//   eilers section 3.2.2 describes it.
// Idea: where the buckets do not fit into the cache, a pass stores only into a part of them that
//   does. The labels are read once for every pass, and the stores hit the cache.
// Fixes: gpu/scatter's cache misses for large m.
// Launch: gpu/scatter's, once for every pass.
// Traffic: n labels read in every pass, n values once, min(n, m) results written; winner=last as
//   for gpu/scatter. A random result still costs a sector of 32 bytes in L2, and one of values is
//   read in several passes: with m = 2^24 and n = 2^26 an H200 moves 1.7 times these bytes.
// Preconditions: n < 2^32.
// Deviations: winner=last is gpu/scatter's. The paper's formula for the number of passes is not in
//   the thesis, so the number is a parameter. Buckets are divided into equal parts.

#include "kernels/scatter/winner.hpp"

namespace reduce_bench::BACKEND::he_multipass_scatter {

struct HeMultipassScatter {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_scatter(call, call.values(), call.labels(), call.params().number("passes"),
                    call.template scratch<Count>());
  }
};

Variant variant() {
  return {
      .id = "he/multipass-scatter",
      .title = "one pass for each part of the buckets",
      .source = "He et al. 2007, eilers section 3.2.2",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kAdapted,
      .params = {{"passes", "4", {"1", "2", "4", "8", "16"}, "parts of the buckets"},
                 winner_axis()},
      .restriction = scatter_restriction,
      .traffic = [](const Problem& p) { return traffic_of_scatter(p, p.params.number("passes")); },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = last_positions_bytes(p)}; },
      .enqueue = instantiate<HeMultipassScatter, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::he_multipass_scatter
