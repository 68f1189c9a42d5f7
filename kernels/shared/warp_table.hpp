// A table of buckets that one warp owns in shared memory, and rows of inputs, one for each of its
// lanes, added to it in their order.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/shared/arguments.hpp"
#include "kernels/shared/atomics.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 (docs/kernels/twopass-multiscan.md, onepass-multireduce-ordered.md).
struct WarpTablePolicy90 {
  /// Warps of a block, at most: what hides latency, against registers.
  static constexpr unsigned kMostWarps = 32;
  /// At least, of few inputs, before there are fewer blocks than SMs.
  static constexpr unsigned kLeastWarps = 4;
};
using WarpTablePolicy = ByCapability<Row<90, WarpTablePolicy90>>;

/// The combined values up to and with this lane.
template <class Op, class T>
__device__ T scan_lanes(T value) {
#pragma unroll
  for (unsigned offset = 1; offset < kWarpSize; offset *= 2) {
    const T lower = __shfl_up_sync(kAllLanes, value, offset);
    if (threadIdx.x % kWarpSize >= offset) value = Op::combine(lower, value);
  }
  return value;
}

/// The combined values of the lanes below, with `held` before them; `through` is what scan_lanes
/// gave.
template <class Op, class T>
__device__ T combine_lanes_below(T held, T through) {
  const T below = __shfl_up_sync(kAllLanes, through, 1);
  return threadIdx.x % kWarpSize > 0 ? Op::combine(held, below) : held;
}

/// The combined values of the lanes below among the `peers`, which have this lane's label, in the
/// order of the lanes. All lanes must call.
template <class Op, class T>
__device__ __forceinline__ T scan_chain_before(unsigned peers, T value) {
  const unsigned lane = threadIdx.x % kWarpSize;
  const unsigned below = peers & ((1u << lane) - 1), rank = static_cast<unsigned>(__popc(below));
  // Pointer jumping along the chain of peers: `before` covers the `covered` peers below, of which
  // `from` is the lowest, or all that there are. Each step doubles it.
  unsigned from = rank > 0 ? 31 - static_cast<unsigned>(__clz(static_cast<int>(below))) : lane;
  T before = __shfl_sync(kAllLanes, value, static_cast<int>(from));
  if (rank == 0) before = Op::template identity<T>();
  for (unsigned covered = 1; __any_sync(kAllLanes, rank > covered); covered *= 2) {
    const T of_from = __shfl_sync(kAllLanes, before, static_cast<int>(from));
    from = __shfl_sync(kAllLanes, from, static_cast<int>(from));
    if (rank > covered) before = Op::combine(of_from, before);
  }
  return before;
}

/// The same where the peers may well be all lanes, in fewer steps for those.
template <class Op, class T>
__device__ __forceinline__ T scan_peers_before(unsigned peers, T value) {
  if (__all_sync(kAllLanes, peers == kAllLanes))
    return combine_lanes_below<Op>(Op::template identity<T>(), scan_lanes<Op>(value));
  return scan_chain_before<Op>(peers, value);
}

/// `slots`: one for each bucket. Rows are added one after the other; all lanes must call, those
/// without an input with any label and the neutral element.
template <class T>
struct WarpTable {
  T* slots;

  /// Adds a row, and returns what the lane's bucket held with the lanes below of its label, without
  /// this lane's value.
  ///
  /// Lanes of one label find each other in the bucket itself, while its value stays in registers:
  /// every lane stores its bit there, of which one lasts; where some lane finds another's, those
  /// that lost add their bits to it. So lanes whose labels all differ, which most rows of many
  /// buckets have, need neither a vote for each bit of a label nor a chain.
  template <class Op>
  __device__ T add_row(Label label, T value) const {
    const unsigned lane = threadIdx.x % kWarpSize;
    T* slot = slots + label;
    const T held = *slot;
    const Winners winners(slot);
    // Each branch ends with a barrier of its own: the warp then needs no other to come together.
    if (winners.all()) {
      *slot = Op::combine(held, value);
      __syncwarp();  // the table is complete
      return held;
    }
    __syncwarp();  // all have read the winners
    if (winners.one()) {
      const T before = combine_lanes_below<Op>(held, scan_lanes<Op>(value));
      if (lane == kWarpSize - 1) *slot = Op::combine(before, value);
      __syncwarp();  // the table is complete
      return before;
    }
    const unsigned peers = winners.peers(slot);
    const T before = Op::combine(held, scan_chain_before<Op>(peers, value));
    if (peers >> lane == 1) *slot = Op::combine(before, value);
    __syncwarp();  // the table is complete
    return before;
  }

  /// The same of ones, which need no scan.
  __device__ T count_row(Label label) const {
    const unsigned lane = threadIdx.x % kWarpSize;
    T* slot = slots + label;
    const T held = *slot;
    const Winners winners(slot);
    const auto add = [&](unsigned peers) {
      const T before = held + static_cast<T>(__popc(peers & ((1u << lane) - 1)));
      if (peers >> lane == 1) *slot = before + 1;
      __syncwarp();  // the table is complete
      return before;
    };
    if (winners.all()) return add(1u << lane);
    __syncwarp();  // all have read the winners
    if (winners.one()) return add(kAllLanes);
    return add(winners.peers(slot));
  }

