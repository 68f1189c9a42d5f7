// partition/multireduce-ordered: tiles ordered stably by bucket range, a table for every stretch
//
// Source: this project.
// Idea: partition/multiscan's first steps, then totals instead of a scan. A block orders a tile of
//   inputs by bucket range (partition), stably, in shared memory, and writes it back as one piece;
//   what a partition has in all tiles is cut into chunks of one tile's size, whatever the labels.
//   Neighbouring chunks of a partition form a stretch, so long that tables stay few and smaller
//   than their inputs. A block folds a stretch, chunk after chunk, into bucket sets in shared
//   memory, each warp its part of a chunk: lanes with one label find each other through the set
//   and combine their values in the order of the lanes. It writes the totals as a table. Last,
//   every bucket's tables are combined in their order.
// Fixes: the limit of onepass/multireduce-ordered to buckets that fit into a block's shared memory;
//   partition/multireduce's commuting operators only; the sort of eilers/sort-global.
// Launch: a fill; blocks of 512 threads, 16 inputs per thread, for every tile and every chunk,
//   others between; 1 to 16 threads per bucket: docs/kernels/partition-multireduce-ordered.md.
//   Each may begin while the one before ends.
// Traffic: n labels and n values read; n values and 16-bit labels written and read: 20 bytes per
//   input of 4 bytes. The offsets of every tile, 2 bytes per partition, written and read twice. A
//   table for every stretch written and read; m results written. On an H200 shared
//   memory and L1 bind of uniform and Zipf labels with 2^16 buckets, and of Zipf labels with 2^14;
//   else latency.
// Preconditions: at most 2048 partitions of as many buckets as fit into shared memory; n below
//   2^32 - 2^13. Order-preserving.
// Deviations: none, there is no publication.

#include <algorithm>
#include <cstdint>

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/stable_tiles.hpp"
#include "kernels/shared/warp_table.hpp"

namespace reduce_bench::BACKEND::partition_multireduce_ordered {

using namespace stable_tiles;

/// Chosen for an H200, beside StableTilesPolicy and TilePolicy.
struct Policy90 {
  /// Stretches of a partition for every SM, at most: blocks to balance against tables to combine.
  /// Two are on an SM at once where their sets leave room.
  static constexpr unsigned kStretchesPerSm = 4;
  /// Inputs of a stretch for every bucket of its table, at least, where the partition has so many:
  /// tables weigh little beside their inputs.
  static constexpr unsigned kInputsPerBucket = 4;
  /// Tables that a thread reads at once.
  static constexpr unsigned kTablesInFlight = 8;
};
using Policy = ByCapability<Row<90, Policy90>>;

/// How the chunks of a partition are divided into stretches, each of which a block folds into a
/// table. The partition's tables are neighbours, in the order of its chunks.
struct Stretches {
  unsigned shortest;  ///< chunks
  unsigned most;      ///< stretches of a partition

  /// An upper bound for the number of tables.
  std::size_t tables(const Partitioning& parts) const {
    return most_chunks(parts) / shortest + parts.count;
  }
  /// The number of the partition's first table; `first_chunk` is its first chunk's.
  __device__ std::size_t first_table(unsigned partition, unsigned first_chunk) const {
    return first_chunk / shortest + partition;
  }
  /// Chunks of a stretch in a partition of `chunks`; the last stretch may have fewer.
  __device__ unsigned length(unsigned chunks) const {
    const unsigned longest = (chunks + most - 1) / most;
    return longest > shortest ? longest : shortest;
  }
};

/// Adds a tile of inputs to the sets, and then all sets to the first, behind what that held before.
/// `label` and `items` are this thread's, at place_in_tile(j). All threads of the block must call,
/// after a barrier that follows the last change of the sets; kTurns says whether sets.turns > 1. On
/// return thread b % blockDim.x may read bucket b of the first set, and the other sets are neutral.
template <bool kTurns, class Op, class T>
__device__ void fold_tile(const LabelSets<T>& sets, const Items<Label>& label, Items<T>& items) {
  T* own = sets.own();
  if constexpr (!kTurns) {
#pragma unroll
    for (unsigned j = 0; j < TilePolicy::kItems; ++j)
      WarpTable<T>{own}.template add_row<Op>(label[j], items[j]);
    __syncthreads();
  } else {  // warps that share a set take turns, after all have scanned their own inputs
    const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    unsigned last = 0;  // of the items, those that no peer follows: they cover all peers
#pragma unroll
    for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
      const unsigned peers = __match_any_sync(kAllLanes, label[j]);
      items[j] = Op::combine(scan_peers_before<Op>(peers, items[j]), items[j]);
      last |= (peers >> lane == 1 ? 1u : 0u) << j;
    }
    for (unsigned turn = 0; turn < sets.turns; ++turn) {
      if (warp % sets.turns == turn) {
#pragma unroll
        for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
          if ((last >> j & 1) != 0) own[label[j]] = Op::combine(own[label[j]], items[j]);
          __syncwarp();
        }
      }
      __syncthreads();
    }
  }
  for (unsigned b = threadIdx.x; b < sets.buckets; b += blockDim.x) {
    T total = sets.slots[b];
    for (unsigned set = 1; set < sets.count(); ++set) {
      T& slot = sets.slots[set * sets.row() + b];
      total = Op::combine(total, slot);
      slot = Op::template identity<T>();
    }
    sets.slots[b] = total;
  }
}

