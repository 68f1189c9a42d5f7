// How one device reduces its share into a table, for the variants on several devices.
#pragma once

#include "kernels/multireduce/onepass/one_launch.hpp"

namespace reduce_bench::BACKEND::share_multireduce {

inline bool fits_shared_memory(const Problem& p) {
  return table_restriction(p, p.element_bytes()).empty();
}

/// onepass/multireduce's launch where the buckets fit into shared memory. Else, and where inputs
/// are few, atomics in the table itself, for which it matters whether the table is cleared.
struct LocalMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call, bool cleared = false) {
    if (onepass_multireduce::is_direct(call.problem) || !fits_shared_memory(call.problem))
      return enqueue_cached_atomics<Op>(arguments_of(call), cleared);
    onepass_multireduce::OnepassMultireduce::enqueue<T, Op>(call);
  }
};

/// All of a share's inputs of a bucket in one copy; then the copies, the blocks and the devices.
inline std::uint64_t spread_depth(const Problem& p) {
  const Problem share = largest_share(p);
  Problem smallest = share;
  smallest.n = share_of(p.n, devices_of(p), devices_of(p) - 1);
  if (!fits_shared_memory(share) || onepass_multireduce::is_direct(smallest))
    return share.n + devices_of(p);
  const TablePlan plan =
      table_plan(share, p.element_bytes(), onepass_multireduce::tile_inputs(p.element_bytes()));
  return plan.most_per_warp * (plan.block / kWarpSize) + 2 * kWarpSize + plan.blocks +
         devices_of(p);
}

}  // namespace reduce_bench::BACKEND::share_multireduce
