// A tile of labels as a block of partition/histogram holds it, and the ordered tiles.
#pragma once

#include "kernels/histogram/partition/policy.hpp"
#include "kernels/shared/partitioning.hpp"
#include "kernels/shared/private_table.hpp"
#include "kernels/shared/quads.hpp"

namespace reduce_bench::BACKEND::partition_histogram {

/// Labels that a lane of the second kernel takes by one load. A partition fills whole octets of an
/// ordered tile, the last with labels beyond its bins: so none need be checked.
using Octet = Vector16<Short>;
inline constexpr unsigned kOctet = Octet::kCount;

/// Places in an ordered tile: its labels and what may fill the last octet of every partition.
__host__ __device__ inline unsigned places_of(const Partitioning& parts) {
  return parts.tile + parts.count * kOctet;
}
/// Bins of a partition, and places for the labels beyond them.
__host__ __device__ inline unsigned table_size(const Partitioning& parts) {
  return parts.width() + kOctet;
}

/// The ordered tiles. `offsets` has for every tile the bounds of its partitions, in octets:
/// partition p lies from number p to number p + 1.
struct OrderedTiles {
  Short* labels;  ///< within their partitions
  Short* offsets;
  Count* totals;  ///< labels of every partition in all ordered tiles; behind them ShareQueue::taken
};

/// A block's tile in registers: a thread holds quads that lie blockDim.x quads apart.
struct Tile {
  std::size_t first;  ///< the tile's first label
  unsigned count;     ///< labels
  Label label[Policy::kItems];

  /// `aligned`: whether the array begins at a multiple of 16 bytes. Items beyond the input get the
  /// tile's first label.
  __device__ Tile(const Label* labels, std::size_t n, bool aligned, const Partitioning& parts)
      : first(std::size_t{blockIdx.x} * parts.tile),
        count(n - first < parts.tile ? static_cast<unsigned>(n - first) : parts.tile) {
    const Label* from = labels + first;
    if (aligned && count == parts.tile) {
#pragma unroll
      for (unsigned j = 0; j < Policy::kItems; j += kQuad) {
        const auto quad = load_ahead(reinterpret_cast<const Vector16<Label>*>(from + place(j)));
        for (unsigned e = 0; e < kQuad; ++e) label[j + e] = quad.at[e];
      }
    } else {
#pragma unroll
      for (unsigned j = 0; j < Policy::kItems; ++j) label[j] = from[has(j) ? place(j) : 0];
    }
  }

  /// The place in the tile of this thread's item j.
  __device__ static unsigned place(unsigned j) {
    return (j / kQuad * blockDim.x + threadIdx.x) * kQuad + j % kQuad;
  }
  __device__ bool has(unsigned j) const { return place(j) < count; }

  /// Whether all labels are among the `width` from `low` on. A barrier of the block.
  __device__ bool is_in(Label low, unsigned width) const {
    bool inside = true;
#pragma unroll
    for (const Label l : label) inside = inside && l - low < width;
    return __syncthreads_and(inside);
  }
  /// Whether the quads of most threads have one label each. A barrier of the block.
  __device__ bool is_in_runs() const {
    unsigned alike = 0;
#pragma unroll
    for (unsigned j = 0; j < Policy::kItems; j += kQuad)
      alike += label[j] == label[j + 1] && label[j] == label[j + 2] && label[j] == label[j + 3];
    return __syncthreads_count(alike >= Policy::kQuadsInRuns) >=
           static_cast<int>(blockDim.x / 4 * Policy::kQuartersInRuns);
  }
  /// Counts the labels in a table of the bins from `low` on, in which every lane has its own copy.
  __device__ void count_in(const PrivateTable<Count, Sum>& table, Label low) const {
#pragma unroll
    for (unsigned j = 0; j < Policy::kItems; j += kQuad) {
      const Label* quad = &label[j];
      if (has(j + kQuad - 1) && quad[0] == quad[1] && quad[0] == quad[2] && quad[0] == quad[3]) {
        table.add(quad[0] - low, kQuad);
        continue;
      }
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e)
        if (has(j + e)) table.add(quad[e] - low, 1);
    }
  }
  /// Adds the labels to counters, of which `counter_of(label)` is one; neighbours with one label
  /// are counted together where most are.
  template <class CounterOf>
  __device__ void count_in(CounterOf&& counter_of) const {
#pragma unroll
    for (unsigned j = 0; j < Policy::kItems; j += kQuad) {
      Label quad[kQuad];
      Count ones[kQuad];
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) {
        quad[e] = label[j + e];
        ones[e] = has(j + e);
      }
      put_quads<Sum>(quad, ones, [&](bool present, Label l, Count own) {
        if (present && own > 0) atomicAdd(counter_of(l), own);
      });
    }
  }
};

}  // namespace reduce_bench::BACKEND::partition_histogram
