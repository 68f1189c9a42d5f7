// gpu/scatter: each thread stores where its label says
//
// Source: eilers section 3.2.2 and Table 4.3, after the PRAM algorithm.
// Idea: a thread for each input stores its value in its bucket. Labels and values are read in
//   whole cache lines; the stores lie where the labels say.
// Fixes: nothing: it is what the other scatters are measured against.
// Launch: winner=any: ceil(n / 256) blocks. winner=last: a fill of m positions, the same blocks,
//   and ceil(m / 256) more. With traversal=contiguous and traversal=strided as many blocks of 256
//   threads as are resident, at most ceil(n / 256), in place of a thread for each input.
// Traffic: winner=any: n labels and n values read, min(n, m) results written. winner=last: n
//   labels read, m positions written, updated and read, min(n, m) values read and as many results
//   written. Beyond the caches each random result costs a sector of 32 bytes, read and written:
//   with m = 2^24 and n = 2^26 an H200 moves 5.9 times these bytes.
// Preconditions: n < 2^32.
// Deviations: winner=last is the PRIORITY PRAM that the thesis mentions: the largest position of
//   each label is found atomically, and its value then fetched. The thesis gives every block a
//   contiguous segment of the inputs (section 4.5.1), of which a thread takes several, as in
//   Algorithm 3.3 (traversal=contiguous), and does not state how many blocks and threads; by
//   default a thread has one input (traversal=tiles).

#include "kernels/scatter/winner.hpp"

namespace reduce_bench::BACKEND::gpu_scatter {

struct GpuScatter {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_scatter_as_traversed(call, call.values(), call.labels(),
                                 call.template scratch<Count>());
  }
};

Variant variant() {
  return {
      .id = "gpu/scatter",
      .title = "each thread stores where its label says",
      .source = "eilers sections 3.2.2 and 4.5.1",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kAdapted,
      .params = {winner_axis(), traversal_axis("contiguous")},
      .restriction = scatter_restriction,
      .traffic = [](const Problem& p) { return traffic_of_scatter(p, 1); },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = last_positions_bytes(p)}; },
      .enqueue = instantiate<GpuScatter, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::gpu_scatter
