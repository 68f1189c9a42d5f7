// Buckets that do not fit into the shared memory of one block: a group of blocks reads the same
// inputs, and each block keeps its share of the buckets.
#pragma once

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/private_table.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 (docs/kernels/onepass-multireduce-split.md).
struct SplitPolicy90 {
  /// Shared memory of a block's share, at most: what is left of an SM's is its L1 cache, through
  /// which all loads in flight go.
  static constexpr std::size_t kMostShareBytes = 180 * 1024;
  /// Blocks of a group, at most.
  static constexpr unsigned kMostWays = 16;
};
using SplitPolicy = ByCapability<Row<90, SplitPolicy90>>;

/// The shares of the buckets that the blocks of a group have. Every block has one range; or, with
/// `kDealt`, pieces of kPiece neighbours are dealt out in turn, so that frequent labels that are
/// neighbours do not all fall to one block.
template <bool kDealt>
struct Share {
  static constexpr unsigned kPiece = 8;  ///< 4-byte results of a sector of device memory

  unsigned buckets, ways, rank;
  unsigned width;  ///< places for the buckets of one share

  static unsigned width_of(std::size_t buckets, unsigned ways) {
    const std::size_t pieces = ceil_div(buckets, kPiece);
    return static_cast<unsigned>(ceil_div(kDealt ? pieces : buckets, ways) * (kDealt ? kPiece : 1));
  }
  /// The block's place in the share; beyond all places where the bucket belongs to another.
  __device__ unsigned place_of(unsigned bucket) const {
    if constexpr (!kDealt) return bucket - rank * width;
    const unsigned piece = bucket / kPiece;
    // piece / ways: exact while the product of both is below 2^32.
    const auto turn = static_cast<unsigned>(static_cast<unsigned long long>(piece) * inverse >> 32);
    return piece - turn * ways == rank ? turn * kPiece + bucket % kPiece : ~0u;
  }
  __device__ unsigned bucket_at(unsigned place) const {
    if constexpr (!kDealt) return rank * width + place;
    return (place / kPiece * ways + rank) * kPiece + place % kPiece;
  }

  __device__ Share(unsigned buckets_, unsigned ways_, unsigned rank_, unsigned width_)
      : buckets(buckets_), ways(ways_), rank(rank_), width(width_), inverse(~0u / ways_ + 1) {}

 private:
  unsigned inverse;  ///< 2^32 / ways, rounded up; of 2 ways or more
};

/// Adds a block's share to the results. Blocks start at different places, so that they do not queue
/// for the same results.
template <class Op, class T, bool kDealt>
__device__ void add_share_to(T* results, const T* slots, const Share<kDealt>& share) {
  __syncthreads();
  const unsigned start =
      static_cast<unsigned>(static_cast<unsigned long long>(share.width) * blockIdx.x / gridDim.x);
  for (unsigned i = threadIdx.x; i < share.width; i += blockDim.x) {
    const unsigned place = i + start < share.width ? i + start : i + start - share.width;
    const unsigned bucket = share.bucket_at(place);
    if (bucket < share.buckets && slots[place] != Op::template identity<T>())
      atomic_combine<Op>(&results[bucket], slots[place]);
  }
}

/// A launch of groups of `ways` blocks, one block per SM.
struct SplitPlan {
  unsigned ways, width, block, groups;
  bool fits;  ///< whether each block has room for its share
  std::size_t shared_bytes;

  LaunchShape on(const Stream& stream) const {
    return {groups * ways, block, shared_bytes, stream};
  }
};

struct SplitTuning {
  unsigned block = 1024;  ///< threads
  unsigned ways = 0;      ///< 0: as few as have room
};

/// `spare_bytes`: shared memory that a block needs beside its share. `tile`: inputs that a block
/// takes at once. The ways are those asked for; else the fewest, from two on, for which a share
/// fits, or kMostWays if none does.
template <bool kDealt>
SplitPlan split_plan(const Sizes& sizes, const SplitTuning& tuning, std::size_t element_bytes,
                     std::size_t tile, std::size_t spare_bytes) {
  SplitPlan plan{};
  plan.block = tuning.block;
  const std::size_t most =
      std::min(sizes.device.max_shared_bytes_per_block, SplitPolicy::kMostShareBytes);
  const auto fits = [&](unsigned ways) {
    plan.ways = ways;
    plan.width = Share<kDealt>::width_of(sizes.buckets, ways);
    plan.shared_bytes = plan.width * element_bytes + spare_bytes;
    return plan.shared_bytes <= most;
  };
  unsigned ways = tuning.ways == 0 ? 2 : tuning.ways;
  const unsigned last = tuning.ways == 0 ? SplitPolicy::kMostWays : ways;
  while (!fits(ways) && ways < last) ++ways;
  plan.fits = fits(ways);
  plan.groups = static_cast<unsigned>(std::clamp<std::size_t>(
      ceil_div(sizes.n, tile), 1, std::max(sizes.device.sm_count / plan.ways, 1u)));
  return plan;
}

// What a variant declares of it.

inline SplitTuning split_tuning_of(const Params& params) {
  return {.block = params.number("block"),
          .ways = params.is("ways", "auto") ? 0 : params.number("ways")};
}

inline std::string split_restriction(const Problem& p, const SplitPlan& plan) {
  if (plan.fits) return {};
  return std::to_string(p.buckets) + " buckets do not fit into the shared memory of " +
         std::to_string(plan.ways) + " blocks";
}

inline std::vector<ParamSpec> split_params() {
  return {{"block", "1024", {"512", "1024"}, "threads"},
          {"ways",
           "auto",
           {"auto", "2", "3", "4", "5", "6", "8"},
           "blocks that share the buckets and read the same inputs; auto: as few as have room"}};
}

}  // namespace reduce_bench::BACKEND
