// A table of buckets that one warp owns in shared memory, and rows of inputs, one for each of its
// lanes, added to it in their order.
#pragma once

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

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

/// `slots`: one for each bucket, and one more that takes what lies beyond the input.
template <class T>
struct WarpTable {
  T* slots;

  /// Adds a row, and returns what the lane's bucket held with the lanes below of its label, without
  /// this lane's value. All lanes must call, one row after the other.
  ///
  /// Lanes of one label find each other in their bucket itself, while its value stays in registers:
  /// every lane stores its bit there, of which one lasts; where some lane finds another's, those
  /// that lost add their bits to it. So lanes whose labels all differ, which most rows of many
  /// buckets have, need neither a vote for each bit of a label nor a chain.
  template <class Op>
  __device__ T add_row(Label label, T value) const {
    const unsigned lane = threadIdx.x % kWarpSize, bit = 1u << lane;
    T* slot = slots + label;
    auto* bits = reinterpret_cast<unsigned*>(slot);
    // Lanes whose labels are one store together, and one of their bits stays.
    auto* shared_bits = static_cast<volatile unsigned*>(bits);
    const T held = *slot;
    __syncwarp();  // all have read the values
    *shared_bits = bit;
    __syncwarp();  // all have stored their bits
    const unsigned winner = *shared_bits;
    const unsigned losers = __ballot_sync(kAllLanes, winner != bit);
    T before = held;
    if (losers == 0) {
      *slot = Op::combine(held, value);
    } else {
      __syncwarp();  // all have read the winners
      const unsigned winners = ~losers;
      bool last;
      if ((winners & (winners - 1)) == 0) {  // one label for all
        before = combine_lanes_below<Op>(held, scan_lanes<Op>(value));
        last = lane == kWarpSize - 1;
      } else {
        if (winner != bit) atomicOr(bits, bit);
        __syncwarp();  // all bits are in
        const unsigned peers = *shared_bits;
        __syncwarp();  // all have read them
        before = Op::combine(held, scan_chain_before<Op>(peers, value));
        last = peers >> lane == 1;
      }
      if (last) *slot = Op::combine(before, value);
    }
    __syncwarp();  // the table is complete
    return before;
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
};

}  // namespace reduce_bench::BACKEND
