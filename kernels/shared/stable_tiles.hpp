// Tiles ordered stably by bucket range, and what a range has in all of them cut into chunks: what
// partition/multiscan and partition/multireduce-ordered begin with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/shared/label_sets.hpp"
#include "kernels/shared/private_table.hpp"
#include "kernels/shared/radix_sort.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kThreads = 512;
inline constexpr unsigned kWarps = kThreads / kWarpSize;
inline constexpr unsigned kTile = kThreads * kItems;

/// A label within its partition; a place within a tile.
using Short = std::uint16_t;
/// Two counts up to a tile's size, added at once.
using Pair = std::uint32_t;
static_assert(kTile < 1u << 16);

/// A partition has 2^kLeastBits buckets or more: on an H200 fewer cost partition/multiscan more
/// partitions than their states save (2^26 inputs, 2^18 uniform labels: 1.87 ms with 2^8, 1.79 with
/// 2^9, 1.88 with 2^10).
inline constexpr unsigned kLeastBits = 9;
inline constexpr unsigned kLog2MostPartitions = 11;
/// Tiles whose partitions are counted together.
inline constexpr unsigned kSliceTiles = 128;

/// How the buckets are divided, and where the ordered tiles lie.
struct Partitioning {
  unsigned shift = 0;  ///< partition p has the labels l with l >> shift == p
  unsigned count = 0;
  unsigned tiles = 0;

  /// A place for every partition, and at least one more.
  __host__ __device__ unsigned row() const { return count / 2 * 2 + 2; }
  __host__ __device__ unsigned width() const { return 1u << shift; }
  __host__ __device__ std::size_t offsets_at(unsigned tile) const {
    return std::size_t{tile} * (count + 1);
  }
  __host__ __device__ unsigned slices() const {
    return static_cast<unsigned>(ceil_div(tiles, kSliceTiles));
  }
  /// Every partition's last chunk may be cut short.
  std::size_t most_chunks() const { return std::size_t{tiles} + count; }
};

/// The inputs of a partition from number k * kTile on: those of tile `tile` from `skip` on, then
/// those of the tiles behind it.
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

/// The ordered tiles. `offsets` has for each tile the count + 1 bounds of its partitions, the last
/// of them the number of its inputs.
template <class T>
struct Tiles {
  T* values;
  Short* labels;
  Short* places;  ///< of the tile's inputs, in their own order; where asked for
  Short* offsets;
  Count* slice_totals;  ///< [slice][partition]: first how many inputs, then how many before
  Count* totals;        ///< of every partition
  Count* first_chunks;  ///< of every partition, and how many there are
  Chunk* chunks;

  __device__ ChunkRange range_of(unsigned number, const Chunk& chunk) const {
    const Count before = (number - first_chunks[chunk.partition]) * kTile;
    return {before, totals[chunk.partition] - before};
  }
};

/// Exclusive sum over the block's threads; `total` gets the sum of all. `sums` holds kWarps.
__device__ inline unsigned block_exclusive_sum(unsigned own, unsigned* sums, unsigned& total) {
  const unsigned sum = warp_inclusive_sum(own);
  if (threadIdx.x % kWarpSize == 31) sums[threadIdx.x / kWarpSize] = sum;
  __syncthreads();
  unsigned before = 0;
  total = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == threadIdx.x / kWarpSize) before = total;
    total += sums[w];
  }
  return before + sum - own;
}

template <class T>
std::size_t order_shared_bytes(const Partitioning& parts) {
  const std::size_t counts =
      kWarps * sizeof(Count) + parts.row() * (kWarps * sizeof(Short) + sizeof(Count));
  return std::max(counts, kTile * (sizeof(T) + sizeof(Short)));
}

/// A tile of shared memory to global memory, sixteen bytes at a time, what is behind the last input
/// too.
template <class U>
__device__ void store_tile(const U* from, U* to) {
  const auto* vectors = reinterpret_cast<const Sixteen<U>*>(from);
  for (unsigned i = threadIdx.x; i < kTile / Sixteen<U>::kCount; i += kThreads)
    reinterpret_cast<Sixteen<U>*>(to)[i] = vectors[i];
}

