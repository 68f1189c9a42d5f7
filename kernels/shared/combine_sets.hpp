// The last step of the thesis's partitioning (eilers section 4.2) where sets are few or come one per
// block: a thread or a block for each bucket combines its partial results in the order of the sets.
// Sets lie as [bucket][set]. bucket_sets.hpp does the same by the segmented reduction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Combines `count` neighbours in their order, by a full warp; lane 0 gets the result.
template <class Op, class T>
__device__ T warp_reduce_in_order(const T* values, std::size_t count) {
  const unsigned lane = threadIdx.x % kWarpSize;
  T total = Op::template identity<T>();
  for (std::size_t start = 0; start < count; start += kWarpSize) {
    T value = start + lane < count ? values[start + lane] : Op::template identity<T>();
    for (unsigned distance = 1; distance < kWarpSize; distance *= 2)
      value = Op::combine(value, __shfl_down_sync(kAllLanes, value, distance));
    total = Op::combine(total, value);
  }
  return total;
}

/// Block b combines bucket b of all sets in the order of the sets; each of its warps takes a
/// contiguous share of the sets.
template <class T, class Op>
__global__ void combine_sets_kernel(const T* sets, std::size_t set_count, T* results) {
  wait_for_launch_before();
  T* shares = dynamic_shared<T>();
  const unsigned warps = blockDim.x / kWarpSize, warp = threadIdx.x / kWarpSize;
  const std::size_t share = (set_count + warps - 1) / warps;
  const std::size_t first = warp * share;
  const std::size_t count =
      first < set_count ? (set_count - first < share ? set_count - first : share) : 0;
  const T total = warp_reduce_in_order<Op>(sets + blockIdx.x * set_count + first, count);
  if (threadIdx.x % kWarpSize == 0) shares[warp] = total;
  __syncthreads();
  if (threadIdx.x != 0) return;
  T result = shares[0];
  for (unsigned w = 1; w < warps; ++w) result = Op::combine(result, shares[w]);
  results[blockIdx.x] = result;
}

/// Thread b combines bucket b of all sets in the order of the sets.
template <class T, class Op>
__global__ void combine_few_sets_kernel(const T* sets, std::size_t buckets, std::size_t set_count,
                                        T* results) {
  wait_for_launch_before();
  const std::size_t bucket = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (bucket >= buckets) return;
  T total = Op::template identity<T>();
  for (std::size_t set = 0; set < set_count; ++set)
    total = Op::combine(total, sets[bucket * set_count + set]);
  results[bucket] = total;
}

/// From this many sets on, a bucket gets a block, below it a thread.
inline constexpr std::size_t kManySets = 128;

/// Warps of a bucket's block: each takes at least kManySets sets, as far as 32 warps suffice.
inline unsigned warps_of_combine(std::size_t set_count) {
  return static_cast<unsigned>(std::clamp<std::size_t>(set_count / kManySets, 1, kWarpSize));
}

/// The largest grid: a block for each bucket.
inline constexpr std::size_t kMostBucketsToCombine = 0x7fffffff;

/// results[b] = sets[b][0] . sets[b][1] . ... `overlapping`: it may begin while the launch before runs.
template <class Op, class T>
void enqueue_combine_sets(const Stream& stream, const T* sets, std::size_t buckets,
                          std::size_t set_count, T* results, bool overlapping = false) {
  if (set_count < kManySets) {
    constexpr unsigned kBlock = 128;
    LaunchShape shape{static_cast<unsigned>(ceil_div(buckets, kBlock)), kBlock, 0, stream.aside()};
    shape.overlapping = overlapping;
    launch(combine_few_sets_kernel<T, Op>, shape, sets, buckets, set_count, results);
    return;
  }
  const unsigned warps = warps_of_combine(set_count);
  LaunchShape shape{static_cast<unsigned>(buckets), kWarpSize * warps, warps * sizeof(T),
                    stream.aside()};
  shape.overlapping = overlapping;
  launch(combine_sets_kernel<T, Op>, shape, sets, set_count, results);
}

/// Most operator applications between a set's bucket and the result.
inline std::uint64_t depth_of_combine(std::size_t set_count) {
  if (set_count < kManySets) return set_count;
  const unsigned warps = warps_of_combine(set_count);
  return ceil_div(ceil_div(set_count, warps), kWarpSize) + 5 + warps;
}

}  // namespace reduce_bench::BACKEND
