// Samples of a share of a partition, and what they decide: whether labels are so frequent that the
// loops of their updates would queue, and the window of sums in fixed point.
#pragma once

#include "kernels/multireduce/onepass/hot_table.hpp"
#include "kernels/multireduce/partition/tile.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

using onepass_multireduce::HotTable;
using onepass_multireduce::kQueues;

inline constexpr std::size_t kNoPlace = ~std::size_t{0};
/// The place, among all tiles', of sample s of `samples` out of the pieces of partition p in the
/// tiles [first, last); kNoPlace where the tile that it falls into has none.
template <class T>
__device__ std::size_t sampled_place(const Tiles<T>& in, const Partitioning& parts, unsigned p,
                                     unsigned first, unsigned last, unsigned s, unsigned samples) {
  if (first == last) return kNoPlace;
  const unsigned tile = first + static_cast<unsigned>(std::size_t{last - first} * s / samples);
  const Short* bounds = in.offsets + parts.offsets_at(tile) + p;
  const unsigned begin = bounds[0], quads = bounds[1] - begin;
  if (quads == 0) return kNoPlace;
  // The last quad may have neutral elements behind its first. Samples of one tile are far apart.
  const unsigned place = quads == 1 ? 0 : s * 7919u % ((quads - 1) * kQuad);
  return std::size_t{tile} * places_of(parts) + begin * kQuad + place;
}

/// No label of a partition: they have 16 bits.
inline constexpr Label kNoLabel = ~Label{0};

/// Whether many threads of the block have a label that another thread of their warp has. `label` is
/// one that the thread has sampled, or kNoLabel. All threads must call.
__device__ inline bool labels_meet(Label label) {
  const unsigned peers = __match_any_sync(kAllLanes, label);
  const bool meets = label != kNoLabel && __popc(peers) > 1;
  return __syncthreads_count(meets) >= static_cast<int>(blockDim.x / Policy::kMetShare);
}

/// A HotTable that is a plain one where no label was found hot.
template <class T, class Op>
struct SampledTable : HotTable<T, Op> {
  __device__ void add(unsigned bucket, T value) const {
    if (this->any) HotTable<T, Op>::add(bucket, value);
    else PrivateTable<T, Op>::add(bucket, value);
  }
};

}  // namespace reduce_bench::BACKEND::partition_multireduce
