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
  /// Labels of every partition in all ordered tiles; behind them ShareQueue::taken.
  Count* totals;
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

  /// Whether all labels of nearly all threads are among the `width` from `low` on: a few of sorted
  /// labels may be astray. A barrier of the block.
  __device__ bool is_in(Label low, unsigned width) const {
    bool inside = true;
#pragma unroll
    for (const Label l : label) inside = inside && l - low < width;
    return __syncthreads_count(inside) >=
           static_cast<int>(blockDim.x - blockDim.x / Policy::kThreadsPerStray);
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
  /// Counts the labels in a table of the bins from `low` on, in which every lane has its own copy, and
  /// those beyond it in `counts`, of all bins.
  __device__ void count_in(const PrivateTable<Count, Sum>& table, Label low, Count* counts) const {
    const auto add = [&](Label l, Count own) {
      if (l - low < table.buckets) table.add(l - low, own);
      else atomicAdd(&counts[l], own);
    };
#pragma unroll
    for (unsigned j = 0; j < Policy::kItems; j += kQuad) {
      const Label* quad = &label[j];
      if (has(j + kQuad - 1) && quad[0] == quad[1] && quad[0] == quad[2] && quad[0] == quad[3]) {
        add(quad[0], kQuad);
        continue;
      }
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e)
        if (has(j + e)) add(quad[e], 1);
    }
  }
  /// Counts the labels one by one, neighbours by neighbouring lanes. `memory`: an element for each of
  /// the block's quads' labels.
  __device__ void count_sparse(Label* memory, Count* counts) const {
    const unsigned lane = threadIdx.x % kWarpSize;
    Label* of_warp = memory + (threadIdx.x - lane) * kQuad;
#pragma unroll
    for (unsigned j = 0; j < Policy::kItems; j += kQuad) {
      Label quad[kQuad];
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) quad[e] = label[j + e];
      spread_over_lanes(of_warp, quad, quad);
      const unsigned from = place(j) - lane * kQuad;
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e)
        if (from + e * kWarpSize + lane < count) atomicAdd(&counts[quad[e]], 1u);
    }
  }
  /// Gives the labels to `count_label(label, how_often)`; neighbours with one label are counted together
  /// where most are.
  template <class CountLabel>
  __device__ void count_by(CountLabel&& count_label) const {
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
        if (present && own > 0) count_label(l, own);
      });
    }
  }
};

}  // namespace reduce_bench::BACKEND::partition_histogram
