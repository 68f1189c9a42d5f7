// partition/multireduce's first kernel and its launches.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/multireduce/partition/fold_partitions.hpp"
#include "kernels/multireduce/partition/near_labels.hpp"
#include "kernels/multireduce/partition/order_tile.hpp"
#include "kernels/multireduce/partition/runs.hpp"
#include "kernels/shared/cached_atomics.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Clears the results, the partitions' totals and the counter behind them: of partitions there are
/// no more than of buckets.
template <class T>
__global__ void clear_kernel(T* results, std::size_t n, T neutral, Count* totals, unsigned count) {
  fill_tile(results, n, neutral);
  fill_tile(totals, count, Count{0});
}

/// A block for every tile combines it at once where its labels are near, in runs, or sorted and far
/// apart, and else orders it.
template <class T, class Op>
__global__ void __launch_bounds__(Policy::kOrderBlock, Policy::kOrderBlocksPerSm)
    partition_tiles_kernel(const T* values, const Label* labels, std::size_t n, bool aligned,
                           Partitioning parts, Tiles<T> out, T* results) {
  let_next_launch_begin();
  const Tile<T> tile(values, labels, n, aligned, parts);
  tile.counters.clear(parts.count);
  if (threadIdx.x == 0) tile.starts[0] = 0;
  const auto leave_no_pieces = [&] {
    Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
    for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) offsets[p] = 0;
  };
  const Window ends = window_between_ends(labels + tile.first, tile.count);
  const Window around = window_around(ends, parts);
  wait_for_launch_before();  // which clears the results and totals
  if (labels_are_in(around, tile)) {
    leave_no_pieces();
    combine_in_window<Op>(ends, around, tile, results);
  } else if (is_in_runs(tile, parts)) {
    leave_no_pieces();
    combine_runs<Op>(tile, results);
  } else if (is_sparse(n, parts) && labels_are_in(ends, tile)) {
    leave_no_pieces();
    combine_sparse<Op>(tile, results);
  } else {
    order_tile<Op>(tile, parts, out);
  }
}

/// Shared memory of the first kernel's block.
inline std::size_t order_shared_bytes(const Partitioning& parts, std::size_t value_bytes) {
  return places_of(parts) * (value_bytes + sizeof(Short)) +
         (parts.count + 1 + RankCounters::size(parts.count)) * sizeof(Count);
}

/// Shared memory of a block of the second kernel, for its table alone.
inline std::size_t most_fold_bytes(const DeviceTraits& device) {
  return device.max_shared_bytes_per_block - ShareQueue::kBytes -
         starts_bytes(Policy::kMostPartitions);
}

struct Tuning {
  unsigned block = 0;  ///< threads that order a tile; 0: as many as have room for it
  bool always_partitioned =
      false;  ///< whether tiles are ordered where atomics would be faster, too
  /// Whether the operation sums f32, which takes atomics for more inputs than other operations do.
  bool float_sums = false;
};
template <class T, class Op>
inline constexpr bool kFloatSums = std::is_same_v<T, float> && std::is_same_v<Op, Sum>;
/// The default of an operator on a type.
template <class T, class Op>
Tuning tuning_for() {
  return {.float_sums = kFloatSums<T, Op>};
}

inline Partitioning partitioning(const Sizes& sizes, const Tuning& tuning) {
  unsigned most_bits = 16;
  while ((sizes.value_bytes << most_bits) > most_fold_bytes(sizes.device)) --most_bits;
  const unsigned bits = log2_ceil(std::max<std::size_t>(sizes.buckets, 1));
  const unsigned wanted =
      bits > Policy::kLog2WantedPartitions ? bits - Policy::kLog2WantedPartitions : 0u;
  const auto ordered_by = [&](unsigned block) {
    return divide(sizes, std::min(most_bits, std::max(Policy::kLeastBits, wanted)),
                  block * Policy::items(sizes.value_bytes));
  };
  if (tuning.block != 0) return ordered_by(tuning.block);
  const Partitioning parts = ordered_by(Policy::kOrderBlock);
  // With less shared memory than 9.0 has, a large tile may have no room beside many counters.
  return order_shared_bytes(parts, sizes.value_bytes) <= sizes.device.max_shared_bytes_per_block
             ? parts
             : ordered_by(Policy::kOrderBlock / 2);
}

/// Whether ordering tiles would take longer than atomics.
inline bool is_direct(const Sizes& sizes, const Tuning& tuning) {
  return !tuning.always_partitioned &&
         CachedAtomicsPolicy::serves_instead_of_partitions(sizes, tuning.float_sums);
}

/// Inputs, at most: their places are counted in 32 bits.
inline constexpr std::size_t kMostInputs = ~Count{0} - (1u << 16);
/// Whether the kernels take a problem.
inline bool serves(const Sizes& sizes, const Tuning& tuning) {
  if (is_direct(sizes, tuning)) return true;
  const Partitioning parts = partitioning(sizes, tuning);
  return sizes.n <= kMostInputs && parts.count <= Policy::kMostPartitions &&
         order_shared_bytes(parts, sizes.value_bytes) <= sizes.device.max_shared_bytes_per_block;
}

