// twopass/multiscan: a chunk of the input and a table for every warp, in two passes
//
// Source: this project.
// Idea: every warp owns one contiguous chunk of the input for the whole launch. The first pass
//   combines each chunk by label, in a table of the warp in shared memory. The tables are scanned
//   in the order of the chunks: over the warps of a block when the pass ends, over the blocks by a
//   kernel of its own. The second pass goes through each chunk with its table as the carry, 32
//   inputs at a time, so a label costs one read and one write of the table for all of them. Lanes
//   with one label find each other through the table too, where any do.
// Fixes: onepass/multiscan's look-back, whose states weigh as much as the inputs where buckets are
//   many, and that its float sums differ from run to run.
// Launch: one block per SM or fewer, as many warps as have room for a table, at most 32, of few
//   inputs fewer; a block of 1024 threads for 32 buckets; the first shape again. Each launch may
//   begin while the one before ends.
// Traffic: n values read twice, n results written; n labels read twice, or up to 256 buckets once,
//   and n bytes written and read; every table written and read once. On an H200 the latency of a
//   warp's steps binds i32 sums, with up to 2^8 uniform labels the L2 cache nearly as much, and
//   from 2^12 on the few warps that tables leave room for; where a step has more instructions or
//   bytes, their issue or L1 binds: docs/kernels/twopass-multiscan.md
// Preconditions: m elements fit into a block's shared memory. Order-preserving.
// Deviations: none, there is no publication.

#include <string>

#include "kernels/multiscan/twopass/two_passes.hpp"

namespace reduce_bench::BACKEND::twopass_multiscan {

LaunchPlan plan_of(const Problem& p) {
  return LaunchPlan(p, most_warps_of(p.params, WarpTablePolicy::kMostWarps));
}

struct TwopassMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    twopass_multiscan::enqueue<Op>(arguments_of(call), call.inclusive(),
                                   most_warps_of(call.params(), WarpTablePolicy::kMostWarps));
  }
};

Variant variant() {
  return {
      .id = "twopass/multiscan",
      .title = "a chunk of the input and a table for every warp, in two passes",
      .source = "reduce-bench",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBeyond,
      .params = {scan_axis(), warps_axis()},
      .restriction = [](const Problem& p) -> std::string {
        if (plan_of(p).grid.warps > 0) return {};
        return std::to_string(plan_of(p).table_bytes) + " bytes of shared memory are needed for " +
               std::to_string(p.buckets) + " buckets, a block has " +
               std::to_string(p.device.max_shared_bytes_per_block);
      },
      // A warp's rows in both passes, with 6 steps among the lanes and one into the table for each;
      // the warps; and the blocks, by 32 warps.
      .depth = [](const Problem& p) -> std::uint64_t {
        const LaunchPlan plan = plan_of(p);
        return 2 * 7 * (p.n / kWarpSize / plan.chunks() + 2) + plan.grid.warps +
               2 * (plan.grid.blocks / kWarpSize + 1) + kWarpSize + 3;
      },
      .traffic =
          [](const Problem& p) {
            const LaunchPlan plan = plan_of(p);
            const std::size_t labels = plan.packs() ? plan.packed_bytes : p.arrays().labels.bytes();
            return Traffic{.read_bytes = p.input_bytes() + p.arrays().values.bytes() + labels +
                                         plan.tables_bytes() + 3 * plan.block_totals_bytes(),
                           .written_bytes = p.arrays().output_bytes() + plan.packed_bytes +
                                            plan.tables_bytes() + 2 * plan.block_totals_bytes()};
          },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = plan_of(p).workspace_bytes()}; },
      .enqueue = instantiate_ordered<TwopassMultiscan>(),
  };
}

}  // namespace reduce_bench::BACKEND::twopass_multiscan
