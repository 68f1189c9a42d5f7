// partition/multireduce: tiles ordered by bucket range, then one range at a time in shared memory
//
// Source: this project.
// Idea: buckets that do not fit into shared memory together are divided into ranges (partitions)
//   that do. A block orders a tile of inputs by partition in shared memory and writes it back as
//   one piece, with the offset of every partition in it: no histogram over all inputs and no
//   scattered store. A second kernel walks through the pieces of one partition in all tiles and
//   combines them in private buckets. Within a partition a label needs 16 bits. A partition with
//   more than its share of the inputs is divided among several blocks by tiles, so skewed labels
//   cost little more than uniform ones. A tile whose labels span few buckets (sorted labels, long
//   runs) is not ordered: it is combined at once.
// Fixes: the limit of onepass/multireduce to buckets that fit into a block's shared memory; the
//   random updates in the L2 cache of atomic/global.
// Launch: a fill; a block of `block` threads for every tile of 16 inputs per thread; then one block
//   of 1024 threads per SM.
// Traffic: n labels and n values read; n 16-bit labels and n values written and read; the offsets
//   of every tile written and read; m results written. For i32 sums 20 bytes per input, which
//   device memory moves in 320 us for 2^26 inputs on an H200: with uniform labels it takes 411 us
//   into 2^16 buckets, 416 into 2^20. Beyond 2^21 the table of a partition fills shared memory, the
//   pieces get shorter and their reads touch more sectors: 451 us into 2^22, 739 into 2^24. Zipf
//   labels take 654 us into 2^16 and 1123 into 2^24, sorted ones 151 to 214. atomic/global is
//   nearest where its table lies in the L2 (704 us into 2^20 and 2^22, uniform) and with sorted
//   labels into 2^24 (284 us).
// Preconditions: 4-byte values; at most 2048 partitions; n below 2^32; the operator commutes (there
//   is no ordered form; partition/multiscan's stable tiles would give one).
// Deviations: none, there is no publication.

#include <algorithm>

#include "kernels/private_table.hpp"
#include "kernels/reduce/shuffle.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace reduce_bench::BACKEND {
namespace {

inline constexpr unsigned kItems = 16;
inline constexpr unsigned kMostPartitions = 2048;
/// As few as have room: the longer the pieces of a tile, the fewer sectors are read in part. On an
/// H200 a prototype of the second kernel took 133 us for 2^26 inputs with 64 partitions, pieces of
/// 128; 168 us with 128, 188 us with 256.
inline constexpr unsigned kLog2WantedPartitions = 6;
/// A partition of fewer buckets than 2^kLeastBits would cost more to begin than to fill.
inline constexpr unsigned kLeastBits = 6;
inline constexpr unsigned kFoldBlock = 1024;  ///< at most

/// A label within its partition; and where a partition begins within its tile.
using Short = std::uint16_t;

/// How the buckets are divided, and where the ordered tiles lie.
struct Partitioning {
  unsigned shift = 0;  ///< partition p has the labels l with l >> shift == p
  unsigned count = 0;
  unsigned tile = 0;  ///< inputs
  unsigned tiles = 0;

  __host__ __device__ std::size_t width() const { return std::size_t{1} << shift; }
  __host__ __device__ std::size_t offsets_at(std::size_t t) const { return t * (count + 1); }
};

/// The ordered tiles: `offsets` has for each tile the count + 1 bounds of its partitions.
template <class T>
struct Tiles {
  T* values;
  Short* labels;
  Short* offsets;
  Count* totals;  ///< of every partition over all tiles
};

/// Adds one item for each lane that has one to the label's slot. A warp that agrees on the label
/// combines its values first: the lanes would queue.
template <class Op, class T>
__device__ void add_items(T* slot, bool present, unsigned label, T value) {
  const unsigned first = __shfl_sync(kAllLanes, label, 0);
  if (__all_sync(kAllLanes, present && label == first)) {
    const T total = fold_warp<Op>(value);
    if (threadIdx.x % kLanes == 0) atomic_combine<Op>(slot, total);
  } else if (present) {
    atomic_combine<Op>(slot, value);
  }
}

/// A tile's inputs in registers: four neighbours, then the four that are blockDim.x * 4 behind.
template <class T>
struct Items {
  Label label[kItems];
  T value[kItems];

