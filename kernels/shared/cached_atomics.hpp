// Few inputs for each of many buckets: atomics in the L2 cache, with a small table in shared memory
// that combines the inputs of frequent labels first. What onepass/multireduce, onepass/histogram and
// partition/multireduce launch where their tables would take longer to clear and to merge than the
// inputs to combine.
#pragma once

#include <algorithm>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/private_table.hpp"
#include "kernels/shared/residency.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 and an H100 (docs/kernels/onepass-multireduce.md).
struct CachedAtomicsPolicy {
  /// One block for each SM, so that a frequent label costs few atomics; smaller ones where there would
  /// be fewer than SMs.
  static constexpr unsigned kBlock = 1024, kSmallBlock = 512;
  /// Inputs that a thread holds at once.
  static constexpr unsigned kItems = 2;
  /// Slots of a block's table.
  static constexpr unsigned kLog2Slots = 12, kSlots = 1u << kLog2Slots;
  /// It is launched for at least so many buckets, and at most so many inputs: of each bucket, and in
  /// all.
  static constexpr std::size_t kLeastBuckets = 4096, kMostPerBucket = 16, kMostInputs = 1 << 20;

  static bool serves(std::size_t n, std::size_t buckets) {
    return buckets >= kLeastBuckets && buckets <= ~Label{0} && n <= kMostPerBucket * buckets &&
           n <= kMostInputs;
  }
};

/// Whether a variant with tables launches it, as these would take longer to clear and to merge than
/// the inputs to combine. Who asks for a number of copies gets tables.
inline bool is_direct(const Sizes& sizes, const TableTuning& tuning) {
  return tuning.copies == 0 && CachedAtomicsPolicy::serves(sizes.n, sizes.buckets);
}

/// Partial results of labels in shared memory. Each label has one slot; the first that comes to a slot
/// keeps it, which a frequent label most likely is. Neighbouring labels have neighbouring slots: so the
/// results of sorted labels are combined side by side, and low labels, which often are the frequent
/// ones, do not meet.
template <class T, class Op>
struct LabelCache {
  static constexpr Label kFree = ~Label{0};  // no label: there are fewer buckets (`serves`)
  static constexpr unsigned kSlots = CachedAtomicsPolicy::kSlots;

  T totals[kSlots];
  Label labels[kSlots];

  /// Nor do labels that are a few multiples of kSlots apart.
  static __device__ unsigned slot_of(Label label) {
    return (label + (label >> CachedAtomicsPolicy::kLog2Slots) * 0x9e3u) % kSlots;
  }
  __device__ void clear() {
    for (unsigned s = threadIdx.x; s < kSlots; s += blockDim.x) {
      labels[s] = kFree;
      totals[s] = Op::template identity<T>();
    }
  }
  /// Combines a value in its label's slot; false if another label has it.
  __device__ bool add(Label label, T value) {
    const unsigned slot = slot_of(label);
    Label owner = *const_cast<volatile Label*>(&labels[slot]);
    if (owner == kFree) owner = atomicCAS(&labels[slot], kFree, label);
    if (owner != kFree && owner != label) return false;
    atomic_combine_shared<Op>(&totals[slot], value);
    return true;
  }
  __device__ void add_to(T* results) const {
    for (unsigned s = threadIdx.x; s < kSlots; s += blockDim.x)
      if (labels[s] != kFree) atomic_combine<Op>(&results[labels[s]], totals[s]);
  }
};

/// Every block takes a part of the inputs; the results are cleared, at the latest by the launch before.
/// With `kCounts` every input counts one, and there are no values.
template <class T, class Op, bool kCounts, class L>
__global__ void __launch_bounds__(CachedAtomicsPolicy::kBlock)
    cached_atomics_kernel(const T* values, const L* labels, std::size_t n, T* results) {
  constexpr unsigned kItems = CachedAtomicsPolicy::kItems;
  auto& cache = *dynamic_shared<LabelCache<T, Op>>();
  const std::size_t begin = n * blockIdx.x / gridDim.x, end = n * (blockIdx.x + 1) / gridDim.x;
  cache.clear();
  __syncthreads();
  for (std::size_t base = begin + threadIdx.x; base < end; base += kItems * blockDim.x) {
    Label label[kItems];
    T value[kItems];
    const auto place = [&](unsigned j) { return base + j * blockDim.x; };
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      if (place(j) >= end) continue;
      label[j] = labels[place(j)];
      value[j] = kCounts ? T{1} : values[place(j)];
    }
    wait_for_launch_before();  // which clears the results
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j)
      if (place(j) < end && !cache.add(label[j], value[j]))
        atomic_combine<Op>(&results[label[j]], value[j]);
  }
  __syncthreads();
  wait_for_launch_before();
  cache.add_to(results);
}

/// Clears the results, unless they are `cleared`, and combines all inputs, n > 0, or counts them.
template <class Op, bool kCounts = false, class T, class L>
void enqueue_cached_atomics(const Arguments<T, L>& call, bool cleared = false) {
  using Policy = CachedAtomicsPolicy;
  const bool overlapping = !cleared && call.sizes.device.overlapping_launches;
  // The same division of L1 for both launches: to divide it anew, an SM must be idle.
  const unsigned shared_percent =
      overlapping ? shared_percent_for(call.sizes.device, 1, sizeof(LabelCache<T, Op>)) : 0;
  if (!cleared) {
    LaunchShape fill = fill_shape(call.buckets(), call.stream);
    fill.shared_percent = shared_percent;
    launch(fill_kernel<T>, fill, call.results, call.buckets(), Op::template identity<T>());
  }
  const std::size_t most_blocks = call.sizes.device.sm_count;
  const unsigned block =
      ceil_div(call.n(), Policy::kBlock) < most_blocks ? Policy::kSmallBlock : Policy::kBlock;
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, ceil_div(call.n(), block)));
  LaunchShape shape{blocks, block, sizeof(LabelCache<T, Op>), call.stream};
  shape.overlapping = overlapping;
  shape.shared_percent = shared_percent;
  launch(cached_atomics_kernel<T, Op, kCounts, L>, shape, call.values, call.labels, call.n(),
         call.results);
}

}  // namespace reduce_bench::BACKEND
