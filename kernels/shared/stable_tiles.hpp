// The first steps of partition/multiscan and partition/multireduce-ordered: tiles are ordered by
// partition, stably, and what a partition has in all tiles is cut into chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/label_sets.hpp"
#include "kernels/shared/partitioning.hpp"
#include "kernels/shared/warp_table.hpp"

namespace reduce_bench::BACKEND::stable_tiles {

/// Chosen for an H200, for both variants (docs/kernels/partition-multiscan.md).
struct StableTilesPolicy90 {
  /// Threads of a block. With TilePolicy::kItems they make the tile: longer pieces of a partition
  /// against shared memory for the counts of its warps.
  static constexpr unsigned kThreads = 512;
  /// A partition has 2^kLeastBits buckets or more: fewer cost partition/multiscan more for
  /// partitions than their states save (docs/kernels/partition-multiscan.md).
  static constexpr unsigned kLeastBits = 9;
  /// And 2^kWideBits where there would be more than 2^kLog2ManyPartitions of them: half as many
  /// partitions then save more than their larger states cost.
  static constexpr unsigned kWideBits = 10;
  static constexpr unsigned kLog2ManyPartitions = 10;
  /// Beyond 2^kLog2MostPartitions the width of a partition grows in any case.
  static constexpr unsigned kLog2MostPartitions = 11;
  /// Tiles whose partitions are counted together, as a slice: a block cuts each slice into chunks,
  /// and one block adds up the totals of all.
  static constexpr unsigned kSliceTiles = 128;
};
using StableTilesPolicy = ByCapability<Row<90, StableTilesPolicy90>>;

// The block and the tile that follow.
inline constexpr unsigned kThreads = StableTilesPolicy::kThreads;
inline constexpr unsigned kWarps = kThreads / kWarpSize;
inline constexpr unsigned kTile = kThreads * TilePolicy::kItems;
static_assert(kTile < 1u << 16, "places in a tile are of 16 bits");
static_assert(StableTilesPolicy::kSliceTiles % kWarps == 0, "warps divide a slice evenly");
static_assert(kThreads <= TilePolicy::kThreadsPerSm);

/// Slices of the tiles, whose partitions are counted together.
__host__ __device__ inline unsigned slices_of(const Partitioning& parts) {
  return static_cast<unsigned>(ceil_div(parts.tiles, StableTilesPolicy::kSliceTiles));
}
/// Chunks, at most: every partition's last one may be cut short.
inline std::size_t most_chunks(const Partitioning& parts) {
  return std::size_t{parts.tiles} + parts.count;
}

/// kTile neighbouring inputs of a partition, or what is left of them: chunk k begins with number
/// k * kTile, which is number `skip` among those in tile `tile`, and goes on in the tiles behind.
struct Chunk {
  unsigned partition, tile, skip;
};

/// How many inputs of its partition are before a chunk, and how many from there on.
struct ChunkRange {
  Count before, left;

  __device__ unsigned count() const { return left < kTile ? left : kTile; }
  __device__ bool first() const { return before == 0; }
  __device__ bool last() const { return left <= kTile; }
};

/// The chunks of all partitions, one partition's behind the other's.
struct Chunks {
  Count* slice_totals;  ///< [slice][partition]: first how many inputs, then how many before
  Count* firsts;        ///< the number of every partition's first chunk, and of all chunks
  Chunk* list;

  __device__ ChunkRange range_of(unsigned number, const Chunk& chunk, const Count* totals) const {
    const Count before = (number - firsts[chunk.partition]) * kTile;
    return {before, totals[chunk.partition] - before};
  }
};

/// Exclusive sum over the block's threads; `total` gets the sum of all. `sums`: kWarps elements of
/// shared memory, free for reuse after the next barrier.
__device__ inline unsigned block_exclusive_sum(unsigned own, unsigned* sums, unsigned& total) {
  const unsigned sum = warp_inclusive_sum(own);
  if (threadIdx.x % kWarpSize == kWarpSize - 1) sums[threadIdx.x / kWarpSize] = sum;
  __syncthreads();
  unsigned before = 0;
  total = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == threadIdx.x / kWarpSize) before = total;
    total += sums[w];
  }
  return before + sum - own;
}

