// Buckets in shared memory, several copies of each: what the onepass keyed variants share.
#pragma once

#include <algorithm>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/instantiate.hpp"
#include "kernels/shared/vector16.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kLog2WarpSize = 5;
static_assert(1u << kLog2WarpSize == kWarpSize);

/// Bucket b of copy c at b * copies + c: the lanes of a warp work on different copies, hence on
/// different banks. `copies` is a power of two; with `kCopyPerLane` it is kLanes, known when
/// compiled.
template <class T, class Operator, bool kCopyPerLane = false>
struct PrivateTable {
  using Value = T;
  using Op = Operator;

  T* slots;
  unsigned buckets, log2_copies;

  __device__ unsigned shift() const { return kCopyPerLane ? kLog2WarpSize : log2_copies; }
  __device__ unsigned size() const { return buckets << shift(); }

  /// All threads of the block must call; so for `add_to`.
  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < size(); i += blockDim.x)
      slots[i] = Op::template identity<T>();
    __syncthreads();
  }
  /// This thread's copy.
  __device__ unsigned slot_of(unsigned bucket) const {
    return (bucket << shift()) + (threadIdx.x & ((1u << shift()) - 1));
  }
  __device__ void add(unsigned bucket, T value) const {
    atomic_combine<Op>(&slots[slot_of(bucket)], value);
  }
  /// Combines every bucket's copies and adds them to the global ones. Blocks start at different
  /// buckets, so that they do not queue for the same ones. Of a pair of blocks (a cluster), each
  /// takes half of the buckets for both; kernels without pairs do without the instructions, which
  /// cost 1 to 2 us on an H200 at the end of a launch with cold caches.
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
  /// To one for each lane.
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
  __device__ T total_of(unsigned bucket) const {
    const unsigned copies = shift() < kLog2WarpSize ? 1u << shift() : kWarpSize;
    T total = Op::template identity<T>();
    for (unsigned k = 0; k < copies; ++k)
      total = Op::combine(total, slots[(bucket << shift()) + ((threadIdx.x + k) % copies)]);
    return total;
  }
};

/// A thread's latest bucket, kept in registers until another label comes: equal neighbours, and
/// runs of any length, cost one update. Without `kKeep` every input is one.
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

/// One block per SM, or several, and the copies that fit beside each other.
struct TablePlan {
  unsigned block, blocks, log2_copies;
  bool pairs;  ///< of blocks combine their tables before they add them to the results
  std::size_t shared_bytes;
  std::size_t most_per_warp;  ///< inputs

  LaunchShape shape(const Stream& stream) const {
    LaunchShape shape{blocks, block, shared_bytes, stream};
    shape.cluster = pairs ? 2 : 1;
    return shape;
  }
};

/// A warp's tiles: begin, begin + step, ... below end. Of 32 bits, as no device has the memory for
/// more and registers are short.
struct WarpTiles {
  unsigned begin, end, step;
};
/// In each round all warps' tiles lie side by side; those of the last go to as few warps of each
/// block as they can. In one run on an H200, 2^26 u32 labels were counted in 72.6 us, with
/// stretches in 73.8; 2^26 i32 values added into 256 buckets in 132.9 and 134.3.
__device__ inline WarpTiles tiles_in_rounds(unsigned tiles) {
  return {threadIdx.x / kWarpSize * gridDim.x + blockIdx.x, tiles,
          blockDim.x / kWarpSize * gridDim.x};
}
/// A warp's tiles lie one behind the other, and so do those of a block's warps.
__device__ inline WarpTiles tiles_in_stretch(unsigned tiles) {
  const unsigned warps = blockDim.x / kWarpSize * gridDim.x;
  const std::size_t warp = blockDim.x / kWarpSize * blockIdx.x + threadIdx.x / kWarpSize;
  return {static_cast<unsigned>(tiles * warp / warps),
          static_cast<unsigned>(tiles * (warp + 1) / warps), 1};
}

/// Results that the first blocks clear while every block reads inputs: no launch of their own. All
/// blocks wait for these, which a device starts first. Zero before the first launch, and left zero.
struct Clearing {
  unsigned long long cleared;  ///< blocks that have cleared their part
  unsigned left;               ///< blocks that need to know no more

