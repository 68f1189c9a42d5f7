// gpu/scatter: each thread stores where its label says
//
// Source: eilers section 3.2.2 and Table 4.3, after the PRAM algorithm.
// Idea: a thread for each input stores its value in its bucket. Labels and values are read in whole
//   cache lines; the stores lie where the labels say.
// Fixes: nothing: it is what the other scatters are measured against.
// Launch: winner=any: ceil(n / 256) blocks. winner=last: a fill of m positions, the same blocks,
//   and ceil(m / 256) more.
// Traffic: winner=any: n labels and n values read, min(n, m) results written. winner=last: n labels
//   read, m positions written, updated and read, min(n, m) values read and as many results written.
//   Beyond the caches each random result costs a sector of 32 bytes, read and written: with m =
//   2^24 and n = 2^26 an H200 moves 5.9 times these bytes.
// Preconditions: n < 2^32.
// Deviations: winner=any is as published. winner=last is the PRIORITY PRAM that the thesis
//   mentions: the largest position of each label is found atomically, and its value then fetched.
//   The numbers of blocks and threads are not stated.

#include "kernels/scatter/winner.hpp"

namespace reduce_bench::BACKEND::gpu_scatter {

struct GpuScatter {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_scatter(call, call.values(), call.labels(), 1, call.template scratch<Count>());
  }
};

Variant variant() {
  return {
      .id = "gpu/scatter",
      .title = "each thread stores where its label says",
      .source = "eilers section 3.2.2",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kAdapted,
      .params = {winner_axis()},
      .restriction = scatter_restriction,
      .traffic = [](const Problem& p) { return traffic_of_scatter(p, 1); },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = last_positions_bytes(p)}; },
      .enqueue = instantiate<GpuScatter, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::gpu_scatter
