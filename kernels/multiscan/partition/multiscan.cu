// partition/multiscan: tiles ordered by bucket range, each range scanned alone, and back
//
// Source: this project.
// Idea: buckets that do not fit into shared memory together are divided into ranges (partitions)
//   that do. A block orders a tile of inputs by partition, stably, in shared memory, writes it back
//   as one piece, and keeps every input's place in it: no scattered store. What a partition has in
//   all tiles is cut into chunks of one tile's size, whatever the labels, and onepass/multiscan's
//   look-back goes over the chunks of one partition. Last, every tile is put back into the input's
//   order.
// Fixes: the limit of onepass/multiscan to buckets that fit into a block's shared memory, and that
//   a tile publishes a state for every label: here for the labels of one partition.
// Launch: a fill; blocks of 512 threads with 16 inputs per thread for every tile, every chunk and
//   every tile again; others between the first two: docs/kernels/partition-multiscan.md
// Traffic: n labels and n values read; n values, 16-bit labels and 16-bit places written; labels
//   and values read, results written in place of the values; results and places read, n results
//   written. The offsets of every tile, 2 bytes per partition, written and read twice; 8 bytes per
//   label of a partition (16 for values of 8 bytes) and chunk written twice and read at least once.
//   On an H200 the steps of the warps bind.
// Preconditions: at most 2048 partitions of as many buckets as fit into shared memory; n below
//   2^32. The workspace is zero before the first launch and belongs to the next. Order-preserving.
// Deviations: none, there is no publication. Float sums are grouped by how far a chunk looks back,
//   so they differ from run to run.

#include <cstdint>

#include "kernels/shared/look_back.hpp"
#include "kernels/shared/stable_tiles.hpp"

namespace reduce_bench::BACKEND::partition_multiscan {

using namespace stable_tiles;

/// A block for every chunk scans it in place.
template <class T, class Op, bool kTurns>
__global__ void __launch_bounds__(kThreads, TilePolicy::kThreadsPerSm / kThreads)
    scan_chunks_kernel(Partitioning parts, unsigned turns, bool inclusive, States all_states,
                       Ledger* ledger, Tiles<T> tiles, Chunks chunks) {
  const LabelSets<T> sets{dynamic_shared<T>(), parts.width(), turns};
  auto* ticket = reinterpret_cast<unsigned*>(sets.slots + sets.count() * sets.row());
  const Pieces pieces(ticket + 2);
  if (threadIdx.x == 0) {
    ticket[0] = ledger->take_tile();
    ticket[1] = ledger->launch_number();
  }
  sets.template clear<Op>();
  pieces.clear();
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
    scan_tile<kTurns, Op>(sets, all_states.of_launch(ticket[1]),
                          {number, range.first(), range.last()}, inclusive, label, items);
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

constexpr std::size_t kTicketBytes = 2 * sizeof(unsigned);
constexpr std::size_t kChunkBytes = kTicketBytes + Pieces::kBytes;

std::size_t all_states_bytes(const Problem& p) {
  const Partitioning parts = partitioning(p);
  return states_bytes(most_chunks(parts), parts.width(), p.element_bytes());
}

StableLayout layout(const Problem& p) {
  return stable_layout(p, kLedgerBytes + all_states_bytes(p), true);
}

struct PartitionMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Problem& p = call.problem;
    const Partitioning parts = partitioning(p);
    const StableLayout at = layout(p);
    const Tiles<T> tiles = at.tiles.in(call);
    enqueue_order_tiles<true>(call, parts, at);
    const unsigned turns = turns_of(parts.width(), kThreads, sizeof(T), kChunkBytes, p.device);
    const std::size_t chunks = most_chunks(parts);
    launch(turns > 1 ? scan_chunks_kernel<T, Op, true> : scan_chunks_kernel<T, Op, false>,
           {static_cast<unsigned>(chunks), kThreads,
            sets_bytes(parts.width(), kThreads, turns, sizeof(T)) + kChunkBytes, call.stream},
           parts, turns, call.inclusive(), states_in(call, chunks, parts.width()),
           call.template scratch<Ledger>(), tiles, at.chunks_in(call));
    launch(restore_tiles_kernel<T>, {parts.tiles, kThreads, kTile * sizeof(T), call.stream},
           tiles.values, at.places_in(call), call.n(), call.results());
  }
};

Variant variant() {
  return {
      .id = "partition/multiscan",
      .title = "tiles ordered by bucket range, each range scanned alone, and back",
      .source = "reduce-bench",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBeyond,
      .params = {scan_axis()},
      .restriction = [](const Problem& p) { return partitions_restriction(p, kChunkBytes); },
      // For each item the chain of peers and the warp's set; then the warps and the chunks.
      .depth = [](const Problem& p) -> std::uint64_t {
        return (TilePolicy::kItems + 6) * kWarps + most_chunks(partitioning(p)) + 3;
      },
      .traffic =
          [](const Problem& p) {
            const TilesLayout at = layout(p).tiles;
            const std::size_t places = at.labels_bytes(),  // as many and as large
                moved = at.values_bytes() + at.labels_bytes() + places,
                              states = all_states_bytes(p);
            return Traffic{.read_bytes = p.input_bytes() + moved + at.values_bytes() +
                                         2 * at.offsets_bytes() + states,
                           .written_bytes = moved + at.values_bytes() + at.offsets_bytes() +
                                            2 * states + p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = layout(p).bytes,
                             .zeroed_bytes = kLedgerBytes + all_states_bytes(p)};
          },
      .enqueue = instantiate_ordered<PartitionMultiscan>(),
  };
}

}  // namespace reduce_bench::BACKEND::partition_multiscan
