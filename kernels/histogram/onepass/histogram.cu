// onepass/histogram: lane-private counters in the whole of an SM's shared memory
//
// Source: this project; the layout is that of eilers/shared-bank.
// Idea: as onepass/multireduce, on counts: one block per SM, up to 32 copies of the counters,
//   bucket by bucket, so that the lanes of a warp meet in no bank. Labels are read by 16-byte loads
//   (16 bytes or 4 words of labels each). Where fewer copies fit than there are lanes, a thread
//   counts in a register while the label stays the same.
// Fixes: the byte counters and their overflow (trish), the limit of 256 bins, the contention of one
//   shared table on skewed labels (podlozhnyuk/256, cub/histogram).
// Launch: one block of 1024 threads per SM. The first eight clear the counts meanwhile. Where there
//   is room for one copy only, the blocks form clusters of two, as onepass/multireduce's.
// Traffic: n labels read, m counts written. The blocks' tables are combined by atomics in the L2
//   cache. On an H200 device memory binds. What was tried: docs/kernels/onepass-histogram.md
// Preconditions: m counters fit into a block's shared memory.
// Deviations: none, there is no publication.

#include "kernels/shared/private_table.hpp"

namespace reduce_bench::BACKEND::onepass_histogram {

/// Chosen on an H200 (docs/kernels/onepass-histogram.md), beside TablePolicy.
struct Policy {
  /// 16-byte loads of a tile per thread: bandwidth against registers.
  static constexpr unsigned kLoads = 4;
  /// Whether a tile is loaded while the one before is counted. With labels of one byte there are 64
  /// updates to unroll, for which the registers would not suffice.
  static constexpr bool loads_ahead(std::size_t label_bytes) { return label_bytes > 1; }
};

template <class L>
inline constexpr std::size_t kTile = std::size_t{kWarpSize} * Vector16<L>::kCount * Policy::kLoads;

template <class L, bool kCopyPerLane, bool kPairs>
__global__ void __launch_bounds__(1024)
    kernel(const L* labels, std::size_t n, bool aligned, unsigned buckets, unsigned log2_copies,
           Clearing* clearing, Count* counts) {
  constexpr bool kAhead = Policy::loads_ahead(sizeof(L));
  const unsigned lane = threadIdx.x % kWarpSize;
  const auto tiles = static_cast<unsigned>(aligned ? n / kTile<L> : 0);
  auto [tile, end, step] = tiles_in_rounds(tiles);
  const auto load = [&](Vector16<L>(&l)[Policy::kLoads]) {
    const auto* from = reinterpret_cast<const Vector16<L>*>(labels + tile * kTile<L>);
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k) l[k] = load_ahead(from + k * kWarpSize + lane);
  };
  Vector16<L> next[Policy::kLoads];
  if (kAhead && tile < end) load(next);
  using Table = PrivateTable<Count, Sum, kCopyPerLane>;
  const Table table{dynamic_shared<Count>(), buckets, log2_copies};
  clearing->begin(counts, buckets, Count{0});
  table.clear();

  // With a copy for each lane the lanes never meet, and a comparison costs more than an update.
  Run<Table, !kCopyPerLane> run(table);
  while (tile < end) {
    Vector16<L> l[Policy::kLoads];
    if constexpr (kAhead) {
#pragma unroll
      for (unsigned k = 0; k < Policy::kLoads; ++k) l[k] = next[k];
    } else {
      load(l);
    }
    tile += step;
    if (kAhead && tile < end) load(next);
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k) {
#pragma unroll
      for (unsigned e = 0; e < Vector16<L>::kCount; ++e) run.add(l[k].at[e], 1);
    }
  }
  for (std::size_t i = tiles * kTile<L> + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    run.add(labels[i], 1);
  run.end();
  clearing->wait();
  table.template add_to<kPairs>(counts);
}

struct OnepassHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    if (call.n() == 0) return enqueue_fill(call.stream, call.results(), call.buckets(), 0);
    const TablePlan plan = table_plan(call.problem, sizeof(Count), kTile<L>);
    const bool aligned = reinterpret_cast<std::uintptr_t>(call.labels()) % 16 == 0;
    launch(plan.pairs                          ? kernel<L, false, true>
           : plan.log2_copies == kLog2WarpSize ? kernel<L, true, false>
                                               : kernel<L, false, false>,
           plan.on(call.stream), call.labels(), call.n(), aligned,
           static_cast<unsigned>(call.buckets()), plan.log2_copies,
           call.template scratch<Clearing>(), call.results());
  }
};

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
