// Few inputs for each of many buckets: atomics in the L2 cache, with a small table in shared memory
// that combines the inputs of frequent labels first. What onepass/multireduce, onepass/histogram,
// onepass/histogram-split, partition/multireduce and partition/histogram launch where their tables
// would take longer to clear and to merge than the inputs to combine.
#pragma once

#include <algorithm>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/private_table.hpp"
#include "kernels/shared/residency.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 and an H100 (docs/kernels/onepass-multireduce.md).
struct CachedAtomicsPolicy90 {
  /// One block for each SM, so that a frequent label costs few atomics; smaller ones where there
  /// would be fewer than SMs.
  static constexpr unsigned kBlock = 1024, kSmallBlock = 512;
  /// Inputs that a thread holds at once.
  static constexpr unsigned kItems = 2;
  /// Lanes that must have the label of the lane before for runs to be combined first.
  static constexpr int kLeastInRuns = 24;
  /// Slots of a block's table.
  static constexpr unsigned kLog2Slots = 12, kSlots = 1u << kLog2Slots;
  /// Inputs that are few, in all and for each bucket.
  struct Few {
    std::size_t in_all, per_bucket;
    constexpr bool are(std::size_t n, std::size_t buckets) const {
      return n <= in_all && n <= per_bucket * buckets;
    }
  };
  /// It is launched for at least so many buckets, and for few inputs. The fewer there are for a
  /// bucket, the less tables gain.
  static constexpr std::size_t kLeastBuckets = 1024;
  static constexpr Few kFew{1 << 19, 128}, kSparse{1 << 20, 8}, kSparsest{1 << 22, 2};
  /// Instead of what takes longer than tables: partitions of inputs, and float sums whose updates
  /// queue.
  static constexpr Few kSparseForSlow{1 << 20, 16}, kSparserForSlow{1 << 21, 8};
  /// Instead of partitions of float sums and of values of 8 bytes, while L2 keeps the results.
  static constexpr Few kSparsestOfFloats{1 << 23, 2}, kSparseOfWide{1 << 23, 32};
  static constexpr std::size_t kMostResultBytes = 16 << 20;

  static bool serves(std::size_t n, std::size_t buckets, bool instead_of_slow = false) {
    return are_few(n, buckets, kFew, kSparse, kSparsest) ||
           (instead_of_slow && are_few(n, buckets, kSparseForSlow, kSparserForSlow));
  }
  /// `float_sums` are those of f32; those of f64 are values of 8 bytes.
  static bool serves_instead_of_partitions(const Sizes& sizes, bool float_sums) {
    const std::size_t n = sizes.n, buckets = sizes.buckets;
    if (serves(n, buckets, true)) return true;
    if (buckets > kMostResultBytes / sizes.value_bytes) return false;
    return (float_sums && are_few(n, buckets, kSparsestOfFloats)) ||
           (sizes.value_bytes == 8 && are_few(n, buckets, kSparseOfWide));
  }

 private:
  template <class... Limits>
  static bool are_few(std::size_t n, std::size_t buckets, const Limits&... limits) {
    return buckets >= kLeastBuckets && buckets <= ~Label{0} && (limits.are(n, buckets) || ...);
  }
};
using CachedAtomicsPolicy = ByCapability<Row<90, CachedAtomicsPolicy90>>;

/// Whether a variant with tables launches it, as these would take longer to clear and to merge than
/// the inputs to combine. Who asks for a number of copies gets tables.
inline bool is_direct(const Sizes& sizes, const TableTuning& tuning) {
  return tuning.copies == 0 && CachedAtomicsPolicy::serves(sizes.n, sizes.buckets);
}

/// The axis that keeps a variant that orders tiles from launching it.
inline ParamSpec partitioned_axis() {
  return {"launch",
          "auto",
          {"auto", "partitioned"},
          "the kernels: by the numbers of inputs and buckets, or always those that order tiles"};
}