template <class T, class Op, bool kTurns>
__global__ void __launch_bounds__(kThreads, TilePolicy::kThreadsPerSm / kThreads)
    fold_chunks_kernel(Partitioning parts, unsigned turns, Stretches stretches, Tiles<T> tiles,
                       Chunks chunks, T* tables) {
  let_next_launch_begin();
  wait_for_launch_before();
  const LabelSets<T> sets{dynamic_shared<T>(), parts.width(), turns};
  const Pieces pieces(reinterpret_cast<unsigned*>(sets.slots + sets.count() * sets.row()));
  // A block for every chunk; it works if a stretch begins with that.
  const unsigned begin = blockIdx.x;
  if (begin >= chunks.firsts[parts.count]) return;
  const unsigned p = chunks.list[begin].partition;
  const unsigned first = chunks.firsts[p], last = chunks.firsts[p + 1];
  const unsigned length = stretches.length(last - first);
  if ((begin - first) % length != 0) return;
  const unsigned end = last - begin < length ? last : begin + length;
  sets.template clear<Op>();
  for (unsigned number = begin; number < end; ++number) {
    pieces.clear();
    __syncthreads();
    const Chunk chunk = chunks.list[number];
    const unsigned count = chunks.range_of(number, chunk, tiles.totals).count();
    pieces.find(chunk, count, parts, tiles.offsets);
    __syncthreads();
    Items<Label> label;
    Items<T> items;
    pieces.load<Op>(count, parts, tiles, label, items);
    fold_tile<kTurns, Op>(sets, label, items);
  }
  const std::size_t table = stretches.first_table(p, first) + (begin - first) / length;
  for (unsigned b = threadIdx.x; b < parts.width(); b += kThreads)
    tables[table * parts.width() + b] = sets.slots[b];
}

/// Combines every bucket's tables by `shares` threads, each a part of them; a warp has neighbouring
/// buckets, all of one partition, and one share.
template <class T, class Op>
__global__ void __launch_bounds__(kThreads)
    combine_tables_kernel(const T* tables, const Count* first_chunks, Partitioning parts,
                          Stretches stretches, unsigned shares, std::size_t buckets, T* results) {
  wait_for_launch_before();
  T* totals = dynamic_shared<T>();  // one per thread
  const unsigned threads = kThreads / shares, share = threadIdx.x / threads;
  const std::size_t bucket = std::size_t{blockIdx.x} * threads + threadIdx.x % threads;
  T total = Op::template identity<T>();
  if (bucket < buckets) {
    const auto p = static_cast<unsigned>(bucket >> parts.shift);
    const unsigned first = first_chunks[p], chunks = first_chunks[p + 1] - first;
    const unsigned length = stretches.length(chunks), count = (chunks + length - 1) / length;
    const unsigned last = count * (share + 1) / shares;
    const T* of_bucket =
        tables + stretches.first_table(p, first) * parts.width() + (bucket & (parts.width() - 1));
    for (unsigned t = count * share / shares; t < last; t += Policy::kTablesInFlight) {
      T held[Policy::kTablesInFlight];
#pragma unroll
      for (unsigned k = 0; k < Policy::kTablesInFlight; ++k)
        held[k] = t + k < last ? of_bucket[std::size_t{t + k} * parts.width()]
                               : Op::template identity<T>();
#pragma unroll
      for (unsigned k = 0; k < Policy::kTablesInFlight; ++k) total = Op::combine(total, held[k]);
    }
  }
  if (shares > 1) {
    totals[threadIdx.x] = total;
    __syncthreads();
    if (share > 0) return;
    for (unsigned s = 1; s < shares; ++s)
      total = Op::combine(total, totals[s * threads + threadIdx.x]);
  }
  if (bucket < buckets) results[bucket] = total;
}

Partitioning partitioning_of(const Problem& p) { return partitioning(p, tuning_of(p.params)); }
Stretches stretches_of(const Problem& p) {
  const unsigned width = partitioning_of(p).width();
  const unsigned per_sm = p.params.is("stretches_per_sm", "auto")
                              ? Policy::kStretchesPerSm
                              : p.params.number("stretches_per_sm");
  return {.shortest = static_cast<unsigned>(ceil_div(Policy::kInputsPerBucket * width, kTile)),
          .most = per_sm * p.device.sm_count};
}
std::size_t tables_bytes(const Problem& p) {
  const Partitioning parts = partitioning_of(p);
  return stretches_of(p).tables(parts) * parts.width() * p.element_bytes();
}
StableLayout layout(const Problem& p) {
  return stable_layout(p, tuning_of(p.params), tables_bytes(p), false);
}

/// Threads that combine a bucket's tables.
unsigned shares_of(const Problem& p) {
  unsigned shares = kWarps;
  while (shares > 1 && p.buckets * shares > p.device.sm_count * p.device.max_threads_per_sm)
    shares /= 2;
  return shares;
}

struct PartitionMultireduceOrdered {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0)
      return enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    const Problem& p = call.problem;
    const Partitioning parts = partitioning_of(p);
    const Stretches stretches = stretches_of(p);
    const StableLayout at = layout(p);
    const auto arguments = arguments_of(call);
    const Chunks chunks = at.chunks_in(arguments);
    enqueue_order_tiles<false>(arguments, parts, at);
    const unsigned turns = turns_of(parts.width(), kThreads, sizeof(T), Pieces::kBytes, p.device);
    launch(turns > 1 ? fold_chunks_kernel<T, Op, true> : fold_chunks_kernel<T, Op, false>,
           overlapping({static_cast<unsigned>(most_chunks(parts)), kThreads,
                        sets_bytes(parts.width(), kThreads, turns, sizeof(T)) + Pieces::kBytes,
                        call.stream},
                       p.device),
           parts, turns, stretches, at.tiles.in(arguments), chunks, call.scratch());
    const unsigned shares = shares_of(p);
    launch(combine_tables_kernel<T, Op>,
           overlapping({static_cast<unsigned>(ceil_div(call.buckets(), kThreads / shares)),
                        kThreads, shares > 1 ? kThreads * sizeof(T) : 0, call.stream},
                       p.device),
           call.scratch(), chunks.firsts, parts, stretches, shares, call.buckets(), call.results());
  }
};

Variant variant() {
  return {
      .id = "partition/multireduce-ordered",
      .title = "tiles ordered stably by bucket range, a table for every stretch",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = {partition_buckets_axis(),
                 {"stretches_per_sm",
                  "auto",
                  {"auto", "1", "2", "4", "8"},
                  "stretches of a partition for every SM, at most; auto: " +
                      std::to_string(Policy::kStretchesPerSm)}},
      .restriction = [](const Problem& p) { return partitions_restriction(p, Pieces::kBytes); },
      // The chains; for each chunk of a stretch the items and sets of all warps; then the tables.
      .depth = [](const Problem& p) -> std::uint64_t {
        const Stretches stretches = stretches_of(p);
        const std::size_t longest = ceil_div(most_chunks(partitioning_of(p)), stretches.most);
        return 5 +
               std::max<std::size_t>(longest, stretches.shortest) * (TilePolicy::kItems + 1) *
                   kWarps +
               stretches.most + Policy::kTablesInFlight + kWarps;
      },
      .traffic =
          [](const Problem& p) {
            const TilesLayout at = layout(p).tiles;
            const std::size_t moved = at.values_bytes() + at.labels_bytes() + tables_bytes(p);
            return Traffic{.read_bytes = p.input_bytes() + moved + 2 * at.offsets_bytes(),
                           .written_bytes = moved + at.offsets_bytes() + p.arrays().output_bytes()};
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = layout(p).bytes}; },
      .enqueue = instantiate_ordered<PartitionMultireduceOrdered>(),
  };
}

}  // namespace reduce_bench::BACKEND::partition_multireduce_ordered
