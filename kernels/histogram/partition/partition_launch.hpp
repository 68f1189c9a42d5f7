// partition/histogram's kernels and launch.
#pragma once

#include <algorithm>

#include "kernels/shared/arguments.hpp"
#include "kernels/shared/partitioning.hpp"
#include "kernels/shared/shares.hpp"
#include "kernels/shared/split_table.hpp"

namespace reduce_bench::BACKEND::partition_histogram {

/// Why: docs/kernels/partition-histogram.md
struct Policy {
  /// Labels of a tile that a thread holds: longer pieces against registers.
  static constexpr unsigned kItems = 32;
  /// Blocks of the first kernel have at most kOrderBlock threads, and kOrderBlocksPerSm are on an
  /// SM at once: the registers of a thread follow.
  static constexpr unsigned kOrderBlock = 512;
  static constexpr unsigned kOrderBlocksPerSm = 2;
  /// Threads of a block where SMs would have fewer than kLeastTilesPerSm tiles of larger ones.
  static constexpr unsigned kSmallBlock = 256;
  static constexpr unsigned kLeastTilesPerSm = 1;

  /// Partitions are wanted as few as have room: the fewer, the longer the pieces of a tile.
  static constexpr unsigned kLog2WantedPartitions = 6;
  static constexpr unsigned kMostPartitions = 512;
  /// A partition of fewer bins than 2^kLeastBits would cost more to begin than to fill; labels of
  /// 2^kMostBits bins and what fills the pieces up take 16 bits.
  static constexpr unsigned kLeastBits = 6, kMostBits = 15;
  /// Copies of a partition's counter in an ordered tile, and counters in all, at most.
  static constexpr unsigned kLog2MostCopies = 3, kMostCounters = 2048;

  /// Near labels: the table that a tile is counted in has two bins for every kInputsPerReach
  /// labels, and lies where the ordered tile would.
  static constexpr unsigned kInputsPerReach = 4;
  /// The table of a sorted tile has only the bins between its ends, in 2^kLog2LeastNearCopies to
  /// one copy for each lane, where these fit into that room.
  static constexpr unsigned kLog2LeastNearCopies = 4;
  /// Runs: quads of four neighbours, of a thread's kItems / kQuad, that must have one label each,
  /// and quarters of a block's threads that must have as many.
  static constexpr unsigned kQuadsInRuns = 6, kQuartersInRuns = 3;

  /// Threads of the second kernel's block, at most.
  static constexpr unsigned kFoldBlock = 1024;
  /// Lanes of the second kernel that walk through a piece together, an octet each.
  static constexpr unsigned kWalkers = 8;
  /// Octets that a lane of the second kernel has in flight, by the mean labels of a piece: 4 of one
  /// piece from kLongPiece on, 2 of each of two from kMediumPiece on, else 1 of each of four.
  static constexpr unsigned kLongPiece = 224, kMediumPiece = 96;
};

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
  Count* totals;  ///< labels of every partition in all ordered tiles
};

// The kernels are templates because several translation units define them.

/// Clears the counts, and the partitions' totals: there are no more of these than of bins.
template <class = void>
__global__ void clear_kernel(Count* counts, std::size_t n, Count* totals, unsigned partitions) {
  fill_tile(counts, n, 0);
  fill_tile(totals, partitions, 0);
}

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

/// The shared memory of a block of the first kernel.
struct OrderMemory {
  Short* labels;    ///< [place]
  Count* counters;  ///< [partition][copy]
  Count* starts;    ///< of every partition, and the end of the last, in octets

  __device__ OrderMemory(const Partitioning& parts, unsigned log2_copies)
      : labels(dynamic_shared<Short>()),
        counters(reinterpret_cast<Count*>(labels + places_of(parts))),
        starts(counters + (parts.count << log2_copies)) {}
};

/// Orders a whole tile and stores it as tile blockIdx.x of `out`. The counters must be zero, behind
/// a barrier.
__device__ inline void order_tile(const Tile& tile, const OrderMemory& memory,
                                  const Partitioning& parts, unsigned log2_copies,
                                  const OrderedTiles& out) {
  const unsigned copies = 1u << log2_copies, copy = threadIdx.x & (copies - 1);
  const auto counter_of = [&](Label label) -> Count& {
    return memory.counters[(label >> parts.shift << log2_copies) + copy];
  };
  // The ranks of two items share a register, 16 bits each.
  unsigned ranks[Policy::kItems / 2];
#pragma unroll
  for (unsigned j = 0; j < Policy::kItems; j += 2) {
    const Count rank = atomicAdd(&counter_of(tile.label[j]), 1u);
    ranks[j / 2] = rank | atomicAdd(&counter_of(tile.label[j + 1]), 1u) << 16;
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    Count total = 0;
    for (unsigned c = 0; c < copies; ++c) {
      Count& counter = memory.counters[(p << log2_copies) + c];
      const Count own = counter;
      counter = total;
      total += own;
    }
    memory.starts[p] = static_cast<Count>(ceil_div(total, kOctet));
    if (total > 0) atomicAdd(&out.totals[p], total);
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const Count all = warp_exclusive_sums(memory.starts, parts.count);
    if (threadIdx.x == 0) memory.starts[parts.count] = all;
  }
  __syncthreads();
  // The last octet of every partition is filled, all but its first place, which a label always
  // takes. Labels then overwrite what they need.
  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) {
    const Count start = memory.starts[p];
    offsets[p] = static_cast<Short>(start);
    if (p == parts.count || start == memory.starts[p + 1]) continue;
    for (unsigned c = 0; c < copies; ++c) memory.counters[(p << log2_copies) + c] += start * kOctet;
    for (unsigned e = 1; e < kOctet; ++e)
      memory.labels[memory.starts[p + 1] * kOctet - e] = static_cast<Short>(parts.width() + e);
  }
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < Policy::kItems; ++j) {
    const unsigned rank = ranks[j / 2] >> (16 * (j % 2)) & 0xffff;
    memory.labels[counter_of(tile.label[j]) + rank] =
        static_cast<Short>(tile.label[j] & (parts.width() - 1));
  }
  __syncthreads();
  store_tile(memory.labels, out.labels + std::size_t{blockIdx.x} * places_of(parts),
             memory.starts[parts.count] * kOctet, blockDim.x);
}

/// A block for every tile counts it at once where its labels are near or in runs, or where it is
/// not whole, and else orders it.
template <class = void>
__global__ void __launch_bounds__(Policy::kOrderBlock, Policy::kOrderBlocksPerSm)
    order_tiles_kernel(const Label* labels, std::size_t n, bool aligned, Partitioning parts,
                       unsigned log2_copies, OrderedTiles out, Count* counts) {
  const Tile tile(labels, n, aligned, parts);
  const OrderMemory memory(parts, log2_copies);
  for (unsigned i = threadIdx.x; i < parts.count << log2_copies; i += blockDim.x)
    memory.counters[i] = 0;

  // Around the tile's first label and last.
  const unsigned reach = parts.tile / Policy::kInputsPerReach, width = 2 * reach;
  const Label one_end = labels[tile.first], other_end = labels[tile.first + tile.count - 1];
  const Label low_end = one_end < other_end ? one_end : other_end;
  const Label low = low_end < reach / 2 ? 0 : low_end - reach / 2;
  const bool near = tile.is_in(low, width);
  if (!near && tile.count == parts.tile && !tile.is_in_runs())
    return order_tile(tile, memory, parts, log2_copies, out);

  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) offsets[p] = 0;
  if (!near) return tile.count_in([&](Label label) { return &counts[label]; });
  auto* table = reinterpret_cast<Count*>(memory.labels);
  // Between its ends lie all labels of a sorted tile.
  const unsigned between = (one_end < other_end ? other_end : one_end) - low_end + 1;
  if (between << Policy::kLog2LeastNearCopies <= width && tile.is_in(low_end, between)) {
    unsigned log2_near_copies = Policy::kLog2LeastNearCopies;
    while (log2_near_copies < kLog2WarpSize && between << (log2_near_copies + 1) <= width)
      ++log2_near_copies;
    const PrivateTable<Count, Sum> copies{table, between, log2_near_copies};
    copies.clear();
    if (log2_near_copies == kLog2WarpSize) tile.count_in(copies, low_end);
    else tile.count_in([&](Label label) { return &table[copies.slot_of(label - low_end)]; });
    return copies.add_to(counts + low_end);
  }
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x) table[i] = 0;
  __syncthreads();
  tile.count_in([&](Label label) { return &table[label - low]; });
  __syncthreads();
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
    if (table[i] > 0) atomicAdd(&counts[low + i], table[i]);
}

/// Counts the pieces of partition p in the tiles [first, last). A team of kWalkers lanes walks
/// through the pieces in kPieces tiles at a time, one for every team of the block apart.
template <unsigned kPieces, unsigned kSteps>
__device__ void count_pieces(const PrivateTable<Count, Sum>& table, const OrderedTiles& in,
                             const Partitioning& parts, unsigned p, unsigned first, unsigned last) {
  constexpr unsigned kWalkers = Policy::kWalkers;
  const unsigned team = threadIdx.x / kWalkers, walker = threadIdx.x % kWalkers;
  const unsigned teams = blockDim.x / kWalkers, octets_per_tile = places_of(parts) / kOctet;
  const auto* octets = reinterpret_cast<const Octet*>(in.labels);
  unsigned next_begin[kPieces], next_end[kPieces];
  const auto load_bounds = [&](unsigned tile) {
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      next_begin[k] = next_end[k] = 0;
      if (tile + k * teams >= last) continue;
      const Short* bounds = in.offsets + parts.offsets_at(tile + k * teams) + p;
      next_begin[k] = bounds[0];
      next_end[k] = bounds[1];
    }
  };
  load_bounds(first + team);
  // All teams of a warp go on together.
  for (unsigned base = first; base + team / (kWarpSize / kWalkers) * (kWarpSize / kWalkers) < last;
       base += kPieces * teams) {
    std::size_t at[kPieces], end[kPieces];
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      const std::size_t begin = std::size_t{base + team + k * teams} * octets_per_tile;
      at[k] = begin + next_begin[k] + walker;
      end[k] = begin + next_end[k];
    }
    load_bounds(base + team + kPieces * teams);  // on their way while these pieces are counted
    for (bool more = true; more;) {
      Octet labels[kPieces][kSteps];
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u)
          if (at[k] + u * kWalkers < end[k]) labels[k][u] = octets[at[k] + u * kWalkers];
      }
      more = false;
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u) {
          if (at[k] + u * kWalkers >= end[k]) continue;
#pragma unroll
          for (const Short label : labels[k][u].at) table.add(label, 1);
        }
        at[k] += kSteps * kWalkers;
        more = more || at[k] < end[k];
      }
      more = __any_sync(kAllLanes, more);
    }
  }
}

template <unsigned kPieces, unsigned kSteps>
__global__ void __launch_bounds__(Policy::kFoldBlock)
    count_partitions_kernel(OrderedTiles in, std::size_t n, Partitioning parts, std::size_t buckets,
                            Count* counts) {
  auto* slots = dynamic_shared<Count>();
  auto* starts = slots + table_size(parts);
  divide_into_shares(in.totals, n, parts.count, table_size(parts), starts);
  for (Count share = blockIdx.x; share < starts[parts.count]; share += gridDim.x) {
    const unsigned p = partition_of(share, starts, parts.count);
    const Count shares = starts[p + 1] - starts[p], own = share - starts[p];
    const std::size_t first_bin = parts.first_label(p), left = buckets - first_bin;
    // What lies beyond the bins is counted, too, and never read.
    const PrivateTable<Count, Sum> table{
        slots, static_cast<unsigned>(left < parts.width() ? left : parts.width()), 0};
    table.clear();
    const auto tile_at = [&](Count share_of) {
      return static_cast<unsigned>(std::size_t{parts.tiles} * share_of / shares);
    };
    count_pieces<kPieces, kSteps>(table, in, parts, p, tile_at(own), tile_at(own + 1));
    table.add_to(counts + first_bin);
    __syncthreads();
  }
}

/// Threads that order a tile; 0: by the number of labels.
struct Tuning {
  unsigned block = 0;
};

inline unsigned block_of(const Sizes& sizes, const Tuning& tuning) {
  if (tuning.block != 0) return tuning.block;
  const std::size_t tile = std::size_t{Policy::kOrderBlock} * Policy::kItems;
  return sizes.n < tile * Policy::kLeastTilesPerSm * sizes.device.sm_count ? Policy::kSmallBlock
                                                                           : Policy::kOrderBlock;
}

inline Partitioning partitioning(const Sizes& sizes, const Tuning& tuning) {
  const std::size_t most_bytes =
      sizes.device.max_shared_bytes_per_block - starts_bytes(Policy::kMostPartitions);
  const auto table_bytes = [](unsigned bits) {
    return table_size({.shift = bits}) * sizeof(Count);
  };
  unsigned most_bits = Policy::kMostBits;
  while (table_bytes(most_bits) > most_bytes) --most_bits;
  const unsigned bits = log2_ceil(std::max<std::size_t>(sizes.buckets, 1));
  const unsigned wanted =
      bits > Policy::kLog2WantedPartitions ? bits - Policy::kLog2WantedPartitions : 0u;
  return divide(sizes, std::min(most_bits, std::max(Policy::kLeastBits, wanted)),
                block_of(sizes, tuning) * Policy::kItems);
}

/// Labels, at most: those of a partition are counted in 32 bits.
inline constexpr std::size_t kMostInputs = ~Count{0} - (1u << 16);
/// Whether the kernels take a problem.
inline bool serves(const Sizes& sizes, const Tuning& tuning) {
  return sizes.n <= kMostInputs && partitioning(sizes, tuning).count <= Policy::kMostPartitions;
}

inline unsigned log2_copies_of(const Partitioning& parts) {
  unsigned log2_copies = 0;
  while (log2_copies < Policy::kLog2MostCopies &&
         parts.count << (log2_copies + 1) <= Policy::kMostCounters)
    ++log2_copies;
  return log2_copies;
}

struct Layout {
  std::size_t labels, offsets, totals, bytes;
};
inline Layout layout(const Partitioning& parts) {
  Layout at{};
  at.labels = place_array(at.bytes, std::size_t{parts.tiles} * places_of(parts) * sizeof(Short));
  at.offsets = place_array(at.bytes, parts.offsets_at(parts.tiles) * sizeof(Short));
  at.totals = place_array(at.bytes, parts.count * sizeof(Count));
  return at;
}

inline auto count_kernel_for(unsigned labels_of_a_piece) {
  if (labels_of_a_piece >= Policy::kLongPiece) return count_partitions_kernel<1, 4>;
  if (labels_of_a_piece >= Policy::kMediumPiece) return count_partitions_kernel<2, 2>;
  return count_partitions_kernel<4, 1>;
}

/// Puts the histogram on the stream. The workspace has the layout's bytes.
inline void enqueue(const Arguments<Count>& call, const Tuning& tuning) {
  if (call.n() == 0) return enqueue_fill(call.stream, call.results, call.buckets(), 0);
  const DeviceTraits& device = call.sizes.device;
  const Partitioning parts = partitioning(call.sizes, tuning);
  const Layout at = layout(parts);
  const OrderedTiles tiles{.labels = call.scratch<Short>(at.labels),
                           .offsets = call.scratch<Short>(at.offsets),
                           .totals = call.scratch<Count>(at.totals)};
  launch(clear_kernel<>,
         fill_shape(std::max<std::size_t>(call.buckets(), parts.count), call.stream), call.results,
         call.buckets(), tiles.totals, parts.count);
  const unsigned log2_copies = log2_copies_of(parts);
  const std::size_t order_bytes = places_of(parts) * sizeof(Short) +
                                  ((parts.count << log2_copies) + parts.count + 1) * sizeof(Count);
  launch(order_tiles_kernel<>, {parts.tiles, parts.tile / Policy::kItems, order_bytes, call.stream},
         call.labels, call.n(), call.aligned(), parts, log2_copies, tiles, call.results);
  launch(count_kernel_for(parts.tile / parts.count),
         {device.sm_count, std::min(Policy::kFoldBlock, device.max_threads_per_sm / 2),
          table_size(parts) * sizeof(Count) + starts_bytes(parts.count), call.stream},
         tiles, call.n(), parts, call.buckets(), call.results);
}

}  // namespace reduce_bench::BACKEND::partition_histogram
