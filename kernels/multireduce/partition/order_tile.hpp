// A tile ordered by partition in shared memory and written as one piece, every partition filled up
// to whole quads.
#pragma once

#include "kernels/multireduce/partition/tile.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Counts the tile's inputs by partition, and gives each of this thread's inputs a rank among those
/// of its counter. The counters must be zero, behind a barrier.
template <class T>
__device__ void rank_inputs(const Tile<T>& tile, const Partitioning& parts,
                            Short (&rank)[Tile<T>::kItems]) {
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; j += kQuad) {
    const unsigned p = tile.label[j] >> parts.shift;
    bool same = tile.has(j + kQuad - 1);
#pragma unroll
    for (unsigned e = 1; e < kQuad; ++e) same = same && tile.label[j + e] >> parts.shift == p;
    // Where every lane's quad lies in one partition, as in runs, it is counted at once.
    if (__all_sync(kAllLanes, same)) {
      const Count before = atomicAdd(&tile.counters.of(p), kQuad);
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) rank[j + e] = static_cast<Short>(before + e);
    } else {
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e)
        if (tile.has(j + e))
          rank[j + e] = static_cast<Short>(
              atomicAdd(&tile.counters.of(tile.label[j + e] >> parts.shift), 1u));
    }
  }
}

/// Adds the tile's counts to the partitions' totals, and finds the places that partitions begin
/// with, in whole quads.
template <class T>
__device__ void place_partitions(const Tile<T>& tile, const Partitioning& parts, Count* totals) {
  Count* starts = tile.starts;
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    const Count own = tile.counters.scan_copies(p);
    if (own > 0) atomicAdd(&totals[p], own);
    starts[p] = static_cast<Count>(ceil_div(own, kQuad) * kQuad);
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const Count all = warp_exclusive_sums(starts, parts.count);
    if (threadIdx.x % kWarpSize == 0) starts[parts.count] = all;
  }
  __syncthreads();
}

/// Stores where the partitions begin, in quads, lets their counters begin there, and fills the last
/// quad of each with neutral elements, all but the first, which an input always takes. Inputs then
/// overwrite what they need.
template <class Op, class T>
__device__ void fill_last_quads(const Tile<T>& tile, const Partitioning& parts, Short* offsets) {
  const Count* starts = tile.starts;
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) {
    offsets[p] = static_cast<Short>(starts[p] / kQuad);
    if (p == parts.count || starts[p] == starts[p + 1]) continue;
    tile.counters.move(p, starts[p]);
    for (unsigned e = 1; e < kQuad; ++e) {
      tile.shared_values[starts[p + 1] - e] = Op::template identity<T>();
      tile.shared_labels[starts[p + 1] - e] = 0;
    }
  }
}

/// Orders the tile and stores it as tile blockIdx.x of `out`. tile.counters must be zero, behind a
/// barrier.
template <class Op, class T>
__device__ void order_tile(const Tile<T>& tile, const Partitioning& parts, const Tiles<T>& out) {
  Short rank[Tile<T>::kItems];
  rank_inputs(tile, parts, rank);
  __syncthreads();
  place_partitions(tile, parts, out.totals);
  fill_last_quads<Op>(tile, parts, out.offsets + parts.offsets_at(blockIdx.x));
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; ++j) {
    if (!tile.has(j)) continue;
    const unsigned at = tile.counters.of(tile.label[j] >> parts.shift) + rank[j];
    tile.shared_values[at] = tile.value[j];
    tile.shared_labels[at] = static_cast<Short>(tile.label[j] & (parts.width() - 1));
  }
  __syncthreads();
  // Up to a multiple of 16 bytes behind the last quad.
  const unsigned filled = (tile.starts[parts.count] + 7) / 8 * 8;
  const std::size_t ordered = std::size_t{blockIdx.x} * places_of(parts);
  store_tile(tile.shared_values, out.values + ordered, filled, blockDim.x);
  store_tile(tile.shared_labels, out.labels + ordered, filled, blockDim.x);
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
