// onepass/multireduce-split: buckets split over groups of blocks that read the same inputs
//
// Source: this project.
// Idea: buckets that do not fit into the shared memory of one SM fit into that of a few. A group
//   of blocks has one copy of all buckets, each block its share, and every block reads all inputs
//   of the group, at about the same time: device memory is read once, and the L2 cache serves the
//   others. A block updates the buckets that are its own. Where most threads' four neighbours have
//   one label, equal neighbours are combined in registers before, and integers of 4 bytes with one
//   label for the whole warp are added up by one instruction. For float sums, whose updates are
//   loops of compare-and-swap, the first attempts of a thread's four neighbours (f64: of two)
//   overlap, frequent labels have accumulators of their own as in onepass/multireduce, and buckets
//   are dealt out to the blocks in small pieces, so that frequent labels that are neighbours do
//   not all fall to one. i64 sums are added in halves (atomic_combine_shared).
// Fixes: the limit of onepass/multireduce to the buckets that one block has room for, without the
//   second pass over all inputs of partition/multireduce.
// Launch: one block of 1024 threads per SM, in groups of as few as have room for the buckets. The
//   first eight (before sm_90 two) clear the results meanwhile.
// Traffic: n labels and n values read from device memory, and `ways` times from the L2 cache; m
//   results written. The groups' buckets are combined by atomics in the L2 cache. Of Zipf labels,
//   whose blocks fall apart, some inputs are read from device memory again. On an H200 latency
//   binds i32 sums into 2^16 buckets, the L2 cache those of Zipf labels into 2^17, and latency
//   f32 sums, those of Zipf labels most of all that of arithmetic:
//   docs/kernels/onepass-multireduce-split.md
// Preconditions: the buckets fit into the shares of 16 blocks, each at most 180 KB of shared
//   memory, of which float sums use 8 KB (f64: 16) for frequent labels; the operator commutes.
// Deviations: none, there is no publication.

#include "kernels/multireduce/onepass/split_launch.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce_split {

Tuning tuning_of(const Params& params) {
  return {.split = split_tuning_of(params), .quads = params.number("quads")};
}
/// Whatever the type and the operator.
SplitPlan plan_of(const Problem& p) {
  const Tuning tuning = tuning_of(p.params);
  return with_value_type(p.type, [&]<class T>() {
    return p.op == Op::kSum ? plan_for<T, Sum>(p, tuning) : plan_for<T, Min>(p, tuning);
  });
}

struct OnepassSplit {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    onepass_multireduce_split::enqueue<Op>(arguments_of(call), tuning_of(call.params()));
  }
};

Variant variant() {
  return {
      .id = "onepass/multireduce-split",
      .title = "buckets split over groups of blocks that read the same inputs",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params =
          [] {
            auto params = split_params();
            params.push_back({"quads",
                              "4",
                              {"1", "2", "4"},
                              "16-byte loads of labels in flight per thread; of 8-byte values and "
                              "where updates are loops half as many"});
            return params;
          }(),
      .restriction = [](const Problem& p) { return split_restriction(p, plan_of(p)); },
      // All of a group's inputs in one bucket, then the groups.
      .depth = [](const Problem& p) -> std::uint64_t {
        const SplitPlan plan = plan_of(p);
        return p.n / plan.groups + std::size_t{plan.block} * kQuad * 4 + kWarpSize + plan.groups;
      },
      .workspace = [](const Problem&) { return clearing_workspace(); },
      .enqueue = instantiate<OnepassSplit, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_multireduce_split
