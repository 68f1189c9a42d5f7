// onepass/reduce-exact's kernel and launch.
#pragma once

#include <algorithm>

#include "kernels/reduce/onepass/block_fold.hpp"
#include "kernels/reduce/onepass/chunks.hpp"
#include "kernels/reduce/onepass/window.hpp"
#include "kernels/shared/arguments.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/flagged.hpp"

namespace reduce_bench::BACKEND::onepass_reduce_exact {

using flagged::Slot;
using onepass_reduce::Chunks;

template <class T>
struct Policy90 {
  /// 16-byte loads in flight per thread: f64 has few threads.
  static constexpr unsigned kLoads = sizeof(T) == 4 ? 4 : 8;
  static constexpr unsigned kBlock = sizeof(T) == 4 ? 512 : 384;
  static constexpr unsigned kThreadsPerSm = sizeof(T) == 4 ? 1024 : 384;
  static constexpr unsigned blocks_per_sm(unsigned block) {
    return kThreadsPerSm > block ? kThreadsPerSm / block : 1;
  }
  /// Whether the next chunk is loaded while one is added, which takes registers: f64 has few
  /// threads.
  static constexpr bool kLoadsNext = sizeof(T) == 8;
  /// Up to here, a chunk, one block has nobody to wait for.
  static constexpr std::size_t kOneBlockLoads = std::size_t{kBlock} * kLoads;
  /// Up to here that block has 256 threads.
  static constexpr std::size_t kSmallBlockLoads = kOneBlockLoads / 2;
  /// With few inputs small blocks reach more SMs: up to the first f64 has 128 threads, up to the
  /// second both have 256.
  static constexpr std::size_t kSmallestBlocksLoadsPerSm = 1024, kSmallBlocksLoadsPerSm = 4096;
  static constexpr unsigned block(std::size_t loads, std::size_t loads_per_sm) {
    if (loads <= kOneBlockLoads) return loads <= kSmallBlockLoads ? 256 : kBlock;
    if (sizeof(T) == 8 && loads_per_sm <= kSmallestBlocksLoadsPerSm) return 128;
    return loads_per_sm <= kSmallBlocksLoadsPerSm ? 256 : kBlock;
  }
  /// Up to here, as in onepass/reduce, loads have the L2 cache fetch ahead.
  static constexpr std::size_t kAheadLoadsPerSm = 32768;
};
template <class T>
using Policy = ByCapability<Row<90, Policy90<T>>>;

/// What the words of a message say beside their value.
enum Tag : unsigned {
  kReady = 1,
  kNotMinusZero = 2,  ///< an input is not -0
  kSpilled = 4        ///< `Spill` has inputs
};

/// The sum of all values outside of the window, of all blocks. Zero before a launch, and left zero.
template <class T>
struct Spill {
  static constexpr unsigned kWords = FixedPoint<T>::kWords + 3;  ///< with carries

  long long words[kWords];
  unsigned special;  ///< SpecialValues
};

template <class T, unsigned kBlock>
struct SharedMemory {
  static constexpr unsigned kWarps = kBlock / kWarpSize;
  // A window may lie over the end of the words, and carries beyond it.
  static constexpr unsigned kSpareWords = 6;

