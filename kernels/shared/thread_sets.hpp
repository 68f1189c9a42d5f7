// A private bucket set for each thread in shared memory, bucket b of thread t at b * threads + t:
// every thread of a warp has a bank of its own (eilers section 4.3.6, Figure 4.12).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/shared/combine_sets.hpp"
#include "kernels/shared/residency.hpp"

namespace reduce_bench::BACKEND {

template <class Op, class T>
__device__ void reset_thread_set(T* own, unsigned buckets) {
  for (unsigned bucket = 0; bucket < buckets; ++bucket)
    own[bucket * blockDim.x] = Op::template identity<T>();
}

/// Combines a value into the thread's bucket of that label.
template <class Op, class T>
__device__ void take(T* own, Label label, T value) {
  T& bucket = own[label * blockDim.x];
  bucket = Op::combine(bucket, value);
}

/// Stores the block's bucket set: those of its threads, combined in their order. A lane begins with
/// the set of another thread than its neighbours, so that they seldom meet in a bank, and puts the
/// threads before that one in front at the end.
template <class Op, class T>
__device__ void store_block_set(const T* sets, unsigned buckets, T* block_sets) {
  __syncthreads();
  const unsigned threads = blockDim.x, middle = threadIdx.x % kWarpSize;
  for (unsigned bucket = threadIdx.x; bucket < buckets; bucket += threads) {
    const T* of_threads = sets + bucket * threads;
    T later = of_threads[middle];
    for (unsigned t = middle + 1; t < threads; ++t) later = Op::combine(later, of_threads[t]);
    T earlier = Op::template identity<T>();
    for (unsigned t = 0; t < middle; ++t) earlier = Op::combine(earlier, of_threads[t]);
    block_sets[std::size_t{bucket} * gridDim.x + blockIdx.x] = Op::combine(earlier, later);
  }
}

/// Most threads of a block; more would only divide a multiprocessor's shared memory differently.
inline constexpr unsigned kMostSetThreads = 256;

struct ThreadSetsPlan {
  unsigned threads, blocks;
  std::size_t per_thread, shared_bytes;
};

/// Shared memory of a thread: its set, and `other_bytes` that the variant needs besides.
inline std::size_t bytes_per_thread(const Problem& p, std::size_t other_bytes) {
  return p.buckets * p.element_bytes() + other_bytes;
}

/// Plans as many warps as have room for their threads' sets and `other_bytes` per thread, and as
/// many blocks as are resident. `per_thread` is a multiple of `unit` inputs. In as little shared
/// memory as the publication's card has, a block is one warp, as the publication's is with 256
/// buckets: a larger one would leave part of so little unused.
inline ThreadSetsPlan plan_thread_sets(const Problem& p, std::size_t other_bytes, unsigned unit) {
  ThreadSetsPlan plan{};
  const std::size_t bytes = bytes_per_thread(p, other_bytes);
  plan.threads =
      has_published_room(p.params)
          ? kWarpSize
          : static_cast<unsigned>(std::clamp<std::size_t>(
                room_bytes(p) / bytes / kWarpSize * kWarpSize, kWarpSize, kMostSetThreads));
  plan.shared_bytes = plan.threads * bytes;
  const std::size_t most = resident_in_room(p, plan.threads, plan.shared_bytes) * p.device.sm_count;
  plan.per_thread =
      std::max(ceil_div(ceil_div(p.n, most * plan.threads), unit), std::size_t{1}) * unit;
  plan.blocks = static_cast<unsigned>(ceil_div(p.n, plan.per_thread * plan.threads));
  return plan;
}

inline std::string thread_sets_restriction(const Problem& p, std::size_t other_bytes) {
  const std::size_t needed = kWarpSize * bytes_per_thread(p, other_bytes);
  const std::size_t room = room_bytes(p);
  if (needed <= room) return {};
  return std::to_string(needed) + " bytes of shared memory are needed for the " +
         std::to_string(p.buckets) + " buckets of each thread of a warp, a block has " +
         std::to_string(room);
}

}  // namespace reduce_bench::BACKEND
