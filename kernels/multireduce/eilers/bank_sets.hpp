// 32 bucket sets per block in shared memory, bucket b of set s at 32 b + s: each set lies in a bank
// of its own, and lane s of every warp works on set s (eilers section 4.3.6, Algorithm 4.10).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/instantiate.hpp"
#include "kernels/shared/residency.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kBanks = 32;
/// The most buckets that the publication keeps in shared memory.
inline constexpr unsigned kMostBankBuckets = 256;

/// The block may use the sets after the next barrier.
template <class Op, class T>
__device__ void reset_bank_sets(T* sets, unsigned buckets) {
  for (unsigned i = threadIdx.x; i < kBanks * buckets; i += blockDim.x)
    sets[i] = Op::template identity<T>();
}

/// Combines the inputs [first, last) with the block's sets of the `buckets` labels from `low` on.
/// Without `kSelect` there must be no other labels; with it they are skipped. `kMultiply`: as the
/// listing prints it, two inputs are multiplied by whether their labels are equal, or not, and added
/// where they are not zero.
template <class Op, bool kMerge, bool kSelect, bool kMultiply = false, class T>
__device__ void take_into_bank_sets(T* sets, const T* values, const Label* labels,
                                    std::size_t first, std::size_t last, Label low,
                                    unsigned buckets) {
  T* own = sets + threadIdx.x % kBanks;
  for (std::size_t i = first + threadIdx.x; i < last; i += 2 * blockDim.x) {
    const Label bucket = labels[i] - low;
    T value = values[i];
    if (i + blockDim.x < last) {
      const Label next_bucket = labels[i + blockDim.x] - low;
      T next = values[i + blockDim.x];
      if constexpr (kMultiply) {
        static_assert(kMerge && !kSelect && std::is_same_v<Op, Sum>);
        const bool equal = next_bucket == bucket;
        value = Op::combine(value, next * static_cast<T>(equal));
        next = next * static_cast<T>(!equal);
        if (next != 0) atomic_combine<Op>(&own[kBanks * next_bucket], next);
      } else if (kMerge && next_bucket == bucket) value = Op::combine(value, next);
      else if (!kSelect || next_bucket < buckets)
        atomic_combine<Op>(&own[kBanks * next_bucket], next);
    }
    if (!kSelect || bucket < buckets) atomic_combine<Op>(&own[kBanks * bucket], value);
  }
}

/// Combines the sets and adds them to the results; a barrier must precede.
template <class Op, class T>
__device__ void add_bank_sets(const T* sets, unsigned buckets, T* results) {
  for (unsigned bucket = threadIdx.x; bucket < buckets; bucket += blockDim.x) {
    T total = Op::template identity<T>();
    for (unsigned k = 0; k < kBanks; ++k)
      total = Op::combine(total, sets[kBanks * bucket + (threadIdx.x + k) % kBanks]);
    atomic_combine<Op>(&results[bucket], total);
  }
}

struct BankSetsPlan {
  unsigned buckets;  ///< in shared memory
  unsigned threads, blocks;
  std::size_t per_block, shared_bytes;

  /// The inputs that one bank takes of a block, then the block's sets, then the blocks.
  std::uint64_t depth() const { return per_block / kBanks + kBanks + blocks; }
};

inline unsigned buckets_in_banks(const Problem& p) {
  return static_cast<unsigned>(std::min<std::size_t>(p.buckets, kMostBankBuckets));
}
inline std::size_t bank_sets_bytes(const Problem& p) {
  return kBanks * buckets_in_banks(p) * p.element_bytes();
}

/// Plans as many blocks as are resident, each of `warps` warps (see `bank_sets_warps`).
inline BankSetsPlan plan_bank_sets(const Problem& p) {
  BankSetsPlan plan{};
  plan.buckets = buckets_in_banks(p);
  plan.shared_bytes = bank_sets_bytes(p);
  plan.threads =
      p.params.is("warps", "auto")
          ? std::clamp(static_cast<unsigned>(ceil_div(4 * plan.buckets, kWarpSize)) * kWarpSize,
                       kWarpSize, 1024u)
          : kWarpSize * p.params.number("warps");
  // Whole steps of the loop, so that only the last block has a tail.
  const std::size_t step = 2 * std::size_t{plan.threads};
  const std::size_t most = resident_in_room(p, plan.threads, plan.shared_bytes) * p.device.sm_count;
  plan.per_block = std::max(ceil_div(ceil_div(p.n, most), step), std::size_t{1}) * step;
  plan.blocks = static_cast<unsigned>(ceil_div(p.n, plan.per_block));
  return plan;
}

inline ParamSpec bank_sets_warps() {
  return {"warps",
          "auto",
          {"auto", "1", "2", "4", "8", "16", "32"},
          "warps per block (auto: an eighth of its buckets, the publication's fastest)"};
}
inline ParamSpec bank_sets_merge() {
  return {
      "merge", "on", {"on", "off"}, "combine a thread's two inputs where their labels are equal"};
}

inline std::string bank_sets_restriction(const Problem& p) {
  const std::size_t room = room_bytes(p);
  if (bank_sets_bytes(p) <= room) return {};
  return std::to_string(bank_sets_bytes(p)) + " bytes of shared memory are needed, a block has " +
         std::to_string(room);
}

}  // namespace reduce_bench::BACKEND
