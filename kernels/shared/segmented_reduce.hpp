// Segmented reduction, order-preserving: every run of equal keys becomes one result. Baxter's
// scheme (Modern GPU), which eilers takes for reduce-by-key and as the last step of partitioning.
//
//   1. A block takes a contiguous share of the input, tile by tile. Every thread folds its kItems
//      consecutive elements from the last end of a segment on; a segmented scan over the threads
//      tells each what precedes its first element; the thread folds again and stores a result
//      wherever a segment ends.
//   2. What is open where a block's share ends is its carry. One more block reduces the carries,
//      by the same kernel, and puts each result in front of that of the segment it belongs to.
//
// Baxter folds a tile that lies within one segment by a tree that commutes; here every
// combination is of neighbours, left before right. His blocks take one tile each; here as many as
// make all blocks resident, so that the carries are few and one block reduces them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/instantiate.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kSegmentThreads = 128;
/// Elements per thread: odd, so that the threads of a warp read from different banks.
inline constexpr unsigned kSegmentItems = 11;
inline constexpr unsigned kSegmentTile = kSegmentThreads * kSegmentItems;
inline constexpr unsigned kSegmentBlocksPerSm = 16;

// ---- keys: which segment an element belongs to -------------------------------------------------

/// Keys in memory; a segment is a run of equal ones.
struct KeysInMemory {
  const Label* keys;
  __device__ KeysInMemory from(std::size_t first) const { return {keys + first}; }
  __device__ Label operator()(unsigned i) const { return keys[i]; }
};

/// Segments of `length` elements each, numbered from 0.
struct EqualSegments {
  unsigned length;

  struct From {
    Label segment;
    unsigned offset, length;
    __device__ Label operator()(unsigned i) const { return segment + (offset + i) / length; }
  };
  __device__ From from(std::size_t first) const {
    return {static_cast<Label>(first / length), static_cast<unsigned>(first % length), length};
  }
};

// ---- targets: where the result of a segment goes -----------------------------------------------

/// Stores a segment's result at the index that its key is; no other segment has that key.
template <class T>
struct AtKey {
  static constexpr bool kRanked = false;
  T* results;
  __device__ Label place(Label key, Count) const { return key; }
  __device__ void store(Label key, Count, T result) const { results[key] = result; }
};

/// Puts each result behind those of the segments before it, together with its key.
template <class T>
struct Compacted {
  static constexpr bool kRanked = true;
  T* results;
  Label* keys;
  Count* count;
  __device__ Label place(Label, Count rank) const { return rank; }
  __device__ void store(Label key, Count rank, T result) const {
    results[rank] = result;
    keys[rank] = key;
  }
};

/// Combined, as the left operand, with the result that is already at the place that the key names.
template <class T, class Op>
struct InFrontOfKey {
  static constexpr bool kRanked = false;
  T* results;
  __device__ Label place(Label key, Count) const { return key; }
  __device__ void store(Label key, Count, T result) const {
    results[key] = Op::combine(result, results[key]);
  }
};

// ---- kernels -----------------------------------------------------------------------------------

/// Block b's `ends[b]`: how many segments end in its share.
template <class Keys>
__global__ void count_segments_kernel(Keys keys, std::size_t n, std::size_t per_block,
                                      Count* ends) {
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  Count own = 0;
  for (std::size_t i = first + threadIdx.x; i < last; i += blockDim.x) {
    const auto key = keys.from(i);
    own += i + 1 == n || key(0) != key(1);
  }
  const Count all = fold_block<Sum>(own, dynamic_shared<Count>());
  if (threadIdx.x == 0) ends[blockIdx.x] = all;
}

template <class T>
struct SegmentTile {
  T values[kSegmentTile];
  T warp_open[kSegmentThreads / kWarpSize];
  Label keys[kSegmentTile + 1];  ///< and the one after the tile
  Count warp_ends[kSegmentThreads / kWarpSize];
  Count block_rank, fold_room[kWarpSize];
};