  __device__ static unsigned place(unsigned j) {
    return (j / 4 * blockDim.x + threadIdx.x) * 4 + j % 4;
  }
  __device__ void load(const T* values, const Label* labels, unsigned count, bool whole) {
    if (whole) {
#pragma unroll
      for (unsigned j = 0; j < kItems; j += 4) {
        const auto four = load_ahead(reinterpret_cast<const Sixteen<Label>*>(labels + place(j)));
        for (unsigned e = 0; e < 4; ++e) label[j + e] = four.at[e];
      }
#pragma unroll
      for (unsigned j = 0; j < kItems; j += 4) {
        const auto four = load_ahead(reinterpret_cast<const Sixteen<T>*>(values + place(j)));
        for (unsigned e = 0; e < 4; ++e) value[j + e] = four.at[e];
      }
      return;
    }
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const bool present = place(j) < count;
      label[j] = present ? labels[place(j)] : labels[0];
      if (present) value[j] = values[place(j)];
    }
  }
};

std::size_t order_shared_bytes(const Partitioning& parts, std::size_t value_bytes) {
  return parts.tile * (value_bytes + sizeof(Short)) + (parts.count + 1) * sizeof(Count);
}

/// The results, and the partitions' totals: there are no more of these.
template <class T>
__global__ void clear_kernel(T* results, std::size_t n, T neutral, Count* totals, unsigned count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) results[i] = neutral;
  if (i < count) totals[i] = 0;
}

/// A tile of shared memory to global memory, sixteen bytes at a time.
template <class U>
__device__ void store_tile(const U* from, U* to, unsigned count) {
  const auto* vectors = reinterpret_cast<const Sixteen<U>*>(from);
  for (unsigned i = threadIdx.x; i < count / Sixteen<U>::kCount; i += blockDim.x)
    reinterpret_cast<Sixteen<U>*>(to)[i] = vectors[i];
}

template <class T, class Op>
__global__ void __launch_bounds__(512, 2)
    partition_tiles_kernel(const T* values, const Label* labels, std::size_t n, bool aligned,
                           Partitioning parts, Tiles<T> out, T* results) {
  T* tile_values = dynamic_shared<T>();
  auto* tile_labels = reinterpret_cast<Short*>(tile_values + parts.tile);
  auto* starts = reinterpret_cast<Count*>(tile_labels + parts.tile);
  const std::size_t tile = std::size_t{blockIdx.x} * parts.tile;
  const unsigned count = n - tile < parts.tile ? static_cast<unsigned>(n - tile) : parts.tile;
  Items<T> items;
  items.load(values + tile, labels + tile, count, aligned && count == parts.tile);
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) starts[p] = 0;

  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  // Neighbours with neighbouring labels (sorted, long runs, few buckets) need no order: those from
  // `least` on have a place in the tile's own table.
  const unsigned reach = parts.tile / 4;
  const Label least = labels[tile] < reach ? 0 : labels[tile] - reach;
  bool near = true;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) near = near && items.label[j] - least < 2 * reach;
  if (__syncthreads_and(near)) {
    for (unsigned i = threadIdx.x; i < 2 * reach; i += blockDim.x)
      tile_values[i] = Op::template identity<T>();
    for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) offsets[p] = 0;
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j)
      add_items<Op>(tile_values + (items.label[j] - least), Items<T>::place(j) < count,
                    items.label[j], items.value[j]);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 2 * reach; i += blockDim.x)
      if (tile_values[i] != Op::template identity<T>())
        atomic_combine<Op>(&results[least + i], tile_values[i]);
    return;
  }

  const unsigned lane = threadIdx.x % kLanes;
  Short rank[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; j += 4) {
    const unsigned p = items.label[j] >> parts.shift;
    bool same = Items<T>::place(j + 3) < count;
#pragma unroll
    for (unsigned e = 1; e < 4; ++e) same = same && items.label[j + e] >> parts.shift == p;
    // A warp that agrees on the partition, as in runs, would queue for its counter.
    const unsigned first = __shfl_sync(kAllLanes, p, 0);
    if (__all_sync(kAllLanes, same && p == first)) {
      Count before = 0;
      if (lane == 0) before = atomicAdd(&starts[p], 4 * kLanes);
      before = __shfl_sync(kAllLanes, before, 0) + 4 * lane;
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) rank[j + e] = static_cast<Short>(before + e);
    } else {
#pragma unroll
      for (unsigned e = 0; e < 4; ++e)
        if (Items<T>::place(j + e) < count)
          rank[j + e] =
              static_cast<Short>(atomicAdd(&starts[items.label[j + e] >> parts.shift], 1u));
    }
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x)
    if (starts[p] > 0) atomicAdd(&out.totals[p], starts[p]);
  __syncthreads();
  if (threadIdx.x < kLanes) {
    warp_exclusive_sums(starts, parts.count);
    if (lane == 0) starts[parts.count] = count;
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x)
    offsets[p] = static_cast<Short>(starts[p]);
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    if (Items<T>::place(j) >= count) continue;
    const unsigned at = starts[items.label[j] >> parts.shift] + rank[j];
    tile_values[at] = items.value[j];
    tile_labels[at] = static_cast<Short>(items.label[j] & (parts.width() - 1));
  }
  __syncthreads();
  // Whole tiles, what is behind the last input too: sixteen bytes at a time.
  store_tile(tile_values, out.values + tile, parts.tile);
  store_tile(tile_labels, out.labels + tile, parts.tile);
}

