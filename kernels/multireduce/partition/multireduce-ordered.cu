// partition/multireduce-ordered: tiles ordered stably by bucket range, a table for every stretch
//
// Source: this project.
// Idea: partition/multiscan's first steps, then totals instead of a scan. A block orders a tile of
//   inputs by bucket range (partition), stably, in shared memory, and writes it back as one piece;
//   what a partition has in all tiles is cut into chunks of one tile's size, whatever the labels.
//   Neighbouring chunks of a partition form a stretch: one, or as many as it takes for a partition
//   to have no more stretches than the device needs, and a table fewer elements than its stretch. A
//   block folds the chunks of a stretch, one after the other, into bucket sets in shared memory,
//   each warp its part of a chunk: lanes with one label find each other by a vote and combine their
//   values in the order of the lanes. It writes the totals as a table. Last, every bucket's tables
//   are combined in their order.
// Fixes: the limit of onepass/multireduce-ordered to buckets that fit into a block's shared memory;
//   partition/multireduce's commuting operators only; the sort of eilers/sort-global.
// Launch: a fill; blocks of 512 threads with 16 inputs per thread, one for every tile; one block
//   that adds up the partitions' inputs, and one for every 32 partitions and 128 tiles that finds
//   where chunks begin; one for every chunk (at most one for each partition more than tiles), of
//   which those work that a stretch begins with; 1 to 16 threads for every bucket, as many as the
//   device has room for at once, each with its part of the tables.
// Traffic: n labels and n values read; n values and 16-bit labels written and read: 20 bytes per
//   input of 4 bytes. The offsets of every tile, 2 bytes per partition, written and read twice. A
//   table for every stretch, where at most one of a partition is not full, written and read; m
//   results written. With 2^26 i32 the tables are at most 17 MB of the 1.4 GB that are moved for
//   2^16 buckets, 101 MB of 1.7 GB for 2^22. The chain of votes and updates may bind, as in
//   onepass/multireduce-ordered: on an H200 they take 1.1 ms with 2^14 uniform labels, 1.2 with
//   2^16, 1.8 with 2^20, and 0.6 to 0.8 with one label for all.
// Preconditions: at most 2048 partitions of as many buckets as fit into shared memory; n below
//   2^32. Order-preserving.
// Deviations: none, there is no publication.

#include <algorithm>
#include <cstdint>

#include "kernels/shared/peers.hpp"
#include "kernels/shared/stable_tiles.hpp"

namespace reduce_bench::BACKEND::partition_multireduce_ordered {

/// A partition has at most so many stretches for every SM; two are on one at once, where their sets
/// leave room.
inline constexpr unsigned kStretchesPerSm = 4;
/// A stretch has at least so many inputs for every bucket of its table, if its partition has.
inline constexpr unsigned kInputsPerBucket = 4;
/// Tables that a thread reads at once.
inline constexpr unsigned kInFlight = 8;

/// How the chunks of a partition are divided: a block folds each stretch into a table. The
/// partition's tables are neighbours, in the order of its chunks.
struct Stretches {
  unsigned shortest;  ///< chunks
  unsigned most;      ///< of a partition

  /// Room for tables: more than there can be.
  std::size_t tables(const Partitioning& parts) const {
    return most_chunks(parts) / shortest + parts.count;
  }
  /// Where `first_chunk` is the partition's.
  __device__ std::size_t first_table(unsigned partition, unsigned first_chunk) const {
    return first_chunk / shortest + partition;
  }
  /// Chunks of a stretch, of a partition that has so many; the last may have fewer.
  __device__ unsigned length(unsigned chunks) const {
    const unsigned longest = (chunks + most - 1) / most;
    return longest > shortest ? longest : shortest;
  }
};

/// Adds a tile of inputs to the sets, and then all sets to the first: what that held before comes
/// first. `label` and `items` are this thread's, at place_in_tile(j). All threads of the block must
/// call, after a barrier behind what changed the sets; kTurns says whether sets.turns > 1. On
/// return bucket b of the first set is known to thread b % blockDim.x, and the others are neutral.
template <bool kTurns, class Op, class T>
__device__ void fold_tile(const LabelSets<T>& sets, const Label (&label)[kItems],
                          T (&items)[kItems]) {
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  T* own = sets.own();
  // In the input's order. `last` is the item that has all the warp's 32 hold of its label.
  const auto add_to_set = [&](unsigned j, bool last) {
    if (last) own[label[j]] = Op::combine(own[label[j]], items[j]);
    __syncwarp();
  };
  unsigned last_items = 0;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned peers = __match_any_sync(kAllLanes, label[j]);
    items[j] = scan_peers<Op>(peers, items[j]);
    const bool last = peers >> lane == 1;
    if constexpr (kTurns) {
      last_items |= (last ? 1u : 0u) << j;
    } else {
      add_to_set(j, last);
    }
  }
  if constexpr (kTurns) {
    for (unsigned turn = 0; turn < sets.turns; ++turn) {
      if (warp % sets.turns == turn) {
#pragma unroll
        for (unsigned j = 0; j < kItems; ++j) add_to_set(j, (last_items >> j & 1) != 0);
      }
      __syncthreads();
    }
  } else {
    __syncthreads();
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
__global__ void __launch_bounds__(kThreads, kThreadsPerSm / kThreads)
    fold_chunks_kernel(Partitioning parts, unsigned turns, Stretches stretches, Tiles<T> tiles,
                       Chunks chunks, T* tables) {
  const LabelSets<T> sets{dynamic_shared<T>(), parts.width(), turns};
  const Pieces pieces(reinterpret_cast<unsigned*>(sets.slots + sets.count() * sets.row()));
  const unsigned begin = blockIdx.x;  // of the stretch; other chunks are no block's
  if (begin >= chunks.firsts[parts.count]) return;
  const unsigned p = chunks.chunks[begin].partition;
  const unsigned first = chunks.firsts[p], last = chunks.firsts[p + 1];
  const unsigned length = stretches.length(last - first);
  if ((begin - first) % length != 0) return;
  const unsigned end = last - begin < length ? last : begin + length;
  sets.template clear<Op>();
  for (unsigned number = begin; number < end; ++number) {
    pieces.clear();
    __syncthreads();
    const Chunk chunk = chunks.chunks[number];
    const unsigned count = chunks.range_of(number, chunk, tiles.totals).count();
    pieces.find(chunk, count, parts, tiles.offsets);
    __syncthreads();
    Label label[kItems];
    T items[kItems];
    pieces.load<Op>(count, parts, tiles, label, items);
    fold_tile<kTurns, Op>(sets, label, items);
  }
  const std::size_t table = stretches.first_table(p, first) + (begin - first) / length;
  for (unsigned b = threadIdx.x; b < parts.width(); b += kThreads)
    tables[table * parts.width() + b] = sets.slots[b];
}

/// A warp for 32 buckets and one of `shares` parts of their tables; a partition has whole warps.
template <class T, class Op>
__global__ void __launch_bounds__(kThreads)
    combine_tables_kernel(const T* tables, const Count* first_chunks, Partitioning parts,
                          Stretches stretches, unsigned shares, std::size_t buckets, T* results) {
  T* totals = dynamic_shared<T>();  // of every thread
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
    for (unsigned t = count * share / shares; t < last; t += kInFlight) {
      T held[kInFlight];
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k)
        held[k] = t + k < last ? of_bucket[std::size_t{t + k} * parts.width()]
                               : Op::template identity<T>();
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k) total = Op::combine(total, held[k]);
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

Stretches stretches_of(const Problem& p) {
  const unsigned width = partitioning(p).width();
  return {.shortest = static_cast<unsigned>(ceil_div(kInputsPerBucket * width, kTile)),
          .most = kStretchesPerSm * p.device.sm_count};
}
std::size_t tables_bytes(const Problem& p) {
  const Partitioning parts = partitioning(p);
  return stretches_of(p).tables(parts) * parts.width() * p.element_bytes();
}
StableLayout layout(const Problem& p) { return stable_layout(p, tables_bytes(p), false); }

/// Threads for a bucket.
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
    const Partitioning parts = partitioning(p);
    const Stretches stretches = stretches_of(p);
    const StableLayout at = layout(p);
    const Chunks chunks = at.chunks_in(call);
    enqueue_order_tiles<false>(call, parts, at);
    const unsigned turns = turns_of(parts.width(), kThreads, sizeof(T), Pieces::kBytes, p.device);
    launch(turns > 1 ? fold_chunks_kernel<T, Op, true> : fold_chunks_kernel<T, Op, false>,
           {static_cast<unsigned>(most_chunks(parts)), kThreads,
            sets_bytes(parts.width(), kThreads, turns, sizeof(T)) + Pieces::kBytes, call.stream},
           parts, turns, stretches, at.tiles.in(call), chunks, call.scratch());
    const unsigned shares = shares_of(p);
    launch(combine_tables_kernel<T, Op>,
           {static_cast<unsigned>(ceil_div(call.buckets(), kThreads / shares)), kThreads,
            shares > 1 ? kThreads * sizeof(T) : 0, call.stream},
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
      .restriction = [](const Problem& p) { return partitions_restriction(p, Pieces::kBytes); },
      // The votes; for each chunk of a stretch the items of all warps and their sets; the tables.
      .depth = [](const Problem& p) -> std::uint64_t {
        const Stretches stretches = stretches_of(p);
        const std::size_t longest = ceil_div(most_chunks(partitioning(p)), stretches.most);
        return 5 + std::max<std::size_t>(longest, stretches.shortest) * (kItems + 1) * kWarps +
               stretches.most + kInFlight + kWarps;
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
