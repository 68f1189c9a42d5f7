// onepass/histogram-split's kernel and launch.
#pragma once

#include "kernels/shared/split_table.hpp"

namespace reduce_bench::BACKEND::onepass_histogram_split {

struct Policy {
  /// 16-byte loads in flight per thread.
  static constexpr unsigned kLoads = 8;
};

template <class L>  // a template because several translation units define it
__global__ void __launch_bounds__(1024)
    kernel(const L* labels, std::size_t n, bool aligned, unsigned buckets, unsigned ways,
           unsigned width, Clearing* clearing, Count* counts) {
  const Share<false> share(buckets, ways, blockIdx.x % ways, width);
  const unsigned group = blockIdx.x / ways, groups = gridDim.x / ways;
  const PrivateTable<Count, Sum> table{held_shared(dynamic_shared<Count>()), width, 0};
  clearing->begin(counts, buckets, Count{0});
  table.clear();

  const auto put = [&](bool present, L label, Count count) {
    const unsigned place = share.place_of(label);
    if (present && place < width) table.add(place, count);
  };
  const std::size_t tile = std::size_t{blockDim.x} * Policy::kLoads;  // quads
  const std::size_t tiles = aligned ? n / kQuad / tile : 0;
  for (std::size_t t = group; t < tiles; t += groups) {
    Vector16<L> l[Policy::kLoads];
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k)
      l[k] = reinterpret_cast<const Vector16<L>*>(labels)[t * tile + k * blockDim.x + threadIdx.x];
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k) {
      const Count ones[kQuad] = {1, 1, 1, 1};
      put_quads<Sum>(l[k].at, ones, put);
    }
  }
  for (std::size_t i = tiles * tile * kQuad + std::size_t{group} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{groups} * blockDim.x)
    put(true, labels[i], 1);
  clearing->wait();
  add_share_to<Sum>(counts, table.slots, share);
}

inline SplitPlan plan_of(const Sizes& sizes, const SplitTuning& tuning) {
  const std::size_t tile = std::size_t{tuning.block} * kQuad * Policy::kLoads;
  return split_plan<false>(sizes, tuning, sizeof(Count), tile, 0);
}

/// Puts the histogram on the stream. The workspace is a Clearing.
inline void enqueue(const Arguments<Count, Label>& call, const SplitTuning& tuning) {
  if (call.n() == 0) return enqueue_fill(call.stream, call.results, call.buckets(), 0);
  const SplitPlan plan = plan_of(call.sizes, tuning);
  launch(kernel<Label>, plan.on(call.stream), call.labels, call.n(), call.aligned(),
         static_cast<unsigned>(call.buckets()), plan.ways, plan.width, call.scratch<Clearing>(),
         call.results);
}

}  // namespace reduce_bench::BACKEND::onepass_histogram_split
