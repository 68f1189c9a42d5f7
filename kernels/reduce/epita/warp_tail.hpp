// The end of a block's tree once a single warp is left, unrolled, on shared memory.
#pragma once

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// The published form relies on a warp's lanes running in lockstep, as they do not since Volta.
/// `volatile` keeps the compiler from holding values in registers; it orders nothing between lanes.
template <class Op, class T>
__device__ void warp_tail_in_lockstep(volatile T* partial, unsigned t) {
  partial[t] = Op::template combine<T>(partial[t], partial[t + kWarpSize]);
  partial[t] = Op::template combine<T>(partial[t], partial[t + 16]);
  partial[t] = Op::template combine<T>(partial[t], partial[t + 8]);
  partial[t] = Op::template combine<T>(partial[t], partial[t + 4]);
  partial[t] = Op::template combine<T>(partial[t], partial[t + 2]);
  partial[t] = Op::template combine<T>(partial[t], partial[t + 1]);
}

/// Corrected: in every step all lanes read before any of them writes, and write before the next
/// step reads.
template <class Op, class T>
__device__ void warp_tail(T* partial, unsigned t) {
#pragma unroll
  for (unsigned s = kWarpSize; s > 0; s /= 2) {
    const T folded = Op::template combine<T>(partial[t], partial[t + s]);
    __syncwarp();
    partial[t] = folded;
    __syncwarp();
  }
}

}  // namespace reduce_bench::BACKEND