template <class T, bool kPlaces>
__global__ void __launch_bounds__(kThreads, 2)
    order_tiles_kernel(const T* values, const Label* labels, std::size_t n, Partitioning parts,
                       Tiles<T> out) {
  // First [partition] and [warp][partition], with a partition more for what is beyond the input.
  auto* sums = dynamic_shared<Count>();
  Count* starts = sums + kWarps;
  const unsigned row = parts.row();
  auto* counts = reinterpret_cast<Short*>(starts + row);
  const std::size_t first = std::size_t{blockIdx.x} * kTile;
  const unsigned count = n - first < kTile ? static_cast<unsigned>(n - first) : kTile;
  Label label[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned i = place_in_tile(j);
    label[j] = i < count ? labels[first + i] : parts.count << parts.shift;
  }
  auto* pairs = reinterpret_cast<Pair*>(counts);
  for (unsigned i = threadIdx.x; i < kWarps * row / 2; i += kThreads) pairs[i] = 0;
  __syncthreads();

  // In the input's order: how many of its partition the warp has before an input.
  const unsigned lane = threadIdx.x % kWarpSize;
  Short* own = counts + threadIdx.x / kWarpSize * row;
  unsigned place[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned p = label[j] >> parts.shift;
    const unsigned peers = __match_any_sync(kAllLanes, p);
    const unsigned before = own[p];
    __syncwarp();
    if (peers >> lane == 1) own[p] = static_cast<Short>(before + __popc(peers));
    __syncwarp();
    place[j] = before + __popc(peers & ((1u << lane) - 1));
  }
  __syncthreads();
  for (unsigned q = threadIdx.x; q < row / 2; q += kThreads) {
    Pair total = 0;
    for (unsigned w = 0; w < kWarps; ++w) {
      const Pair of_warp = pairs[w * (row / 2) + q];
      pairs[w * (row / 2) + q] = total;
      total += of_warp;
    }
    starts[2 * q] = total & 0xffff;
    starts[2 * q + 1] = total >> 16;
  }
  __syncthreads();
  Count* totals = out.slice_totals + std::size_t{blockIdx.x / kSliceTiles} * parts.count;
  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
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
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned p = label[j] >> parts.shift;
    place[j] += starts[p] + own[p];
  }
  T value[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned i = place_in_tile(j);
    value[j] = i < count ? values[first + i] : T{};
  }
  __syncthreads();  // the tile takes the place of the counts

  T* tile_values = dynamic_shared<T>();
  auto* tile_labels = reinterpret_cast<Short*>(tile_values + kTile);
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    tile_values[place[j]] = value[j];
    tile_labels[place[j]] = static_cast<Short>(label[j] & (parts.width() - 1));
    if constexpr (kPlaces) out.places[first + place_in_tile(j)] = static_cast<Short>(place[j]);
  }
  __syncthreads();
  store_tile(tile_values, out.values + first);
  store_tile(tile_labels, out.labels + first);
}

/// One block: from what the slices hold of every partition to what is before them, the partitions'
/// totals, and their first chunks.
template <class T>
__global__ void __launch_bounds__(kThreads) sum_slices_kernel(Partitioning parts, Tiles<T> tiles) {
  Count* chunks = dynamic_shared<Count>();
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    Count total = 0;
    for (unsigned s = 0; s < parts.slices(); ++s) {
      Count& of_slice = tiles.slice_totals[std::size_t{s} * parts.count + p];
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
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x)
    tiles.first_chunks[p] = chunks[p];
}

/// A block for 32 partitions, a lane each, and a slice of the tiles, divided among the warps: where
/// a partition's inputs reach a multiple of kTile, a chunk begins.
template <class T>
__global__ void __launch_bounds__(kThreads) cut_chunks_kernel(Partitioning parts, Tiles<T> tiles) {
  auto* sums = dynamic_shared<Count>();  // [warp][lane]
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const unsigned p = blockIdx.x * 32 + lane;
  constexpr unsigned per_warp = kSliceTiles / kWarps;
  const unsigned first = blockIdx.y * kSliceTiles + warp * per_warp;
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
  Count before = tiles.slice_totals[std::size_t{blockIdx.y} * parts.count + p];
  for (unsigned w = 0; w < warp; ++w) before += sums[w * 32 + lane];
  for (unsigned t = 0; t < per_warp; ++t) {
    const Count length = length_at(first + t);
    const Count next = static_cast<Count>(ceil_div(before, kTile));
    const Count skip = next * kTile - before;
    if (skip < length) tiles.chunks[tiles.first_chunks[p] + next] = {p, first + t, skip};
    before += length;
  }
}

/// Where the inputs of a chunk lie: those of one tile form a piece, and word w of `begins` has a
/// bit for every one of the inputs 32 * w ... 32 * w + 31 with which a piece begins.
struct Pieces {
  unsigned* shifts;  ///< of every piece: what is to be added to an input's number in the chunk
  unsigned* begins;
  unsigned* before;  ///< of every word: the pieces begun before it
  unsigned* sums;

  static constexpr unsigned kWords = kTile / 32;
  static constexpr std::size_t kBytes = (kTile + 2 * kWords + kWarps) * sizeof(unsigned);
  __device__ explicit Pieces(unsigned* memory)
      : shifts(memory), begins(memory + kTile), before(begins + kWords), sums(before + kWords) {}

  __device__ void clear() const {
    for (unsigned w = threadIdx.x; w < kWords; w += kThreads) begins[w] = 0;
  }
  /// Finds the `count` inputs of the chunk, after a barrier behind `clear`. A barrier must follow.
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
        atomicOr(&begins[input / 32], 1u << input % 32);
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
  /// Loads this thread's inputs of the `count`, those at place_in_tile(j), after that barrier. What
  /// is beyond them gets the neutral element, and the label behind the partition's last.
  template <class Op, class T>
  __device__ void load(unsigned count, const Partitioning& parts, const Tiles<T>& tiles,
                       Label (&label)[kItems], T (&items)[kItems]) const {
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const unsigned input = place_in_tile(j);
      label[j] = parts.width();
      items[j] = Op::template identity<T>();
      if (input >= count) continue;
      const std::size_t at = address(input);
      label[j] = tiles.labels[at];
      items[j] = tiles.values[at];
    }
  }
  /// Of input number `input` of the chunk.
  __device__ std::size_t address(unsigned input) const {
    const unsigned word = input / 32, up_to = (2u << input % 32) - 1;
    return shifts[before[word] + __popc(begins[word] & up_to) - 1] + input;
  }
};

