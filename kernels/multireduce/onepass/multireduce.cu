// onepass/multireduce: lane-private buckets in the whole of an SM's shared memory
//
// Source: this project.
// Idea: one block per SM keeps as many copies of the buckets as its shared memory holds, up to one
//   for each lane, bucket by bucket, so that the lanes of a warp meet in no bank. Inputs are read
//   by 16-byte loads; a thread keeps its latest bucket in registers until another label comes. So
//   runs, sorted labels and one label for all cost fewer updates than random ones, not more.
//   (Inputs that do not begin at a multiple of 16 bytes are read one by one, a grid apart.) Shared
//   memory adds floats by loops of compare-and-swap only, in which warps queue for a lane's copy,
//   too: so float sums have up to 256 copies while these take no more than 64 KB. Where there are
//   fewer than 32, and room beside them, labels that are frequent in a sample get an accumulator
//   for each lane; where there are eight or fewer beside these, the first attempts of a thread's
//   four neighbours (f64: of two) overlap, and those with one label are combined across lanes
//   instead of in a thread, as in onepass/multireduce-split. i64 sums are added in halves
//   (atomic_combine_shared). With few inputs there are fewer copies to clear and to merge.
// Fixes: sorting (cub/sort-reduce-by-key moves every input several times), the thesis's limit of
//   256 buckets, and contention on skewed labels (atomic/global).
// Launch: one block of 1024 threads per SM; of few inputs fewer blocks, of fewer threads. The first
//   eight (before sm_90 two) clear the results meanwhile. Where there is one copy only, the blocks
//   form clusters of two (sm_90 and later). With few inputs for each bucket, tables would take
//   longer to clear and to merge than atomics: then a fill and the kernel of
//   kernels/shared/cached_atomics.hpp, unless `copies` is given.
// Traffic: n labels and n values read, m results written. The blocks' tables, or those of pairs,
//   are combined by atomics in the L2 cache. On an H200 device memory binds for integers. Latency
//   binds f32 sums beyond 1024 buckets, whose updates are loops of compare-and-swap and take up to
//   1.6 times as long: docs/kernels/onepass-multireduce.md
// Preconditions: m buckets fit into a block's shared memory; the operator commutes.
// Deviations: none, there is no publication.

#include "kernels/multireduce/onepass/one_launch.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce {

Variant variant() {
  return {
      .id = "onepass/multireduce",
      .title = "lane-private buckets in all of shared memory",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = table_params(),
      .restriction = [](const Problem& p) { return table_restriction(p, p.element_bytes()); },
      // All of a block's inputs in one copy; then the copies and the blocks.
      .depth = [](const Problem& p) -> std::uint64_t {
        if (is_direct(p)) return p.n;
        const TablePlan plan = table_plan(p, p.element_bytes(), tile_inputs(p.element_bytes()));
        return plan.most_per_warp * (plan.block / kWarpSize) + 2 * kWarpSize + plan.blocks;
      },
      .workspace = [](const Problem&) { return clearing_workspace(); },
      .enqueue = instantiate<OnepassMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_multireduce