/// Counters of a warp: one for every partition and one for what is beyond the input.
__host__ __device__ inline unsigned counters_of(const Partitioning& parts) {
  return parts.count + 1;
}

template <class T>
std::size_t order_shared_bytes(const Partitioning& parts) {
  const std::size_t counts = (kWarps + counters_of(parts) * (kWarps + 1)) * sizeof(Count);
  return std::max(counts, kTile * (sizeof(T) + sizeof(Short)));
}

/// A block orders its tile by partition, stably, adds its counts to the slice's totals, and with
/// kPlaces stores where its inputs went.
template <class T, bool kPlaces>
__global__ void __launch_bounds__(kThreads, 2)
    order_tiles_kernel(const T* values, const Label* labels, std::size_t n, Partitioning parts,
                       Tiles<T> out, Short* places, Count* slice_totals) {
  let_next_launch_begin();
  // First [partition], then [warp][partition], with a partition more for what is beyond the input.
  auto* sums = dynamic_shared<Count>();
  Count* starts = sums + kWarps;
  const unsigned row = counters_of(parts);
  Count* counts = starts + row;
  const std::size_t first = std::size_t{blockIdx.x} * kTile;
  const unsigned count = n - first < kTile ? static_cast<unsigned>(n - first) : kTile;
  Items<Label> label;
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
    const unsigned i = place_in_tile(j);
    label[j] = i < count ? labels[first + i] : parts.count << parts.shift;
  }
  for (unsigned i = threadIdx.x; i < kWarps * row; i += kThreads) counts[i] = 0;
  wait_for_launch_before();  // which clears the slices' totals
  __syncthreads();

  // Counts by partition in the input's order: `place` becomes the number of inputs of its partition
  // that the warp has before it.
  const WarpTable<Count> own{counts + threadIdx.x / kWarpSize * row};
  Items<unsigned> place;
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j)
    place[j] = own.count_row(label[j] >> parts.shift);
  __syncthreads();
  // Turns the warps' counts into what is before each warp, and their sums into `starts`.
  for (unsigned p = threadIdx.x; p < row; p += kThreads) {
    Count total = 0;
    for (unsigned w = 0; w < kWarps; ++w) {
      const Count of_warp = counts[w * row + p];
      counts[w * row + p] = total;
      total += of_warp;
    }
    starts[p] = total;
  }
  __syncthreads();
  Count* totals =
      slice_totals + std::size_t{blockIdx.x / StableTilesPolicy::kSliceTiles} * parts.count;
  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  // Turns the counts in `starts` into the partitions' beginnings.
  Count carry = 0;
  for (unsigned p = threadIdx.x; p - threadIdx.x < row; p += kThreads) {
    const Count of_tile = p < row ? starts[p] : 0;
    Count all;
    const Count start = carry + block_exclusive_sum(of_tile, sums, all);
    carry += all;
    if (p < row) starts[p] = start;
    if (p <= parts.count) offsets[p] = static_cast<Short>(start);
    if (p < parts.count && of_tile > 0) atomicAdd(&totals[p], of_tile);
    __syncthreads();
  }
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
    const unsigned p = label[j] >> parts.shift;
    place[j] += starts[p] + own.slots[p];
  }
  Items<T> value;
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
    const unsigned i = place_in_tile(j);
    value[j] = i < count ? values[first + i] : T{};
  }
  __syncthreads();  // the ordered tile overwrites the counts

  T* tile_values = dynamic_shared<T>();
  auto* tile_labels = reinterpret_cast<Short*>(tile_values + kTile);
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
    tile_values[place[j]] = value[j];
    tile_labels[place[j]] = static_cast<Short>(label[j] & (parts.width() - 1));
    if constexpr (kPlaces) places[first + place_in_tile(j)] = static_cast<Short>(place[j]);
  }
  __syncthreads();
  store_tile(tile_values, out.values + first, kTile, kThreads);
  store_tile(tile_labels, out.labels + first, kTile, kThreads);
}

/// One block turns the slices' totals of every partition into what is before each slice, and finds
/// the partitions' totals and first chunks.
template <class T>
__global__ void __launch_bounds__(kThreads)
    sum_slices_kernel(Partitioning parts, Tiles<T> tiles, Chunks out) {
  let_next_launch_begin();
  wait_for_launch_before();
  Count* chunks = dynamic_shared<Count>();
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    Count total = 0;
    for (unsigned s = 0; s < slices_of(parts); ++s) {
      Count& of_slice = out.slice_totals[std::size_t{s} * parts.count + p];
      const Count own = of_slice;
      of_slice = total;
      total += own;
    }
    tiles.totals[p] = total;
    chunks[p] = static_cast<Count>(ceil_div(total, kTile));
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const Count all = warp_exclusive_sums(chunks, parts.count);
    if (threadIdx.x == 0) chunks[parts.count] = all;
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) out.firsts[p] = chunks[p];
}

/// Finds where chunks begin: where a partition's inputs reach a multiple of kTile. A block has as
/// many partitions as a warp has lanes, one each, and a slice of the tiles, divided among its
/// warps.
template <class T>
__global__ void __launch_bounds__(kThreads)
    cut_chunks_kernel(Partitioning parts, Tiles<T> tiles, Chunks out) {
  let_next_launch_begin();
  wait_for_launch_before();
  auto* sums = dynamic_shared<Count>();  // [warp][lane]
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const unsigned p = blockIdx.x * kWarpSize + lane;
  constexpr unsigned per_warp = StableTilesPolicy::kSliceTiles / kWarps;
  const unsigned first = blockIdx.y * StableTilesPolicy::kSliceTiles + warp * per_warp;
  const auto length_at = [&](unsigned tile) -> Count {
    if (p >= parts.count || tile >= parts.tiles) return 0;
    const Short* bounds = tiles.offsets + parts.offsets_at(tile) + p;
    return bounds[1] - bounds[0];
  };
  Count sum = 0;
  for (unsigned t = 0; t < per_warp; ++t) sum += length_at(first + t);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (p >= parts.count) return;
  Count before = out.slice_totals[std::size_t{blockIdx.y} * parts.count + p];
  for (unsigned w = 0; w < warp; ++w) before += sums[w * kWarpSize + lane];
  for (unsigned t = 0; t < per_warp; ++t) {
    const Count length = length_at(first + t);
    const Count next = static_cast<Count>(ceil_div(before, kTile));
    const Count skip = next * kTile - before;
    if (skip < length) out.list[out.firsts[p] + next] = {p, first + t, skip};
    before += length;
  }
}

/// Where the inputs of a chunk lie. Those in one tile form a piece; bit i of word w of `begins`
/// says that a piece begins with input kWordBits * w + i of the chunk.
struct Pieces {
  unsigned* shifts;  ///< of every piece: its place in Tiles minus its number in the chunk
  unsigned* begins;
  unsigned* before;  ///< of every word: how many pieces begin before it
  unsigned* sums;    ///< for block_exclusive_sum

  static constexpr unsigned kWordBits = 32;
  static constexpr unsigned kWords = kTile / kWordBits;
  static constexpr std::size_t kBytes = (kTile + 2 * kWords + kWarps) * sizeof(unsigned);
  __device__ explicit Pieces(unsigned* memory)
      : shifts(memory), begins(memory + kTile), before(begins + kWords), sums(before + kWords) {}

  __device__ void clear() const {
    for (unsigned w = threadIdx.x; w < kWords; w += kThreads) begins[w] = 0;
  }
  /// Finds the `count` inputs of the chunk. A barrier must stand between `clear` and this, and
  /// another before `load` and `address`.
  __device__ void find(const Chunk& chunk, unsigned count, const Partitioning& parts,
                       const Short* offsets) const {
    unsigned inputs = 0, pieces = 0;
    for (unsigned from = chunk.tile; inputs < count; from += kThreads) {
      const unsigned tile = from + threadIdx.x;
      unsigned begin = 0, length = 0;
      if (tile < parts.tiles) {
        const Short* bounds = offsets + parts.offsets_at(tile) + chunk.partition;
        begin = bounds[0] + (tile == chunk.tile ? chunk.skip : 0);
        length = bounds[1] - begin;
      }
      unsigned all_inputs, all_pieces;
      const unsigned input = inputs + block_exclusive_sum(length, sums, all_inputs);
      __syncthreads();
      const unsigned piece = pieces + block_exclusive_sum(length > 0 ? 1 : 0, sums, all_pieces);
      if (length > 0 && input < count) {
        atomicOr(&begins[input / kWordBits], 1u << input % kWordBits);
        shifts[piece] = tile * kTile + begin - input;
      }
      inputs += all_inputs;
      pieces += all_pieces;
      __syncthreads();
    }
    for (unsigned w = threadIdx.x; w < kWords; w += kThreads)
      before[w] = static_cast<unsigned>(__popc(begins[w]));
    __syncthreads();
    if (threadIdx.x < kWarpSize) warp_exclusive_sums(before, kWords);
  }
  /// Loads this thread's inputs of the chunk, those at place_in_tile(j) of `count`. Places beyond
  /// get the neutral element and a label of their own, the one behind the partition's last.
  template <class Op, class T>
  __device__ void load(unsigned count, const Partitioning& parts, const Tiles<T>& tiles,
                       Items<Label>& label, Items<T>& items) const {
#pragma unroll
    for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
      const unsigned input = place_in_tile(j);
      label[j] = parts.width();
      items[j] = Op::template identity<T>();
      if (input >= count) continue;
      const std::size_t at = address(input);
      label[j] = tiles.labels[at];
      items[j] = tiles.values[at];
    }
  }
  /// The place in Tiles of input number `input` of the chunk.
  __device__ std::size_t address(unsigned input) const {
    const unsigned word = input / kWordBits, up_to = (2u << input % kWordBits) - 1;
    return shifts[before[word] + __popc(begins[word] & up_to) - 1] + input;
  }
};

// ---- host --------------------------------------------------------------------------------------

inline std::size_t order_shared_bytes(std::size_t value_bytes, const Partitioning& parts) {
  return value_bytes == 8 ? order_shared_bytes<std::int64_t>(parts)
                          : order_shared_bytes<std::int32_t>(parts);
}

/// What a launch can be given.
struct Tuning {
  std::optional<unsigned> least_bits;  ///< of the buckets of a partition; the policy's where none
};
/// `of_few`: what a variant advises else where buckets are few.
inline ParamSpec partition_buckets_axis(const std::string& of_few = {}) {
  return {"partition_buckets",
          "auto",
          {"auto", "128", "256", "512", "1024", "2048"},
          "buckets of a partition, at least; auto: " + of_few +
              std::to_string(1u << StableTilesPolicy::kLeastBits) + ", or " +
              std::to_string(1u << StableTilesPolicy::kWideBits) +
              " where these would be more than " +
              std::to_string(1u << StableTilesPolicy::kLog2ManyPartitions) + " partitions"};
}
inline Tuning tuning_of(const Params& params) {
  if (params.is("partition_buckets", "auto")) return {};
  return {.least_bits = log2_ceil(params.number("partition_buckets"))};
}

/// Makes as many partitions as the tuning allows or the policy advises, and as a block has counters
/// for.
inline Partitioning partitioning(const Sizes& sizes, const Tuning& tuning) {
  using Policy = StableTilesPolicy;
  const unsigned bits = log2_ceil(std::max<std::size_t>(sizes.buckets, 1));
  const unsigned wanted =
      bits > Policy::kLog2MostPartitions ? bits - Policy::kLog2MostPartitions : 0u;
  const unsigned advised = bits > Policy::kLeastBits + Policy::kLog2ManyPartitions
                               ? Policy::kWideBits
                               : Policy::kLeastBits;
  Partitioning parts = divide(sizes, std::max(tuning.least_bits.value_or(advised), wanted), kTile);
  while (parts.count > 1 &&
         order_shared_bytes(sizes.value_bytes, parts) > sizes.device.max_shared_bytes_per_block)
    parts = divide(sizes, parts.shift + 1, kTile);
  return parts;
}

/// Inputs, at most: their places are counted in 32 bits.
inline constexpr std::size_t kMostInputs = ~Count{0} - kTile;
/// Shared memory for the kernel that orders tiles, and for one with room for at least one set of
/// LabelSets for a partition and `other_bytes`.
inline std::size_t needed_shared_bytes(const Partitioning& parts, std::size_t value_bytes,
                                       std::size_t other_bytes) {
  return std::max(order_shared_bytes(value_bytes, parts),
                  sets_bytes(parts.width(), kThreads, kWarps, value_bytes) + other_bytes);
}
/// Whether the kernels take a problem.
inline bool serves(const Sizes& sizes, const Tuning& tuning, std::size_t other_bytes) {
  const Partitioning parts = partitioning(sizes, tuning);
  return sizes.n <= kMostInputs && parts.shift <= 16 &&
         needed_shared_bytes(parts, sizes.value_bytes, other_bytes) <=
             sizes.device.max_shared_bytes_per_block;
}

/// Why they do not.
inline std::string partitions_restriction(const Problem& p, std::size_t other_bytes) {
  const Tuning tuning = tuning_of(p.params);
  if (serves(p, tuning, other_bytes)) return {};
  if (p.n > kMostInputs)
    return std::to_string(p.n) + " inputs: their places are counted in 32 bits";
  const Partitioning parts = partitioning(p, tuning);
  const std::size_t needed = needed_shared_bytes(parts, p.element_bytes(), other_bytes);
  return std::to_string(p.buckets) + " buckets in " + std::to_string(parts.count) +
         " partitions: " + std::to_string(needed) +
         " bytes of shared memory are needed for one, a block has " +
         std::to_string(p.device.max_shared_bytes_per_block);
}

/// Where the ordered tiles and their chunks begin in the workspace.
struct StableLayout {
  TilesLayout tiles;
  std::size_t places, slice_totals, firsts, chunks, bytes;

  template <class T>
  Chunks chunks_in(const Arguments<T>& call) const {
    return {.slice_totals = call.template scratch<Count>(slice_totals),
            .firsts = call.template scratch<Count>(firsts),
            .list = call.template scratch<Chunk>(chunks)};
  }
  template <class T>
  Short* places_in(const Arguments<T>& call) const {
    return call.template scratch<Short>(places);
  }
};
/// The layout from `end` bytes on, with room for the inputs' places in their tile where asked for.
inline StableLayout stable_layout(const Sizes& sizes, const Tuning& tuning, std::size_t end,
                                  bool with_places) {
  const Partitioning parts = partitioning(sizes, tuning);
  StableLayout at{};
  at.tiles = place_tiles(sizes.value_bytes, parts, kTile, end);
  at.places = place_array(end, with_places ? std::size_t{parts.tiles} * kTile * sizeof(Short) : 0);
  at.slice_totals = place_array(end, std::size_t{slices_of(parts)} * parts.count * sizeof(Count));
  at.firsts = place_array(end, (parts.count + 1) * sizeof(Count));
  at.chunks = place_array(end, most_chunks(parts) * sizeof(Chunk));
  at.bytes = end;
  return at;
}

/// Orders the inputs' tiles and cuts what every partition has into chunks. With kPlaces the places
/// of the inputs are kept.
template <bool kPlaces, class T>
void enqueue_order_tiles(const Arguments<T>& call, const Partitioning& parts,
                         const StableLayout& at) {
  const Tiles<T> tiles = at.tiles.in(call);
  const Chunks chunks = at.chunks_in(call);
  enqueue_fill(call.stream, chunks.slice_totals, std::size_t{slices_of(parts)} * parts.count, 0);
  const DeviceTraits& device = call.sizes.device;
  launch(order_tiles_kernel<T, kPlaces>,
         overlapping({parts.tiles, kThreads, order_shared_bytes<T>(parts), call.stream}, device),
         call.values, call.labels, call.n(), parts, tiles, at.places_in(call), chunks.slice_totals);
  launch(sum_slices_kernel<T>,
         overlapping({1, kThreads, (parts.count + 1) * sizeof(Count), call.stream}, device), parts,
         tiles, chunks);
  const dim3 blocks(static_cast<unsigned>(ceil_div(parts.count, kWarpSize)), slices_of(parts));
  launch(cut_chunks_kernel<T>,
         overlapping({blocks, kThreads, kThreads * sizeof(Count), call.stream}, device), parts,
         tiles, chunks);
}

}  // namespace reduce_bench::BACKEND::stable_tiles
