// A scan over the lanes of a warp that have one label, in their order.
#pragma once

#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// The combined values of this lane's peers up to and with its own, in the order of the lanes; in
/// `before`, where given, without its own. `peers`: the lanes with this lane's label, as
/// __match_any_sync gives them. All lanes must call.
template <class Op, class T>
__device__ __forceinline__ T scan_peers(unsigned peers, T value, T* before = nullptr) {
  const unsigned lane = threadIdx.x % kWarpSize;
  const unsigned below = peers & ((1u << lane) - 1);
  if (before != nullptr) *before = Op::template identity<T>();
  int more = below != 0;
  if (!__any_sync(kAllLanes, more)) return value;
  if (__all_sync(kAllLanes, peers == kAllLanes)) {  // one label for all
    for (unsigned offset = 1; offset < kWarpSize; offset *= 2) {
      const T lower = __shfl_up_sync(kAllLanes, value, offset);
      if (lane >= offset) value = Op::combine(lower, value);
    }
    if (before != nullptr) {
      const T of_next = __shfl_up_sync(kAllLanes, value, 1);
      if (lane > 0) *before = of_next;
    }
    return value;
  }
  // Pointer jumping along the chain of peers: `value` covers the peers from above `from` to this
  // lane, and each step doubles how many.
  const int next = more ? 31 - __clz(static_cast<int>(below)) : static_cast<int>(lane);
  int from = next;
  do {
    const T of_from = __shfl_sync(kAllLanes, value, from);
    const int next_from = __shfl_sync(kAllLanes, from, from);
    const int next_more = __shfl_sync(kAllLanes, more, from);
    if (more) {
      value = Op::combine(of_from, value);
      from = next_from;
      more = next_more;
    }
  } while (__any_sync(kAllLanes, more));
  if (before != nullptr) {
    const T of_next = __shfl_sync(kAllLanes, value, next);
    if (below != 0) *before = of_next;
  }
  return value;
}

}  // namespace reduce_bench::BACKEND
