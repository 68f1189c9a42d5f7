// partition/multireduce: tiles ordered by bucket range, then one range at a time in shared memory
//
// Source: this project.
// Idea: buckets that do not fit into shared memory together are divided into ranges (partitions)
//   that do. A block orders a tile of inputs by partition, stably, in shared memory and writes it
//   back as one piece, with the offset of every partition in it: no histogram over all inputs and
//   no scattered store. A second kernel walks through the pieces of one partition in all tiles and
//   combines them in private buckets. Within a partition a label needs 16 bits. A partition with
//   more than its share of the inputs is divided among several blocks by tiles, so skewed labels
//   cost no more than uniform ones.
// Fixes: the limit of onepass/multireduce to buckets that fit into a block's shared memory; the
//   random updates in the L2 cache of atomic/global.
// Launch: fills of the results and the partitions' totals; a block of `block` threads for every
//   tile of 16 inputs per thread; then one block of 1024 threads per SM.
// Traffic: n labels and n values read; n 16-bit labels and n values written and read; the offsets
//   of every tile written and read; m results written. For i32 sums 20 bytes per input. Not yet
//   measured on a GPU.
// Preconditions: 4-byte values; at most 2048 partitions; n below 2^32; the operator commutes.
// Deviations: none, there is no publication.

#include <algorithm>

#include "kernels/private_table.hpp"
#include "kernels/reduce/shuffle.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace reduce_bench::BACKEND {
namespace {

inline constexpr unsigned kItems = 16;
inline constexpr unsigned kMostPartitions = 2048;
/// Enough that whole partitions spread evenly over the blocks of a card.
inline constexpr unsigned kLog2WantedPartitions = 8;
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
  std::size_t tiles = 0;

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

/// The lanes whose `digit` has the same low `bits` bits, among those that are `present`. A vote for
/// each bit is quicker than __match_any_sync.
__device__ inline unsigned lanes_with(unsigned digit, bool present, unsigned bits) {
  unsigned same = __ballot_sync(kAllLanes, present);
  for (unsigned bit = 0; bit < bits; ++bit) {
    const bool set = (digit >> bit & 1u) != 0;
    const unsigned votes = __ballot_sync(kAllLanes, set);
    same &= set ? votes : ~votes;
  }
  return same;
}

/// Exclusive sums in place by the first warp; returns the sum of all to that warp.
__device__ inline Count warp_exclusive_sums(Count* values, unsigned n) {
  const unsigned lane = threadIdx.x % kLanes;
  Count carry = 0;
  for (unsigned from = 0; from < n; from += kLanes) {
    const Count own = from + lane < n ? values[from + lane] : 0;
    const Count sum = warp_inclusive_sum(own);
    if (from + lane < n) values[from + lane] = carry + sum - own;
    carry += __shfl_sync(kAllLanes, sum, kLanes - 1);
  }
  return carry;
}

std::size_t order_shared_bytes(const Partitioning& parts, std::size_t value_bytes) {
  const std::size_t warps = parts.tile / kItems / kLanes;
  return parts.tile * (value_bytes + sizeof(Short)) + (parts.count + 1) * sizeof(Count) +
         warps * parts.count * sizeof(Short);
}

template <class T>
__global__ void __launch_bounds__(512)
    partition_tiles_kernel(const T* values, const Label* labels, std::size_t n, Partitioning parts,
                           unsigned bits, Tiles<T> out) {
  T* tile_values = dynamic_shared<T>();
  auto* tile_labels = reinterpret_cast<Short*>(tile_values + parts.tile);
  auto* starts = reinterpret_cast<Count*>(tile_labels + parts.tile);
  auto* warp_counts = reinterpret_cast<Short*>(starts + parts.count + 1);  // [warp][partition]
  const unsigned lane = threadIdx.x % kLanes, warps = blockDim.x / kLanes;
  Short* own_counts = warp_counts + threadIdx.x / kLanes * parts.count;
  const std::size_t tile = std::size_t{blockIdx.x} * parts.tile;
  const unsigned count = n - tile < parts.tile ? static_cast<unsigned>(n - tile) : parts.tile;

  // A warp takes 32 * kItems neighbours, 32 at a time, so that its ranks grow in the input's order.
  const unsigned mine = threadIdx.x / kLanes * kLanes * kItems + lane;
  Label label[kItems];
  T value[kItems];
  Short rank[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned i = mine + kLanes * j;
    label[j] = i < count ? labels[tile + i] : 0;
    if (i < count) value[j] = values[tile + i];
  }
  for (unsigned i = threadIdx.x; i < warps * parts.count; i += blockDim.x) warp_counts[i] = 0;
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const bool present = mine + kLanes * j < count;
    const unsigned p = label[j] >> parts.shift;
    const unsigned same = lanes_with(p, present, bits);
    const auto before = static_cast<unsigned>(__popc(same & ((1u << lane) - 1)));
    const unsigned counted = present ? own_counts[p] : 0;
    rank[j] = static_cast<Short>(counted + before);
    __syncwarp();
    if (present && before == 0)
      own_counts[p] = static_cast<Short>(counted + static_cast<unsigned>(__popc(same)));
    __syncwarp();
  }
  __syncthreads();

  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    Count total = 0;
    for (unsigned w = 0; w < warps; ++w) {
      const Short of_warp = warp_counts[w * parts.count + p];
      warp_counts[w * parts.count + p] = static_cast<Short>(total);
      total += of_warp;
    }
    starts[p] = total;
    if (total > 0) atomicAdd(&out.totals[p], total);
  }
  __syncthreads();
  if (threadIdx.x < kLanes) {
    warp_exclusive_sums(starts, parts.count);
    if (lane == 0) starts[parts.count] = count;
  }
  __syncthreads();

