// eilers/multiscan-global: a bucket set in global memory for each thread
//
// Source: eilers section 5.3 and Algorithm 5.2; appendix B, Figure B.1.
// Idea: eilers/global-ordered with one step more: every thread scans a segment of its own, storing
//   what a bucket holds before it combines the next input into it. The buckets of all segments are
//   then scanned, and the total of what is before a segment is combined with its results.
// Fixes: cpu/multiscan's single thread. Operators that commute gain nothing here: a result needs
//   the inputs before it in their order.
// Launch: blocks of 384 threads, two per SM unless `sets` says otherwise; then a scan of each
//   bucket's totals, and a block for each segment, or for each 1024 inputs where there are 2^10
//   buckets or more, or more than a segment has inputs.
// Traffic: n labels and n values read, n results written; labels and results read and results
//   written again; the bucket sets written and read twice. Not counted: the updates, two accesses
//   per input as far as caches do not hold them. With m = 64 and n = 2^26 an H200 moves 2.8 times
//   the rest.
// Preconditions: none but memory for the sets. Order-preserving.
// Deviations: the publication gives no listing and no launch shape; those of its multireduce are
//   taken, with the number of threads scaled to the card. Each thread first sets its buckets to
//   the neutral element. Results return through the shared memory that brought the inputs. Totals
//   are added from shared memory below 2^10 buckets, as in the thesis, but only where a segment
//   has as many inputs as there are buckets.

#include "kernels/multiscan/eilers/thread_segments.hpp"
#include "kernels/shared/global_ordered.hpp"

namespace reduce_bench::BACKEND::eilers_multiscan_global {

template <class T, class Op>
__global__ void __launch_bounds__(kGlobalOrderedBlock)
    kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_thread,
           unsigned items, unsigned buckets, bool inclusive, T* totals, T* results) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t segments = std::size_t{gridDim.x} * blockDim.x;
  scan_thread_segments<Op>(values, labels, n, per_thread, items, buckets, inclusive,
                           totals + thread, segments, dynamic_shared<T>(), results);
}

Segments segments(const Problem& p) {
  const GlobalOrderedPlan plan = global_ordered_plan(p);
  return {plan.sets, plan.per_thread};
}

std::string restriction(const Problem& p) {
  const std::size_t needed = kGlobalOrderedBlock * tile_bytes_per_thread(p);
  if (needed > p.device.max_shared_bytes_per_block)
    return std::to_string(needed) + " bytes of shared memory are needed for a block's inputs, " +
           "it has " + std::to_string(p.device.max_shared_bytes_per_block);
  return partition_restriction(p, segments(p));
}

struct EilersMultiscanGlobal {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const GlobalOrderedPlan plan = global_ordered_plan(call.problem);
    launch(kernel<T, Op>,
           {plan.blocks, kGlobalOrderedBlock,
            kGlobalOrderedBlock * tile_bytes_per_thread(call.problem), call.stream},
           call.values(), call.labels(), call.n(), plan.per_thread, plan.items,
           static_cast<unsigned>(call.buckets()), call.inclusive(), call.scratch(), call.results());
    enqueue_add_totals<Op>(call, segments(call.problem), call.scratch());
  }
};

Variant variant() {
  return {
      .id = "eilers/multiscan-global",
      .title = "a bucket set in global memory for each thread",
      .source = "eilers section 5.3, Figure B.1",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kAdapted,
      .params =
          {scan_axis(),
           {"sets",
            "auto",
            {"auto", "1536", "6144"},
            "bucket sets, one per thread, at most one per items inputs (auto: 768 per SM; not "
            "stated, the multireduce's fastest are 6144 on 8 SMs)"},
           {"items", "8", {"8", "16"}, "inputs that a thread takes at a time"}},
      .restriction = restriction,
      .depth = [](const Problem& p) -> std::uint64_t {
        return segments(p).length + depth_of_totals(p, segments(p));
      },
      .traffic = [](const Problem& p) { return traffic_of_partition(p, segments(p)); },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = totals_bytes(p, segments(p))}; },
      .enqueue = instantiate_ordered<EilersMultiscanGlobal>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_multiscan_global
