// A block's fold in two halves, so that all warps but the first can leave between them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/platform/platform.hpp"
#include "kernels/shared/ops.hpp"
#include "kernels/shared/vector16.hpp"

namespace reduce_bench::BACKEND::onepass_reduce {

/// Whether one instruction folds a warp: for 32-bit integers, since sm_80.
template <class Op, class T>
inline constexpr bool kOneInstruction =
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    std::is_same_v<T, std::int32_t> &&
    (std::is_same_v<Op, Sum> || std::is_same_v<Op, Min> || std::is_same_v<Op, Max>);
#else
    false;
#endif

template <class Op>
__device__ std::int32_t fold_by_instruction(std::int32_t value) {
  if constexpr (std::is_same_v<Op, Sum>) return __reduce_add_sync(kAllLanes, value);
  else if constexpr (std::is_same_v<Op, Min>) return __reduce_min_sync(kAllLanes, value);
  else return __reduce_max_sync(kAllLanes, value);
}

/// Rows of kWarpSize values that the second half reads at once. A block has a multiple of these.
inline constexpr unsigned kRowsAtOnce = 4;

/// First half: every thread leaves its value in `memory`, as a row per warp; where one instruction
/// folds a warp, every warp leaves its total. Ends with a barrier.
template <class Op, class T>
__device__ void share(T value, T* memory) {
  if constexpr (kOneInstruction<Op, T>) {
    value = fold_by_instruction<Op>(value);
    if (threadIdx.x % kWarpSize == 0) memory[threadIdx.x / kWarpSize] = value;
  } else {
    memory[threadIdx.x] = value;
  }
  __syncthreads();
}

/// Second half, for one warp alone, mostly the first: returns the fold of what `warps` warps, a
/// multiple of kRowsAtOnce, have shared. Without the instruction each lane first folds its column,
/// then eight of the 32 column results, and two shuffles do the rest. `kSteps`: how many times the
/// loop over the rows is unrolled.
template <class Op, unsigned kSteps, class T>
__device__ T fold_shared(T* memory, unsigned warps, unsigned lane = threadIdx.x) {
  if constexpr (kOneInstruction<Op, T>) {
    return fold_by_instruction<Op>(lane < warps ? memory[lane] : Op::template identity<T>());
  } else {
    T column[kRowsAtOnce];
#pragma unroll
    for (unsigned c = 0; c < kRowsAtOnce; ++c) column[c] = memory[c * kWarpSize + lane];
#pragma unroll kSteps
    for (unsigned row = kRowsAtOnce; row < warps; row += kRowsAtOnce) {
#pragma unroll
      for (unsigned c = 0; c < kRowsAtOnce; ++c)
        column[c] = Op::combine(column[c], memory[(row + c) * kWarpSize + lane]);
    }
    memory[lane] =
        Op::combine(Op::combine(column[0], column[1]), Op::combine(column[2], column[3]));
    __syncwarp();
    constexpr unsigned kReaders = 4;  // lanes that read different values; the others repeat theirs
    constexpr unsigned kPerReader = kWarpSize / kReaders;
    using Vec = Vector16<T>;
    T part[kPerReader];
#pragma unroll
    for (unsigned k = 0; k < kPerReader / Vec::kCount; ++k) {
      const Vec v = reinterpret_cast<const Vec*>(memory)[k * kReaders + lane % kReaders];
#pragma unroll
      for (unsigned e = 0; e < Vec::kCount; ++e) part[k * Vec::kCount + e] = v.at[e];
    }
#pragma unroll
    for (unsigned half = kPerReader / 2; half > 0; half /= 2) {
#pragma unroll
      for (unsigned k = 0; k < half; ++k) part[k] = Op::combine(part[k], part[k + half]);
    }
    T value = part[0];
#pragma unroll
    for (unsigned offset = 1; offset < kReaders; offset *= 2)
      value = Op::combine(value, __shfl_xor_sync(kAllLanes, value, static_cast<int>(offset)));
    return value;
  }
}

}  // namespace reduce_bench::BACKEND::onepass_reduce
