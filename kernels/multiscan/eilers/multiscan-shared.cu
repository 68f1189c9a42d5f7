// eilers/multiscan-shared: a bucket set in shared memory for each thread
//
// Source: eilers section 5.3 and Algorithm 5.2; appendix B, Figure B.2.
// Idea: as eilers/multiscan-global, but the threads' bucket sets lie in shared memory, bucket b of
//   thread t at b * threads + t, and go to global memory at the end of the segments.
// Fixes: eilers/multiscan-global's updates in global memory.
// Launch: blocks of as many threads as have room, at most 256, as many blocks as are resident;
//   then a scan of each bucket's totals, and a block for each segment, or for each 1024 inputs
//   where there are 2^10 buckets or more, or more than a segment has inputs.
// Traffic: n labels and n values read, n results written; labels and results read and results
//   written again; the bucket sets written and read twice.
// Preconditions: m buckets and items + 1 inputs for each thread of a warp fit into a block's
//   shared memory. Order-preserving.
// Deviations: the publication gives no listing and no launch shape; those of the multireduce that
//   preserves order (eilers/shared-thread-ordered) are taken. Results return through the shared
//   memory that brought the inputs. Labels and values have a tile each. Totals are added from
//   shared memory below 2^10 buckets, as in the thesis, but only where a segment has as many
//   inputs as there are buckets.

#include "kernels/multiscan/eilers/thread_segments.hpp"
#include "kernels/shared/thread_sets.hpp"

namespace reduce_bench::BACKEND::eilers_multiscan_shared {

template <class T, class Op>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_thread,
                       unsigned items, unsigned buckets, bool inclusive, T* totals, T* results) {
  T* sets = dynamic_shared<T>();
  T* own = sets + threadIdx.x;
  scan_thread_segments<Op>(values, labels, n, per_thread, items, buckets, inclusive, own,
                           blockDim.x, sets + buckets * blockDim.x, results);
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t segments = std::size_t{gridDim.x} * blockDim.x;
  for (unsigned b = 0; b < buckets; ++b) totals[b * segments + thread] = own[b * blockDim.x];
}

ThreadSetsPlan plan_of(const Problem& p) {
  return plan_thread_sets(p, tile_bytes_per_thread(p), p.params.number("items"));
}
Segments segments(const Problem& p) {
  const ThreadSetsPlan plan = plan_of(p);
  return {std::size_t{plan.blocks} * plan.threads, plan.per_thread};
}

struct EilersMultiscanShared {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const ThreadSetsPlan plan = plan_of(call.problem);
    launch(kernel<T, Op>, {plan.blocks, plan.threads, plan.shared_bytes, call.stream},
           call.values(), call.labels(), call.n(), plan.per_thread, call.params().number("items"),
           static_cast<unsigned>(call.buckets()), call.inclusive(), call.scratch(), call.results());
    enqueue_add_totals<Op>(call, segments(call.problem), call.scratch());
  }
};

Variant variant() {
  return {
      .id = "eilers/multiscan-shared",
      .title = "a bucket set in shared memory for each thread",
      .source = "eilers section 5.3, Figure B.2",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kAdapted,
      .params = {scan_axis(),
                 {"items", "8", {"8", "16", "32"}, "inputs of a thread in a tile (not stated)"}},
      .restriction =
          [](const Problem& p) { return thread_sets_restriction(p, tile_bytes_per_thread(p)); },
      .depth = [](const Problem& p) -> std::uint64_t {
        return segments(p).length + depth_of_totals(p, segments(p));
      },
      .traffic = [](const Problem& p) { return traffic_of_partition(p, segments(p)); },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = totals_bytes(p, segments(p))}; },
      .enqueue = instantiate_ordered<EilersMultiscanShared>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_multiscan_shared