struct Layout {
  TilesLayout tiles;
  std::size_t bytes;
};
inline Layout layout(const Partitioning& parts, std::size_t value_bytes) {
  Layout at{};
  at.tiles = place_tiles(value_bytes, parts, places_of(parts), at.bytes);
  return at;
}

/// Every bucket has as many copies, up to one per lane, as fit beside each other and, but for updates
/// that queue, as a block has inputs for.
template <class T, class Op>
unsigned log2_copies_of(const Sizes& sizes, const Partitioning& parts) {
  const std::size_t inputs = sizes.n / sizes.device.sm_count;
  const auto is_good = [&](std::size_t slots) {
    return slots * sizeof(T) <= most_fold_bytes(sizes.device) &&
           (kQueues<T, Op> || slots * TablePolicy::kInputsPerSlot <= inputs);
  };
  unsigned log2_copies = 0;
  while (log2_copies < kLog2WarpSize && is_good(std::size_t{parts.width()} << (log2_copies + 1)))
    ++log2_copies;
  return log2_copies;
}

/// Whether float sums are in fixed point where a table would have so many copies.
inline bool is_fixed(unsigned log2_copies) {
  return log2_copies >= Policy::kLeastLog2FloatCopies &&
         log2_copies <= Policy::kMostLog2FloatCopies;
}

template <class T, class Op, TableKind kTable>
auto fold_kernel_for(unsigned inputs_of_a_piece) {
  constexpr unsigned kMostSteps = Policy::most_steps(sizeof(T), kTable == TableKind::kHot);
  if (inputs_of_a_piece >= Policy::kLongPiece)
    return fold_partitions_kernel<1, kMostSteps, T, Op, kTable>;
  if (inputs_of_a_piece >= Policy::kMediumPiece) return fold_partitions_kernel<1, 3, T, Op, kTable>;
  if (inputs_of_a_piece >= Policy::kShortPiece) return fold_partitions_kernel<2, 2, T, Op, kTable>;
  return fold_partitions_kernel<3, 1, T, Op, kTable>;
}

/// Puts the multireduce on the stream. The workspace has the layout's bytes.
template <class Op, class T>
void enqueue(const Arguments<T>& call, const Tuning& tuning) {
  constexpr T kNeutral = Op::template identity<T>();
  if (call.n() == 0) return enqueue_fill(call.stream, call.results, call.buckets(), kNeutral);
  if (is_direct(call.sizes, tuning)) return enqueue_cached_atomics<Op>(call);
  const DeviceTraits& device = call.sizes.device;
  const Partitioning parts = partitioning(call.sizes, tuning);
  const Tiles<T> tiles = layout(parts, sizeof(T)).tiles.in(call);
  launch(clear_kernel<T>,
         fill_shape(std::max<std::size_t>(call.buckets(), parts.count + 1), call.stream),
         call.results, call.buckets(), kNeutral, tiles.totals, parts.count + 1);
  LaunchShape order{parts.tiles, parts.tile / Tile<T>::kItems, order_shared_bytes(parts, sizeof(T)),
                    call.stream};
  order.overlapping = device.overlapping_launches;
  launch(partition_tiles_kernel<T, Op>, order, call.values, call.labels, call.n(), call.aligned(),
         parts, tiles, call.results);

  const std::size_t table_bytes = sizeof(T) * parts.width();
  const auto shape_of = [&](unsigned log2_copies) {
    LaunchShape shape{device.sm_count, std::min(Policy::kFoldBlock, device.max_threads_per_sm / 2),
                      ShareQueue::kBytes + (table_bytes << log2_copies) + starts_bytes(parts.count),
                      call.stream};
    shape.overlapping = device.overlapping_launches;
    return shape;
  };
  const auto fold = [&](auto kernel, const LaunchShape& shape, unsigned log2_copies) {
    launch(kernel, shape, tiles, call.n(), parts, log2_copies, call.buckets(), call.results);
  };
  const unsigned log2_copies = log2_copies_of<T, Op>(call.sizes, parts);
  const unsigned inputs_of_a_piece = parts.tile / parts.count;
  if constexpr (kFloatSums<T, Op>)
    if (is_fixed(log2_copies))
      return fold(fold_kernel_for<T, Op, TableKind::kFixed>(inputs_of_a_piece), shape_of(1), 1);
  LaunchShape shape = shape_of(log2_copies);
  if constexpr (kQueues<T, Op>) {
    shape.shared_bytes += HotTable<T, Op>::bytes();
    if (log2_copies <= Policy::kMostLog2HotCopies &&
        shape.shared_bytes <= device.max_shared_bytes_per_block)
      return fold(fold_kernel_for<T, Op, TableKind::kHot>(inputs_of_a_piece), shape, log2_copies);
    shape.shared_bytes -= HotTable<T, Op>::bytes();
  }
  fold(fold_kernel_for<T, Op, TableKind::kPrivate>(inputs_of_a_piece), shape, log2_copies);
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
