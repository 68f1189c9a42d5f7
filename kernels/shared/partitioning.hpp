// Buckets divided into ranges (partitions) that fit into shared memory, and tiles of inputs ordered
// by partition: what the partition variants share.
#pragma once

#include <cstdint>

#include "kernels/shared/arguments.hpp"
#include "kernels/shared/ops.hpp"
#include "kernels/shared/radix_sort.hpp"
#include "kernels/shared/vector16.hpp"

namespace reduce_bench::BACKEND {

/// A label within its partition; a place within an ordered tile.
using Short = std::uint16_t;

/// How the buckets are divided into partitions, and the inputs into tiles.
struct Partitioning {
  unsigned shift = 0;  ///< partition p has the labels l with l >> shift == p
  unsigned count = 0;  ///< partitions
  unsigned tile = 0;   ///< inputs; the last tile may have fewer
  unsigned tiles = 0;

  /// Labels of a partition; the last may have fewer.
  __host__ __device__ unsigned width() const { return 1u << shift; }
  __host__ __device__ std::size_t first_label(unsigned partition) const {
    return std::size_t{partition} << shift;
  }
  /// Where the count + 1 bounds of a tile's partitions begin in Tiles::offsets.
  __host__ __device__ std::size_t offsets_at(unsigned number) const {
    return std::size_t{number} * (count + 1);
  }
};

/// Whether sorted labels may be so far apart that a tile's are not near: a tile's table reaches
/// over 3/8 of its number of inputs at least, above the lower end. As one partition has all of such
/// a tile, few lanes would walk through its long piece. (CachedAtomicsPolicy asks for fewer
/// inputs.)
__device__ inline bool is_sparse(std::size_t n, const Partitioning& parts) {
  constexpr std::size_t kMostPerBucket = 4;
  return n < kMostPerBucket * parts.count << parts.shift;
}

/// Labels that lie side by side.
struct Window {
  Label first;
  unsigned width;
};

/// From the label at one end of `count` inputs to that at the other: nearly all of sorted ones. An end is
/// the middle one of three neighbours', so that one label astray does not move it.
__device__ inline Window window_between_ends(const Label* labels, std::size_t count) {
  const auto middle_of_three = [](Label a, Label b, Label c) {
    return Max::combine(Min::combine(a, b), Min::combine(Max::combine(a, b), c));
  };
  const std::size_t last = count - 1, second = last < 1 ? last : 1, third = last < 2 ? last : 2;
  const Label one = middle_of_three(labels[0], labels[second], labels[third]);
  const Label other = middle_of_three(labels[last], labels[last - second], labels[last - third]);
  const Label low = Min::combine(one, other);
  return {low, Max::combine(one, other) - low + 1};
}

/// The ordered tiles, in which the inputs of one partition are neighbours. `offsets` has for every
/// tile the bounds of its partitions: partition p lies from number p to number p + 1.
template <class T>
struct Tiles {
  T* values;
  Short* labels;  ///< within their partitions
  Short* offsets;
  Count* totals;  ///< inputs of every partition in all tiles; behind them ShareQueue::taken
};

/// Whether the tile that this thread samples, of [first, last), has inputs of partition p.
__device__ inline bool samples_a_piece(const Short* offsets, const Partitioning& parts, unsigned p,
                                       unsigned first, unsigned last) {
  if (first == last) return false;
  const auto tile =
      first + static_cast<unsigned>(std::size_t{last - first} * threadIdx.x / blockDim.x);
  const Short* bounds = offsets + parts.offsets_at(tile) + p;
  return bounds[0] != bounds[1];
}
/// Lanes go through a piece together, the fewest, as a power of two, that can make more loads than a
/// piece has on average when each makes `steps` at a time: of short pieces a warp has the more in flight
/// then. This is the logarithm of their number. A partition has `loads` loads in all tiles, of which
/// those have any that are like the `present` ones of a sample by every thread of the block.
__device__ inline unsigned log2_walkers_for(std::size_t loads, unsigned tiles, unsigned present,
                                            unsigned steps, unsigned log2_most) {
  const std::size_t pieces = std::size_t{tiles} * present / blockDim.x;
  unsigned log2 = log2_most;
  while (log2 > 0 && (std::size_t{steps} << (log2 - 1)) * pieces > loads) --log2;
  return log2;
}

/// Which of the block's tiles a team takes in the next round: those of the next warp. Were they the same
/// in every round, one warp would have all pieces of a partition that as many tiles have as a round has,
/// or a part of that: labels that go through all buckets again and again.
__device__ inline unsigned team_of_next_round(unsigned team, unsigned log2_walkers) {
  const unsigned teams = blockDim.x >> log2_walkers, next = team + (kWarpSize >> log2_walkers);
  return next < teams ? next : next - teams;
}

/// Hands a warp's neighbours out anew: lane l has had numbers kSteps * l and up, and gets number
/// kWarpSize * k + l in step k. Where labels are sorted, the warp's atomics of a step then lie in a
/// kSteps-th of the sectors. `memory` has room for all numbers; all lanes must call.
template <class U, unsigned kSteps>
__device__ void spread_over_lanes(U* memory, const U (&own)[kSteps], U (&spread)[kSteps]) {
  const unsigned lane = threadIdx.x % kWarpSize;
#pragma unroll
  for (unsigned e = 0; e < kSteps; ++e) memory[kSteps * lane + e] = own[e];
  __syncwarp();
#pragma unroll
  for (unsigned k = 0; k < kSteps; ++k) spread[k] = memory[kWarpSize * k + lane];
  __syncwarp();  // the memory may be used anew
}

/// Stores `count` elements of a tile from shared memory, sixteen bytes at a time. Both arrays begin
/// at a multiple of 16 bytes, and `count` is a multiple of Vector16<U>::kCount.
template <class U>
__device__ void store_tile(const U* from, U* to, unsigned count, unsigned threads) {
  const auto* vectors = reinterpret_cast<const Vector16<U>*>(from);
  for (unsigned i = threadIdx.x; i < count / Vector16<U>::kCount; i += threads)
    reinterpret_cast<Vector16<U>*>(to)[i] = vectors[i];
}

// ---- host --------------------------------------------------------------------------------------

/// Partitions of 2^shift buckets and tiles of `tile` inputs.
inline Partitioning divide(const Sizes& sizes, unsigned shift, unsigned tile) {
  return {.shift = shift,
          .count = static_cast<unsigned>(ceil_div(sizes.buckets, std::size_t{1} << shift)),
          .tile = tile,
          .tiles = static_cast<unsigned>(ceil_div(sizes.n, tile))};
}

/// Places an array of `bytes` behind the `end` of a workspace, which it moves, and returns where it
/// begins.
inline std::size_t place_array(std::size_t& end, std::size_t bytes) {
  const std::size_t begin = RadixSort::aligned(end);
  end = begin + bytes;
  return begin;
}

/// Where the arrays of Tiles begin in the workspace.
struct TilesLayout {
  std::size_t values, labels, offsets, totals;

  template <class T>
  Tiles<T> in(const Arguments<T>& call) const {
    return {.values = call.scratch(values),
            .labels = call.template scratch<Short>(labels),
            .offsets = call.template scratch<Short>(offsets),
            .totals = call.template scratch<Count>(totals)};
  }
  std::size_t values_bytes() const { return labels - values; }
  std::size_t labels_bytes() const { return offsets - labels; }
  std::size_t offsets_bytes() const { return totals - offsets; }
};
/// Behind the `end` of a workspace, which it moves; `places` is the room of an ordered tile.
inline TilesLayout place_tiles(std::size_t value_bytes, const Partitioning& parts,
                               std::size_t places, std::size_t& end) {
  const std::size_t all = parts.tiles * places;
  TilesLayout at{};
  at.values = place_array(end, all * value_bytes);
  at.labels = place_array(end, all * sizeof(Short));
  at.offsets = place_array(end, parts.offsets_at(parts.tiles) * sizeof(Short));
  at.totals = place_array(end, (parts.count + 1) * sizeof(Count));
  return at;
}

}  // namespace reduce_bench::BACKEND