/// `carries` and `carry_places` are null where a single block does everything, `ends` unless the
/// target is ranked.
template <class T, class Op, class Keys, class Target>
__global__ void reduce_segments_kernel(const T* values, Keys keys, std::size_t n,
                                       std::size_t per_block, const Count* ends, Target target,
                                       T* carries, Label* carry_places) {
  SegmentTile<T>& tile = *dynamic_shared<SegmentTile<T>>();
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;

  // The same in all threads: what is open before the tile, and the segments that ended before it.
  T carry = Op::template identity<T>();
  Count rank = 0;
  if constexpr (Target::kRanked) {
    for (unsigned b = threadIdx.x; b < blockIdx.x; b += kSegmentThreads) rank += ends[b];
    rank = fold_block<Sum>(rank, tile.fold_room);
    if (threadIdx.x == 0) tile.block_rank = rank;
    __syncthreads();
    rank = tile.block_rank;
  }

  for (std::size_t begin = first; begin < last; begin += kSegmentTile) {
    const unsigned count =
        last - begin < kSegmentTile ? static_cast<unsigned>(last - begin) : kSegmentTile;
    const auto key = keys.from(begin);
#pragma unroll
    for (unsigned k = 0; k < kSegmentItems; ++k) {
      const unsigned i = k * kSegmentThreads + threadIdx.x;
      if (i < count) {
        tile.values[i] = values[begin + i];
        tile.keys[i] = key(i);
      }
    }
    if (threadIdx.x == 0 && begin + count < n) tile.keys[count] = key(count);
    __syncthreads();

    const auto is_end = [&](unsigned i) {
      return begin + i + 1 == n || tile.keys[i] != tile.keys[i + 1];
    };
    const unsigned own = threadIdx.x * kSegmentItems;
    const unsigned own_end = own + kSegmentItems < count ? own + kSegmentItems : count;
    T open = Op::template identity<T>();
    Count own_ends = 0;
    for (unsigned i = own; i < own_end; ++i) {
      open = Op::combine(open, tile.values[i]);
      if (is_end(i)) {
        open = Op::template identity<T>();
        ++own_ends;
      }
    }

    // Inclusive over the lanes, then what is before this thread: in its warp, and before the warp.
#pragma unroll
    for (unsigned delta = 1; delta < kWarpSize; delta *= 2) {
      const T left_open = __shfl_up_sync(kAllLanes, open, delta);
      const Count left_ends = __shfl_up_sync(kAllLanes, own_ends, delta);
      if (lane >= delta) {
        if (own_ends == 0) open = Op::combine(left_open, open);
        own_ends += left_ends;
      }
    }
    if (lane == kWarpSize - 1) {
      tile.warp_open[warp] = open;
      tile.warp_ends[warp] = own_ends;
    }
    T before = __shfl_up_sync(kAllLanes, open, 1);
    Count ends_before = __shfl_up_sync(kAllLanes, own_ends, 1);
    if (lane == 0) {
      before = Op::template identity<T>();
      ends_before = 0;
    }
    __syncthreads();
    for (unsigned w = 0; w < kSegmentThreads / kWarpSize; ++w) {
      if (w == warp) {
        if (ends_before == 0) before = Op::combine(carry, before);
        ends_before += rank;
      }
      const T warp_open = tile.warp_open[w];
      carry = tile.warp_ends[w] == 0 ? Op::combine(carry, warp_open) : warp_open;
      rank += tile.warp_ends[w];
    }

    for (unsigned i = own; i < own_end; ++i) {
      before = Op::combine(before, tile.values[i]);
      if (is_end(i)) {
        target.store(tile.keys[i], ends_before++, before);
        before = Op::template identity<T>();
      }
    }
    __syncthreads();  // before the next tile takes the place of this one
  }

  if (threadIdx.x != 0) return;
  if (carries != nullptr) {
    carries[blockIdx.x] = carry;
    carry_places[blockIdx.x] = target.place(keys.from(last - 1)(0), rank);
  }
  if constexpr (Target::kRanked) {
    if (blockIdx.x == gridDim.x - 1) *target.count = rank;
  }
}

