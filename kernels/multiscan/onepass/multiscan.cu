// onepass/multiscan: one pass over tiles, a look-back for each label
//
// Source: this project, on decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix
//   Scan with Decoupled Look-back", 2016).
// Idea: every warp scans its stretch of a tile in the input's order, 32 inputs at a time, on a
//   bucket set in shared memory: lanes with one label find each other through the set and are
//   scanned along their chain. Where there is no room for a set per warp, neighbouring warps share
//   one and take turns, and lanes vote. The sets are scanned, bucket by bucket, and the tile
//   publishes its total of every label. One thread for each label then walks back over the tiles
//   before, until one has published the prefix up to it. The results stay in registers between the
//   steps.
// Fixes: the third step of the partitioning (12 bytes per input are moved, not 24), its totals in
//   memory for each thread, and the sort of cub/sort-scan-by-key-scatter.
// Launch: a block for each tile, in the order of a ticket; 512 threads where they leave every warp
//   room for a set of its own, else 1024; 16 inputs per thread.
// Traffic: n labels and n values read, n results written; 8 bytes per label and tile (16 for values
//   of 8 bytes) written twice and read at least once: for 4-byte values as much as the inputs and
//   the results where m is half a tile. On an H200 latency binds with 64 buckets, whose warps wait
//   at barriers for half of their time: docs/kernels/onepass-multiscan.md
// Preconditions: m + 1 elements and 8 bytes fit into a block's shared memory (partition/multiscan
//   takes more buckets). The workspace is zero before the first launch and
//   belongs to the next. Order-preserving.
// Deviations: none, there is no publication. Float sums are grouped by how far a tile looks back,
//   so they differ from run to run.

#include <string>

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/look_back.hpp"

namespace reduce_bench::BACKEND::onepass_multiscan {

/// Chosen on an H200 (docs/kernels/onepass-multiscan.md), beside TilePolicy.
struct Policy90 {
  /// Threads of a block where every warp has a bucket set of its own.
  static constexpr unsigned kSmallBlock = 512;
  /// The same where they would take turns: there a tile's states weigh as much as its inputs, and
  /// twice the tile halves them and how far a tile looks back.
  static constexpr unsigned kLargeBlock = 1024;
};
using Policy = ByCapability<Row<90, Policy90>>;

template <class T, class Op, unsigned kThreads, bool kTurns>
__global__ void __launch_bounds__(kThreads, TilePolicy::kThreadsPerSm / kThreads)
    kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets, unsigned turns,
           bool inclusive, States all_states, Ledger* ledger, T* results) {
  const LabelSets<T> sets{dynamic_shared<T>(), buckets, turns};
  auto* ticket = reinterpret_cast<unsigned*>(sets.slots + sets.count() * sets.row());
  if (threadIdx.x == 0) {
    ticket[0] = ledger->take_tile();
    ticket[1] = ledger->launch_number();
  }
  sets.template clear<Op>();
  __syncthreads();
  const std::size_t tile = ticket[0], first = tile * (kThreads * TilePolicy::kItems);
  Items<Label> label;
  Items<T> items;
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
    const std::size_t i = first + place_in_tile(j);
    label[j] = i < n ? labels[i] : buckets;
    items[j] = i < n ? values[i] : Op::template identity<T>();
  }
  scan_tile<kTurns, Op>(sets, all_states.of_launch(ticket[1]),
                        {tile, tile == 0, tile + 1 == gridDim.x, sets.count()}, inclusive, label,
                        items);
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
    const std::size_t i = first + place_in_tile(j);
    if (i < n) results[i] = items[j];
  }
  if (threadIdx.x == 0) ledger->leave();
}

constexpr std::size_t kTicketBytes = 2 * sizeof(unsigned);

struct LaunchPlan {
  unsigned threads, turns;
  std::size_t shared_bytes, tiles;
};
LaunchPlan plan_of(const Problem& p) {
  const auto turns_with = [&](unsigned threads) {
    return turns_of(p.buckets, threads, p.element_bytes(), kTicketBytes, p.device);
  };
  unsigned threads =
      turns_with(Policy::kSmallBlock) == 1 ? Policy::kSmallBlock : Policy::kLargeBlock;
  if (!p.params.is("block", "auto")) threads = p.params.number("block");
  const unsigned turns = turns_with(threads);
  return {threads, turns, sets_bytes(p.buckets, threads, turns, p.element_bytes()) + kTicketBytes,
          ceil_div(p.n, std::size_t{threads} * TilePolicy::kItems)};
}
std::size_t all_states_bytes(const Problem& p) {
  return states_bytes(plan_of(p).tiles, p.buckets, p.element_bytes());
}

struct OnepassMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const LaunchPlan plan = plan_of(call.problem);
    with_value<Policy::kSmallBlock, Policy::kLargeBlock>(plan.threads, [&]<unsigned kThreads>() {
      launch(plan.turns > 1 ? kernel<T, Op, kThreads, true> : kernel<T, Op, kThreads, false>,
             {static_cast<unsigned>(plan.tiles), plan.threads, plan.shared_bytes, call.stream},
             call.values(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()),
             plan.turns, call.inclusive(),
             states_in(arguments_of(call), plan.tiles, call.buckets()),
             call.template scratch<Ledger>(), call.results());
    });
  }
};

std::string restriction(const Problem& p) {
  const std::size_t needed = plan_of(p).shared_bytes;
  if (needed <= p.device.max_shared_bytes_per_block) return {};
  return std::to_string(needed) + " bytes of shared memory are needed for " +
         std::to_string(p.buckets) + " buckets, a block has " +
         std::to_string(p.device.max_shared_bytes_per_block);
}

Variant variant() {
  const std::string small = std::to_string(Policy::kSmallBlock),
                    large = std::to_string(Policy::kLargeBlock);
  return {
      .id = "onepass/multiscan",
      .title = "one pass, a look-back for each label",
      .source = "reduce-bench",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBeyond,
      .params = {scan_axis(),
                 {"block",
                  "auto",
                  {"auto", small, large},
                  "threads; auto: " + small +
                      " where every warp has room for a bucket set of its own, else " + large}},
      .restriction = restriction,
      // Each item adds the chain of its peers and the warp's set; warps and tiles come on top.
      .depth = [](const Problem& p) -> std::uint64_t {
        const LaunchPlan plan = plan_of(p);
        return (TilePolicy::kItems + 6) * plan.threads / kWarpSize + plan.tiles + 3;
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
