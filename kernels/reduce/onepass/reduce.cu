// onepass/reduce: one launch, wide loads in flight, flagged partials
//
// Source: this project.
// Idea: blocks sweep the input by 16-byte loads, four in flight per thread, and fold in shared
//   memory. A block publishes its partial result as words that hold half value, half flag, so that
//   both arrive together: no fence, no ticket. Block 0 waits for the words of all others, folds
//   them, writes the result and clears the flags for the next launch. No other block waits for
//   anything, so the grid may exceed what is resident. Where latency counts, block 0 streams
//   nothing: it reads what whole chunks leave over and waits, and the others' code is short.
// Fixes: the second launch of two-pass reductions (on an H200 cub/reduce takes 3.8 us for 2^12
//   integers in one kernel, 6.9 us for 2^13 in two; this 3.8 and 4.1) and, of last-block schemes
//   such as harris/threadfence, the fence and the ticket's round trip between a block's partial and
//   the result.
// Launch: one block of 256 to 1024 threads up to 64 KB of input. Then a block of 256 threads for
//   every 16 KB, from 64 KB per SM on (with types of 8 bytes from 16 KB: 0.06 us less for 8 MB of
//   f64 on an H200) one of 512 threads for every 32 KB; from 32 KB per SM on for twice as much, in
//   two rounds; one block more up to 512 KB per SM. At most blocks_per_sm blocks per SM, which take
//   chunk after chunk, a grid apart. B * sizeof(T) shared.
// Traffic: n elements read, one written; the partials, 8 bytes per 4 of T and block, stay in L2.
//   From 2^24 elements device memory binds (on an H200 at 2^30 the time of the read ceiling within
//   1 %). Below, latency binds. Of the 7.5 us for 8 MB of f64 on an H200 with cold caches, 7.0 go
//   to reading alone, however it is arranged: 2.7 to an empty launch, 1.0 to lines that the flush
//   left written in L2 and that have to go first. The rest goes to a block's fold, a store and a
//   poll through L2, and the fold of 128 words.
// Preconditions: the workspace is zero before the first launch and left zero.
// Deviations: none, there is no publication. Elements before the first 16-byte boundary and after
//   the last are read one by one by block 0.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::onepass_reduce {

/// 16-byte loads in flight per thread. Eight gained nothing on an H200.
inline constexpr unsigned kLoads = 4;

template <class T>
struct alignas(16) Vector {
  static constexpr unsigned kLanes = 16 / sizeof(T);
  T lane[kLanes];
};

/// Half value, half flag: eight bytes that one store makes visible together.
struct alignas(8) Word {
  unsigned bits;
  unsigned ready;
};

template <class T>
inline constexpr unsigned kWords = sizeof(T) / 4;

/// A value as words: one access each way, so f64 partials cost no more round trips than i32's.
template <class T>
struct alignas(8 * kWords<T>) Slot {
  Word word[kWords<T>];
};

template <class T>
__device__ void publish(Slot<T>* slot, T value) {
  unsigned bits[kWords<T>];
  memcpy(bits, &value, sizeof(T));
  Slot<T> full;
  for (unsigned w = 0; w < kWords<T>; ++w) full.word[w] = {bits[w], 1};
  store_volatile(slot, full);
}

/// Waits for a published value, and empties the slot.
template <class T>
__device__ T take(Slot<T>* slot) {
  Slot<T> seen;
  for (bool ready = false; !ready;) {
    seen = load_volatile(slot);
    ready = true;
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w) ready = ready && seen.word[w].ready != 0;
    if (!ready) wait_hint();
  }
  store_volatile(slot, Slot<T>{});
  unsigned bits[kWords<T>];
#pragma unroll
  for (unsigned w = 0; w < kWords<T>; ++w) bits[w] = seen.word[w].bits;
  T value;
  memcpy(&value, bits, sizeof(T));
  return value;
}

/// One instruction folds a warp: 32-bit integers since sm_80.
template <class Op, class T>
inline constexpr bool kOneInstruction =
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    std::is_same_v<T, std::int32_t> &&
    (std::is_same_v<Op, Sum> || std::is_same_v<Op, Min> || std::is_same_v<Op, Max>);
#else
    false;
#endif

template <class Op>
__device__ std::int32_t fold_by_instruction(std::int32_t value) {
  if constexpr (std::is_same_v<Op, Sum>) return __reduce_add_sync(kAllLanes, value);
  else if constexpr (std::is_same_v<Op, Min>) return __reduce_min_sync(kAllLanes, value);
  else return __reduce_max_sync(kAllLanes, value);
}