  /// With one, a prototype took 149 us instead of 143 for 32768 results on an H200.
  static constexpr unsigned kMostBlocks = 8;
  __device__ static unsigned blocks() { return gridDim.x < kMostBlocks ? gridDim.x : kMostBlocks; }

  template <class T>
  __device__ void begin(T* results, std::size_t n, T neutral) {
    if (blockIdx.x >= blocks()) return;
    const std::size_t end = n * (blockIdx.x + 1) / blocks();
    for (std::size_t i = n * blockIdx.x / blocks() + threadIdx.x; i < end; i += blockDim.x)
      results[i] = neutral;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&cleared, 1ull);
  }
  /// For the block, once its threads have met at a barrier after this. Its last thread waits: in
  /// rounds, its warp has the fewest inputs. The last block that has waited leaves all zero.
  __device__ void wait() {
    if (threadIdx.x != blockDim.x - 1) return;
    while (load_volatile(&cleared) != blocks()) wait_hint();
    __threadfence();
    if (atomicAdd(&left, 1u) != gridDim.x - 1) return;
    left = 0;
    store_volatile(&cleared, 0ull);
  }
};
inline Workspace clearing_workspace() {
  return {.device_bytes = sizeof(Clearing), .zeroed_bytes = sizeof(Clearing)};
}

inline std::size_t most_table_bytes(const Problem& p) {
  return p.device.max_shared_bytes_per_block / p.params.number("blocks_per_sm");
}

/// `spare_bytes`: what the kernel needs beside the table.
inline TablePlan table_plan(const Problem& p, std::size_t element_bytes, std::size_t tile,
                            std::size_t spare_bytes = 0) {
  TablePlan plan{};
  plan.block = p.params.number("block");
  const std::size_t one = std::max<std::size_t>(p.buckets * element_bytes, 1);
  const unsigned most = p.params.is("copies", "auto") ? kWarpSize : p.params.number("copies");
  const auto fits = [&](unsigned log2_copies) {
    return (one << log2_copies) + spare_bytes <= most_table_bytes(p);
  };
  while ((2u << plan.log2_copies) <= most && fits(plan.log2_copies + 1)) ++plan.log2_copies;
  plan.shared_bytes = one << plan.log2_copies;
  const std::size_t most_blocks = std::size_t{p.device.sm_count} * p.params.number("blocks_per_sm");
  const std::size_t per_block = tile * (plan.block / kWarpSize);
  plan.blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(ceil_div(p.n, per_block), 1, most_blocks));
  // Pairs pay where a bucket has one copy: with 2^15 buckets and 2^26 inputs 143.6 us instead of
  // 147.8 in one run on an H200. With 2 copies they gained nothing, with 32, all read from afar,
  // they took 20 % longer.
  plan.pairs = plan.log2_copies == 0 && plan.blocks > 1 && p.device.max_blocks_per_cluster > 1;
  if (plan.pairs) plan.blocks -= plan.blocks % 2;
  // Of as many blocks as there are in pairs: other `spare_bytes` may lead to them.
  const unsigned paired = plan.blocks > 1 ? plan.blocks - plan.blocks % 2 : 1;
  plan.most_per_warp = (p.n / tile / (paired * (plan.block / kWarpSize)) + 2) * tile;
  return plan;
}

inline std::string table_restriction(const Problem& p, std::size_t element_bytes) {
  const std::size_t needed = p.buckets * element_bytes;
  if (needed <= most_table_bytes(p)) return {};
  return std::to_string(needed) + " bytes of buckets do not fit into the " +
         std::to_string(most_table_bytes(p)) + " bytes of shared memory that a block gets";
}

inline std::vector<ParamSpec> table_params() {
  return {{"block", "1024", {"256", "512", "1024"}, "threads"},
          {"blocks_per_sm", "1", {"1", "2", "4"}, "blocks that share an SM's memory"},
          {"copies",
           "auto",
           {"auto", "1", "2", "4", "8", "16", "32"},
           "copies of every bucket, as far as they fit; auto: one for each lane"}};
}

}  // namespace reduce_bench::BACKEND
