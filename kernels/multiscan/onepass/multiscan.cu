// onepass/multiscan: one pass over tiles, a look-back for each label
//
// Source: this project, on decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix
//   Scan with Decoupled Look-back", 2016).
// Idea: every warp scans its stretch of a tile in the input's order, 32 inputs at a time, on a
//   bucket set in shared memory: lanes with one label find each other by a vote and are scanned
//   along their chain. Where not every warp's set has room, neighbouring warps share one and take
//   turns. The sets are scanned, bucket by bucket; what a tile holds of every label is published;
//   one thread for each label walks back over the tiles before until one knows all that is before
//   it. Results never leave the registers in between.
// Fixes: the third step of the partitioning (12 bytes per input are moved, not 24), its totals in
//   memory for each thread, and the sort of cub/sort-scan-by-key-scatter.
// Launch: a block of 512 threads for each tile, in the order of a ticket; 16 inputs per thread.
//   1024 where warps take turns.
// Traffic: n labels and n values read, n results written; 8 bytes per label and tile (16 for values
//   of 8 bytes) written twice and read at least once: as much as the inputs where m is half a tile.
//   On an H200, 2^26 i32 take 462 us with 16 uniform labels (193 us would be device memory's; the
//   votes and chains of the warps bind), 667 with 256, 1.05 ms with 4096, where the states of a
//   tile weigh as much as its inputs; with sorted labels 401, 420 and 695 us. Reading the states of
//   several labels at once, or of more tiles, is slower (4096 sorted labels: 1.2 to 1.5 ms): the
//   sooner a thread looks, the further back it has to.
// Preconditions: m + 1 elements fit into a block's shared memory (partition/multiscan is the form
//   for more buckets, and the faster one from 2^13). The workspace is zero before the
//   first launch and belongs to the next. Order-preserving.
// Deviations: none, there is no publication. Float sums are grouped by how far a tile looks back,
//   so they differ from run to run.

#include <string>

#include "kernels/shared/look_back.hpp"

namespace reduce_bench::BACKEND::onepass_multiscan {

template <class T, class Op, unsigned kThreads, bool kTurns>
__global__ void __launch_bounds__(kThreads, kThreadsPerSm / kThreads)
    kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets, unsigned turns,
           bool inclusive, States all_states, Ledger* ledger, T* results) {
  const LabelSets<T> sets{dynamic_shared<T>(), buckets, turns};
  auto* ticket = reinterpret_cast<unsigned*>(sets.slots + sets.count() * sets.row());
  if (threadIdx.x == 0) {
    ticket[0] = ledger->take_tile();
    ticket[1] = ledger->launch;
  }
  sets.template clear<Op>();
  __syncthreads();
  const std::size_t tile = ticket[0], first = tile * (kThreads * kItems);
  Label label[kItems];
  T items[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const std::size_t i = first + place_in_tile(j);
    label[j] = i < n ? labels[i] : buckets;
    items[j] = i < n ? values[i] : Op::template identity<T>();
  }
  scan_tile<kTurns, Op>(sets, all_states.of_launch(ticket[1]),
                        {tile, tile == 0, tile + 1 == gridDim.x}, inclusive, label, items);
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const std::size_t i = first + place_in_tile(j);
    if (i < n) results[i] = items[j];
  }
  if (threadIdx.x == 0) ledger->leave();
}

constexpr std::size_t kTicketBytes = 2 * sizeof(unsigned);

// Where warps take turns a tile's states weigh as much as its inputs: twice the tile halves them,
// and how far a tile looks back (4096 sorted labels on an H200: 0.97 ms with 512 threads, 0.69).
constexpr unsigned kSmallBlock = 512, kLargeBlock = 1024;

struct Grid {
  unsigned threads, turns;
  std::size_t shared_bytes, tiles;
};
Grid grid_of(const Problem& p) {
  const auto turns_with = [&](unsigned threads) {
    return turns_of(p.buckets, threads, p.element_bytes(), kTicketBytes, p.device);
  };
  const unsigned threads = turns_with(kSmallBlock) == 1 ? kSmallBlock : kLargeBlock;
  const unsigned turns = turns_with(threads);
  return {threads, turns, sets_bytes(p.buckets, threads, turns, p.element_bytes()) + kTicketBytes,
          ceil_div(p.n, std::size_t{threads} * kItems)};
}
std::size_t all_states_bytes(const Problem& p) {
  return states_bytes(grid_of(p).tiles, p.buckets, p.element_bytes());
}

struct OnepassMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Grid grid = grid_of(call.problem);
    launch(grid.threads == kSmallBlock ? kernel<T, Op, kSmallBlock, false>
                                       : kernel<T, Op, kLargeBlock, true>,
           {static_cast<unsigned>(grid.tiles), grid.threads, grid.shared_bytes, call.stream},
           call.values(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()),
           grid.turns, call.inclusive(), states_in(call, grid.tiles, call.buckets()),
           call.template scratch<Ledger>(), call.results());
  }
};

std::string restriction(const Problem& p) {
  const std::size_t needed = grid_of(p).shared_bytes;
  if (needed <= p.device.max_shared_bytes_per_block) return {};
  return std::to_string(needed) + " bytes of shared memory are needed for " +
         std::to_string(p.buckets) + " buckets, a block has " +
         std::to_string(p.device.max_shared_bytes_per_block);
}

Variant variant() {
  return {
      .id = "onepass/multiscan",
      .title = "one pass, a look-back for each label",
      .source = "reduce-bench",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBeyond,
      .params = {scan_axis()},
      .restriction = restriction,
      // The chain of peers and the warp's set for each item, the warps, the tiles.
      .depth = [](const Problem& p) -> std::uint64_t {
        const Grid grid = grid_of(p);
        return (kItems + 6) * grid.threads / kWarpSize + grid.tiles + 3;
      },
      // The states: published twice, read at least once.
      .traffic =
          [](const Problem& p) {
            return Traffic{.read_bytes = p.input_bytes() + all_states_bytes(p),
                           .written_bytes = p.arrays().output_bytes() + 2 * all_states_bytes(p)};
          },
      .workspace =
          [](const Problem& p) {
            const std::size_t bytes = kLedgerBytes + all_states_bytes(p);
            return Workspace{.device_bytes = bytes, .zeroed_bytes = bytes};
          },
      .enqueue = instantiate_ordered<OnepassMultiscan>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_multiscan
