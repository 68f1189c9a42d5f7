// Inputs of a warp four by four, where neighbours often have one label.
#pragma once

#include <type_traits>

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/ops.hpp"
#include "kernels/shared/shuffle.hpp"
#include "kernels/shared/vector16.hpp"

namespace reduce_bench::BACKEND {

/// Inputs that a thread takes at once: neighbours, and the values of one 16-byte load of labels.
inline constexpr unsigned kQuad = Vector16<Label>::kCount;

/// Chosen on an H200.
struct QuadsPolicy90 {
  /// Lanes whose quads must have one label each for neighbours to be combined before.
  static constexpr int kLeastAlike = 24;
};
using QuadsPolicy = ByCapability<Row<90, QuadsPolicy90>>;

/// Whether a quad has one label.
__device__ inline bool is_alike(const Label (&label)[kQuad]) {
  return label[0] == label[1] && label[1] == label[2] && label[2] == label[3];
}
/// Whether runs are worth combining: most of the warp's quads, by a bit for each lane, are alike.
__device__ inline bool has_runs(unsigned alike_lanes) {
  return __popc(alike_lanes) >= QuadsPolicy::kLeastAlike;
}

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
  const bool alike = is_alike(label);
  const unsigned all_alike = __ballot_sync(kAllLanes, alike);
  if (!has_runs(all_alike)) {
    if constexpr (requires { put.each(label, value); }) {
      put.each(label, value);
    } else {
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) put(true, label[e], value[e]);
    }
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
  run = fold_runs_of_lanes<Op>(run, go_on);
  put(alike && ends_run(go_on), label[0], run);
  if (all_alike == kAllLanes) return;
#pragma unroll
  for (unsigned e = 0; e < kQuad; ++e) put(!alike, label[e], value[e]);
}

}  // namespace reduce_bench::BACKEND
