// Segmented scans that preserve order: of the threads of a block, and of an input in memory. A
// segment is a run of equal keys.
//
// The input's scan is in three steps. Every block folds its contiguous share, tile by tile, to what
// is open at its end; one block scans that; then every block scans its share, beginning with what
// is open before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

// What the scans ask of an element besides its operator. Structs have overloads beside them, as the
// pairs of kernels/multiscan/index_values.hpp.

template <class T>
__device__ T shuffle_up(T element, unsigned distance) {
  return __shfl_up_sync(kAllLanes, element, distance);
}
/// The result of an exclusive scan at an element before which there is `before`.
template <class T>
__device__ T exclusive_result(T before, T) {
  return before;
}

/// The exclusive segmented scan over the threads of a block. `value` is what the thread's elements
/// give from the last beginning of a segment among them on, `began` whether there is one. Returns
/// what the threads before hold of the segment that is open where this thread begins. `values` and
/// `flags` have room for one element per warp.
template <class Op, class T>
__device__ T open_segment_before(T value, bool began, T* values, Label* flags) {
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  for (unsigned distance = 1; distance < kWarpSize; distance *= 2) {
    const T before = shuffle_up(value, distance);
    const int began_before = __shfl_up_sync(kAllLanes, static_cast<int>(began), distance);
    if (lane < distance) continue;
    if (!began) value = Op::combine(before, value);
    began = began || began_before != 0;
  }
  if (lane == kWarpSize - 1) {
    values[warp] = value;
    flags[warp] = began;
  }
  __syncthreads();
  T carry = Op::template identity<T>();
  for (unsigned w = 0; w < warp; ++w)
    carry = flags[w] != 0 ? values[w] : Op::combine(carry, values[w]);
  const T before = shuffle_up(value, 1);
  const int began_before = __shfl_up_sync(kAllLanes, static_cast<int>(began), 1);
  if (lane == 0) return carry;
  return began_before != 0 ? before : Op::combine(carry, before);
}

inline constexpr unsigned kScanThreads = 128;
/// Elements per thread: odd, so that the threads of a warp read from different banks.
inline constexpr unsigned kScanItems = 11;
inline constexpr unsigned kScanTile = kScanThreads * kScanItems;
inline constexpr unsigned kScanBlocksPerSm = 16;

template <class T>
struct ScanTile {
  T values[kScanTile];
  T warp_values[kScanThreads / kWarpSize];
  T carry;
  Label keys[kScanTile + 1];  ///< keys[0]: the one before the tile
  Label warp_flags[kScanThreads / kWarpSize];
};

/// With kStore, writes the results of the block's share; open[block] is what precedes the share in
/// the segment open there. Without, writes to open[block] what is open at the share's end, and to
/// began[block] whether a segment begins in the share.
template <class T, class Op, bool kStore>
__global__ void scan_segments_kernel(const T* values, const Label* keys, std::size_t n,
                                     std::size_t per_block, bool inclusive, T* open, Label* began,
                                     T* results) {
  ScanTile<T>& tile = *dynamic_shared<ScanTile<T>>();
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  T carry = kStore ? open[blockIdx.x] : Op::template identity<T>();
  bool share_began = false;
  for (std::size_t begin = first; begin < last; begin += kScanTile) {
    const unsigned count =
        last - begin < kScanTile ? static_cast<unsigned>(last - begin) : kScanTile;
    for (unsigned i = threadIdx.x; i < count; i += kScanThreads) {
      tile.values[i] = values[begin + i];
      tile.keys[i + 1] = keys[begin + i];
    }
    if (threadIdx.x == 0 && begin > 0) tile.keys[0] = keys[begin - 1];
    __syncthreads();

    const auto begins = [&](unsigned i) {
      return begin + i == 0 || tile.keys[i] != tile.keys[i + 1];
    };
    const unsigned own = threadIdx.x * kScanItems;
    const unsigned own_end = own + kScanItems < count ? own + kScanItems : count;
    T own_open = threadIdx.x == 0 ? carry : Op::template identity<T>();
    bool own_began = false;
    for (unsigned i = own; i < own_end; ++i) {
      if (begins(i)) {
        own_open = Op::template identity<T>();
        own_began = true;
      }
      own_open = Op::combine(own_open, tile.values[i]);
    }
    T before = open_segment_before<Op>(own_open, own_began, tile.warp_values, tile.warp_flags);
    if (threadIdx.x == 0) before = carry;
    if (threadIdx.x == kScanThreads - 1)
      tile.carry = own_began ? own_open : Op::combine(before, own_open);
    if constexpr (kStore) {
      for (unsigned i = own; i < own_end; ++i) {
        if (begins(i)) before = Op::template identity<T>();
        const T after = Op::combine(before, tile.values[i]);
        tile.values[i] = inclusive ? after : exclusive_result(before, tile.values[i]);
        before = after;
      }
      __syncthreads();
      for (unsigned i = threadIdx.x; i < count; i += kScanThreads)
        results[begin + i] = tile.values[i];
    } else {
      share_began = __syncthreads_or(own_began) != 0 || share_began;
    }
    carry = tile.carry;
    __syncthreads();  // before the next tile takes the place of this one
  }
  if constexpr (!kStore) {
    if (threadIdx.x == 0) {
      open[blockIdx.x] = carry;
      began[blockIdx.x] = share_began;
    }
  }
}

