// A tile of inputs in a block's registers, and bucket sets for its warps in shared memory.
#pragma once

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// A tile is a block's; kItems inputs for each thread.
inline constexpr unsigned kItems = 16;
/// Threads that have room on an SM, in one block or several.
inline constexpr unsigned kThreadsPerSm = 1024;

/// The place in its tile of a thread's item j: every warp has a stretch of its own, lane by lane.
__device__ inline unsigned place_in_tile(unsigned j) {
  return threadIdx.x / kWarpSize * (32 * kItems) + 32 * j + threadIdx.x % kWarpSize;
}

/// Bucket sets in shared memory, a row for each: `buckets`, and one for what is beyond the input. A
/// set is shared by `turns` neighbouring warps.
template <class T>
struct LabelSets {
  T* slots;
  unsigned buckets, turns;

  __device__ unsigned row() const { return buckets + 1; }
  __device__ unsigned count() const { return blockDim.x / kWarpSize / turns; }
  /// The set of this thread's warp.
  __device__ T* own() const { return slots + threadIdx.x / kWarpSize / turns * row(); }
  template <class Op>
  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < count() * row(); i += blockDim.x)
      slots[i] = Op::template identity<T>();
  }
};

// ---- host --------------------------------------------------------------------------------------

/// Shared memory of LabelSets.
inline std::size_t sets_bytes(std::size_t buckets, unsigned threads, unsigned turns,
                              std::size_t value_bytes) {
  return threads / kWarpSize / turns * (buckets + 1) * value_bytes;
}
/// Warps that share a set: so many that blocks of kThreadsPerSm threads together have room on an
/// SM, each with `other_bytes` of shared memory besides, or a block has where one set takes more.
inline unsigned turns_of(std::size_t buckets, unsigned threads, std::size_t value_bytes,
                         std::size_t other_bytes, const DeviceTraits& device) {
  const unsigned blocks = kThreadsPerSm / threads;
  unsigned turns = 1;
  while (turns < threads / kWarpSize &&
         blocks * (sets_bytes(buckets, threads, turns, value_bytes) + other_bytes) >
             device.max_shared_bytes_per_block)
    turns *= 2;
  return turns;
}

}  // namespace reduce_bench::BACKEND
