// onepass/reduce: one launch, wide loads in flight, flagged partials
//
// Source: this project.
// Idea: blocks sweep the input by 16-byte loads, four in flight per thread, and fold in shared
//   memory. A block publishes its partial result as words that hold half value, half flag, so that
//   both arrive together: no fence, no ticket. Block 0 waits for the words of all others, folds
//   them, writes the result and clears the flags for the next launch. No other block waits for
//   anything, so the grid may exceed what is resident.
// Fixes: the second launch of two-pass reductions (on an H200 cub/reduce takes 4.0 us for 2^12
//   integers in one kernel, 6.8 us for 2^13 in two; this 3.8 and 4.0) and, of last-block schemes
//   such as harris/threadfence, the fence and the ticket's round trip between a block's partial and
//   the result.
// Launch: one block of 256 to 1024 threads up to 64 KB of input; 256 threads, a block for every 16
//   KB, up to 32 KB per SM; then 512 threads, grid-stride. At most blocks_per_sm blocks per SM. B *
//   sizeof(T) shared.
// Traffic: n elements read, one written; the partials, 8 bytes per 4 of T and block, stay in L2.
//   From 2^24 elements device memory binds (on an H200 at 2^30 the time of the read ceiling within
//   1 %). Below 2^20 latency binds: launch, one access to device memory, and about 1 us from a
//   block's sum to the result (publish, poll, fold; twice as many shuffles for 8-byte types).
// Preconditions: the workspace is zero before the first launch and left zero.
// Deviations: none, there is no publication. Elements before the first 16-byte boundary and after
//   the last are read one by one by block 0.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {
namespace {

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

template <class T>
__device__ void publish(Word* slot, T value) {
  unsigned bits[kWords<T>];
  memcpy(bits, &value, sizeof(T));
  for (unsigned w = 0; w < kWords<T>; ++w) {
    const Word word{bits[w], 1};
    unsigned long long packed;
    memcpy(&packed, &word, sizeof(word));
    *reinterpret_cast<volatile unsigned long long*>(slot + w) = packed;
  }
}

/// Waits for a published value, and empties the slot. The words of a value are read together: one
/// after the other, f64 sums of 2^18 elements took 6.2 us instead of 5.7 on an H200.
template <class T>
__device__ T take(Word* slot) {
  auto* packed = reinterpret_cast<volatile unsigned long long*>(slot);
  Word words[kWords<T>];
  for (bool ready = false; !ready;) {
    unsigned long long seen[kWords<T>];
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w) seen[w] = packed[w];
    memcpy(words, seen, sizeof(words));
    ready = true;
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w) ready = ready && words[w].ready != 0;
    if (!ready) wait_hint();
  }
  unsigned bits[kWords<T>];
#pragma unroll
  for (unsigned w = 0; w < kWords<T>; ++w) {
    bits[w] = words[w].bits;
    packed[w] = 0;
  }
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

template <class Op, class T>
__device__ T warp_fold(T value) {
  if constexpr (kOneInstruction<Op, T>) {
    if constexpr (std::is_same_v<Op, Sum>) return __reduce_add_sync(0xffffffffu, value);
    else if constexpr (std::is_same_v<Op, Min>) return __reduce_min_sync(0xffffffffu, value);
    else return __reduce_max_sync(0xffffffffu, value);
  } else {
    for (unsigned offset = 16; offset > 0; offset /= 2)
      value = Op::combine(value, __shfl_xor_sync(0xffffffffu, value, static_cast<int>(offset)));
    return value;
  }
}

/// Folds one value per thread; the result is valid in the first warp. `memory` holds kBlock
/// elements. Without the instruction, columns are folded first: f64 sums of 2^14 elements took 4.8
/// us instead of 5.0 with shuffles in every warp on an H200.
template <class Op, unsigned kBlock, class T>
__device__ T block_fold(T value, T* memory) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr unsigned kWarps = kBlock / 32;
  if constexpr (kOneInstruction<Op, T>) {
    value = warp_fold<Op>(value);
    if (lane == 0) memory[warp] = value;
    __syncthreads();
    if (warp != 0) return value;
    return warp_fold<Op>(lane < kWarps ? memory[lane] : Op::template identity<T>());
  } else {
    memory[threadIdx.x] = value;
    __syncthreads();
    if (warp != 0) return value;
    T column[4] = {value, memory[32 + lane], memory[64 + lane], memory[96 + lane]};
#pragma unroll
    for (unsigned w = 4; w < kWarps; ++w)
      column[w % 4] = Op::combine(column[w % 4], memory[w * 32 + lane]);
    return warp_fold<Op>(
        Op::combine(Op::combine(column[0], column[1]), Op::combine(column[2], column[3])));
  }
}

