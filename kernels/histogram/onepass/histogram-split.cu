// onepass/histogram-split: bins split over groups of blocks that read the same labels
//
// Source: this project.
// Idea: that of onepass/multireduce-split, for counts. Bins that do not fit into the shared memory
//   of one SM fit into that of a few: a group of blocks has one copy of all bins, each block its
//   share, and every block reads all labels of the group, at about the same time. Where
//   every thread's four neighbours have one label, a warp that has none of the block's bins goes on
//   at once; where most have, equal neighbours are counted in registers before.
// Fixes: the limit of onepass/histogram to the bins that one block has room for, and the time of
//   cub/histogram, on an H200 30 times as long for 2^26 uniform labels of 2^16 bins.
// Launch: one block of 1024 threads per SM, in groups of as few as have room for the bins. The
//   first eight (before sm_90 two) clear the counts meanwhile. With few labels, tables would take
//   longer to clear and to merge than atomics: then a fill and the kernel of
//   kernels/shared/cached_atomics.hpp, unless `ways` is given.
// Traffic: n labels read from device memory, and `ways` times from the L2 cache; m counts written.
//   The groups' bins are added up by atomics in the L2 cache. On an H200 latency binds, that of
//   memory and, of sorted labels, that of arithmetic, and of labels in runs an arithmetic unit:
//   docs/kernels/onepass-multireduce-split.md
// Preconditions: labels of 16 or 32 bits; unless they are few, the bins fit into the shares of 16
//   blocks, each at most 180 KB of shared memory. A count has 32 bits and wraps.
// Deviations: none, there is no publication.

#include "kernels/histogram/onepass/split_launch.hpp"

namespace reduce_bench::BACKEND::onepass_histogram_split {

struct OnepassHistogramSplit {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    onepass_histogram_split::enqueue(arguments_of(call), split_tuning_of(call.params()));
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
      .restriction =
          [](const Problem& p) {
            const SplitTuning tuning = split_tuning_of(p.params);
            return is_direct(p, tuning) ? std::string{} : split_restriction(p, plan_of(p, tuning));
          },
      .workspace = [](const Problem&) { return clearing_workspace(); },
      .enqueue = instantiate_for<OnepassHistogramSplit, NoOps, std::uint16_t, std::uint32_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_histogram_split