  alignas(16) long long amounts[kParts<T>][kBlock];  ///< of the threads
  long long sum[FixedPoint<T>::kWords + kSpareWords];
  unsigned special;
  unsigned tags[kWarps];
  long long spilled[Outside<T>::kWords];
  typename Outside<T>::Word outside[Outside<T>::kWords][kBlock];  ///< of each thread
};

/// The exponent's field of the largest of some finite values from four places of the input, the
/// same for every warp; that of 1 if they are all zero.
template <class T>
__device__ unsigned sample_of(const Vector16<T>* vectors, std::size_t count) {
  constexpr unsigned kPlaces = 4, kVectors = kWarpSize / kPlaces;
  const unsigned lane = threadIdx.x % kWarpSize;
  std::int32_t largest = -1;
  if (count >= kVectors) {
    const Vector16<T> sample =
        vectors[(count - kVectors) * (lane / kVectors) / (kPlaces - 1) + lane % kVectors];
#pragma unroll
    for (const T& value : sample.at) {
      const unsigned key = Window<T>::key(value), field = key >> Window<T>::kFieldInKey;
      if (key != 0 && field != FloatFormat<T>::kSpecial)
        largest = Max::combine(largest, static_cast<std::int32_t>(field));
    }
  }
  if constexpr (onepass_reduce::kOneInstruction<Max, std::int32_t>) {
    largest = onepass_reduce::fold_by_instruction<Max>(largest);
  } else {
#pragma unroll
    for (unsigned offset = 1; offset < kWarpSize; offset *= 2)
      largest =
          Max::combine(largest, __shfl_xor_sync(kAllLanes, largest, static_cast<int>(offset)));
  }
  return largest < 0 ? FloatFormat<T>::kSpecial / 2 : static_cast<unsigned>(largest);
}

/// Adds the threads' sums of values outside of the window to those of all blocks. All threads of a
/// block must call this.
template <class T, unsigned kBlock>
__device__ void spill(SharedMemory<T, kBlock>& memory, Spill<T>* to) {
  __syncthreads();
#pragma unroll 1
  for (unsigned word = threadIdx.x / kWarpSize; word < Outside<T>::kWords;
       word += kBlock / kWarpSize) {
    long long sum = 0;
#pragma unroll 1
    for (unsigned i = threadIdx.x % kWarpSize; i < kBlock; i += kWarpSize)
      sum += Outside<T>::amount(memory.outside[word][i], word);
#pragma unroll
    for (unsigned offset = kWarpSize / 2; offset > 0; offset /= 2)
      sum += __shfl_down_sync(kAllLanes, sum, offset);
    if (threadIdx.x % kWarpSize == 0) memory.spilled[word] = sum;
  }
  __syncthreads();
  // One atomic for each word of all blocks: many on one address take long.
  static_assert(kBlock >= Spill<T>::kWords);
  if (threadIdx.x < Spill<T>::kWords) {
    constexpr unsigned kRatio = FixedPoint<T>::kWordBits / Outside<T>::kWordBits;
    const unsigned first = threadIdx.x < 2 ? 0 : (threadIdx.x - 2) * kRatio;
    constexpr unsigned kWords = Outside<T>::kWords;
    const unsigned end =
        (threadIdx.x + 1) * kRatio < kWords ? (threadIdx.x + 1) * kRatio + 1 : kWords;
    long long amount = 0;
#pragma unroll 1
    for (unsigned word = first; word < end; ++word)
      FixedPoint<T>::for_amount(Outside<T>::position(word), memory.spilled[word],
                                [&](unsigned k, long long part) {
                                  if (k == threadIdx.x) amount += part;
                                });
    if (amount != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&to->words[threadIdx.x]),
                static_cast<unsigned long long>(amount));
  }
  __syncthreads();
}

/// The result from the sums of the parts, which its first warps have, and from what has spilled,
/// which is taken away. All threads of a block must call this.
template <class T, unsigned kBlock>
__device__ void finish(SharedMemory<T, kBlock>& memory, const Window<T>& window, long long total,
                       unsigned tag, Spill<T>* spilled, T* results) {
  constexpr unsigned kSumWords = sizeof(memory.sum) / sizeof(memory.sum[0]);
  const bool has_spilled = (tag & kSpilled) != 0;
  if (has_spilled) __threadfence();
  for (unsigned k = threadIdx.x; k < kSumWords; k += kBlock) {
    memory.sum[k] = 0;
    if (has_spilled && k < Spill<T>::kWords)
      memory.sum[k] = static_cast<long long>(
          atomicExch(reinterpret_cast<unsigned long long*>(&spilled->words[k]), 0ull));
  }
  if (threadIdx.x == 0) memory.special = has_spilled ? atomicExch(&spilled->special, 0u) : 0;
  if (threadIdx.x % kWarpSize == 0 && threadIdx.x / kWarpSize < kParts<T>)
    memory.amounts[threadIdx.x / kWarpSize][0] = total;
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (unsigned p = 0; p < kParts<T>; ++p)
    FixedPoint<T>::add_amount(memory.sum, window.position[p], memory.amounts[p][0]);
  const unsigned special = memory.special;
  T result;
  if (special != 0) {
    result = FixedPoint<T>::special_sum(special);
  } else {
    // The words of the window's amounts, of which the highest begins below 2^81 of its units.
    constexpr unsigned kWindowWords = 7;
    const unsigned low = window.position[kParts<T> - 1] / FixedPoint<T>::kWordBits;
    const unsigned first = has_spilled ? 0 : low;
    const unsigned last = has_spilled ? kSumWords : std::min(low + kWindowWords, kSumWords);
    const T zero = (tag & kNotMinusZero) != 0 ? T{0} : -T{0};
    result = FixedPoint<T>::round(memory.sum, first, last, zero);
  }
  *results = result;
}