#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    if (mine + kLanes * j >= count) continue;
    const unsigned p = label[j] >> parts.shift;
    const unsigned place = starts[p] + own_counts[p] + rank[j];
    tile_values[place] = value[j];
    tile_labels[place] = static_cast<Short>(label[j] & ((1u << parts.shift) - 1));
  }
  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x)
    offsets[p] = static_cast<Short>(starts[p]);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    out.values[tile + i] = tile_values[i];
    out.labels[tile + i] = tile_labels[i];
  }
}

/// Adds one item for each lane that has one. A warp that agrees on the label combines its values
/// first: the lanes would queue for one bucket.
template <class T, class Op>
__device__ void add_items(const PrivateTable<T, Op>& table, bool present, unsigned label, T value) {
  const unsigned first = __shfl_sync(kAllLanes, label, 0);
  if (__all_sync(kAllLanes, present && label == first)) {
    const T total = fold_warp<Op>(value);
    if (threadIdx.x % kLanes == 0) table.add(label, total);
  } else if (present) {
    table.add(label, value);
  }
}

/// Combines the items of partition p in the tiles [first, last). The warps take turns by tiles,
/// because the items may all lie in neighbouring ones.
template <class T, class Op>
__device__ void fold_tiles(const PrivateTable<T, Op>& table, const Tiles<T>& in,
                           const Partitioning& parts, unsigned p, std::size_t first,
                           std::size_t last) {
  constexpr unsigned kAtOnce = 4;
  const unsigned lane = threadIdx.x % kLanes, warps = blockDim.x / kLanes;
  for (std::size_t base = first + threadIdx.x / kLanes; base < last;
       base += std::size_t{kLanes} * warps) {
    // Lane l holds the bounds of the l-th tile of this turn.
    const std::size_t own_tile = base + std::size_t{lane} * warps;
    unsigned own_begin = 0, own_end = 0;
    if (own_tile < last) {
      const Short* bounds = in.offsets + parts.offsets_at(own_tile) + p;
      own_begin = bounds[0];
      own_end = bounds[1];
    }
    const std::size_t left = ceil_div(last - base, warps);
    const unsigned turns = left < kLanes ? static_cast<unsigned>(left) : kLanes;
    for (unsigned s = 0; s < turns; s += kAtOnce) {
      std::size_t at[kAtOnce];
      unsigned count[kAtOnce], label[kAtOnce];
      T value[kAtOnce];
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const unsigned source = s + k < kLanes ? s + k : kLanes - 1;
        const unsigned begin = __shfl_sync(kAllLanes, own_begin, source);
        const unsigned end = __shfl_sync(kAllLanes, own_end, source);
        count[k] = s + k < turns ? end - begin : 0;
        at[k] = (base + std::size_t{s + k} * warps) * parts.tile + begin + lane;
        label[k] = 0;
        value[k] = Op::template identity<T>();
        if (lane < count[k]) {
          label[k] = in.labels[at[k]];
          value[k] = in.values[at[k]];
        }
      }
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k)
        if (count[k] > 0) add_items(table, lane < count[k], label[k], value[k]);
      // What is longer than a warp.
      for (unsigned k = 0; k < kAtOnce; ++k) {
        for (unsigned from = kLanes; from < count[k]; from += kLanes * kAtOnce) {
          unsigned l[kAtOnce];
          T v[kAtOnce];
#pragma unroll
          for (unsigned u = 0; u < kAtOnce; ++u) {
            const bool present = from + u * kLanes + lane < count[k];
            l[u] = present ? in.labels[at[k] + from + u * kLanes] : 0;
            v[u] = present ? in.values[at[k] + from + u * kLanes] : Op::template identity<T>();
          }
#pragma unroll
          for (unsigned u = 0; u < kAtOnce; ++u)
            if (from + u * kLanes < count[k])
              add_items(table, from + u * kLanes + lane < count[k], l[u], v[u]);
        }
      }
    }
  }
}