/// Combines the items of partition p in the tiles [first, last). The warps take turns by tiles,
/// because the items may all lie in neighbouring ones. A thread has kPieces * kSteps loads in
/// flight; a piece should seldom be longer than kSteps warps.
template <unsigned kPieces, unsigned kSteps, class T, class Op>
__device__ void fold_tiles(const PrivateTable<T, Op>& table, const Tiles<T>& in,
                           const Partitioning& parts, unsigned p, unsigned first, unsigned last) {
  const unsigned lane = threadIdx.x % kLanes, warps = blockDim.x / kLanes;
  const auto add = [&](bool present, unsigned label, T value) {
    add_items<Op>(table.slots + table.slot_of(label), present, label, value);
  };
  for (unsigned base = first + threadIdx.x / kLanes; base < last; base += kLanes * warps) {
    // Lane l holds the bounds of the l-th tile of this turn.
    unsigned own_begin = 0, own_end = 0;
    if (base + lane * warps < last) {
      const Short* bounds = in.offsets + parts.offsets_at(base + lane * warps) + p;
      own_begin = bounds[0];
      own_end = bounds[1];
    }
#pragma unroll 1
    for (unsigned s = 0; s < kLanes && base + s * warps < last; s += kPieces) {
      unsigned at[kPieces], count[kPieces], label[kPieces][kSteps];
      T value[kPieces][kSteps];
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
        const unsigned begin = __shfl_sync(kAllLanes, own_begin, s + k);
        count[k] = __shfl_sync(kAllLanes, own_end, s + k) - begin;
        at[k] = (base + (s + k) * warps) * parts.tile + begin + lane;
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u) {
          label[k][u] = 0;
          if (lane + u * kLanes >= count[k]) continue;
          label[k][u] = in.labels[at[k] + u * kLanes];
          value[k][u] = in.values[at[k] + u * kLanes];
        }
      }
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u)
          if (u * kLanes < count[k]) add(lane + u * kLanes < count[k], label[k][u], value[k][u]);
      }
      for (unsigned k = 0; k < kPieces; ++k) {
        for (unsigned from = kSteps * kLanes; from < count[k]; from += kSteps * kLanes) {
          unsigned l[kSteps];
          T v[kSteps];
#pragma unroll
          for (unsigned u = 0; u < kSteps; ++u) {
            l[u] = 0;
            if (from + u * kLanes + lane >= count[k]) continue;
            l[u] = in.labels[at[k] + from + u * kLanes];
            v[u] = in.values[at[k] + from + u * kLanes];
          }
#pragma unroll
          for (unsigned u = 0; u < kSteps; ++u)
            if (from + u * kLanes < count[k]) add(from + u * kLanes + lane < count[k], l[u], v[u]);
        }
      }
    }
  }
}