template <class T, unsigned kBlock, bool kAhead>
__global__ void __launch_bounds__(kBlock, Policy<T>::blocks_per_sm(kBlock))
    kernel(const T* values, std::size_t n, std::size_t head, Digits digits, T* results,
           Slot<long long>* slots, Spill<T>* all_spilled) {
  using Input = Chunks<T, kBlock, Policy<T>::kLoads, kAhead>;
  using Memory = SharedMemory<T, kBlock>;
  constexpr unsigned kWarps = kBlock / kWarpSize;
  Memory& memory = *held_shared(dynamic_shared<Memory>());
  const unsigned warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  const Input input(values, n, head);

  // The first loads are under way while the window is chosen.
  typename Input::Loads loads;
  unsigned chunk = blockIdx.x;
  const auto load = [&] {
    if (chunk < input.chunks) input.load(chunk, loads);
    else if (chunk == input.chunks) input.load_partial(chunk, loads, -T{0});
  };
  load();
  const Window<T> window(sample_of(input.vectors, input.count), digits);
  Sums<T> sums[Input::Vec::kCount];
  // What of this thread's values lay outside: some that are in its words, or that were spilled.
  enum : unsigned { kOpen = 1, kGone = 2 };
  unsigned outside = 0, special = 0;
  const auto open_outside = [&] {
    if ((outside & kOpen) == 0)
#pragma unroll 1
      for (unsigned k = 0; k < Outside<T>::kWords; ++k) memory.outside[k][threadIdx.x] = 0;
    outside |= kOpen;
  };
  const auto add_outside = [&](T value) {
    special |= Outside<T>::add(&memory.outside[0][threadIdx.x], kBlock, value);
  };
  constexpr unsigned kMostChunks =
      Outside<T>::kMostValues / (Policy<T>::kLoads * Input::Vec::kCount) - 1;  // and an edge
  unsigned chunks_left = kMostChunks;
  while (chunk <= input.chunks) {
    const unsigned now = chunk;
    typename Input::Loads current;
#pragma unroll
    for (unsigned k = 0; k < Policy<T>::kLoads; ++k) current[k] = loads[k];
    chunk += gridDim.x;
    if constexpr (Policy<T>::kLoadsNext) load();
    bool inside = true;
#pragma unroll
    for (const auto& vector : current) {
#pragma unroll
      for (const T& value : vector.at) inside &= window.has(value);
    }
    if (inside) [[likely]] {
#pragma unroll
      for (const auto& vector : current) {
#pragma unroll
        for (unsigned e = 0; e < Input::Vec::kCount; ++e) sums[e].add(vector.at[e], window);
      }
    } else {
      open_outside();
      if constexpr (kAhead) {
        // Little input is read again, so that the code is short: a launch waits for it with cold
        // caches.
#pragma unroll 1
        for (unsigned k = 0; k < Policy<T>::kLoads; ++k) {
          const std::size_t at = std::size_t{now} * Input::kChunk + k * kBlock + threadIdx.x;
          if (at >= input.count) break;
          const auto vector = input.vectors[at];
#pragma unroll
          for (const T& value : vector.at) add_outside(value);
        }
      } else {
#pragma unroll
        for (const auto& vector : current) {
#pragma unroll
          for (const T& value : vector.at) add_outside(value);
        }
      }
    }
    if constexpr (!Policy<T>::kLoadsNext) load();
    if (--chunks_left == 0) {
      chunks_left = kMostChunks;
      if (__syncthreads_or(outside & kOpen) != 0) {
        open_outside();
        spill(memory, all_spilled);
        outside = kGone;
      }
    }
  }
  // The elements before the first vector and behind the last.
  if (blockIdx.x == 0) {
    const std::size_t tail = input.tail();
    const std::size_t edge = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
    if (edge < n) {
      const T value = values[edge];
      if (window.has(value)) {
        sums[0].add(value, window);
      } else {
        open_outside();
        add_outside(value);
      }
    }
  }
  if (special != 0) atomicOr(&all_spilled->special, special);
#pragma unroll
  for (unsigned e = 1; e < Input::Vec::kCount; ++e) sums[0].add(sums[e]);
  long long amounts[kParts<T>];
  to_amounts(sums[0], window, digits, amounts);
  // What lies outside is no zero.
  unsigned tag = kReady;
  if (outside != 0) tag |= kSpilled | kNotMinusZero;
  else if (n == 0 || !sums[0].is_minus_zero()) tag |= kNotMinusZero;

  // A block's fold; of block 0 again, with the sums of the others.
  for (bool has_taken = false;; has_taken = true) {
#pragma unroll
    for (unsigned p = 0; p < kParts<T>; ++p) memory.amounts[p][threadIdx.x] = amounts[p];
    const auto of_any = [](unsigned seen, unsigned bit) {
      return __any_sync(kAllLanes, (seen & bit) != 0) ? bit : 0u;
    };
    tag = kReady | of_any(tag, kNotMinusZero) | of_any(tag, kSpilled);
    if (lane == 0) memory.tags[warp] = tag;
    __syncthreads();
    tag = memory.tags[lane < kWarps ? lane : 0];
    tag = kReady | of_any(tag, kNotMinusZero) | of_any(tag, kSpilled);
    if (!has_taken && (tag & kSpilled) != 0) {
      open_outside();
      spill(memory, all_spilled);
      __threadfence();
    }
    long long total = 0;
    if (warp < kParts<T>)
      total = onepass_reduce::fold_shared<Sum, 1>(memory.amounts[warp], kWarps, lane);
    if (blockIdx.x != 0) {
      if (warp < kParts<T> && lane == 0)
        flagged::publish(&slots[warp * gridDim.x + blockIdx.x], total, tag);
      return;
    }
    __syncthreads();  // the first warps have read the memory
    if (has_taken || gridDim.x == 1)
      return finish(memory, window, total, tag, all_spilled, results);
#pragma unroll
    for (unsigned p = 0; p < kParts<T>; ++p) {
      amounts[p] = warp == p && lane == 0 ? total : 0;
      for (unsigned i = 1 + threadIdx.x; i < gridDim.x; i += kBlock) {
        unsigned tag_of_block = 0;
        amounts[p] += flagged::take(&slots[p * gridDim.x + i], tag_of_block);
        tag |= tag_of_block;
      }
    }
  }
}

struct LaunchPlan {
  unsigned block, blocks;
  bool ahead;
  std::size_t shared_bytes, per_thread;
};