template <class T, class Op>
__global__ void __launch_bounds__(kFoldBlock)
    fold_partitions_kernel(Tiles<T> in, std::size_t n, Partitioning parts, unsigned log2_copies,
                           std::size_t buckets, T* results) {
  auto* slots = dynamic_shared<T>();
  // starts[p]: the first share of partition p; starts[count] is how many there are.
  auto* starts = reinterpret_cast<Count*>(slots + ((std::size_t{1} << parts.shift) << log2_copies));
  // A partition has about as many shares as it has times a block's part of the inputs.
  const std::size_t part = ceil_div(n, gridDim.x);
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    const auto shares = static_cast<Count>((in.totals[p] + part / 2) / part);
    starts[p] = shares > 1 ? shares : 1;
  }
  __syncthreads();
  if (threadIdx.x < kLanes) {
    const Count all = warp_exclusive_sums(starts, parts.count);
    if (threadIdx.x == 0) starts[parts.count] = all;
  }
  __syncthreads();

  for (Count share = blockIdx.x; share < starts[parts.count]; share += gridDim.x) {
    unsigned p = 0;  // the last partition that starts at this share or before
    for (unsigned after = parts.count; after - p > 1;) {
      const unsigned middle = (p + after) / 2;
      (starts[middle] <= share ? p : after) = middle;
    }
    const Count shares = starts[p + 1] - starts[p], own = share - starts[p];
    const std::size_t base = std::size_t{p} << parts.shift, left = buckets - base;
    const std::size_t width = std::size_t{1} << parts.shift;
    const PrivateTable<T, Op> table{slots, left < width ? left : width, log2_copies};
    table.clear();
    fold_tiles(table, in, parts, p, parts.tiles * own / shares, parts.tiles * (own + 1) / shares);
    if (shares > 1) {
      table.add_to(results + base);
    } else {
      table.store_to(results + base);
    }
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
  parts.count = static_cast<unsigned>(ceil_div(p.buckets, std::size_t{1} << parts.shift));
  parts.tile = p.params.number("block") * kItems;
  parts.tiles = ceil_div(p.n, parts.tile);
  return parts;
}

std::string restriction(const Problem& p) {
  if (p.n > ~Count{0}) return std::to_string(p.n) + " inputs: they are counted in 32 bits";
  const Partitioning parts = partitioning(p);
  if (parts.count > kMostPartitions)
    return std::to_string(parts.count) + " partitions of " + std::to_string(1u << parts.shift) +
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
  const std::size_t padded = parts.tiles * parts.tile;
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
    enqueue_fill(call.stream, call.out(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const Problem& p = call.problem;
    const Partitioning parts = partitioning(p);
    const Layout at = layout(p);
    const Tiles<T> tiles{call.scratch(), call.template scratch<Short>(at.labels),
                         call.template scratch<Short>(at.offsets),
                         call.template scratch<Count>(at.totals)};
    enqueue_fill(call.stream, tiles.totals, parts.count, Count{0});
    launch(partition_tiles_kernel<T>,
           {static_cast<unsigned>(parts.tiles), parts.tile / kItems,
            order_shared_bytes(parts, sizeof(T)), call.stream},
           call.in(), call.labels(), call.n(), parts, log2_ceil(parts.count), tiles);

    const std::size_t table_bytes = sizeof(T) << parts.shift;
    unsigned log2_copies = 0;
    while ((1u << log2_copies) < kLanes && (table_bytes << (log2_copies + 1)) <= most_fold_bytes(p))
      ++log2_copies;
    const std::size_t shared_bytes =
        (table_bytes << log2_copies) + (parts.count + 1) * sizeof(Count);
    const unsigned fold_block = std::min(kFoldBlock, p.device.max_threads_per_sm / 2);
    launch(fold_partitions_kernel<T, Op>,
           {p.device.sm_count, fold_block, shared_bytes, call.stream}, tiles, call.n(), parts,
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
