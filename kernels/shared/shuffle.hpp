// Folding the registers of a warp and of a block by shuffles. The operator must commute, except in
// fold_runs_of_lanes.
#pragma once

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// Lane 0 gets the result; all lanes of the warp must call.
template <class Op, class T>
__device__ T fold_warp(T value) {
#pragma unroll
  for (unsigned delta = kWarpSize / 2; delta > 0; delta /= 2)
    value = Op::combine(value, __shfl_down_sync(kAllLanes, value, delta));
  return value;
}

/// Each lane's value, combined with those of the lanes before it that belong to its run; all lanes of
/// the warp must call. `goes_on`: which lanes belong to the run of the lane before. The last lane of a
/// run gets all of it.
template <class Op, class T>
__device__ T fold_runs_of_lanes(T value, unsigned goes_on) {
  const unsigned lane = threadIdx.x % kWarpSize;
  // Lanes of the run before this one: those down to the last that does not go on.
  const auto reach =
      static_cast<unsigned>(__clz(static_cast<int>(~goes_on << (kWarpSize - 1 - lane))));
#pragma unroll
  for (unsigned offset = 1; offset < kWarpSize; offset *= 2) {
    const T earlier = __shfl_up_sync(kAllLanes, value, offset);
    if (offset <= reach) value = Op::combine(earlier, value);
  }
  return value;
}

/// Whether the lane is the last of its run.
__device__ inline bool ends_run(unsigned goes_on) {
  const unsigned lane = threadIdx.x % kWarpSize;
  return lane == kWarpSize - 1 || (goes_on >> (lane + 1) & 1) == 0;
}

/// Thread 0 gets the result; all threads of a block of whole warps must call. `warp_results`:
/// kWarpSize elements of shared memory, free for reuse after the next barrier.
template <class Op, class T>
__device__ T fold_block(T value, T* warp_results) {
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  value = fold_warp<Op>(value);
  if (lane == 0) warp_results[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < blockDim.x / kWarpSize ? warp_results[lane] : Op::template identity<T>();
    value = fold_warp<Op>(value);
  }
  return value;
}

}  // namespace reduce_bench::BACKEND
