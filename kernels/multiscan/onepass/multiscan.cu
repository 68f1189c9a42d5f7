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
// Traffic: n labels and n values read, n results written; 8 bytes per label and tile (16 for values
//   of 8 bytes) written twice and read at least once: as much as the inputs where m is half a tile.
//   On an H200, 2^26 i32 take 448 us with 16 uniform labels (193 us would be device memory's; the
//   votes and chains of the warps bind), 650 with 256, 1.2 ms with 4096, where the states of a tile
//   weigh more than its inputs; with sorted labels 386, 406 and 930 us.
// Preconditions: m + 1 elements fit into a block's shared memory. The workspace is zero before the
//   first launch and belongs to the next. Order-preserving.
// Deviations: none, there is no publication. Float sums are grouped by how far a tile looks back,
//   so they differ from run to run.

#include <string>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr unsigned kItems = 16;
constexpr unsigned kThreads = 512;

/// How far a tile knows a label: nothing, what it holds itself, that and all before it. Counted on
/// from launch to launch, so that what the last one left is as good as nothing.
enum Known : std::uint32_t { kNothing, kOwn, kAll, kKinds };

/// What launches hand on. Zero before the first.
struct Ledger {
  unsigned next_tile, done, launch;

  /// The block's tile.
  __device__ unsigned take_tile() { return atomicAdd(&next_tile, 1u); }
  /// The last block of a launch gets here when all others have read what they need.
  __device__ void leave() {
    if (atomicAdd(&done, 1u) != gridDim.x - 1) return;
    next_tile = done = 0;
    ++launch;
  }
};

/// Four bytes of a value that become visible together with how much they stand for. A value of
/// eight bytes takes two, and is known when both agree: what a tile knows only grows.
struct alignas(8) StateWord {
  std::uint32_t part;
  std::uint32_t known;
};
template <class T>
inline constexpr unsigned kWords = sizeof(T) / sizeof(std::uint32_t);

/// One word of every tile and label, then the next.
struct States {
  StateWord* words;
  std::size_t stride;
  std::uint32_t base = 0;  ///< kNothing of this launch

  template <class T>
  __device__ void publish(std::size_t at, T value, Known known) const {
    std::uint32_t parts[kWords<T>];
    memcpy(parts, &value, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w)
      store_volatile(words + w * stride + at, StateWord{parts[w], base + known});
  }
  /// Waits until something is known.
  template <class T>
  __device__ Known read(std::size_t at, T& value) const {
    for (;;) {
      std::uint32_t parts[kWords<T>];
      std::uint32_t known = base;
      bool agree = true;
#pragma unroll
      for (unsigned w = 0; w < kWords<T>; ++w) {
        const StateWord word = load_volatile(words + w * stride + at);
        parts[w] = word.part;
        if (w == 0) known = word.known;
        agree = agree && word.known == known;
      }
      if (agree && known - base - 1 < kAll) {
        memcpy(&value, parts, sizeof(T));
        return Known{known - base};
      }
      wait_hint();
    }
  }
};

/// What the warp's lanes with this lane's label hold: `before` those below it, `all` with its own.
template <class Op, class T>
__device__ void scan_peers(unsigned peers, T value, T& before, T& all) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned below = peers & ((1u << lane) - 1);
  all = value;
  before = Op::template identity<T>();
  if (!__any_sync(kAllLanes, below != 0)) return;
  if (__all_sync(kAllLanes, peers == kAllLanes)) {  // one label for all
    for (unsigned offset = 1; offset < 32; offset *= 2) {
      const T lower = __shfl_up_sync(kAllLanes, all, offset);
      if (lane >= offset) all = Op::combine(lower, all);
    }
    const T previous = __shfl_up_sync(kAllLanes, all, 1);
    if (lane > 0) before = previous;
    return;
  }
  const int next_below = below != 0 ? 31 - __clz(static_cast<int>(below)) : static_cast<int>(lane);
  // Along the chain of peers by doubling: `all` covers those above `from`.
  int from = next_below;
  int more = below != 0;
  do {
    const T of_from = __shfl_sync(kAllLanes, all, from);
    const int next_from = __shfl_sync(kAllLanes, from, from),
              next_more = __shfl_sync(kAllLanes, more, from);
    if (more) {
      all = Op::combine(of_from, all);
      from = next_from;
      more = next_more;
    }
  } while (__any_sync(kAllLanes, more));
  const T of_next = __shfl_sync(kAllLanes, all, next_below);
  if (below != 0) before = of_next;
}