// ---- launch ------------------------------------------------------------------------------------

struct SegmentPlan {
  unsigned blocks;
  std::size_t per_block;
};

inline SegmentPlan segment_plan(std::size_t n, const DeviceTraits& device) {
  const std::size_t tiles = std::max<std::size_t>(1, ceil_div(n, kSegmentTile));
  const std::size_t most = std::size_t{device.sm_count} * kSegmentBlocksPerSm;
  const std::size_t per_block = ceil_div(tiles, most);
  return {static_cast<unsigned>(ceil_div(tiles, per_block)), per_block * kSegmentTile};
}

/// Where the workspace holds the blocks' carries, their places and the counts of segments.
struct SegmentWorkspace {
  std::size_t places, ends, bytes;
};

inline SegmentWorkspace segment_workspace(std::size_t n, std::size_t element_bytes,
                                          const DeviceTraits& device) {
  const std::size_t blocks = segment_plan(n, device).blocks;
  SegmentWorkspace at{};
  at.places = blocks * element_bytes;
  at.ends = at.places + blocks * sizeof(Label);
  at.bytes = at.ends + blocks * sizeof(Count);
  return at;
}

/// Most operator applications between an element and its result.
inline std::uint64_t depth_of_segments(std::size_t n, const DeviceTraits& device) {
  constexpr std::uint64_t kWarps = kSegmentThreads / kWarpSize;
  // The thread's elements twice over, the lanes, the warps; then the warps of each tile after.
  const auto of_block = [](std::size_t elements) {
    return 2 * kSegmentItems + 5 + kWarps * (1 + ceil_div(elements, kSegmentTile));
  };
  const SegmentPlan plan = segment_plan(n, device);
  const std::uint64_t first = of_block(std::min(n, plan.per_block));
  return plan.blocks == 1 ? first : first + of_block(plan.blocks) + 1;
}

/// Reduces the segments of n elements, n > 0. `workspace`: aligned for T, as large as
/// `segment_workspace` says.
template <class Op, class T, class Keys, class Target>
void reduce_segments(const TypedCall<T>& call, const T* values, Keys keys, std::size_t n,
                     Target target, std::byte* workspace) {
  const SegmentPlan plan = segment_plan(n, call.device());
  const SegmentWorkspace at = segment_workspace(n, sizeof(T), call.device());
  T* carries = reinterpret_cast<T*>(workspace);
  auto* places = reinterpret_cast<Label*>(workspace + at.places);
  auto* ends = reinterpret_cast<Count*>(workspace + at.ends);
  const bool single = plan.blocks == 1;
  if constexpr (Target::kRanked) {
    if (!single)
      launch(count_segments_kernel<Keys>,
             {plan.blocks, kSegmentThreads, kWarpSize * sizeof(Count), call.stream}, keys, n,
             plan.per_block, ends);
  }
  launch(reduce_segments_kernel<T, Op, Keys, Target>,
         {plan.blocks, kSegmentThreads, sizeof(SegmentTile<T>), call.stream}, values, keys, n,
         plan.per_block, ends, target, single ? nullptr : carries, places);
  if (single) return;
  using InFront = InFrontOfKey<T, Op>;
  const std::size_t carried = plan.blocks - 1;  // nothing is open behind the last block
  launch(reduce_segments_kernel<T, Op, KeysInMemory, InFront>,
         {1, kSegmentThreads, sizeof(SegmentTile<T>), call.stream}, carries, KeysInMemory{places},
         carried, ceil_div(carried, kSegmentTile) * kSegmentTile, nullptr, InFront{target.results},
         nullptr, nullptr);
}

}  // namespace reduce_bench::BACKEND