template <unsigned kPieces, unsigned kSteps, class T, class Op>
__global__ void __launch_bounds__(kFoldBlock)
    fold_partitions_kernel(Tiles<T> in, std::size_t n, Partitioning parts, unsigned log2_copies,
                           std::size_t buckets, T* results) {
  auto* slots = dynamic_shared<T>();
  // starts[p]: the first share of partition p; starts[count] is how many there are.
  auto* starts = reinterpret_cast<Count*>(slots + (parts.width() << log2_copies));
  // A partition has about as many shares as it has times a block's part of the inputs; none where
  // all its inputs, if any, were in tiles that needed no order. Partitions of as many shares go
  // through the tiles side by side, so that neighbouring pieces are read together.
  const std::size_t part = ceil_div(n, gridDim.x);
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    const auto shares = static_cast<Count>((in.totals[p] + part / 2) / part);
    starts[p] = shares > 0 ? shares : in.totals[p] > 0;
  }
  __syncthreads();
  if (threadIdx.x < kLanes) {
    const Count all = warp_exclusive_sums(starts, parts.count);
    if (threadIdx.x == 0) starts[parts.count] = all;
  }
  __syncthreads();

  for (Count share = blockIdx.x; share < starts[parts.count]; share += gridDim.x) {
    unsigned p = 0;  // the last partition that starts at this share or before: it has shares
    for (unsigned after = parts.count; after - p > 1;) {
      const unsigned middle = (p + after) / 2;
      (starts[middle] <= share ? p : after) = middle;
    }
    const Count shares = starts[p + 1] - starts[p], own = share - starts[p];
    const std::size_t base = p * parts.width(), left = buckets - base;
    const PrivateTable<T, Op> table{slots, left < parts.width() ? left : parts.width(),
                                    log2_copies};
    table.clear();
    const auto tile_at = [&](Count share_of) {
      return static_cast<unsigned>(std::size_t{parts.tiles} * share_of / shares);
    };
    fold_tiles<kPieces, kSteps>(table, in, parts, p, tile_at(own), tile_at(own + 1));
    table.add_to(results + base);
    __syncthreads();
  }
}

/// Shared memory of a block of the second kernel, for its table alone.
std::size_t most_fold_bytes(const Problem& p) {
  return p.device.max_shared_bytes_per_block - (kMostPartitions + 1) * sizeof(Count);
}

Partitioning partitioning(const Problem& p) {
  const std::size_t most_buckets = most_fold_bytes(p) / p.element_bytes();
  const unsigned bits = log2_ceil(std::max<std::size_t>(p.buckets, 1));
  Partitioning parts;
  unsigned most_bits = 16;
  while ((std::size_t{1} << most_bits) > most_buckets) --most_bits;
  const unsigned wanted = bits > kLog2WantedPartitions ? bits - kLog2WantedPartitions : 0u;
  parts.shift = std::min(most_bits, std::max(kLeastBits, wanted));
  parts.count = static_cast<unsigned>(ceil_div(p.buckets, parts.width()));
  parts.tile = p.params.number("block") * kItems;
  parts.tiles = static_cast<unsigned>(ceil_div(p.n, parts.tile));
  return parts;
}

