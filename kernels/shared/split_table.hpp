// Buckets that do not fit into the shared memory of one block: a group of blocks reads the same
// inputs, and each block keeps its share of the buckets.
#pragma once

#include "kernels/shared/private_table.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 (docs/kernels/onepass-multireduce-split.md).
struct SplitPolicy {
  /// Shared memory of a block's share, at most: what is left of an SM's is its L1 cache, through
  /// which all loads in flight go.
  static constexpr std::size_t kMostShareBytes = 180 * 1024;
  /// Blocks of a group, at most.
  static constexpr unsigned kMostWays = 16;
};

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

/// Inputs that a thread takes at once: neighbours, and the values of one 16-byte load of labels.
inline constexpr unsigned kQuad = Vector16<Label>::kCount;

/// That a block has the buckets of all labels.
struct HasAll {
  __device__ bool operator()(Label) const { return true; }
};

/// Gives the quads of a warp to `put(present, label, value)`, which all lanes call together. Where
/// most quads have one label each (runs, sorted labels, one label for all), neighbours with one
/// label are combined before, in the thread and across lanes: a run costs one update. Quads are
/// left out where all have one label each and `has(label)` says that the block has none of them.
template <class Op, class T, class Put, class Has = HasAll>
__device__ void put_quads(const Label (&label)[kQuad], const T (&value)[kQuad], Put&& put,
                          Has&& has = {}) {
  constexpr int kMost = 3 * static_cast<int>(kWarpSize) / 4;
  const bool alike = label[0] == label[1] && label[1] == label[2] && label[2] == label[3];
  const unsigned all_alike = __ballot_sync(kAllLanes, alike);
  if (__popc(all_alike) < kMost) {
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) put(true, label[e], value[e]);
    return;
  }
  if constexpr (!std::is_same_v<std::remove_cvref_t<Has>, HasAll>)
    if (all_alike == kAllLanes && !__any_sync(kAllLanes, has(label[0]))) return;
  const unsigned lane = threadIdx.x % kWarpSize;
  T run = Op::combine(Op::combine(value[0], value[1]), Op::combine(value[2], value[3]));
  const Label before = __shfl_up_sync(kAllLanes, label[0], 1);
  const bool goes_on =
      lane > 0 && alike && (all_alike >> (lane - 1) & 1) != 0 && before == label[0];
  const unsigned go_on = __ballot_sync(kAllLanes, goes_on);
  if constexpr (std::is_same_v<Op, Sum> && std::is_integral_v<T> && sizeof(T) == 4)
    if (go_on == (kAllLanes & ~1u))  // one label for the warp, which one instruction adds up
      return put(lane == 0, label[0], __reduce_add_sync(kAllLanes, run));
  // The lanes of the run before this one: those down to the last that does not go on.
  const auto reach =
      static_cast<unsigned>(__clz(static_cast<int>(~go_on << (kWarpSize - 1 - lane))));
#pragma unroll
  for (unsigned offset = 1; offset < kWarpSize; offset *= 2) {
    const T earlier = __shfl_up_sync(kAllLanes, run, offset);
    if (offset <= reach) run = Op::combine(earlier, run);
  }
  const bool ends = lane == kWarpSize - 1 || (go_on >> (lane + 1) & 1) == 0;
  put(alike && ends, label[0], run);
  if (all_alike == kAllLanes) return;
#pragma unroll
  for (unsigned e = 0; e < kQuad; ++e) put(!alike, label[e], value[e]);
}

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