// ---- host --------------------------------------------------------------------------------------

inline Partitioning partitioning(const Problem& p) {
  const unsigned bits = log2_ceil(std::max<std::size_t>(p.buckets, 1));
  Partitioning parts;
  parts.shift = std::max(kLeastBits, bits > kLog2MostPartitions ? bits - kLog2MostPartitions : 0u);
  parts.count = static_cast<unsigned>(ceil_div(p.buckets, parts.width()));
  parts.tiles = static_cast<unsigned>(ceil_div(p.n, kTile));
  return parts;
}

/// For a kernel that has a set of LabelSets for one partition at least, and `other_bytes`.
inline std::string partitions_restriction(const Problem& p, std::size_t other_bytes) {
  if (p.n > ~Count{0} - kTile)
    return std::to_string(p.n) + " inputs: their places are counted in 32 bits";
  const Partitioning parts = partitioning(p);
  const std::size_t to_order = p.element_bytes() == 8 ? order_shared_bytes<std::int64_t>(parts)
                                                      : order_shared_bytes<std::int32_t>(parts);
  const std::size_t needed = std::max(
      to_order, sets_bytes(parts.width(), kThreads, kWarps, p.element_bytes()) + other_bytes);
  if (parts.shift <= 16 && needed <= p.device.max_shared_bytes_per_block) return {};
  return std::to_string(p.buckets) + " buckets in " + std::to_string(parts.count) +
         " partitions: " + std::to_string(needed) +
         " bytes of shared memory are needed for one, a block has " +
         std::to_string(p.device.max_shared_bytes_per_block);
}

/// Where the arrays of `Tiles` begin in the workspace.
struct TilesLayout {
  std::size_t values, labels, places, offsets, slice_totals, totals, first_chunks, chunks, bytes;

  template <class T>
  Tiles<T> in(const TypedCall<T>& call) const {
    return {.values = call.scratch(values),
            .labels = call.template scratch<Short>(labels),
            .places = call.template scratch<Short>(places),
            .offsets = call.template scratch<Short>(offsets),
            .slice_totals = call.template scratch<Count>(slice_totals),
            .totals = call.template scratch<Count>(totals),
            .first_chunks = call.template scratch<Count>(first_chunks),
            .chunks = call.template scratch<Chunk>(chunks)};
  }
  /// The ordered tiles written, and where their partitions begin.
  std::size_t values_bytes() const { return labels - values; }
  std::size_t labels_bytes() const { return places - labels; }
  std::size_t places_bytes() const { return offsets - places; }
  std::size_t offsets_bytes() const { return slice_totals - offsets; }
};
/// Behind `end` bytes; room for places where asked for.
inline TilesLayout tiles_layout(const Problem& p, std::size_t end, bool with_places) {
  const Partitioning parts = partitioning(p);
  const std::size_t padded = std::size_t{parts.tiles} * kTile;
  TilesLayout at{};
  const auto place = [&](std::size_t bytes) {
    const std::size_t begin = RadixSort::aligned(end);
    end = begin + bytes;
    return begin;
  };
  at.values = place(padded * p.element_bytes());
  at.labels = place(padded * sizeof(Short));
  at.places = place(with_places ? padded * sizeof(Short) : 0);
  at.offsets = place(parts.offsets_at(parts.tiles) * sizeof(Short));
  at.slice_totals = place(std::size_t{parts.slices()} * parts.count * sizeof(Count));
  at.totals = place(parts.count * sizeof(Count));
  at.first_chunks = place((parts.count + 1) * sizeof(Count));
  at.chunks = place(parts.most_chunks() * sizeof(Chunk));
  at.bytes = end;
  return at;
}

/// Orders the inputs' tiles and cuts what every partition has into chunks.
template <bool kPlaces, class T>
void enqueue_order_tiles(const TypedCall<T>& call, const Partitioning& parts,
                         const Tiles<T>& tiles) {
  enqueue_fill(call.stream, tiles.slice_totals, std::size_t{parts.slices()} * parts.count, 0);
  launch(order_tiles_kernel<T, kPlaces>,
         {parts.tiles, kThreads, order_shared_bytes<T>(parts), call.stream}, call.values(),
         call.labels(), call.n(), parts, tiles);
  launch(sum_slices_kernel<T>, {1, kThreads, (parts.count + 1) * sizeof(Count), call.stream}, parts,
         tiles);
  launch(cut_chunks_kernel<T>,
         {dim3(static_cast<unsigned>(ceil_div(parts.count, 32)), parts.slices()), kThreads,
          kThreads * sizeof(Count), call.stream},
         parts, tiles);
}

}  // namespace reduce_bench::BACKEND
