// onepass/reduce: one launch, wide loads in flight, flagged partials
//
// Source: this project.
// Idea: a block of a grid-stride sweep reads tiles by 16-byte loads, several in flight per thread
//   before the first is used, and folds them by shuffles. It then publishes its partial result as
//   words that hold half value, half flag, so that value and flag arrive together: no fence, no
//   ticket. Block 0 waits for the words of all others, folds them, writes the result and clears the
//   flags for the next launch. No other block waits for anything, so the grid may exceed what is
//   resident.
// Fixes: the second launch of two-pass reductions (1.4-3 us) and, of last-block schemes such as
//   harris/threadfence, the fence and the ticket's round trip between a block's partial and the
//   result.
// Launch: up to blocks_per_sm blocks of B threads per SM, fewer for small n: a block is added only
//   when every thread has `spread` loads to do. B / 32 * sizeof(T) shared.
// Traffic: n elements read, one written; 8 bytes per block and 4 bytes of T through L2.
// Preconditions: the workspace is zero before the first launch and left zero.
// Deviations: none, there is no publication. Elements before the first 16-byte boundary and after
//   the last are read one by one by block 0.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {
namespace {

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

/// Waits for a published value, and empties the slot.
template <class T>
__device__ T take(Word* slot) {
  unsigned bits[kWords<T>];
  for (unsigned w = 0; w < kWords<T>; ++w) {
    auto* packed = reinterpret_cast<volatile unsigned long long*>(slot + w);
    Word word;
    for (;;) {
      const unsigned long long seen = *packed;
      memcpy(&word, &seen, sizeof(word));
      if (word.ready != 0) break;
      __nanosleep(20);
    }
    bits[w] = word.bits;
    *packed = 0;
  }
  T value;
  memcpy(&value, bits, sizeof(T));
  return value;
}

template <class Op, class T>
__device__ T warp_fold_by_shuffles(T value) {
  for (unsigned offset = 16; offset > 0; offset /= 2)
    value = Op::combine(value, __shfl_xor_sync(0xffffffffu, value, static_cast<int>(offset)));
  return value;
}

/// One instruction for 32-bit integers since sm_80.
template <class Op, class T>
__device__ T warp_fold(T value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr bool kNarrow = std::is_same_v<T, std::int32_t>;
  if constexpr (kNarrow && std::is_same_v<Op, Sum>) return __reduce_add_sync(0xffffffffu, value);
  else if constexpr (kNarrow && std::is_same_v<Op, Min>) return __reduce_min_sync(0xffffffffu, value);
  else if constexpr (kNarrow && std::is_same_v<Op, Max>) return __reduce_max_sync(0xffffffffu, value);
  else return warp_fold_by_shuffles<Op>(value);
#else
  return warp_fold_by_shuffles<Op>(value);
#endif
}

/// The result is valid in the first warp.
template <class Op, unsigned kBlock, class T>
__device__ T block_fold(T value, T* of_warp) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_fold<Op>(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0)
    value = warp_fold<Op>(lane < kBlock / 32 ? of_warp[lane] : Op::template identity<T>());
  return value;
}

template <class T, class Op, unsigned kBlock, unsigned kLoads>
__global__ void __launch_bounds__(kBlock)
    onepass_reduce_kernel(const T* input, std::size_t n, std::size_t head, T* output, Word* slots) {
  using Vec = Vector<T>;
  const auto* vectors = reinterpret_cast<const Vec*>(input + head);
  const std::size_t count = (n - head) / Vec::kLanes;

  T sum[Vec::kLanes];
#pragma unroll
  for (T& lane : sum) lane = Op::template identity<T>();
  const auto add = [&](const Vec& v) {
#pragma unroll
    for (unsigned k = 0; k < Vec::kLanes; ++k) sum[k] = Op::combine(sum[k], v.lane[k]);
  };

  const std::size_t stride = std::size_t{gridDim.x} * kBlock * kLoads;
  std::size_t i = std::size_t{blockIdx.x} * kBlock * kLoads + threadIdx.x;
  for (; i + (kLoads - 1) * kBlock < count; i += stride) {
    Vec v[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) v[k] = vectors[i + k * kBlock];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) add(v[k]);
  }
  // The last tile of a thread, with its loads in flight together as well.
  {
    Vec v[kLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      if (i + k * kBlock < count) {
        v[k] = vectors[i + k * kBlock];
      } else {
        for (T& lane : v[k].lane) lane = Op::template identity<T>();
      }
    }
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) add(v[k]);
  }
  if (blockIdx.x == 0) {
    const std::size_t tail = head + count * Vec::kLanes;
    if (threadIdx.x < head) sum[0] = Op::combine(sum[0], input[threadIdx.x]);
    if (threadIdx.x < n - tail) sum[0] = Op::combine(sum[0], input[tail + threadIdx.x]);
  }

