// onepass/histogram: lane-private counters in the whole of an SM's shared memory
//
// Source: this project; the layout is that of eilers/shared-bank.
// Idea: as onepass/multireduce, on counts: one block per SM, up to 32 copies of the counters,
//   bucket by bucket, so that the lanes of a warp meet in no bank. Labels are read by 16-byte
//   loads (16, 8 or 4 labels each). Where fewer copies fit than there are lanes, a thread counts
//   in a register while the label stays the same, and few labels have fewer copies.
// Fixes: the byte counters and their overflow (trish), the limit of 256 bins, the contention of
//   one shared table on skewed labels (podlozhnyuk/256, cub/histogram).
// Launch: one block of 1024 threads per SM; of few labels fewer blocks, of fewer threads. The first
//   eight (before sm_90 two) clear the counts meanwhile. Where there is one copy only, the blocks
//   form clusters of two, as onepass/multireduce's. With few labels for each bucket, tables would
//   take longer to clear and to merge than atomics: then a fill and the kernel of
//   kernels/shared/cached_atomics.hpp, unless `copies` is given.
// Traffic: n labels read, m counts written. The blocks' tables are combined by atomics in the L2
//   cache. On an H200 the L2 cache and device memory bind: docs/kernels/onepass-histogram.md
// Preconditions: m counters fit into a block's shared memory. A count has 32 bits and wraps.
// Deviations: none, there is no publication.

#include "kernels/histogram/onepass/one_launch.hpp"

namespace reduce_bench::BACKEND::onepass_histogram {

Variant variant() {
  return {
      .id = "onepass/histogram",
      .title = "lane-private counters in all of shared memory",
      .source = "reduce-bench",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBeyond,
      .params = table_params(),
      .restriction = [](const Problem& p) { return table_restriction(p, sizeof(Count)); },
      .workspace = [](const Problem&) { return clearing_workspace(); },
      .enqueue = instantiate_histogram<OnepassHistogram>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_histogram