/// First half of a block's fold: puts what its threads hold, with the instruction what its warps
/// hold, into `memory`.
template <class Op, class T>
__device__ void share(T value, T* memory) {
  if constexpr (kOneInstruction<Op, T>) {
    value = fold_by_instruction<Op>(value);
    if (threadIdx.x % kWarpSize == 0) memory[threadIdx.x / kWarpSize] = value;
  } else {
    memory[threadIdx.x] = value;
  }
  __syncthreads();
}

/// Second half, for the first warp alone: folds what `warps` warps, a multiple of four, have
/// shared. Without the instruction, columns come first (on an H200, 0.2 us less for f64 sums of
/// 2^14 elements than shuffles in every warp), and of their 32 values each lane reads eight, where
/// three shuffles more took 30 ns longer. `kSteps`: steps of four rows to unroll.
template <class Op, unsigned kSteps, class T>
__device__ T fold_shared(T* memory, unsigned warps) {
  const unsigned lane = threadIdx.x;
  if constexpr (kOneInstruction<Op, T>) {
    return fold_by_instruction<Op>(lane < warps ? memory[lane] : Op::template identity<T>());
  } else {
    T column[4];
#pragma unroll
    for (unsigned c = 0; c < 4; ++c) column[c] = memory[c * 32 + lane];
#pragma unroll kSteps
    for (unsigned row = 4; row < warps; row += 4) {
#pragma unroll
      for (unsigned c = 0; c < 4; ++c)
        column[c] = Op::combine(column[c], memory[(row + c) * 32 + lane]);
    }
    memory[lane] =
        Op::combine(Op::combine(column[0], column[1]), Op::combine(column[2], column[3]));
    __syncwarp();
    using Vec = Vector<T>;
    T eight[8];
#pragma unroll
    for (unsigned k = 0; k < 8 / Vec::kLanes; ++k) {
      const Vec v = reinterpret_cast<const Vec*>(memory)[k * 4 + lane % 4];
#pragma unroll
      for (unsigned l = 0; l < Vec::kLanes; ++l) eight[k * Vec::kLanes + l] = v.lane[l];
    }
#pragma unroll
    for (unsigned half = 4; half > 0; half /= 2) {
#pragma unroll
      for (unsigned k = 0; k < half; ++k) eight[k] = Op::combine(eight[k], eight[k + half]);
    }
    T value = eight[0];
#pragma unroll
    for (int offset = 1; offset < 4; offset *= 2)
      value = Op::combine(value, __shfl_xor_sync(kAllLanes, value, offset));
    return value;
  }
}

/// Block 0's end: waits for the words of all others, of which there is one at least, and writes the
/// result. `value` is what a thread has of its own, neutral from thread max(own, 128) on.
template <class Op, unsigned kBlock, class T>
__device__ void finish(T value, unsigned own, Slot<T>* slots, T* output, T* memory) {
  const unsigned words = gridDim.x - 1;
  for (unsigned w = threadIdx.x; w < words; w += kBlock)
    value = Op::combine(value, take(slots + 1 + w));
  share<Op>(value, memory);
  if (threadIdx.x >= kWarpSize) return;
  unsigned warps = ((own > words ? own : words) + 127) / 128 * 4;
  if (warps > kBlock / kWarpSize) warps = kBlock / kWarpSize;
  value = fold_shared<Op, 1>(memory, warps);
  if (threadIdx.x == 0) *output = value;
}

/// What the launch shape leaves to wait for.
enum class Regime : unsigned {
  /// One block folds everything. It folds neutral elements while its first loads are in flight:
  /// with cold caches the instructions come from device memory too, and would be waited for after
  /// the data.
  kOneBlock,
  /// A few rounds of loads, which have L2 fetch ahead. Block 0 streams nothing: it reads what whole
  /// chunks leave over, then waits for the others' words. So the others' code is short, and only
  /// the first warp of a block outlives its barrier.
  kLatency,
  /// Many rounds. Block 0 streams like the others, then waits for their words.
  kBandwidth,
};