#pragma unroll
  for (unsigned k = 1; k < Vec::kLanes; ++k) sum[0] = Op::combine(sum[0], sum[k]);
  T* of_warp = dynamic_shared<T>();
  T total = block_fold<Op, kBlock>(sum[0], of_warp);

  if (blockIdx.x != 0) {
    if (threadIdx.x == 0) publish(slots + std::size_t{blockIdx.x} * kWords<T>, total);
    return;
  }
  if (gridDim.x > 1) {
    T others = threadIdx.x == 0 ? total : Op::template identity<T>();
    for (unsigned b = threadIdx.x + 1; b < gridDim.x; b += kBlock)
      others = Op::combine(others, take<T>(slots + std::size_t{b} * kWords<T>));
    __syncthreads();  // of_warp is free again
    total = block_fold<Op, kBlock>(others, of_warp);
  }
  if (threadIdx.x == 0) *output = total;
}

struct Shape {
  unsigned block, blocks;
};
Shape shape_of(const Problem& p) {
  const unsigned block = p.params.number("block");
  const std::size_t loads = ceil_div(p.input_bytes(), 16);
  const std::size_t useful = loads / (std::size_t{block} * p.params.number("spread"));
  const std::size_t most =
      std::size_t{p.device.sm_count} *
      std::min(p.params.number("blocks_per_sm"), p.device.max_threads_per_sm / block);
  return {block, static_cast<unsigned>(std::max<std::size_t>(1, std::min(useful, most)))};
}

struct OnepassReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const Shape shape = shape_of(call.problem);
    const auto address = reinterpret_cast<std::uintptr_t>(call.in());
    const std::size_t head =
        std::min<std::size_t>(call.n(), (16 - address % 16) % 16 / sizeof(T));
    with_value<256, 512, 1024>(shape.block, [&]<unsigned kBlock>() {
      with_value<4, 8>(call.params().number("loads"), [&]<unsigned kLoads>() {
        launch(onepass_reduce_kernel<T, Op, kBlock, kLoads>,
               {shape.blocks, kBlock, kBlock / 32 * sizeof(T), call.stream}, call.in(), call.n(),
               head, call.out(), call.template scratch<Word>());
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
      .params = {{"block", "512", {"256", "512", "1024"}, "threads"},
                 {"loads", "4", {"4", "8"}, "16-byte loads in flight per thread"},
                 {"spread", "1", {"1", "2", "4"}, "loads per thread before another block is added"},
                 {"blocks_per_sm", "4", {"1", "2", "4", "8"}, "blocks per SM at most"}},
      .depth =
          [](const Problem& p) -> std::uint64_t {
            const Shape shape = shape_of(p);
            const std::size_t lanes = 16 / p.element_bytes();
            const std::size_t per_lane =
                ceil_div(p.n, std::size_t{shape.block} * shape.blocks * lanes) +
                p.params.number("loads");
            // Lane, head and tail; lanes; block; the others' partials; block again.
            return per_lane + 2 + lanes + 10 + ceil_div(shape.blocks, shape.block) + 1 + 10;
          },
      .traffic =
          [](const Problem& p) -> Traffic { return {p.input_bytes(), p.element_bytes()}; },
      .workspace =
          [](const Problem& p) -> Workspace {
            const std::size_t bytes = shape_of(p).blocks * p.element_bytes() * 2;
            return {.device_bytes = bytes, .zeroed_bytes = bytes};
          },
      .enqueue = instantiate<OnepassReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND
