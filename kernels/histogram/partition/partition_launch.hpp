// partition/histogram's first kernel and its launches.
#pragma once

#include <algorithm>

#include "kernels/histogram/partition/count_partitions.hpp"
#include "kernels/histogram/partition/order_tile.hpp"
#include "kernels/shared/cached_atomics.hpp"

namespace reduce_bench::BACKEND::partition_histogram {

// The kernels are templates because several translation units define them.

/// Clears the counts, the partitions' totals and the counter behind them: of partitions there are no
/// more than of bins.
template <class = void>
__global__ void clear_kernel(Count* counts, std::size_t n, Count* totals, unsigned count) {
  fill_tile(counts, n, 0);
  fill_tile(totals, count, 0);
}

/// A block for every tile counts it at once where its labels are near, in runs, or sorted and far
/// apart, or where it is not whole, and else orders it.
template <class = void>
__global__ void __launch_bounds__(Policy::kOrderBlock, Policy::kOrderBlocksPerSm)
    order_tiles_kernel(const Label* labels, std::size_t n, bool aligned, Partitioning parts,
                       unsigned log2_copies, OrderedTiles out, Count* counts) {
  let_next_launch_begin();
  const Tile tile(labels, n, aligned, parts);
  const OrderMemory memory(parts, log2_copies);
  for (unsigned i = threadIdx.x; i < parts.count << log2_copies; i += blockDim.x)
    memory.counters[i] = 0;

  const unsigned reach = parts.tile / Policy::kInputsPerReach, width = 2 * reach;
  const Window ends = window_between_ends(labels + tile.first, tile.count);
  const Label low = ends.first < reach / 2 ? 0 : ends.first - reach / 2;
  wait_for_launch_before();  // which clears the counts and totals
  // Whether labels are sorted is asked first, so that tiles of those need no second vote.
  const bool sorted =
      ends.width << Policy::kLog2LeastNearCopies <= width && tile.is_in(ends.first, ends.width);
  const bool near = sorted || tile.is_in(low, width);
  const bool together = near || tile.count < parts.tile || tile.is_in_runs();
  const bool sparse = !together && is_sparse(n, parts) && tile.is_in(ends.first, ends.width);
  if (!together && !sparse) return order_tile(tile, memory, parts, log2_copies, out);

  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) offsets[p] = 0;
  if (sparse) return tile.count_sparse(reinterpret_cast<Label*>(memory.labels), counts);
  if (!near) return tile.count_by([&](Label label, Count own) { atomicAdd(&counts[label], own); });
  auto* table = reinterpret_cast<Count*>(memory.labels);
  if (sorted) {
    unsigned log2_near_copies = Policy::kLog2LeastNearCopies;
    while (log2_near_copies < kLog2WarpSize && ends.width << (log2_near_copies + 1) <= width)
      ++log2_near_copies;
    const PrivateTable<Count, Sum> copies{table, ends.width, log2_near_copies};
    copies.clear();
    if (log2_near_copies == kLog2WarpSize) tile.count_in(copies, ends.first, counts);
    else
      tile.count_by([&](Label label, Count own) {
        if (label - ends.first < ends.width) copies.add(label - ends.first, own);
        else atomicAdd(&counts[label], own);
      });
    return copies.add_to(counts + ends.first);
  }
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x) table[i] = 0;
  __syncthreads();
  tile.count_by([&](Label label, Count own) {
    if (label - low < width) atomicAdd(&table[label - low], own);
    else atomicAdd(&counts[label], own);
  });
  __syncthreads();
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
    if (table[i] > 0) atomicAdd(&counts[low + i], table[i]);
}

struct Tuning {
  unsigned block = 0;  ///< threads that order a tile; 0: by the number of labels
  bool always_partitioned =
      false;  ///< whether tiles are ordered where atomics would be faster, too
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

/// Whether ordering tiles would take longer than atomics.
inline bool is_direct(const Sizes& sizes, const Tuning& tuning) {
  return !tuning.always_partitioned && CachedAtomicsPolicy::serves(sizes.n, sizes.buckets);
}

/// Labels, at most: those of a partition are counted in 32 bits.
inline constexpr std::size_t kMostInputs = ~Count{0} - (1u << 16);
/// Whether the kernels take a problem.
inline bool serves(const Sizes& sizes, const Tuning& tuning) {
  if (is_direct(sizes, tuning)) return true;
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
  at.totals = place_array(at.bytes, (parts.count + 1) * sizeof(Count));
  return at;
}

inline auto count_kernel_for(unsigned labels_of_a_piece) {
  if (labels_of_a_piece >= Policy::kLongPiece) return count_partitions_kernel<1, 4>;
  if (labels_of_a_piece >= Policy::kMediumPiece) return count_partitions_kernel<2, 2>;
  return count_partitions_kernel<4, 1>;
}

/// The division of an SM's L1 that all launches have in common, if what the first kernel needs does for
/// the second: to divide it anew, an SM must be idle, and the launches do not overlap.
inline unsigned shared_percent_of(const LaunchShape& order, const LaunchShape& count,
                                  const DeviceTraits& device) {
  if (!device.overlapping_launches) return 0;
  const std::size_t blocks = Policy::kOrderBlocksPerSm * Policy::kOrderBlock / order.block.x;
  const unsigned percent = shared_percent_for(device, blocks, order.shared_bytes);
  return percent < shared_percent_for(device, 1, count.shared_bytes) ? 0 : percent;
}

/// Puts the histogram on the stream. The workspace has the layout's bytes, none if it is direct.
inline void enqueue(const Arguments<Count>& call, const Tuning& tuning) {
  if (call.n() == 0) return enqueue_fill(call.stream, call.results, call.buckets(), 0);
  if (is_direct(call.sizes, tuning)) return enqueue_cached_atomics<Sum, true>(call);
  const DeviceTraits& device = call.sizes.device;
  const Partitioning parts = partitioning(call.sizes, tuning);
  const Layout at = layout(parts);
  const OrderedTiles tiles{.labels = call.scratch<Short>(at.labels),
                           .offsets = call.scratch<Short>(at.offsets),
                           .totals = call.scratch<Count>(at.totals)};
  LaunchShape clear =
      fill_shape(std::max<std::size_t>(call.buckets(), parts.count + 1), call.stream);
  const unsigned log2_copies = log2_copies_of(parts);
  const std::size_t order_bytes = places_of(parts) * sizeof(Short) +
                                  ((parts.count << log2_copies) + parts.count + 1) * sizeof(Count);
  LaunchShape order{parts.tiles, parts.tile / Policy::kItems, order_bytes, call.stream};
  order.overlapping = device.overlapping_launches;
  LaunchShape count{device.sm_count, std::min(Policy::kFoldBlock, device.max_threads_per_sm / 2),
                    table_size(parts) * sizeof(Count) + starts_bytes(parts.count), call.stream};
  count.overlapping = order.overlapping;
  clear.shared_percent = order.shared_percent = count.shared_percent =
      shared_percent_of(order, count, device);
  launch(clear_kernel<>, clear, call.results, call.buckets(), tiles.totals, parts.count + 1);
  launch(order_tiles_kernel<>, order, call.labels, call.n(), call.aligned(), parts, log2_copies,
         tiles, call.results);
  launch(count_kernel_for(parts.tile / parts.count), count, tiles, call.n(), parts, call.buckets(),
         call.results);
}

}  // namespace reduce_bench::BACKEND::partition_histogram
