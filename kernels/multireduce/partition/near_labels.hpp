// A tile whose labels span few buckets (sorted labels) is combined at once, in a table of its own.
#pragma once

#include "kernels/multireduce/partition/tile.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// The labels that a tile's table has room for, around the tile's first and last.
struct Window {
  Label first;
  unsigned width;
};

template <class T>
__device__ Window window_around_ends(const Tile<T>& tile, const Label* labels,
                                     const Partitioning& parts) {
  const unsigned reach = parts.tile / Policy::kInputsPerReach;
  const Label one_end = labels[tile.first], other_end = labels[tile.first + tile.count - 1];
  const Label low = one_end < other_end ? one_end : other_end;
  return {low < reach / 2 ? 0 : low - reach / 2, 2 * reach};
}

/// Whether the window has all of the tile's labels. A barrier of the block.
template <class T>
__device__ bool labels_are_in(const Window& window, const Tile<T>& tile) {
  bool inside = true;
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; ++j)
    inside = inside && tile.label[j] - window.first < window.width;
  return __syncthreads_and(inside);
}

/// Combines the tile in a table over the window, and adds that to the results.
template <class Op, class T>
__device__ void combine_in_window(const Window& window, const Tile<T>& tile, T* results) {
  T* table = tile.shared_values;
  for (unsigned i = threadIdx.x; i < window.width; i += blockDim.x)
    table[i] = Op::template identity<T>();
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; j += kQuad) {
    unsigned label[kQuad];
    T value[kQuad];
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) {
      label[e] = tile.label[j + e] - window.first;
      value[e] = tile.has(j + e) ? tile.value[j + e] : Op::template identity<T>();
    }
    add_quad<Op>(true, label, value, [&](unsigned l, T v) { atomic_combine<Op>(table + l, v); });
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < window.width; i += blockDim.x)
    if (table[i] != Op::template identity<T>())
      atomic_combine<Op>(&results[window.first + i], table[i]);
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