std::string restriction(const Problem& p) {
  if (p.n > ~Count{0} - (1u << 16))
    return std::to_string(p.n) + " inputs: their places are counted in 32 bits";
  const Partitioning parts = partitioning(p);
  if (parts.count > kMostPartitions)
    return std::to_string(parts.count) + " partitions of " + std::to_string(parts.width()) +
           " buckets each, as many as fit into shared memory, are too many: at most " +
           std::to_string(kMostPartitions);
  const std::size_t needed = order_shared_bytes(parts, p.element_bytes());
  if (needed > p.device.max_shared_bytes_per_block)
    return "a tile needs " + std::to_string(needed) + " bytes of the " +
           std::to_string(p.device.max_shared_bytes_per_block) +
           " bytes of shared memory that a block gets";
  return {};
}

/// Where the arrays of `Tiles` begin in the workspace.
struct Layout {
  std::size_t labels, offsets, totals, bytes;
};
Layout layout(const Problem& p) {
  const Partitioning parts = partitioning(p);
  const std::size_t padded = std::size_t{parts.tiles} * parts.tile;
  Layout at{};
  at.labels = RadixSort::aligned(padded * p.element_bytes());
  at.offsets = at.labels + RadixSort::aligned(padded * sizeof(Short));
  at.totals = at.offsets + RadixSort::aligned(parts.offsets_at(parts.tiles) * sizeof(Short));
  at.bytes = at.totals + parts.count * sizeof(Count);
  return at;
}

struct PartitionMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    constexpr T kNeutral = Op::template identity<T>();
    if (call.n() == 0) return enqueue_fill(call.stream, call.out(), call.buckets(), kNeutral);
    const Problem& p = call.problem;
    const Partitioning parts = partitioning(p);
    const Layout at = layout(p);
    const Tiles<T> tiles{call.scratch(), call.template scratch<Short>(at.labels),
                         call.template scratch<Short>(at.offsets),
                         call.template scratch<Count>(at.totals)};
    launch(clear_kernel<T>,
           {static_cast<unsigned>(ceil_div(call.buckets(), 256)), 256, 0, call.stream}, call.out(),
           call.buckets(), kNeutral, tiles.totals, parts.count);
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const bool aligned = address(call.in()) % 16 == 0 && address(call.labels()) % 16 == 0;
    launch(partition_tiles_kernel<T, Op>,
           {parts.tiles, parts.tile / kItems, order_shared_bytes(parts, sizeof(T)), call.stream},
           call.in(), call.labels(), call.n(), aligned, parts, tiles, call.out());

    const std::size_t table_bytes = sizeof(T) * parts.width();
    unsigned log2_copies = 0;
    while ((1u << log2_copies) < kLanes && (table_bytes << (log2_copies + 1)) <= most_fold_bytes(p))
      ++log2_copies;
    const std::size_t shared_bytes =
        (table_bytes << log2_copies) + (parts.count + 1) * sizeof(Count);
    const unsigned fold_block = std::min(kFoldBlock, p.device.max_threads_per_sm / 2);
    const unsigned piece = parts.tile / parts.count;
    auto* fold = piece >= 80   ? fold_partitions_kernel<2, 5, T, Op>
                 : piece >= 40 ? fold_partitions_kernel<4, 3, T, Op>
                               : fold_partitions_kernel<8, 1, T, Op>;
    launch(fold, {p.device.sm_count, fold_block, shared_bytes, call.stream}, tiles, call.n(), parts,
           log2_copies, call.buckets(), call.out());
  }
};

}  // namespace

Variant partition_multireduce() {
  return {
      .id = "partition/multireduce",
      .title = "tiles ordered by bucket range, then private buckets",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = {{"block", "512", {"256", "512"}, "threads that order a tile"}},
      .restriction = restriction,
      // All of a bucket's inputs in one slot, the copies, the shares.
      .depth = [](const Problem& p) -> std::uint64_t {
        return p.n + 2 * kLanes + p.device.sm_count;
      },
      .traffic =
          [](const Problem& p) {
            const std::size_t moved = layout(p).totals;
            return Traffic{.read_bytes = p.input_bytes() + moved,
                           .written_bytes = moved + p.shape().output_bytes()};
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = layout(p).bytes}; },
      .enqueue = instantiate_for<PartitionMultireduce, BasicOps, std::int32_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND
