// Buckets in shared memory, several copies of each: what this project's multireduces and histograms
// share.
#pragma once

#include <algorithm>

#include "kernels/shared/arguments.hpp"
#include "kernels/shared/atomics.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/residency.hpp"
#include "kernels/shared/vector16.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 (docs/kernels/onepass-multireduce.md, onepass-histogram.md).
struct TablePolicy90 {
  /// Copies up to which blocks combine their tables in pairs. Pairs halve the atomics, and read
  /// half of each table from the other block.
  static constexpr unsigned kMostLog2CopiesInPairs = 0;
  /// Inputs that a block has for each slot of its table, at least, where lanes share copies and there are
  /// several: with few inputs, more copies take longer to clear and to add up than they save.
  static constexpr std::size_t kInputsPerSlot = 2;
  /// Few inputs go to blocks of fewer threads, which begin and end sooner, but not of fewer than
  /// these, nor of fewer inputs for each bucket, as each block combines its table with the results.
  static constexpr unsigned kLeastBlock = 256;
  static constexpr std::size_t kInputsPerBucket = 16;
  /// As these would be more blocks, and more tables: only where no more than a quarter of the SMs
  /// has a block, or nearly all have one, so that there will hardly be more.
  static constexpr bool may_shrink(std::size_t blocks, unsigned sm_count) {
    return blocks * 4 <= sm_count || (blocks < sm_count && blocks * 4 > sm_count * 3);
  }
};
using TablePolicy = ByCapability<Row<90, TablePolicy90>>;

inline constexpr unsigned kLog2WarpSize = 5;
static_assert(1u << kLog2WarpSize == kWarpSize);

/// Bucket b of copy c lies at b * copies + c: the lanes of a warp work on different copies, hence
/// on different banks. The number of copies is a power of two; with `kCopyPerLane` it is kWarpSize,
/// known when compiled.
template <class T, class Operator, bool kCopyPerLane = false>
struct PrivateTable {
  using Value = T;
  using Op = Operator;

  T* slots;
  unsigned buckets, log2_copies;

  __device__ unsigned shift() const { return kCopyPerLane ? kLog2WarpSize : log2_copies; }
  __device__ unsigned size() const { return buckets << shift(); }

  /// All threads of the block must call this, and `add_to` too.
  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < size(); i += blockDim.x)
      slots[i] = Op::template identity<T>();
    __syncthreads();
  }
  /// The slot of a bucket in this thread's copy.
  __device__ unsigned slot_of(unsigned bucket) const {
    return (bucket << shift()) + (threadIdx.x & ((1u << shift()) - 1));
  }
  __device__ void add(unsigned bucket, T value) const {
    atomic_combine_shared<Op>(&slots[slot_of(bucket)], value);
  }
  /// Adds several values of a float sum, those that are present, some at once.
  template <unsigned kCount>
  __device__ void add_each(const unsigned (&bucket)[kCount], const T (&value)[kCount],
                           const bool (&present)[kCount]) const {
    add_some_at_once(bucket, value, present, [](T*&, detail::Word<T>&) {});
  }
  /// `redirect(slot, seen)` may lead to another slot.
  template <unsigned kCount, class Redirect>
  __device__ void add_some_at_once(const unsigned (&bucket)[kCount], const T (&value)[kCount],
                                   const bool (&present)[kCount], Redirect&& redirect) const {
    static_assert(std::is_floating_point_v<T> && std::is_same_v<Op, Sum>);
    using Word = detail::Word<T>;
    constexpr unsigned kAtOnce = 16 / sizeof(T);
    static_assert(kCount % kAtOnce == 0);
#pragma unroll
    for (unsigned first = 0; first < kCount; first += kAtOnce) {
      T* slot[kAtOnce];
      Word seen[kAtOnce];
      T own[kAtOnce];
      bool here[kAtOnce];
#pragma unroll
      for (unsigned e = 0; e < kAtOnce; ++e) {
        here[e] = present[first + e];
        own[e] = value[first + e];
        slot[e] = &slots[here[e] ? slot_of(bucket[first + e]) : 0];
        seen[e] = 0;
        if (here[e]) seen[e] = *reinterpret_cast<volatile Word*>(slot[e]);
      }
#pragma unroll
      for (unsigned e = 0; e < kAtOnce; ++e)
        if (here[e]) redirect(slot[e], seen[e]);
      add_all_shared(slot, here, seen, own);
    }
  }
  /// Combines every bucket's copies and adds them to the results. Blocks start at different
  /// buckets, so that they do not queue for the same ones. With kPairs, each block of a pair (a
  /// cluster) adds half of the buckets for both. Kernels without pairs are compiled without, as the
  /// instructions alone take time at the end of a launch with cold caches.
  template <bool kPairs = false>
  __device__ void add_to(T* results) const {
    fold_copies();
    constexpr unsigned blocks = kPairs ? 2 : 1;
    unsigned rank = 0;
    PrivateTable other = *this;
    if constexpr (kPairs) {
      rank = cluster_rank();
      cluster_sync();  // the other's table is complete
      other.slots = cluster_shared(slots, 1 - rank);
    }
    const unsigned low = buckets * rank / blocks, width = buckets * (rank + 1) / blocks - low;
    const unsigned start = width * (blockIdx.x / blocks) / (gridDim.x / blocks);
    for (unsigned i = threadIdx.x; i < width; i += blockDim.x) {
      const unsigned bucket = low + (i + start < width ? i + start : i + start - width);
      T total = total_of(bucket);
      if constexpr (kPairs) total = Op::combine(total, other.total_of(bucket));
      if (total != Op::template identity<T>()) atomic_combine<Op>(&results[bucket], total);
    }
    if constexpr (kPairs) cluster_sync();  // no table ends while it is read
  }

 private:
  /// Folds the copies to one per lane, where there are more.
  __device__ void fold_copies() const {
    __syncthreads();
    const unsigned copies = 1u << shift();
    if (copies <= kWarpSize) return;
    for (unsigned i = threadIdx.x; i < buckets * kWarpSize; i += blockDim.x) {
      T* slot = slots + (i / kWarpSize << shift()) + i % kWarpSize;
      for (unsigned c = kWarpSize; c < copies; c += kWarpSize) *slot = Op::combine(*slot, slot[c]);
    }
    __syncthreads();
  }
  /// What the copies of a bucket hold together, after fold_copies.
  __device__ T total_of(unsigned bucket) const {
    const unsigned copies = shift() < kLog2WarpSize ? 1u << shift() : kWarpSize;
    T total = Op::template identity<T>();
    for (unsigned k = 0; k < copies; ++k)
      total = Op::combine(total, slots[(bucket << shift()) + ((threadIdx.x + k) % copies)]);
    return total;
  }
};

/// A thread's latest bucket, kept in registers until another label comes: a run of equal labels, of
/// any length, costs one update of the table. Without `kKeep` every input costs one.
template <class Table, bool kKeep = true>
class Run {
 public:
  using T = typename Table::Value;
  using Op = typename Table::Op;

  __device__ explicit Run(const Table& table) : table_(table) {}
  __device__ void add(unsigned bucket, T value) {
    if constexpr (!kKeep) return table_.add(bucket, value);
    if (bucket == bucket_) {
      total_ = Op::combine(total_, value);
      return;
    }
    end();
    bucket_ = bucket;
    total_ = value;
  }
  __device__ void end() {
    if constexpr (kKeep) table_.add(bucket_, total_);
  }

 private:
  Table table_;
  unsigned bucket_ = 0;
  T total_ = Op::template identity<T>();
};

/// A launch of one block per SM, or several, with as many copies of the buckets as fit and inputs are
/// worth.
struct TablePlan {
  unsigned block, blocks, log2_copies;
  bool pairs;  ///< whether blocks combine their tables two by two before they reach the results
  std::size_t shared_bytes;
  std::size_t most_per_warp;  ///< inputs of a warp, at most

  LaunchShape on(const Stream& stream) const {
    LaunchShape launch{blocks, block, shared_bytes, stream};
    launch.cluster = pairs ? 2 : 1;
    return launch;
  }
};

/// A warp's tiles: begin, begin + step, ... below end. 32 bits suffice for the memory of any
/// device, and registers are short.
struct WarpTiles {
  unsigned begin, end, step;
};
/// In each round the tiles of all warps lie side by side; those of the last round go to as few
/// warps of each block as possible. Faster than a stretch of tiles for each warp
/// (docs/kernels/onepass-histogram.md).
__device__ inline WarpTiles tiles_in_rounds(unsigned tiles) {
  return {threadIdx.x / kWarpSize * gridDim.x + blockIdx.x, tiles,
          blockDim.x / kWarpSize * gridDim.x};
}
/// A warp's tiles are neighbours, and so are the stretches of a block's warps.
__device__ inline WarpTiles tiles_in_stretch(unsigned tiles) {
  const unsigned warps = blockDim.x / kWarpSize * gridDim.x;
  const std::size_t warp = blockDim.x / kWarpSize * blockIdx.x + threadIdx.x / kWarpSize;
  return {static_cast<unsigned>(tiles * warp / warps),
          static_cast<unsigned>(tiles * (warp + 1) / warps), 1};
}

/// Lets the first blocks clear the results while every block reads inputs, instead of a launch
/// before. All blocks wait for the first ones, which a device starts before the others. Zero before
/// the first launch, and left zero.
struct Clearing {
  unsigned long long cleared;  ///< blocks that have cleared their part
  unsigned left;               ///< blocks that have stopped waiting

  /// Blocks that clear, at most: with fewer the others wait longer. As all wait for them, they must
  /// be resident together: a part of a device that a context can be given has 8 SMs from compute
  /// capability 9.0 on, and two before (CUDA Driver API, green contexts).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  static constexpr unsigned kMostBlocks = 2;
#else
  static constexpr unsigned kMostBlocks = 8;
#endif

  __device__ static unsigned blocks() { return gridDim.x < kMostBlocks ? gridDim.x : kMostBlocks; }

  template <class T>
  __device__ void begin(T* results, std::size_t n, T neutral) {
    if (blockIdx.x >= blocks()) return;
    const std::size_t end = n * (blockIdx.x + 1) / blocks();
    for (std::size_t i = n * blockIdx.x / blocks() + threadIdx.x; i < end; i += blockDim.x)
      results[i] = neutral;
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence();  // after the barrier, so that it covers the stores of the whole block
    atomicAdd(&cleared, 1ull);
  }
  /// Once the block has called this and passed its next barrier, all results are cleared. The
  /// block's last thread waits, as its warp has the fewest inputs where tiles go in rounds. The
  /// last block of the grid to have waited clears the counters.
  __device__ void wait() {
    if (threadIdx.x != blockDim.x - 1) return;
    while (load_volatile(&cleared) != blocks()) wait_hint();
    __threadfence();
    if (atomicAdd(&left, 1u) != gridDim.x - 1) return;
    atomicExch(&left, 0u);  // no plain store: nothing orders it behind the others' atomics
    store_volatile(&cleared, 0ull);
  }
};
inline Workspace clearing_workspace() {
  return {.device_bytes = sizeof(Clearing), .zeroed_bytes = sizeof(Clearing)};
}

struct TableTuning {
  unsigned block = 1024;       ///< threads, at most
  unsigned blocks_per_sm = 1;  ///< that share an SM's memory
  unsigned copies = 0;         ///< of every bucket, as far as they fit; 0: up to one for each lane
};

inline std::size_t most_table_bytes(const DeviceTraits& device, const TableTuning& tuning) {
  return (device.max_shared_bytes_per_block + kReservedSharedBytes) / tuning.blocks_per_sm -
         kReservedSharedBytes;
}

/// `tile`: the inputs that a warp loads at once. `spare_bytes`: shared memory that the kernel needs
/// beside the table.
inline TablePlan table_plan(const Sizes& sizes, const TableTuning& tuning,
                            std::size_t element_bytes, std::size_t tile,
                            std::size_t spare_bytes = 0) {
  TablePlan plan{};
  plan.block = tuning.block;
  const std::size_t one = std::max<std::size_t>(sizes.buckets * element_bytes, 1);
  const unsigned most = tuning.copies == 0 ? kWarpSize : tuning.copies;
  const auto fits = [&](unsigned log2_copies) {
    return (one << log2_copies) + spare_bytes <= most_table_bytes(sizes.device, tuning);
  };
  while ((2u << plan.log2_copies) <= most && fits(plan.log2_copies + 1)) ++plan.log2_copies;
  const std::size_t most_blocks = std::size_t{sizes.device.sm_count} * tuning.blocks_per_sm;
  const auto inputs_of = [&](unsigned block) { return tile * (block / kWarpSize); };
  while (plan.block / 2 >= TablePolicy::kLeastBlock &&
         TablePolicy::may_shrink(ceil_div(sizes.n, inputs_of(plan.block)), sizes.device.sm_count) &&
         inputs_of(plan.block / 2) >= TablePolicy::kInputsPerBucket * sizes.buckets)
    plan.block /= 2;
  const std::size_t per_block = inputs_of(plan.block);
  plan.blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(ceil_div(sizes.n, per_block), 1, most_blocks));
  if (tuning.copies == 0 && plan.log2_copies < kLog2WarpSize)
    while (plan.log2_copies > 0 &&
           (sizes.buckets << plan.log2_copies) * TablePolicy::kInputsPerSlot >
               std::max(per_block, sizes.n / most_blocks))
      --plan.log2_copies;
  plan.shared_bytes = one << plan.log2_copies;
  plan.pairs = plan.log2_copies <= TablePolicy::kMostLog2CopiesInPairs && plan.blocks > 1 &&
               sizes.device.max_blocks_per_cluster > 1;
  if (plan.pairs) plan.blocks -= plan.blocks % 2;
  // An upper bound whatever the `spare_bytes`: with others, blocks may be in pairs.
  const unsigned paired = plan.blocks > 1 ? plan.blocks - plan.blocks % 2 : 1;
  plan.most_per_warp = (sizes.n / tile / (paired * (plan.block / kWarpSize)) + 2) * tile;
  return plan;
}

// What a variant declares of it.

inline TableTuning tuning_of_table(const Params& params) {
  return {.block = params.number("block"),
          .blocks_per_sm = params.number("blocks_per_sm"),
          .copies = params.is("copies", "auto") ? 0 : params.number("copies")};
}
inline std::size_t most_table_bytes(const Problem& p) {
  return most_table_bytes(p.device, tuning_of_table(p.params));
}
inline TablePlan table_plan(const Problem& p, std::size_t element_bytes, std::size_t tile,
                            std::size_t spare_bytes = 0) {
  return table_plan(p, tuning_of_table(p.params), element_bytes, tile, spare_bytes);
}

inline std::string table_restriction(const Problem& p, std::size_t element_bytes) {
  const std::size_t needed = p.buckets * element_bytes;
  if (needed <= most_table_bytes(p)) return {};
  return std::to_string(needed) + " bytes of buckets do not fit into the " +
         std::to_string(most_table_bytes(p)) + " bytes of shared memory that a block gets";
}

inline std::vector<ParamSpec> table_params() {
  return {
      {"block", "1024", {"256", "512", "1024"}, "threads, at most; of few inputs fewer"},
      {"blocks_per_sm", "1", {"1", "2", "4"}, "blocks that share an SM's memory"},
      {"copies",
       "auto",
       {"auto", "1", "2", "4", "8", "16", "32"},
       "copies of every bucket, as far as they fit; auto: up to one for each lane, of few inputs "
       "fewer, for float sums up to 256"}};
}

}  // namespace reduce_bench::BACKEND
