// onepass/histogram's kernel and launch.
#pragma once

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/cached_atomics.hpp"

namespace reduce_bench::BACKEND::onepass_histogram {

/// Chosen on an H200 (docs/kernels/onepass-histogram.md), beside TablePolicy.
struct Policy90 {
  /// 16-byte loads of a tile per thread: bandwidth against registers.
  static constexpr unsigned kLoads = 4;
  /// Whether a tile is loaded while the one before is counted. With labels of one byte there are 64
  /// updates to unroll, for which the registers would not suffice.
  static constexpr bool loads_ahead(std::size_t label_bytes) { return label_bytes > 1; }
};
using Policy = ByCapability<Row<90, Policy90>>;

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

/// Puts the histogram on the stream. The workspace is a Clearing.
template <class L>
void enqueue(const Arguments<Count, L>& call, const TableTuning& tuning) {
  if (call.n() == 0) return enqueue_fill(call.stream, call.results, call.buckets(), 0);
  // Labels of a byte have too few bins.
  if constexpr (sizeof(L) > 1)
    if (is_direct(call.sizes, tuning)) return enqueue_cached_atomics<Sum, true>(call);
  const TablePlan plan = table_plan(call.sizes, tuning, sizeof(Count), kTile<L>);
  launch(plan.pairs                          ? kernel<L, false, true>
         : plan.log2_copies == kLog2WarpSize ? kernel<L, true, false>
                                             : kernel<L, false, false>,
         plan.on(call.stream), call.labels, call.n(), call.aligned(),
         static_cast<unsigned>(call.buckets()), plan.log2_copies, call.template scratch<Clearing>(),
         call.results);
}

struct OnepassHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    onepass_histogram::enqueue(arguments_of(call), tuning_of_table(call.params()));
  }
};

}  // namespace reduce_bench::BACKEND::onepass_histogram
