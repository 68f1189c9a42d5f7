// Folding the registers of a warp and of a block by shuffles. The operator must commute.
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