template <class T, class Op, unsigned kBlock, Regime kRegime>
__global__ void __launch_bounds__(kBlock)
    kernel(const T* input, std::size_t n, std::size_t head, T* output, Slot<T>* slots) {
  using Vec = Vector<T>;
  constexpr unsigned kWarps = kBlock / kWarpSize;
  constexpr unsigned kChunk = kBlock * kLoads;  // 16-byte loads that a block has in flight
  const auto* vectors = reinterpret_cast<const Vec*>(input + head);
  const std::size_t count = (n - head) / Vec::kLanes;
  const auto chunks = static_cast<unsigned>(count / kChunk);
  T* memory = dynamic_shared<T>();

  T sum[Vec::kLanes];
#pragma unroll
  for (T& lane : sum) lane = Op::template identity<T>();
  const auto add = [&](const Vec(&v)[kLoads]) {
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
#pragma unroll
      for (unsigned l = 0; l < Vec::kLanes; ++l) sum[l] = Op::combine(sum[l], v[k].lane[l]);
    }
  };
  const auto load = [&](const Vec* from) -> Vec {
    if constexpr (kRegime == Regime::kLatency) return load_ahead(from);
    else return *from;
  };
  const auto load_chunk = [&](unsigned chunk, Vec(&v)[kLoads]) {
    const Vec* from = vectors + std::size_t{chunk} * kChunk + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) v[k] = load(from + k * kBlock);
  };
  const auto load_inside = [&](unsigned chunk, Vec(&v)[kLoads]) {
    const std::size_t i = std::size_t{chunk} * kChunk + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      if (i + k * kBlock < count) {
        v[k] = load(vectors + i + k * kBlock);
      } else {
#pragma unroll
        for (T& lane : v[k].lane) lane = Op::template identity<T>();
      }
    }
  };
  const auto add_rest = [&](unsigned chunk) {
    Vec v[kLoads];
    load_inside(chunk, v);
    add(v);
  };
  const auto add_edges = [&] {
    const std::size_t tail = head + count * Vec::kLanes;
    if (threadIdx.x < head) sum[0] = Op::combine(sum[0], input[threadIdx.x]);
    if (threadIdx.x < n - tail) sum[1] = Op::combine(sum[1], input[tail + threadIdx.x]);
  };
  const auto fold_lanes = [&] {
    T value = sum[0];
#pragma unroll
    for (unsigned l = 1; l < Vec::kLanes; ++l) value = Op::combine(value, sum[l]);
    return value;
  };

  if constexpr (kRegime == Regime::kOneBlock) {
    Vec first[kLoads];
    load_inside(0, first);
    add_edges();
    T total = Op::template identity<T>();
    // One piece of code for both folds, so that the neutral one fetches it for the other.
#pragma unroll 1
    for (unsigned pass = 0; pass < 2; ++pass) {
      T value = Op::template identity<T>();
      if (pass != 0) {
        add(first);
        for (unsigned chunk = 1; std::size_t{chunk} * kChunk < count; ++chunk) add_rest(chunk);
        value = fold_lanes();
      }
      __syncthreads();  // the fold before has read the memory
      share<Op>(value, memory);
      if (threadIdx.x < kWarpSize) total = fold_shared<Op, kWarps / 4>(memory, kWarps);
    }
    if (threadIdx.x == 0) *output = total;
  } else {
    constexpr bool kAside = kRegime == Regime::kLatency;  // block 0 streams nothing
    if (kAside && blockIdx.x == 0) {
      add_rest(chunks);
      add_edges();
      const auto own = static_cast<unsigned>(count - std::size_t{chunks} * kChunk);
      finish<Op, kBlock>(fold_lanes(), own, slots, output, memory);
      return;
    }
    unsigned chunk = blockIdx.x - kAside;
    for (; chunk < chunks; chunk += gridDim.x - kAside) {
      Vec v[kLoads];
      load_chunk(chunk, v);
      add(v);
    }
    if (!kAside && chunk == chunks) add_rest(chunk);
    if (!kAside && blockIdx.x == 0) add_edges();
    share<Op>(fold_lanes(), memory);
    if (kAside && threadIdx.x >= kWarpSize) return;
    T total = Op::template identity<T>();
    if (threadIdx.x < kWarpSize) total = fold_shared<Op, kWarps / 4>(memory, kWarps);
    if (kAside || blockIdx.x != 0) {
      if (threadIdx.x == 0) publish(slots + blockIdx.x, total);
      return;
    }
    __syncthreads();  // the first warp has read the memory
    finish<Op, kBlock>(threadIdx.x == 0 ? total : Op::template identity<T>(), 0, slots, output,
                       memory);
  }
}

struct Grid {
  unsigned block, blocks;
  Regime regime;

  unsigned streaming() const { return regime == Regime::kLatency ? blocks - 1 : blocks; }
};

// 16-byte loads up to which a shape is the fastest seen on an H200.
inline constexpr std::size_t kOneBlockLoads = 1024 * kLoads;  // 64 KB: nobody else to wait for
inline constexpr std::size_t kOneRoundLoadsPerSm = 2048;      // 32 KB: all blocks load once
inline constexpr std::size_t kSmallBlocksLoadsPerSm = 4096;   // 64 KB; with types of 8 bytes
inline constexpr std::size_t kSmallBlocksLoadsPerSm8 = 1024;  // 16 KB: their partials cost more
inline constexpr std::size_t kLatencyLoadsPerSm = 32768;      // 512 KB: 69 MB on an H200

std::size_t small_blocks_loads_per_sm(const Problem& p) {
  return p.element_bytes() == 8 ? kSmallBlocksLoadsPerSm8 : kSmallBlocksLoadsPerSm;
}

Grid grid_of(const Problem& p) {
  const std::size_t loads = ceil_div(p.input_bytes(), 16);
  const std::size_t loads_per_sm = ceil_div(loads, p.device.sm_count);
  unsigned block = 0;
  if (!p.params.is("block", "auto")) {
    block = p.params.number("block");
  } else {
    if (loads <= kOneBlockLoads / 4) block = 256;
    else if (loads <= kOneBlockLoads / 2) block = 512;
    else if (loads <= kOneBlockLoads) block = 1024;
    else block = loads_per_sm <= small_blocks_loads_per_sm(p) ? 256 : 512;
  }
  const bool latency = loads_per_sm <= kLatencyLoadsPerSm;
  // Beyond one round, twice the work per block: fewer partial results to wait for.
  const std::size_t rounds = latency && loads_per_sm > kOneRoundLoadsPerSm ? 2 : 1;
  const std::size_t most =
      std::size_t{p.device.sm_count} *
      std::min(p.params.number("blocks_per_sm"), p.device.max_threads_per_sm / block);
  const std::size_t useful = loads / (block * kLoads * rounds);
  if (useful <= 1 || most <= 2) return {block, 1, Regime::kOneBlock};
  if (!latency) return {block, static_cast<unsigned>(std::min(useful, most)), Regime::kBandwidth};
  return {block, static_cast<unsigned>(std::min(useful + 1, most)), Regime::kLatency};
}

struct OnepassReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const Grid grid = grid_of(call.problem);
    const auto address = reinterpret_cast<std::uintptr_t>(call.values());
    const std::size_t head = std::min<std::size_t>(call.n(), (16 - address % 16) % 16 / sizeof(T));
    with_value<256, 512, 1024>(grid.block, [&]<unsigned kBlock>() {
      with_value<0, 1, 2>(static_cast<unsigned>(grid.regime), [&]<unsigned kRegime>() {
        launch(kernel<T, Op, kBlock, Regime{kRegime}>,
               {grid.blocks, kBlock, kBlock * sizeof(T), call.stream}, call.values(), call.n(),
               head, call.results(), call.template scratch<Slot<T>>());
      });
    });
  }
};

Variant variant() {
  return {
      .id = "onepass/reduce",
      .title = "one launch, wide loads, flagged partials",
      .source = "reduce-bench",
      .fidelity = Fidelity::kBeyond,
      .params = {{"block", "auto", {"auto", "256", "512", "1024"}, "threads; auto: by size"},
                 {"blocks_per_sm", "4", {"1", "2", "4", "8"}, "blocks per SM at most"}},
      .borders = [](const Problem& p) -> std::vector<std::size_t> {
        const std::size_t lanes = 16 / p.element_bytes(), sms = p.device.sm_count;
        return {kOneBlockLoads / 4 * lanes,
                kOneBlockLoads / 2 * lanes,
                kOneBlockLoads * lanes,
                kOneRoundLoadsPerSm * sms * lanes,
                small_blocks_loads_per_sm(p) * sms * lanes,
                kLatencyLoadsPerSm * sms * lanes};
      },
      .depth = [](const Problem& p) -> std::uint64_t {
        const Grid grid = grid_of(p);
        const std::size_t lanes = 16 / p.element_bytes();
        const std::size_t per_lane =
            ceil_div(p.n, std::size_t{grid.block} * grid.streaming() * lanes) + 4;
        // A row for every 128 threads but the first, 2 for 4 columns, 3 for 8 values, 2 shuffles.
        const std::size_t fold = grid.block / 128 + 6;
        // Edges and lanes; a block's fold; the others' partials and block 0's fold.
        return per_lane + lanes + fold +
               (grid.blocks > 1 ? ceil_div(grid.blocks - 1, grid.block) + fold : 0);
      },
      .traffic = [](const Problem& p) -> Traffic { return {p.input_bytes(), p.element_bytes()}; },
      .workspace = [](const Problem& p) -> Workspace {
        const std::size_t bytes = grid_of(p).blocks * p.element_bytes() * 2;
        return {.device_bytes = bytes, .zeroed_bytes = bytes};
      },
      .enqueue = instantiate<OnepassReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_reduce