template <class T, class Op, unsigned kBlock, bool kWarmUpFold>
__global__ void __launch_bounds__(kBlock)
    onepass_reduce_kernel(const T* input, std::size_t n, std::size_t head, T* output, Word* slots) {
  using Vec = Vector<T>;
  const auto* vectors = reinterpret_cast<const Vec*>(input + head);
  const std::size_t count = (n - head) / Vec::kLanes;
  const std::size_t stride = std::size_t{gridDim.x} * kBlock * kLoads;
  std::size_t i = std::size_t{blockIdx.x} * kBlock * kLoads + threadIdx.x;

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
  const auto load_inside = [&](Vec(&v)[kLoads]) {
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      if (i + k * kBlock < count) {
        v[k] = vectors[i + k * kBlock];
      } else {
#pragma unroll
        for (T& lane : v[k].lane) lane = Op::template identity<T>();
      }
    }
  };
  const auto stream = [&] {
    Vec v[kLoads];
    for (; i + (kLoads - 1) * kBlock < count; i += stride) {
#pragma unroll
      for (unsigned k = 0; k < kLoads; ++k) v[k] = vectors[i + k * kBlock];
      add(v);
    }
    if (i < count) {
      load_inside(v);
      add(v);
    }
  };

  Vec first[kLoads];
  if constexpr (kWarmUpFold) load_inside(first);
  if (blockIdx.x == 0) {
    const std::size_t tail = head + count * Vec::kLanes;
    if (threadIdx.x < head) sum[0] = input[threadIdx.x];
    if (threadIdx.x < n - tail) sum[1] = input[tail + threadIdx.x];
  }
  if constexpr (!kWarmUpFold) stream();

  // One piece of code folds this block's sums and, in block 0, the partial results of all. Where
  // the input is small it folds neutral elements first, while the loads are in flight: with cold
  // caches the instructions come from device memory too, and would be waited for after the data.
  enum Pass { kNeutral, kOwn, kPartials };
  T* memory = dynamic_shared<T>();
  T total = Op::template identity<T>();
#pragma unroll 1
  for (unsigned pass = kWarmUpFold ? kNeutral : kOwn; pass <= kPartials; ++pass) {
    T value = Op::template identity<T>();
    if (pass == kOwn) {
      if constexpr (kWarmUpFold) {
        add(first);
        i += stride;
        stream();
      }
      value = sum[0];
#pragma unroll
      for (unsigned l = 1; l < Vec::kLanes; ++l) value = Op::combine(value, sum[l]);
    } else if (pass == kPartials) {
      if (threadIdx.x == 0) value = total;
      for (unsigned b = threadIdx.x + 1; b < gridDim.x; b += kBlock)
        value = Op::combine(value, take<T>(slots + std::size_t{b} * kWords<T>));
    }
    __syncthreads();  // the pass before has read the memory
    total = block_fold<Op, kBlock>(value, memory);
    if (pass == kOwn && (blockIdx.x != 0 || gridDim.x == 1)) break;
  }
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) *output = total;
  else publish(slots + std::size_t{blockIdx.x} * kWords<T>, total);
}

struct Shape {
  unsigned block, blocks;
  bool small;  ///< about one round of loads: latency counts, not bandwidth
};

/// `auto` block sizes are the fastest seen on an H200: one block while four loads a thread suffice
/// (no partial results to wait for), then many small blocks that reach all SMs, then large ones.
Shape shape_of(const Problem& p) {
  constexpr std::size_t kSmallLoadsPerSm = 2048;  // 32 KB: 4.3 MB on an H200
  const std::size_t loads = ceil_div(p.input_bytes(), 16);
  const bool small = loads <= kSmallLoadsPerSm * p.device.sm_count;
  unsigned block = p.params.number("block");
  if (p.params.is("block", "auto")) {
    if (loads <= 256 * kLoads) block = 256;
    else if (loads <= 512 * kLoads) block = 512;
    else if (loads <= 1024 * kLoads) block = 1024;
    else block = small ? 256 : 512;
  }
  const std::size_t most =
      std::size_t{p.device.sm_count} *
      std::min(p.params.number("blocks_per_sm"), p.device.max_threads_per_sm / block);
  const std::size_t useful = loads / (block * kLoads);
  return {block, static_cast<unsigned>(std::clamp<std::size_t>(useful, 1, most)), small};
}

struct OnepassReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const Shape shape = shape_of(call.problem);
    const auto address = reinterpret_cast<std::uintptr_t>(call.in());
    const std::size_t head = std::min<std::size_t>(call.n(), (16 - address % 16) % 16 / sizeof(T));
    with_value<256, 512, 1024>(shape.block, [&]<unsigned kBlock>() {
      with_value<0, 1>(shape.small, [&]<unsigned kSmall>() {
        launch(onepass_reduce_kernel<T, Op, kBlock, kSmall != 0>,
               {shape.blocks, kBlock, kBlock * sizeof(T), call.stream}, call.in(), call.n(), head,
               call.out(), call.template scratch<Word>());
      });
    });
  }
};

}  // namespace

Variant onepass_reduce() {
  return {
      .id = "onepass/reduce",
      .title = "one launch, wide loads, flagged partials",
      .source = "reduce-bench",
      .fidelity = Fidelity::kBeyond,
      .params = {{"block", "auto", {"auto", "256", "512", "1024"}, "threads; auto: by size"},
                 {"blocks_per_sm", "4", {"1", "2", "4", "8"}, "blocks per SM at most"}},
      .depth = [](const Problem& p) -> std::uint64_t {
        const Shape shape = shape_of(p);
        const std::size_t lanes = 16 / p.element_bytes();
        const std::size_t per_lane =
            ceil_div(p.n, std::size_t{shape.block} * shape.blocks * lanes) + 4;
        // Edges; lanes; a block's fold (8 rows, 2 for 4 columns, 5 shuffles); the others'
        // partials; block 0's fold again.
        return per_lane + 1 + lanes + 15 + ceil_div(shape.blocks, shape.block) + 1 + 15;
      },
      .traffic = [](const Problem& p) -> Traffic { return {p.input_bytes(), p.element_bytes()}; },
      .workspace = [](const Problem& p) -> Workspace {
        const std::size_t bytes = shape_of(p).blocks * p.element_bytes() * 2;
        return {.device_bytes = bytes, .zeroed_bytes = bytes};
      },
      .enqueue = instantiate<OnepassReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND
