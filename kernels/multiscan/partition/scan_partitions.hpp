// partition/multiscan's kernels and launches.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/shared/look_back.hpp"
#include "kernels/shared/stable_tiles.hpp"

namespace reduce_bench::BACKEND::partition_multiscan {

using namespace stable_tiles;

/// Chosen on an H200 (docs/kernels/partition-multiscan.md), beside StableTilesPolicy.
struct Policy90 {
  /// Partitions have 2^kFewBits buckets where these make at most 2^kLog2FewPartitions of them, which
  /// then cost little, and there are kManyInputs or more, whose states take less.
  static constexpr unsigned kFewBits = 8, kLog2FewPartitions = 8;
  static constexpr std::size_t kManyInputs = std::size_t{1} << 24;
};
using Policy = ByCapability<Row<90, Policy90>>;

/// A block for every chunk scans it in place.
template <class T, class Op, bool kTurns>
__global__ void __launch_bounds__(kThreads, TilePolicy::kThreadsPerSm / kThreads)
    scan_chunks_kernel(Partitioning parts, unsigned turns, bool inclusive, States all_states,
                       Ledger* ledger, Tiles<T> tiles, Chunks chunks) {
  let_next_launch_begin();
  const LabelSets<T> sets{dynamic_shared<T>(), parts.width(), turns};
  auto* ticket = reinterpret_cast<unsigned*>(sets.slots + sets.count() * sets.row());
  const Pieces pieces(ticket + 2);
  if (threadIdx.x == 0) {
    ticket[0] = ledger->take_tile();
    ticket[1] = ledger->launch_number();
  }
  sets.template clear<Op>();
  pieces.clear();
  wait_for_launch_before();
  __syncthreads();
  const unsigned number = ticket[0];
  if (number < chunks.firsts[parts.count]) {
    const Chunk chunk = chunks.list[number];
    const ChunkRange range = chunks.range_of(number, chunk, tiles.totals);
    const unsigned count = range.count();
    pieces.find(chunk, count, parts, tiles.offsets);
    __syncthreads();
    Items<Label> label;
    Items<T> items;
    pieces.load<Op>(count, parts, tiles, label, items);
    constexpr unsigned of_warp =
        kWarpSize * TilePolicy::kItems;  // inputs, as place_in_tile has them
    const Link link{.tile = number,
                    .first = range.first(),
                    .last = range.last(),
                    .sets = (count + of_warp * turns - 1) / (of_warp * turns)};
    scan_tile<kTurns, Op>(sets, all_states.of_launch(ticket[1]), link, inclusive, label, items);
#pragma unroll
    for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
      const unsigned input = place_in_tile(j);
      if (input < count) tiles.values[pieces.address(input)] = items[j];
    }
  }
  if (threadIdx.x == 0) ledger->leave();
}

/// Puts every tile back into the order of the input.
template <class T>
__global__ void __launch_bounds__(kThreads)
    restore_tiles_kernel(const T* ordered, const Short* places, std::size_t n, T* results) {
  wait_for_launch_before();
  T* tile = dynamic_shared<T>();
  const std::size_t first = std::size_t{blockIdx.x} * kTile;
  const auto* vectors = reinterpret_cast<const Vector16<T>*>(ordered + first);
  for (unsigned i = threadIdx.x; i < kTile / Vector16<T>::kCount; i += kThreads)
    reinterpret_cast<Vector16<T>*>(tile)[i] = vectors[i];
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
    const std::size_t i = first + place_in_tile(j);
    if (i < n) results[i] = tile[places[i]];
  }
}

/// What `tuning` asks, or else what the policy advises.
inline Tuning tuning_for(const Sizes& sizes, Tuning tuning = {}) {
  const unsigned bits = log2_ceil(std::max<std::size_t>(sizes.buckets, 1));
  if (!tuning.least_bits && sizes.n >= Policy::kManyInputs &&
      bits <= Policy::kFewBits + Policy::kLog2FewPartitions)
    tuning.least_bits = Policy::kFewBits;
  return tuning;
}

inline constexpr std::size_t kTicketBytes = 2 * sizeof(unsigned);
inline constexpr std::size_t kChunkBytes = kTicketBytes + Pieces::kBytes;

inline std::size_t all_states_bytes(const Sizes& sizes, const Tuning& tuning) {
  const Partitioning parts = partitioning(sizes, tuning);
  return states_bytes(most_chunks(parts), parts.width(), sizes.value_bytes);
}
inline bool serves(const Sizes& sizes, const Tuning& tuning) {
  return stable_tiles::serves(sizes, tuning, kChunkBytes);
}
/// The first bytes of the workspace: zero before the first call; then the next one of the same sizes
/// takes them as they are.
inline std::size_t zeroed_bytes(const Sizes& sizes, const Tuning& tuning) {
  return kLedgerBytes + all_states_bytes(sizes, tuning);
}

inline StableLayout layout(const Sizes& sizes, const Tuning& tuning) {
  return stable_layout(sizes, tuning, zeroed_bytes(sizes, tuning), true);
}

/// Puts the multiscan on the stream.
template <class Op, class T>
void enqueue(const Arguments<T>& call, bool inclusive, const Tuning& tuning) {
  if (call.n() == 0) return;
  const Partitioning parts = partitioning(call.sizes, tuning);
  const StableLayout at = layout(call.sizes, tuning);
  const Tiles<T> tiles = at.tiles.in(call);
  enqueue_order_tiles<true>(call, parts, at);
  const unsigned turns =
      turns_of(parts.width(), kThreads, sizeof(T), kChunkBytes, call.sizes.device);
  const std::size_t chunks = most_chunks(parts);
  launch(turns > 1 ? scan_chunks_kernel<T, Op, true> : scan_chunks_kernel<T, Op, false>,
         overlapping(
             {static_cast<unsigned>(chunks), kThreads,
              sets_bytes(parts.width(), kThreads, turns, sizeof(T)) + kChunkBytes, call.stream},
             call.sizes.device),
         parts, turns, inclusive, states_in(call, chunks, parts.width()),
         call.template scratch<Ledger>(), tiles, at.chunks_in(call));
  launch(restore_tiles_kernel<T>,
         overlapping({parts.tiles, kThreads, kTile * sizeof(T), call.stream}, call.sizes.device),
         tiles.values, at.places_in(call), call.n(), call.results);
}

}  // namespace reduce_bench::BACKEND::partition_multiscan
