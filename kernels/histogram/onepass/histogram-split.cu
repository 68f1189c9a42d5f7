// onepass/histogram-split: bins split over groups of blocks that read the same labels
//
// Source: this project.
// Idea: that of onepass/multireduce-split, for counts. Bins that do not fit into the shared memory
//   of one SM fit into that of a few: a group of blocks has one copy of all bins, each block its
//   share, and every block reads all labels of the group, at about the same time. Where most
//   threads' four neighbours have one label, equal neighbours are counted in registers before.
// Fixes: the limit of onepass/histogram to the bins that one block has room for, and the time of
//   cub/histogram, on an H200 30 times as long for 2^26 labels of 2^16 bins.
// Launch: one block of 1024 threads per SM, in groups of as few as have room for the bins. The
//   first eight clear the counts meanwhile.
// Traffic: n labels read from device memory, and `ways` times from the L2 cache; m counts written.
//   The groups' bins are added up by atomics in the L2 cache. On an H200 the blocks' instructions
//   bind: docs/kernels/onepass-multireduce-split.md
// Preconditions: the bins fit into the shared memory of 16 blocks; labels of 32 bits.
// Deviations: none, there is no publication.

#include "kernels/shared/split_table.hpp"

namespace reduce_bench::BACKEND::onepass_histogram_split {

struct Policy {
  /// 16-byte loads in flight per thread.
  static constexpr unsigned kLoads = 8;
};

__global__ void __launch_bounds__(1024)
    kernel(const Label* labels, std::size_t n, bool aligned, unsigned buckets, unsigned ways,
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
  const std::size_t tile = std::size_t{blockDim.x} * Policy::kLoads;  // quads
  const std::size_t tiles = aligned ? n / kQuad / tile : 0;
  for (std::size_t t = group; t < tiles; t += groups) {
    Vector16<Label> l[Policy::kLoads];
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k)
      l[k] =
          reinterpret_cast<const Vector16<Label>*>(labels)[t * tile + k * blockDim.x + threadIdx.x];
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

SplitPlan plan_of(const Problem& p) {
  const std::size_t tile = std::size_t{p.params.number("block")} * kQuad * Policy::kLoads;
  return split_plan<false>(p, sizeof(Count), tile, 0);
}

struct OnepassHistogramSplit {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    if (call.n() == 0) return enqueue_fill(call.stream, call.results(), call.buckets(), 0);
    const SplitPlan plan = plan_of(call.problem);
    const bool aligned = reinterpret_cast<std::uintptr_t>(call.labels()) % 16 == 0;
    launch(kernel, plan.on(call.stream), call.labels(), call.n(), aligned,
           static_cast<unsigned>(call.buckets()), plan.ways, plan.width,
           call.template scratch<Clearing>(), call.results());
  }
};

Variant variant() {
  return {
      .id = "onepass/histogram-split",
      .title = "bins split over groups of blocks that read the same labels",
      .source = "reduce-bench",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBeyond,
      .params = split_params(),
      .restriction = [](const Problem& p) { return split_restriction(p, plan_of(p)); },
      .workspace = [](const Problem&) { return clearing_workspace(); },
      .enqueue = instantiate_for<OnepassHistogramSplit, NoOps, std::uint32_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_histogram_split