/// Partial results of labels in shared memory. Each label has one slot; the first that comes to a
/// slot keeps it, which a frequent label most likely is. Neighbouring labels have neighbouring
/// slots: so the results of sorted labels are combined side by side, and low labels, which often
/// are the frequent ones, do not meet.
template <class T, class Op>
struct LabelCache {
  static constexpr Label kFree = ~Label{0};  // no label: whoever launches it has fewer buckets
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

/// All blocks together go through the inputs from the first to the last, so that those of sorted
/// labels update neighbouring results at a time, which the L2 cache keeps. The results are cleared,
/// at the latest by the launch before. Where most lanes have the label of the lane before (runs,
/// sorted labels, one label for all), runs are combined across lanes first, and do not queue. Where
/// there are `no_more` inputs than buckets and the labels of a warp never descend, other warps most
/// likely have other labels, and the table would only cost. With `kCounts` every input counts one,
/// and there are no values.
template <class T, class Op, bool kCounts, class L>
__global__ void __launch_bounds__(CachedAtomicsPolicy::kBlock)
    cached_atomics_kernel(const T* values, const L* labels, std::size_t n, bool no_more,
                          T* results) {
  using Cache = LabelCache<T, Op>;
  constexpr unsigned kItems = CachedAtomicsPolicy::kItems;
  auto& cache = *dynamic_shared<Cache>();
  const unsigned lane = threadIdx.x % kWarpSize;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  // The next inputs are loaded while some are combined.
  struct Inputs {
    Label label[kItems];
    T value[kItems];
  };
  const auto load = [&](std::size_t of_warp) {
    Inputs inputs;
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const std::size_t i = of_warp + lane + j * threads;
      inputs.label[j] = i < n ? labels[i] : Cache::kFree;
      if constexpr (kCounts) inputs.value[j] = i < n ? 1 : 0;
      else inputs.value[j] = i < n ? values[i] : Op::template identity<T>();
    }
    return inputs;
  };
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x - lane;
  Inputs next = load(first);
  cache.clear();
  __syncthreads();
  wait_for_launch_before();  // which clears the results
  for (std::size_t of_warp = first; of_warp < n; of_warp += kItems * threads) {
    Inputs inputs = next;
    next = load(of_warp + kItems * threads);
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const Label label = inputs.label[j];
      T value = inputs.value[j];
      const Label before = __shfl_up_sync(kAllLanes, label, 1);
      const unsigned goes_on = __ballot_sync(kAllLanes, lane > 0 && label == before);
      const bool in_runs = __popc(goes_on) >= CachedAtomicsPolicy::kLeastInRuns;
      const bool without_table =
          no_more && !in_runs && __all_sync(kAllLanes, lane == 0 || before <= label);
      bool adds = label != Cache::kFree;
      if (in_runs || without_table) {
        value = fold_runs_of_lanes<Op>(value, goes_on);
        adds = adds && ends_run(goes_on);
      }
      if (adds && (without_table || !cache.add(label, value)))
        atomic_combine<Op>(&results[label], value);
    }
  }
  __syncthreads();
  cache.add_to(results);
}

/// Clears the results, unless they are `cleared`, and combines all inputs or counts them.
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
  if (call.n() == 0) return;
  const std::size_t most_blocks = call.sizes.device.sm_count;
  const unsigned block =
      ceil_div(call.n(), Policy::kBlock) < most_blocks ? Policy::kSmallBlock : Policy::kBlock;
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, ceil_div(call.n(), block)));
  LaunchShape shape{blocks, block, sizeof(LabelCache<T, Op>), call.stream};
  shape.overlapping = overlapping;
  shape.shared_percent = shared_percent;
  launch(cached_atomics_kernel<T, Op, kCounts, L>, shape, call.values, call.labels, call.n(),
         call.n() <= call.buckets(), call.results);
}

}  // namespace reduce_bench::BACKEND
