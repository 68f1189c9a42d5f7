// A tile of inputs in a block's registers, and bucket sets for its warps in shared memory.
#pragma once

#include "kernels/shared/arguments.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/residency.hpp"

namespace reduce_bench::BACKEND {

/// Chosen for an H200, for all variants with LabelSets.
struct TilePolicy90 {
  /// Inputs of a tile for each thread: fewer tiles, hence fewer states and offsets, against
  /// registers.
  static constexpr unsigned kItems = 16;
  /// Threads that have room on an SM, in one block or several: warps that hide each other's latency
  /// against shared memory for the set of each.
  static constexpr unsigned kThreadsPerSm = 1024;
};
using TilePolicy = ByCapability<Row<90, TilePolicy90>>;
static_assert(TilePolicy::kItems <= 32, "a bit of a word for every item");
/// What a thread holds of its block's tile.
template <class U>
using Items = U[TilePolicy::kItems];

/// The place in its tile of a thread's item j: every warp has a contiguous stretch, of which item j
/// of its lanes are kWarpSize neighbours.
__device__ inline unsigned place_in_tile(unsigned j) {
  return threadIdx.x / kWarpSize * (kWarpSize * TilePolicy::kItems) + kWarpSize * j +
         threadIdx.x % kWarpSize;
}

/// Bucket sets in shared memory, one row each: `buckets` slots, and one more that takes what lies
/// beyond the input. `turns` neighbouring warps share a set.
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
/// How many warps share a set: the smallest power of two with which blocks of kThreadsPerSm threads
/// together fit into an SM's shared memory, each with `other_bytes` besides its sets; at most all
/// warps of a block.
inline unsigned turns_of(std::size_t buckets, unsigned threads, std::size_t value_bytes,
                         std::size_t other_bytes, const DeviceTraits& device) {
  const unsigned blocks = TilePolicy::kThreadsPerSm / threads;
  unsigned turns = 1;
  while (turns < threads / kWarpSize &&
         blocks * (sets_bytes(buckets, threads, turns, value_bytes) + other_bytes +
                   kReservedSharedBytes) >
             device.max_shared_bytes_per_block + kReservedSharedBytes)
    turns *= 2;
  return turns;
}

}  // namespace reduce_bench::BACKEND