template <class T>
std::size_t shared_bytes(unsigned block) {
  std::size_t bytes = 0;
  with_value<128, 256, 384, 512, 1024>(
      block, [&]<unsigned kBlock>() { bytes = sizeof(SharedMemory<T, kBlock>); });
  return bytes;
}

/// What the sums of the parts have room for.
inline constexpr std::size_t kMostInputs = std::size_t{1} << 40;

struct Tuning {
  unsigned block = 0;          ///< threads; 0: by size
  unsigned blocks_per_sm = 0;  ///< at most; 0: by the threads
};

template <class T>
LaunchPlan plan_for(const Sizes& sizes, const Tuning& tuning) {
  LaunchPlan plan{};
  const DeviceTraits& device = sizes.device;
  const std::size_t loads = ceil_div(sizes.n * sizeof(T), 16);
  const std::size_t loads_per_sm = ceil_div(loads, device.sm_count);
  const bool one_block = loads <= Policy<T>::kOneBlockLoads;
  plan.ahead = loads_per_sm <= Policy<T>::kAheadLoadsPerSm;
  plan.block = tuning.block;
  if (plan.block == 0) {
    plan.block = Policy<T>::block(loads, loads_per_sm);
    while (plan.block > 128 && shared_bytes<T>(plan.block) > device.max_shared_bytes_per_block)
      plan.block -= plan.block > 512 ? 512 : 128;
  }
  plan.shared_bytes = shared_bytes<T>(plan.block);
  // Where blocks had to wait for others to end, they would be summed up in rounds.
  const auto resident =
      static_cast<unsigned>(device.max_shared_bytes_per_block / plan.shared_bytes);
  const unsigned per_sm =
      tuning.blocks_per_sm == 0
          ? std::clamp(Policy<T>::blocks_per_sm(plan.block), 1u, std::max(resident, 1u))
          : tuning.blocks_per_sm;
  const std::size_t chunk = std::size_t{plan.block} * Policy<T>::kLoads;
  plan.blocks = static_cast<unsigned>(
      one_block ? 1
                : std::clamp<std::size_t>(ceil_div(loads, chunk), 1,
                                          std::size_t{device.sm_count} * per_sm));
  // Chunks, and an edge.
  plan.per_thread =
      ceil_div(loads + 1, chunk * plan.blocks) * Policy<T>::kLoads * (16 / sizeof(T)) + 1;
  return plan;
}

template <class T>
std::size_t slots_bytes(const LaunchPlan& plan) {
  return plan.blocks * kParts<T> * sizeof(Slot<long long>);
}
/// All of the workspace; zero before the first call and left zero.
template <class T>
std::size_t workspace_bytes(const LaunchPlan& plan) {
  return slots_bytes<T>(plan) + sizeof(Spill<T>);
}

/// Puts the sum on the stream.
template <class T>
void enqueue(const Arguments<T>& call, const Tuning& tuning) {
  const LaunchPlan plan = plan_for<T>(call.sizes, tuning);
  const Digits digits = digits_for(call.n(), plan.per_thread);
  const auto enqueue_block = [&]<unsigned kBlock>() {
    launch(plan.ahead ? kernel<T, kBlock, true> : kernel<T, kBlock, false>,
           {plan.blocks, kBlock, plan.shared_bytes, call.stream}, call.values, call.n(),
           onepass_reduce::head_of(call.values, call.n()), digits, call.results,
           call.template scratch<Slot<long long>>(),
           call.template scratch<Spill<T>>(slots_bytes<T>(plan)));
  };
  // More threads of f64 would not fit into any device's shared memory.
  if constexpr (sizeof(T) == 8) with_value<128, 256, 384>(plan.block, enqueue_block);
  else with_value<128, 256, 384, 512, 1024>(plan.block, enqueue_block);
}

}  // namespace reduce_bench::BACKEND::onepass_reduce_exact
