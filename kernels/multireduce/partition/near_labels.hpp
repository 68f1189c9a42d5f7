// A tile whose labels span few buckets (sorted labels) is combined at once, in a table of its own; one
// whose sorted labels are far apart, input by input.
#pragma once

#include "kernels/multireduce/onepass/hot_table.hpp"
#include "kernels/multireduce/partition/tile.hpp"
#include "kernels/shared/private_table.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// As many labels as a tile's table has room for, around the lower end.
__device__ inline Window window_around(const Window& ends, const Partitioning& parts) {
  const unsigned reach = parts.tile / Policy::kInputsPerReach;
  return {ends.first < reach / 2 ? 0 : ends.first - reach / 2, 2 * reach};
}

/// Whether the window has all labels of nearly all threads: a few of sorted labels may be astray. A
/// barrier of the block.
template <class T>
__device__ bool labels_are_in(const Window& window, const Tile<T>& tile) {
  bool inside = true;
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; ++j)
    inside = inside && tile.label[j] - window.first < window.width;
  return __syncthreads_count(inside) >=
         static_cast<int>(blockDim.x - blockDim.x / Policy::kThreadsPerStray);
}

/// Adds the tile's inputs quad by quad, under their labels counted from `first`.
template <class Op, class T, class Add>
__device__ void add_quads(const Tile<T>& tile, Label first, Add&& add, bool lanes_meet = true) {
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; j += kQuad) {
    unsigned label[kQuad];
    T value[kQuad];
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) {
      label[e] = tile.label[j + e] - first;
      value[e] = tile.has(j + e) ? tile.value[j + e] : Op::template identity<T>();
    }
    add_quad<Op>(true, label, value, add, lanes_meet);
  }
}

/// Adds the tile to the results input by input, neighbours by neighbouring lanes.
template <class Op, class T>
__device__ void combine_sparse(const Tile<T>& tile, T* results) {
  constexpr unsigned kInputs = kWarpSize * kQuad;  // of a warp at once
  static_assert(kInputs * (sizeof(T) + sizeof(Label)) <= kWarpSize * Tile<T>::kItems * sizeof(T),
                "a warp has the places of its inputs");
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  T* values = tile.shared_values + std::size_t{warp} * kWarpSize * Tile<T>::kItems;
  auto* labels = reinterpret_cast<Label*>(values + kInputs);
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; j += kQuad) {
    Label label[kQuad];
    T value[kQuad];
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) {
      label[e] = tile.label[j + e];
      value[e] = tile.value[j + e];
    }
    spread_over_lanes(labels, label, label);
    spread_over_lanes(values, value, value);
    const unsigned first = Tile<T>::place(j) - lane * kQuad;
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e)
      if (first + e * kWarpSize + lane < tile.count)
        atomic_combine<Op>(&results[label[e]], value[e]);
  }
}

/// Combines the tile in a table over the window `around`, and adds that to the results, as labels
/// beyond it are at once. Where updates take many steps and nearly all labels lie between the ends,
/// the table has these alone, in as many copies as have room: the warps' updates of a frequent label
/// would queue.
template <class Op, class T>
__device__ void combine_in_window(const Window& ends, const Window& around, const Tile<T>& tile,
                                  T* results) {
  Window window = around;
  unsigned log2_copies = 0;
  if constexpr (onepass_multireduce::kManySteps<T, Op>)
    if (ends.width <= around.width && labels_are_in(ends, tile)) {
      window = ends;
      while (log2_copies < Policy::kLog2MostNearCopies &&
             window.width << (log2_copies + 1) <= around.width)
        ++log2_copies;
    }
  const PrivateTable<T, Op> table{tile.shared_values, window.width, log2_copies};
  table.clear();
  add_quads<Op>(
      tile, window.first,
      [&](unsigned label, T value) {
        if (label < window.width) table.add(label, value);
        else atomic_combine<Op>(&results[window.first + label], value);
      },
      log2_copies < kLog2WarpSize);
  table.add_to(results + window.first);
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
