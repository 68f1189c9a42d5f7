// The lanes of a warp with one label, combined in their order.
#pragma once

#include "kernels/reduce/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// The peer below this lane; the lane itself where it is the lowest. `peers`: the lanes with this
/// lane's label, as __match_any_sync gives them.
__device__ inline unsigned peer_below(unsigned peers) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned below = peers & ((1u << lane) - 1);
  return below != 0 ? 31 - static_cast<unsigned>(__clz(static_cast<int>(below))) : lane;
}

/// The values of this lane's peers up to its own, in the order of the lanes. All 32 lanes must
/// call.
template <class Op, class T>
__device__ T scan_peers(unsigned peers, T value) {
  const unsigned lane = threadIdx.x % 32;
  unsigned from = peer_below(peers);
  int more = from != lane;
  if (!__any_sync(kAllLanes, more)) return value;
  if (__all_sync(kAllLanes, peers == kAllLanes)) {  // one label for all
    for (unsigned offset = 1; offset < 32; offset *= 2) {
      const T lower = __shfl_up_sync(kAllLanes, value, offset);
      if (lane >= offset) value = Op::combine(lower, value);
    }
    return value;
  }
  // Along the chain of peers by doubling: `value` covers those above `from`.
  do {
    const T of_from = __shfl_sync(kAllLanes, value, static_cast<int>(from));
    const unsigned next_from = __shfl_sync(kAllLanes, from, static_cast<int>(from));
    const int next_more = __shfl_sync(kAllLanes, more, static_cast<int>(from));
    if (more) {
      value = Op::combine(of_from, value);
      from = next_from;
      more = next_more;
    }
  } while (__any_sync(kAllLanes, more));
  return value;
}

}  // namespace reduce_bench::BACKEND
