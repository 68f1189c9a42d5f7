// The last six steps of the block's tree, by one warp and without a loop: harris/4 to harris/6.
#pragma once

#include <optional>

#include "kernels/api/variant.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// Folds 64 values to partial[0]. Lanes at s and beyond compute values that nobody needs; leaving
/// them out would cost a branch per step.
template <class T, class Op>
__device__ void fold_last_warp(T* partial, unsigned lane) {
  T sum = partial[lane];
#pragma unroll
  for (unsigned s = kWarpSize; s > 0; s /= 2) {
    sum = Op::combine(sum, partial[lane + s]);
    __syncwarp();  // all have read before anyone writes
    partial[lane] = sum;
    __syncwarp();  // all have written before anyone reads
  }
}

/// The form first published: `volatile` makes every step go through memory, but only a warp in
/// lockstep reads before it writes. Since Volta that is a race.
template <class T, class Op>
__device__ void fold_last_warp_as_published(volatile T* partial, unsigned lane) {
#pragma unroll
  for (unsigned s = kWarpSize; s > 0; s /= 2)
    partial[lane] = Op::template combine<T>(partial[lane], partial[lane + s]);
}

inline std::optional<Defect> last_warp_defect(const Problem& p) {
  // With at most two elements no lane changes a value that another reads.
  if (!p.params.is("form", "as-published") || p.n <= 2) return std::nullopt;
  return Defect{"the last warp's steps have no barrier: its lanes race since Volta", false};
}

}  // namespace reduce_bench::BACKEND
