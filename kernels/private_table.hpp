// Buckets in shared memory, several copies of each: what the onepass keyed variants share.
#pragma once

#include <algorithm>

#include "kernels/atomics.hpp"
#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kLanes = 32;

/// Bucket b of copy c at b * copies + c: the lanes of a warp work on different copies, hence on
/// different banks. `copies` is a power of two, at most one for each lane.
template <class T, class Op>
struct PrivateTable {
  T* slots;
  std::size_t buckets;
  unsigned log2_copies;

  __device__ std::size_t size() const { return buckets << log2_copies; }

  /// All threads of the block must call; so for `add_to` and `store_to`.
  __device__ void clear() const {
    for (std::size_t i = threadIdx.x; i < size(); i += blockDim.x)
      slots[i] = Op::template identity<T>();
    __syncthreads();
  }
  __device__ void add(unsigned bucket, T value) const {
    const unsigned copy = threadIdx.x & ((1u << log2_copies) - 1);
    atomic_combine<Op>(&slots[(bucket << log2_copies) + copy], value);
  }
  /// Combines every bucket's copies and adds them to the global ones. Blocks start at different
  /// buckets, so that they do not queue for the same ones.
  __device__ void add_to(T* results) const {
    __syncthreads();
    const std::size_t start = buckets * blockIdx.x / gridDim.x;
    for (std::size_t i = threadIdx.x; i < buckets; i += blockDim.x) {
      const std::size_t bucket = i + start < buckets ? i + start : i + start - buckets;
      const T total = total_of(bucket);
      if (total != Op::template identity<T>()) atomic_combine<Op>(&results[bucket], total);
    }
  }
  /// Combines every bucket's copies into the global ones, which nobody else writes.
  __device__ void store_to(T* results) const {
    __syncthreads();
    for (std::size_t bucket = threadIdx.x; bucket < buckets; bucket += blockDim.x)
      results[bucket] = total_of(bucket);
  }

 private:
  __device__ T total_of(std::size_t bucket) const {
    const unsigned copies = 1u << log2_copies;
    T total = Op::template identity<T>();
    for (unsigned k = 0; k < copies; ++k)
      total = Op::combine(total, slots[(bucket << log2_copies) + ((threadIdx.x + k) % copies)]);
    return total;
  }
};

/// A thread's latest bucket, kept in registers until another label comes: equal neighbours, and
/// runs of any length, cost one update. Without `kKeep` every input is one.
template <class T, class Op, bool kKeep = true>
class Run {
 public:
  __device__ explicit Run(const PrivateTable<T, Op>& table) : table_(table) {}
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
  PrivateTable<T, Op> table_;
  unsigned bucket_ = 0;
  T total_ = Op::template identity<T>();
};

/// Sixteen bytes of elements, loaded at once.
template <class T>
struct alignas(16) Sixteen {
  static constexpr unsigned kCount = 16 / sizeof(T);
  T at[kCount];
};

/// One block per SM, or several, and the copies that fit beside each other.
struct TablePlan {
  unsigned block, blocks, log2_copies;
  std::size_t shared_bytes;
  std::size_t per_warp;  ///< inputs of each warp, one behind the other; whole tiles
};

inline std::size_t most_table_bytes(const Problem& p) {
  return p.device.max_shared_bytes_per_block / p.params.number("blocks_per_sm");
}

inline TablePlan table_plan(const Problem& p, std::size_t element_bytes, std::size_t tile) {
  TablePlan plan{};
  plan.block = p.params.number("block");
  const std::size_t one = std::max<std::size_t>(p.buckets * element_bytes, 1);
  const unsigned most = p.params.is("copies", "auto") ? kLanes : p.params.number("copies");
  while ((2u << plan.log2_copies) <= most && (one << (plan.log2_copies + 1)) <= most_table_bytes(p))
    ++plan.log2_copies;
  plan.shared_bytes = one << plan.log2_copies;
  const std::size_t warps =
      std::size_t{p.device.sm_count} * p.params.number("blocks_per_sm") * (plan.block / kLanes);
  plan.per_warp = std::max<std::size_t>(ceil_div(ceil_div(p.n, warps), tile), 1) * tile;
  plan.blocks = static_cast<unsigned>(
      std::max<std::size_t>(ceil_div(ceil_div(p.n, plan.per_warp), plan.block / kLanes), 1));
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