/// Turns open[b] from what is open at the end of share b into what is open before it; one block.
template <class T, class Op>
__global__ void scan_shares_kernel(T* open, const Label* began, unsigned shares) {
  ScanTile<T>& tile = *dynamic_shared<ScanTile<T>>();
  T carry = Op::template identity<T>();
  for (unsigned begin = 0; begin < shares; begin += kScanThreads) {
    const unsigned i = begin + threadIdx.x;
    const bool own_began = i < shares && began[i] != 0;
    T own_open = i < shares ? open[i] : Op::template identity<T>();
    if (threadIdx.x == 0 && !own_began) own_open = Op::combine(carry, own_open);
    T before = open_segment_before<Op>(own_open, own_began, tile.warp_values, tile.warp_flags);
    if (threadIdx.x == 0) before = carry;
    if (threadIdx.x == kScanThreads - 1)
      tile.carry = own_began ? own_open : Op::combine(before, own_open);
    if (i < shares) open[i] = before;
    __syncthreads();
    carry = tile.carry;
    __syncthreads();
  }
}

// ---- launch ------------------------------------------------------------------------------------

struct SegmentedScanPlan {
  unsigned blocks;
  std::size_t per_block, began, bytes;  ///< `began`: its place in a workspace of `bytes`
};

/// Plans as many blocks as are resident, with whole tiles for each.
inline SegmentedScanPlan plan_segmented_scan(std::size_t n, std::size_t element_bytes,
                                             const DeviceTraits& device) {
  const std::size_t tiles = ceil_div(n, kScanTile);
  const std::size_t most = std::size_t{device.sm_count} * kScanBlocksPerSm;
  const std::size_t per_block = std::max<std::size_t>(ceil_div(tiles, most), 1);
  SegmentedScanPlan plan{};
  plan.blocks = static_cast<unsigned>(ceil_div(tiles, per_block));
  plan.per_block = per_block * kScanTile;
  plan.began = plan.blocks * element_bytes;
  plan.bytes = plan.began + plan.blocks * sizeof(Label);
  return plan;
}

/// Most operator applications between an element and a result: a tile folds or scans a thread's
/// elements, the lanes and the warps, once for each step.
inline std::uint64_t depth_of_segmented_scan(std::size_t n, const DeviceTraits& device) {
  const SegmentedScanPlan plan = plan_segmented_scan(n, 1, device);
  constexpr std::uint64_t kOfTile = 2 * kScanItems + 5 + kScanThreads / kWarpSize + 2;
  return kOfTile * (2 * plan.per_block / kScanTile + ceil_div(plan.blocks, kScanThreads));
}

/// Scans the segments of n elements; `workspace` is aligned for T and has the plan's bytes.
template <class Op, class T, class Value>
void enqueue_scan_segments(const TypedCall<Value>& call, const T* values, const Label* keys,
                           T* results, std::byte* workspace) {
  if (call.n() == 0) return;
  const SegmentedScanPlan plan = plan_segmented_scan(call.n(), sizeof(T), call.device());
  T* open = reinterpret_cast<T*>(workspace);
  auto* began = reinterpret_cast<Label*>(workspace + plan.began);
  const LaunchShape all{plan.blocks, kScanThreads, sizeof(ScanTile<T>), call.stream};
  launch(scan_segments_kernel<T, Op, false>, all, values, keys, call.n(), plan.per_block, false,
         open, began, static_cast<T*>(nullptr));
  launch(scan_shares_kernel<T, Op>, {1, kScanThreads, sizeof(ScanTile<T>), call.stream}, open,
         began, plan.blocks);
  launch(scan_segments_kernel<T, Op, true>, all, values, keys, call.n(), plan.per_block,
         call.inclusive(), open, began, results);
}

}  // namespace reduce_bench::BACKEND
