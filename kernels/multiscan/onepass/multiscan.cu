// onepass/multiscan: one pass over tiles, a look-back for each label
//
// Source: this project, on decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix
//   Scan with Decoupled Look-back", 2016).
// Idea: every warp scans its stretch of a tile in the input's order, 32 inputs at a time, on a
//   bucket set of its own in shared memory: lanes with one label find each other by a vote and are
//   scanned along their chain. The warps' sets are scanned, bucket by bucket; what a tile holds of
//   every label is published; one thread for each label walks back over the tiles before until one
//   knows all that is before it. Results never leave the registers in between.
// Fixes: the third step of the partitioning (12 bytes per input are moved, not 24), its totals in
//   memory for each thread, and the sort of cub/sort-scan-by-key-scatter.
// Launch: a fill of the tiles' states; then a block for each tile, in the order of a ticket, of the
//   most threads up to 512 whose warps' sets have room; 16 inputs for each thread.
// Traffic: n labels and n values read, n results written; 8 bytes per label and tile filled,
//   written twice and read at least once, 16 for values of 8 bytes. Not measured on a GPU yet;
//   device memory should bind for m <= 256. The tiles' states weigh as much as the inputs where m
//   is half a tile; for one bucket a single thread of the block looks back.
// Preconditions: m + 1 elements for each of two warps fit into a block's shared memory.
//   Order-preserving.
// Deviations: none, there is no publication. Float sums are grouped by how far a tile looks back,
//   so they differ from run to run.

#include <string>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr unsigned kItems = 16;
constexpr unsigned kMostThreads = 512, kLeastThreads = 64;

/// How far a tile knows a label: nothing, what it holds itself, that and all before it.
enum class Known : std::uint32_t { kNothing, kOwn, kAll };

/// Four bytes of a value that become visible together with how much they stand for. A value of
/// eight bytes takes two, and is known when both agree: what a tile knows only grows.
struct alignas(8) StateWord {
  std::uint32_t part;
  Known known;
};
template <class T>
inline constexpr unsigned kWords = sizeof(T) / sizeof(std::uint32_t);

/// One word of every tile and label, then the next.
struct States {
  StateWord* words;
  std::size_t stride;

