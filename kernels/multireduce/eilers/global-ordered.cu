// eilers/global-ordered: a bucket set in global memory for each thread
//
// Source: eilers Algorithms 4.6 to 4.8, sections 4.3.2 and 4.3.5; Figures 4.6 to 4.8.
// Idea: every thread runs the sequential algorithm over its own part of the input with its own
//   buckets, which needs no atomics. Blocks load whole stretches of their threads' parts and
//   transpose them through shared memory, in rows padded by one element that read without bank
//   conflicts; padding=off is Algorithm 4.6, without the padding. Bucket b of thread t lies at
//   b * threads + t, so that threads with one label update neighbours, and a segmented reduction
//   combines the sets in order.
// Fixes: eilers/minimal's idle threads.
// Launch: blocks of 384 threads, two per SM unless `sets` says otherwise; then the segmented
//   reduction of threads * m elements.
// Traffic: n labels and n values read, m results written, and the bucket sets written and read;
//   not counted: the updates, two accesses per input as far as caches do not hold them. With m =
//   256 and n = 2^26 the sets do not fit into the L2 of an H200, which moves 8.8 times the rest;
//   with m = 2^16 1.1 times.
// Preconditions: none. Order-preserving.
// Deviations: Algorithm 4.8 omits the thread's own offset; here it is added. A thread's part is
//   rounded up to whole steps and bounds-checked. The threads of the publication, 6144 in 16
//   blocks on 8 multiprocessors, are scaled to the card. Each thread first sets its buckets to the
//   neutral element. A thread takes items=8 inputs at a time, where the publication takes as many
//   as shared memory holds; items=16 and 32 are nearer to that.

#include "kernels/shared/global_ordered.hpp"

namespace reduce_bench::BACKEND::eilers_global_ordered {

struct EilersGlobalOrdered {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_global_ordered<Op>(call, call.values(), call.labels(), call.workspace);
  }
};

Variant variant() {
  return {
      .id = "eilers/global-ordered",
      .title = "a bucket set for each thread, transposed loads",
      .source = "eilers Algorithms 4.6 to 4.8",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = global_ordered_params("768 per SM; the publication's fastest: 6144 on 8 SMs"),
      .depth = depth_of_global_ordered,
      .traffic =
          [](const Problem& p) { return traffic_of_bucket_sets(p, global_ordered_plan(p).sets); },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = bucket_sets(p, global_ordered_plan(p).sets).bytes};
          },
      .enqueue = instantiate_for<EilersGlobalOrdered, BasicAndOrderedOps, std::int32_t,
                                 std::int64_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_global_ordered
