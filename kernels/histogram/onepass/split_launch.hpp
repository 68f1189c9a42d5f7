// onepass/histogram-split's kernel and launch.
#pragma once

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/cached_atomics.hpp"
#include "kernels/shared/quads.hpp"
#include "kernels/shared/split_table.hpp"

namespace reduce_bench::BACKEND::onepass_histogram_split {

struct Policy90 {
  /// Labels of a tile per thread, in 16-byte loads that are all in flight at once.
  static constexpr unsigned kItems = 32;
};
using Policy = ByCapability<Row<90, Policy90>>;

template <class L>
__global__ void __launch_bounds__(1024)
    kernel(const L* labels, std::size_t n, bool aligned, unsigned buckets, unsigned ways,
           unsigned width, Clearing* clearing, Count* counts) {
  const Share<false> share(buckets, ways, blockIdx.x % ways, width);
  const unsigned group = blockIdx.x / ways, groups = gridDim.x / ways;
  const PrivateTable<Count, Sum> table{held_shared(dynamic_shared<Count>()), width, 0};
  clearing->begin(counts, buckets, Count{0});
  table.clear();

  const auto put = [&](bool present, Label label, Count count) {
    const unsigned place = share.place_of(label);
    if (present && place < width) table.add(place, count);
  };
  constexpr unsigned kPerLoad = Vector16<L>::kCount, kLoads = Policy::kItems / kPerLoad;
  const std::size_t tile = std::size_t{blockDim.x} * Policy::kItems;
  const std::size_t tiles = aligned ? n / tile : 0;
  for (std::size_t t = group; t < tiles; t += groups) {
    const auto* from = reinterpret_cast<const Vector16<L>*>(labels + t * tile);
    Vector16<L> l[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) l[k] = from[k * blockDim.x + threadIdx.x];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
#pragma unroll
      for (unsigned e = 0; e < kPerLoad; e += kQuad) {
        const Label quad[kQuad] = {l[k].at[e], l[k].at[e + 1], l[k].at[e + 2], l[k].at[e + 3]};
        const Count ones[kQuad] = {1, 1, 1, 1};
        put_quads<Sum>(quad, ones, put, [&](Label label) { return share.place_of(label) < width; });
      }
    }
  }
  for (std::size_t i = tiles * tile + std::size_t{group} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{groups} * blockDim.x)
    put(true, labels[i], 1);
  clearing->wait();
  add_share_to<Sum>(counts, table.slots, share);
}

inline SplitPlan plan_of(const Sizes& sizes, const SplitTuning& tuning) {
  const std::size_t tile = std::size_t{tuning.block} * Policy::kItems;
  return split_plan<false>(sizes, tuning, sizeof(Count), tile, 0);
}

/// Whether the tables would take longer than atomics. Who asks for ways gets tables.
inline bool is_direct(const Sizes& sizes, const SplitTuning& tuning) {
  return tuning.ways == 0 && CachedAtomicsPolicy::serves(sizes.n, sizes.buckets);
}

/// Puts the histogram on the stream. The workspace is a Clearing.
template <class L>
void enqueue(const Arguments<Count, L>& call, const SplitTuning& tuning) {
  if (call.n() == 0) return enqueue_fill(call.stream, call.results, call.buckets(), 0);
  if (is_direct(call.sizes, tuning)) return enqueue_cached_atomics<Sum, true>(call);
  const SplitPlan plan = plan_of(call.sizes, tuning);
  launch(kernel<L>, plan.on(call.stream), call.labels, call.n(), call.aligned(),
         static_cast<unsigned>(call.buckets()), plan.ways, plan.width,
         call.template scratch<Clearing>(), call.results);
}

}  // namespace reduce_bench::BACKEND::onepass_histogram_split
