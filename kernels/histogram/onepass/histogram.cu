// onepass/histogram: lane-private counters in the whole of an SM's shared memory
//
// Source: this project; the layout is that of eilers/shared-bank.
// Idea: as onepass/multireduce, on counts: one block per SM, up to 32 copies of the counters,
// bucket
//   by bucket, so that the lanes of a warp meet in no bank. A warp reads a stretch of labels of its
//   own by 16-byte loads (16 bytes or 4 words of labels each). Where fewer copies fit than there
//   are lanes, a thread counts in a register while the label stays the same.
// Fixes: the byte counters and their overflow (trish), the limit of 256 bins, the contention of one
//   shared table on skewed labels (podlozhnyuk/256, cub/histogram).
// Launch: a fill of the counts; then one block of 1024 threads per SM.
// Traffic: n labels read, m counts written. The blocks' tables are combined by atomics in the L2
//   cache. Device memory binds for u32 labels: on an H200, 2^26 of them take 82 us into 4096
//   bins (86 % of the read ceiling). Not measured: u8 labels with a counter for each lane.
// Preconditions: m counters fit into a block's shared memory.
// Deviations: none, there is no publication.

#include "kernels/private_table.hpp"

namespace reduce_bench::BACKEND {
namespace {

/// 16-byte loads in flight per thread.
inline constexpr unsigned kLoads = 4;
template <class L>
inline constexpr std::size_t kTile = std::size_t{kLanes} * Sixteen<L>::kCount * kLoads;

template <class L, bool kKeep>
__global__ void __launch_bounds__(1024)
    onepass_histogram_kernel(const L* labels, std::size_t n, bool aligned, std::size_t per_warp,
                             std::size_t buckets, unsigned log2_copies, Count* counts) {
  const PrivateTable<Count, Sum> table{dynamic_shared<Count>(), buckets, log2_copies};
  table.clear();

  const unsigned lane = threadIdx.x % kLanes;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / kLanes;
  std::size_t i = warp * per_warp;
  const std::size_t end = i + per_warp < n ? i + per_warp : n;
  Run<Count, Sum, kKeep> run(table);
  if (aligned) {
    for (; i + kTile<L> <= end; i += kTile<L>) {
      Sixteen<L> l[kLoads];
#pragma unroll
      for (unsigned k = 0; k < kLoads; ++k)
        l[k] = load_ahead(reinterpret_cast<const Sixteen<L>*>(labels + i) + k * kLanes + lane);
#pragma unroll
      for (unsigned k = 0; k < kLoads; ++k) {
#pragma unroll
        for (unsigned e = 0; e < Sixteen<L>::kCount; ++e) run.add(l[k].at[e], 1);
      }
    }
  }
  for (i += lane; i < end; i += kLanes) run.add(labels[i], 1);
  run.end();
  table.add_to(counts);
}

struct OnepassHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    enqueue_fill(call.stream, call.counts(), call.buckets(), 0);
    if (call.n() == 0) return;
    const TablePlan plan = table_plan(call.problem, sizeof(Count), kTile<L>);
    const bool aligned = reinterpret_cast<std::uintptr_t>(call.histogram_labels()) % 16 == 0;
    // With a counter for each lane the lanes never meet, and a compare costs more than an update.
    const bool keep = (1u << plan.log2_copies) < kLanes;
    launch(keep ? onepass_histogram_kernel<L, true> : onepass_histogram_kernel<L, false>,
           {plan.blocks, plan.block, plan.shared_bytes, call.stream}, call.histogram_labels(),
           call.n(), aligned, plan.per_warp, call.buckets(), plan.log2_copies, call.counts());
  }
};

}  // namespace

Variant onepass_histogram() {
  return {
      .id = "onepass/histogram",
      .title = "lane-private counters in all of shared memory",
      .source = "reduce-bench",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBeyond,
      .params = table_params(),
      .restriction = [](const Problem& p) { return table_restriction(p, sizeof(Count)); },
      .enqueue = instantiate_histogram<OnepassHistogram>(),
  };
}

}  // namespace reduce_bench::BACKEND