  template <class T>
  __device__ void publish(std::size_t at, T value, Known known) const {
    std::uint32_t parts[kWords<T>];
    memcpy(parts, &value, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w)
      store_volatile(words + w * stride + at, StateWord{parts[w], known});
  }
  /// Waits until something is known.
  template <class T>
  __device__ Known read(std::size_t at, T& value) const {
    for (;;) {
      std::uint32_t parts[kWords<T>];
      Known known = Known::kNothing;
      bool agree = true;
#pragma unroll
      for (unsigned w = 0; w < kWords<T>; ++w) {
        const StateWord word = load_volatile(words + w * stride + at);
        parts[w] = word.part;
        if (w == 0) known = word.known;
        agree = agree && word.known == known;
      }
      if (agree && known != Known::kNothing) {
        memcpy(&value, parts, sizeof(T));
        return known;
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

template <class T, class Op>
__global__ void __launch_bounds__(kMostThreads)
    onepass_multiscan_kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets,
                             bool inclusive, States states, unsigned* ticket, T* results) {
  T* sets = dynamic_shared<T>();  // [warp][bucket], and a bucket for what is beyond the input
  const unsigned row = buckets + 1, warps = blockDim.x / 32;
  auto* shared_tile = reinterpret_cast<unsigned*>(sets + warps * row);
  if (threadIdx.x == 0) *shared_tile = atomicAdd(ticket, 1u);
  for (unsigned i = threadIdx.x; i < warps * row; i += blockDim.x)
    sets[i] = Op::template identity<T>();
  __syncthreads();
  const std::size_t tile = *shared_tile;
  const unsigned lane = threadIdx.x % 32;
  T* own = sets + threadIdx.x / 32 * row;
  const std::size_t first = (tile * blockDim.x + threadIdx.x / 32 * 32) * kItems + lane;

  Label label[kItems];
  T scanned[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const std::size_t i = first + 32 * j;
    label[j] = i < n ? labels[i] : buckets;
    scanned[j] = i < n ? values[i] : Op::template identity<T>();
  }
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    if (first - lane + 32 * j >= n) break;  // for the whole warp
    const unsigned peers = __match_any_sync(kAllLanes, label[j]);
    T before, all;
    scan_peers<Op>(peers, scanned[j], before, all);
    const T held = own[label[j]];
    scanned[j] = Op::combine(held, inclusive ? all : before);
    __syncwarp();
    if (peers >> lane == 1) own[label[j]] = Op::combine(held, all);  // the last of its label
    __syncwarp();
  }
  __syncthreads();

  for (unsigned b = threadIdx.x; b < buckets; b += blockDim.x) {
    T total = Op::template identity<T>();
    for (unsigned w = 0; w < warps; ++w) {
      const T of_warp = sets[w * row + b];
      sets[w * row + b] = total;
      total = Op::combine(total, of_warp);
    }
    states.publish(tile * buckets + b, total, tile == 0 ? Known::kAll : Known::kOwn);
  }
  if (tile > 0) {
    for (unsigned b = threadIdx.x; b < buckets; b += blockDim.x) {
      T before = Op::template identity<T>(), found, total;
      Known known = Known::kOwn;
      for (std::size_t t = tile; known != Known::kAll;) {
        known = states.read(--t * buckets + b, found);
        before = Op::combine(found, before);
      }
      states.read(tile * buckets + b, total);
      states.publish(tile * buckets + b, Op::combine(before, total), Known::kAll);
      for (unsigned w = 0; w < warps; ++w)
        sets[w * row + b] = Op::combine(before, sets[w * row + b]);
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const std::size_t i = first + 32 * j;
    if (i < n) results[i] = Op::combine(own[label[j]], scanned[j]);
  }
}

std::size_t shared_bytes(const Problem& p, unsigned threads) {
  return threads / 32 * (p.buckets + 1) * p.element_bytes() + sizeof(std::uint64_t);
}
/// As many threads as have room for their warps' sets.
unsigned threads_of(const Problem& p) {
  unsigned threads = kMostThreads;
  while (threads > kLeastThreads && shared_bytes(p, threads) > p.device.max_shared_bytes_per_block)
    threads /= 2;
  return threads;
}
std::size_t tiles_of(const Problem& p) { return ceil_div(p.n, threads_of(p) * kItems); }

/// The ticket, in the place of a word, and the states.
std::size_t words_of(const Problem& p) {
  return 1 + tiles_of(p) * p.buckets * (p.element_bytes() / sizeof(std::uint32_t));
}

struct OnepassMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const unsigned threads = threads_of(call.problem);
    const std::size_t tiles = tiles_of(call.problem);
    auto* words = call.template scratch<unsigned long long>();
    enqueue_fill(call.stream, words, words_of(call.problem), 0);
    const States states{reinterpret_cast<StateWord*>(words + 1), tiles * call.buckets()};
    launch(
        onepass_multiscan_kernel<T, Op>,
        {static_cast<unsigned>(tiles), threads, shared_bytes(call.problem, threads), call.stream},
        call.in(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()), call.inclusive(),
        states, reinterpret_cast<unsigned*>(words), call.out());
  }
};

std::string restriction(const Problem& p) {
  const std::size_t needed = shared_bytes(p, threads_of(p));
  if (needed <= p.device.max_shared_bytes_per_block) return {};
  return std::to_string(needed) + " bytes of shared memory are needed for the " +
         std::to_string(p.buckets) + " buckets of two warps, a block has " +
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
        return kItems * 7 + threads_of(p) / 32 + tiles_of(p) + 3;
      },
      // The states: filled, published twice, read at least once.
      .traffic =
          [](const Problem& p) {
            const std::size_t states = words_of(p) * sizeof(std::uint64_t);
            return Traffic{.read_bytes = p.input_bytes() + states,
                           .written_bytes = p.shape().output_bytes() + 3 * states};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = words_of(p) * sizeof(std::uint64_t)};
          },
      .enqueue = instantiate_ordered<OnepassMultiscan>(),
  };
}

}  // namespace reduce_bench::BACKEND