  /// Adds several rows; `before` is what add_row would return for each. Rows that have one label
  /// together, as sorted inputs do, are scanned beside each other.
  template <class Op, unsigned kRows>
  __device__ void add_rows(const Label (&label)[kRows], const T (&value)[kRows],
                           T (&before)[kRows]) const {
    const Label first = __shfl_sync(kAllLanes, label[0], 0);
    bool same = true;
#pragma unroll
    for (unsigned k = 0; k < kRows; ++k) same = same && label[k] == first;
    if (!__all_sync(kAllLanes, same)) {
#pragma unroll
      for (unsigned k = 0; k < kRows; ++k) before[k] = add_row<Op>(label[k], value[k]);
      return;
    }
    T held = slots[first];
    __syncwarp();  // all have read it
#pragma unroll
    for (unsigned k = 0; k < kRows; ++k) before[k] = scan_lanes<Op>(value[k]);
#pragma unroll
    for (unsigned k = 0; k < kRows; ++k) {
      const T total = __shfl_sync(kAllLanes, before[k], kWarpSize - 1);
      before[k] = combine_lanes_below<Op>(held, before[k]);
      held = Op::combine(held, total);
    }
    if (threadIdx.x % kWarpSize == 0) slots[first] = held;
    __syncwarp();  // the table is complete
  }

 private:
  /// Finds for every slot the lane whose store to it lasts.
  struct Winners {
    unsigned own;    ///< the bit of the lane that won this lane's slot
    unsigned lanes;  ///< the bits of those that won any slot

    /// Once every lane has called this with its slot, all have read what the slots held.
    __device__ explicit Winners(T* slot) {
      // Several lanes store here together, and the word of one stays.
      auto* bits = reinterpret_cast<volatile unsigned*>(slot);
      __syncwarp();  // all have read the values
      *bits = bit();
      __syncwarp();  // all have stored their bits
      own = *bits;
      lanes = __ballot_sync(kAllLanes, own == bit());
    }
    /// Whether all slots differ.
    __device__ bool all() const { return lanes == kAllLanes; }
    /// Whether all slots are one.
    __device__ bool one() const { return (lanes & (lanes - 1)) == 0; }
    /// The lanes with this lane's slot. A __syncwarp must stand before; behind it all lanes have
    /// read theirs.
    __device__ unsigned peers(T* slot) const {
      auto* bits = reinterpret_cast<unsigned*>(slot);
      if (own != bit()) atomicOr(bits, bit());
      __syncwarp();  // all bits are in
      const unsigned found = *bits;
      __syncwarp();  // all have read them
      return found;
    }

   private:
    __device__ static unsigned bit() { return 1u << threadIdx.x % kWarpSize; }
  };
};

// ---- host --------------------------------------------------------------------------------------

/// A launch of warps that have a table and a stretch of the inputs each.
struct WarpTablesPlan {
  unsigned fit;    ///< warps of a block that have room for a table
  unsigned warps;  ///< of a block: up to as many
  unsigned blocks;

  std::size_t tables() const { return std::size_t{warps} * blocks; }
};
/// `rows`: those that a warp reads at once, of kWarpSize inputs each; no warp has fewer. Nor fewer
/// inputs than sqrt(n * buckets) / share: the time of n / L inputs' tables grows with buckets * n / L,
/// that of a warp's own stretch with L, and the sum is least where both are alike. One block per SM,
/// or fewer.
inline WarpTablesPlan warp_tables_plan(const Sizes& sizes, std::size_t table_bytes, unsigned rows,
                                       double share, unsigned most_warps) {
  const auto fit = static_cast<unsigned>(std::min<std::size_t>(
      sizes.device.max_shared_bytes_per_block / std::max<std::size_t>(1, table_bytes), most_warps));
  if (fit == 0) return {.fit = 0, .warps = 0, .blocks = 1};
  const double product = static_cast<double>(sizes.n) * static_cast<double>(sizes.buckets);
  const std::size_t least = std::max<std::size_t>(
                        kWarpSize * rows, static_cast<std::size_t>(std::sqrt(product) / share)),
                    tables = std::max<std::size_t>(1, sizes.n / least),
                    per_sm = ceil_div(tables, sizes.device.sm_count);
  const auto warps = static_cast<unsigned>(
      std::clamp<std::size_t>(per_sm, std::min(WarpTablePolicy::kLeastWarps, fit), fit));
  return {.fit = fit,
          .warps = warps,
          .blocks = static_cast<unsigned>(
              std::clamp<std::size_t>(tables / warps, 1, sizes.device.sm_count))};
}

}  // namespace reduce_bench::BACKEND
