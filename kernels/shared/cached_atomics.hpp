// Few inputs for each of many buckets: atomics in the L2 cache, with a table in shared memory that
// combines the inputs of frequent labels first. What onepass/multireduce and partition/multireduce
// launch where their tables would take longer to clear and to merge than the inputs to combine.
#pragma once

#include "kernels/shared/private_table.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 (docs/kernels/onepass-multireduce.md).
struct CachedAtomicsPolicy {
  static constexpr unsigned kBlock = 1024;
  /// Inputs that a thread holds at once.
  static constexpr unsigned kItems = 8;
  /// Slots of a block's table: twice as many as inputs, within these.
  static constexpr unsigned kLog2LeastSlots = 10, kLog2MostSlots = 13;
  /// It is launched for at least so many buckets, and at most so many inputs: of each bucket, and in
  /// all.
  static constexpr std::size_t kLeastBuckets = 4096, kMostPerBucket = 16, kMostInputs = 1 << 20;

  static bool serves(std::size_t n, std::size_t buckets) {
    return buckets >= kLeastBuckets && n <= kMostPerBucket * buckets && n <= kMostInputs;
  }
};

/// Every label has one slot, which the first label that comes keeps.
template <class T, class Op>
struct LabelCache {
  static constexpr Label kFree = ~Label{0};  // no label: buckets are fewer

  Label* labels;
  T* totals;
  unsigned log2_slots;

  __device__ void clear() const {
    for (unsigned s = threadIdx.x; s < 1u << log2_slots; s += blockDim.x) {
      labels[s] = kFree;
      totals[s] = Op::template identity<T>();
    }
  }
  /// Combines a value in its label's slot; false if another label has it.
  __device__ bool add(Label label, T value) const {
    const unsigned slot = label * 0x9e3779b1u >> (32 - log2_slots);
    const Label owner = atomicCAS(&labels[slot], kFree, label);
    if (owner != kFree && owner != label) return false;
    atomic_combine<Op>(&totals[slot], value);
    return true;
  }
  __device__ void add_to(T* results) const {
    for (unsigned s = threadIdx.x; s < 1u << log2_slots; s += blockDim.x)
      if (labels[s] != kFree) atomic_combine<Op>(&results[labels[s]], totals[s]);
  }
};

/// Every block takes a part of the inputs, and the first ones clear the results meanwhile. There are
/// no more blocks than inputs.
template <class T, class Op>
__global__ void __launch_bounds__(CachedAtomicsPolicy::kBlock)
    cached_atomics_kernel(const T* values, const Label* labels, std::size_t n, std::size_t buckets,
                          unsigned log2_slots, Clearing* clearing, T* results) {
  constexpr unsigned kItems = CachedAtomicsPolicy::kItems;
  auto* totals = dynamic_shared<T>();
  const LabelCache<T, Op> cache{reinterpret_cast<Label*>(totals + (std::size_t{1} << log2_slots)),
                                totals, log2_slots};
  const std::size_t begin = n * blockIdx.x / gridDim.x, end = n * (blockIdx.x + 1) / gridDim.x;
  for (std::size_t base = begin; base < end; base += std::size_t{kItems} * blockDim.x) {
    Label label[kItems];
    T value[kItems];
    const auto place = [&](unsigned j) { return base + j * blockDim.x + threadIdx.x; };
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      if (place(j) >= end) continue;
      label[j] = labels[place(j)];
      value[j] = values[place(j)];
    }
    if (base == begin) {  // while the first inputs come
      clearing->begin(results, buckets, Op::template identity<T>());
      cache.clear();
      __syncthreads();
    }
    unsigned left = 0;
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j)
      if (place(j) < end && !cache.add(label[j], value[j])) left |= 1u << j;
    if (base == begin) {
      clearing->wait();
      __syncthreads();
    }
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j)
      if (left >> j & 1) atomic_combine<Op>(&results[label[j]], value[j]);
  }
  __syncthreads();
  cache.add_to(results);
}

/// Clears the results and combines all inputs, n > 0. `clearing` as in clearing_workspace().
template <class T, class Op>
void enqueue_cached_atomics(const TypedCall<T>& call, Clearing* clearing) {
  using Policy = CachedAtomicsPolicy;
  const Problem& p = call.problem;
  const auto blocks = static_cast<unsigned>(
      std::min<std::size_t>(p.device.sm_count, ceil_div(p.n, Policy::kBlock)));
  const unsigned log2_slots = std::clamp(log2_ceil(2 * ceil_div(p.n, blocks)),
                                         Policy::kLog2LeastSlots, Policy::kLog2MostSlots);
  launch(cached_atomics_kernel<T, Op>,
         {blocks, Policy::kBlock, (sizeof(T) + sizeof(Label)) << log2_slots, call.stream},
         call.values(), call.labels(), call.n(), call.buckets(), log2_slots, clearing,
         call.results());
}

}  // namespace reduce_bench::BACKEND