template <class T, class Op, bool kTurns>
__global__ void __launch_bounds__(kThreads, 2)
    onepass_multiscan_kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets,
                             unsigned turns, bool inclusive, States all_states, Ledger* ledger,
                             T* results) {
  // [set][bucket], and a bucket for what is beyond the input. A set is shared by `turns` warps.
  T* sets = dynamic_shared<T>();
  const unsigned row = buckets + 1, set_count = blockDim.x / 32 / turns;
  auto* shared_tile = reinterpret_cast<unsigned*>(sets + set_count * row);
  if (threadIdx.x == 0) {
    shared_tile[0] = ledger->take_tile();
    shared_tile[1] = ledger->launch;
  }
  for (unsigned i = threadIdx.x; i < set_count * row; i += blockDim.x)
    sets[i] = Op::template identity<T>();
  __syncthreads();
  const std::size_t tile = shared_tile[0];
  const States states{all_states.words, all_states.stride, shared_tile[1] * kKinds};
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T* own = sets + warp / turns * row;
  const std::size_t first = (tile * blockDim.x + warp * 32) * kItems + lane;

  Label label[kItems];
  T scanned[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const std::size_t i = first + 32 * j;
    label[j] = i < n ? labels[i] : buckets;
    scanned[j] = i < n ? values[i] : Op::template identity<T>();
  }
  // In the input's order: what the set holds of a label is before the item. `last` is the item that
  // has all the warp's 32 hold of its label.
  const auto add_to_set = [&](unsigned j, T all, bool last) {
    const T held = own[label[j]];
    scanned[j] = Op::combine(held, scanned[j]);
    __syncwarp();
    if (last) own[label[j]] = Op::combine(held, all);
    __syncwarp();
  };
  T later[kTurns ? kItems : 1];
  unsigned last_items = 0;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned peers = __match_any_sync(kAllLanes, label[j]);
    T before, all;
    scan_peers<Op>(peers, scanned[j], before, all);
    scanned[j] = inclusive ? all : before;
    const bool last = peers >> lane == 1;
    if constexpr (kTurns) {
      later[j] = all;
      last_items |= (last ? 1u : 0u) << j;
    } else {
      add_to_set(j, all, last);
    }
  }
  if constexpr (kTurns) {
    for (unsigned turn = 0; turn < turns; ++turn) {
      if (warp % turns == turn) {
#pragma unroll
        for (unsigned j = 0; j < kItems; ++j) add_to_set(j, later[j], (last_items >> j & 1) != 0);
      }
      __syncthreads();
    }
  } else {
    __syncthreads();
  }

  for (unsigned b = threadIdx.x; b < buckets; b += blockDim.x) {
    T total = Op::template identity<T>();
    for (unsigned set = 0; set < set_count; ++set) {
      const T of_set = sets[set * row + b];
      sets[set * row + b] = total;
      total = Op::combine(total, of_set);
    }
    states.publish(tile * buckets + b, total, tile == 0 ? kAll : kOwn);
  }
  if (tile > 0) {
    for (unsigned b = threadIdx.x; b < buckets; b += blockDim.x) {
      T before = Op::template identity<T>(), found, total;
      Known known = kOwn;
      for (std::size_t t = tile; known != kAll;) {
        known = states.read(--t * buckets + b, found);
        before = Op::combine(found, before);
      }
      states.read(tile * buckets + b, total);
      states.publish(tile * buckets + b, Op::combine(before, total), kAll);
      for (unsigned set = 0; set < set_count; ++set)
        sets[set * row + b] = Op::combine(before, sets[set * row + b]);
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const std::size_t i = first + 32 * j;
    if (i < n) results[i] = Op::combine(own[label[j]], scanned[j]);
  }
  if (threadIdx.x == 0) ledger->leave();
}

std::size_t shared_bytes(const Problem& p, unsigned sets) {
  return sets * (p.buckets + 1) * p.element_bytes() + sizeof(std::uint64_t);
}
/// Warps that share a set: so many that two blocks have room on an SM, or one has where a single
/// set takes more than half.
unsigned turns_of(const Problem& p) {
  unsigned turns = 1;
  while (turns < kThreads / 32 &&
         2 * shared_bytes(p, kThreads / 32 / turns) > p.device.max_shared_bytes_per_block)
    turns *= 2;
  return turns;
}
std::size_t tiles_of(const Problem& p) { return ceil_div(p.n, kThreads * kItems); }

std::size_t states_bytes(const Problem& p) {
  return tiles_of(p) * p.buckets * (p.element_bytes() / sizeof(std::uint32_t)) * sizeof(StateWord);
}
constexpr std::size_t kLedgerBytes = 2 * sizeof(StateWord);
static_assert(sizeof(Ledger) <= kLedgerBytes);

struct OnepassMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const unsigned turns = turns_of(call.problem);
    const std::size_t tiles = tiles_of(call.problem);
    const States states{call.template scratch<StateWord>(kLedgerBytes), tiles * call.buckets()};
    launch(
        turns > 1 ? onepass_multiscan_kernel<T, Op, true> : onepass_multiscan_kernel<T, Op, false>,
        {static_cast<unsigned>(tiles), kThreads, shared_bytes(call.problem, kThreads / 32 / turns),
         call.stream},
        call.in(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()), turns,
        call.inclusive(), states, call.template scratch<Ledger>(), call.out());
  }
};

std::string restriction(const Problem& p) {
  const std::size_t needed = shared_bytes(p, 1);
  if (needed <= p.device.max_shared_bytes_per_block) return {};
  return std::to_string(needed) + " bytes of shared memory are needed for " +
         std::to_string(p.buckets) + " buckets, a block has " +
         std::to_string(p.device.max_shared_bytes_per_block);
}

}  // namespace

Variant onepass_multiscan() {
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
        return (kItems + 6) * kThreads / 32 + tiles_of(p) + 3;
      },
      // The states: published twice, read at least once.
      .traffic =
          [](const Problem& p) {
            return Traffic{.read_bytes = p.input_bytes() + states_bytes(p),
                           .written_bytes = p.shape().output_bytes() + 2 * states_bytes(p)};
          },
      .workspace =
          [](const Problem& p) {
            const std::size_t bytes = kLedgerBytes + states_bytes(p);
            return Workspace{.device_bytes = bytes, .zeroed_bytes = bytes};
          },
      .enqueue = instantiate_ordered<OnepassMultiscan>(),
  };
}

}  // namespace reduce_bench::BACKEND
