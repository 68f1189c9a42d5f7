// The last step of eilers' partitioning (section 4.2) as the thesis has it: the segmented reduction
// combines several bucket sets in global memory to the results. Its eilers/global-... variants and
// eilers/minimal use it.
#pragma once

#include "kernels/shared/segmented_reduce.hpp"

namespace reduce_bench::BACKEND {

/// A workspace of `bytes`: the sets at its start, the segmented reduction's scratch memory at
/// `reduction`. Bucket b of set s is element b * sets + s, so that a bucket's partial results are one
/// segment, in the order of the sets.
struct BucketSets {
  std::size_t reduction, bytes;
};

inline BucketSets bucket_sets(const Problem& p, std::size_t sets) {
  const std::size_t elements = p.buckets * sets;
  const std::size_t reduction = ceil_div(elements * p.element_bytes(), 256) * 256;
  return {reduction, reduction + segment_workspace(elements, p.element_bytes(), p.device).bytes};
}

/// Reduces the sets at the start of `workspace` to the results.
template <class Op, class T>
void reduce_bucket_sets(const TypedCall<T>& call, std::size_t sets, std::byte* workspace) {
  reduce_segments<Op>(call, reinterpret_cast<const T*>(workspace),
                      EqualSegments{static_cast<unsigned>(sets)}, call.buckets() * sets,
                      AtKey<T>{call.results()},
                      workspace + bucket_sets(call.problem, sets).reduction);
}

inline std::uint64_t depth_of_bucket_sets(const Problem& p, std::size_t sets) {
  return depth_of_segments(p.buckets * sets, p.device);
}

/// The inputs read, the sets written and read, the results written. Updates of the sets are not
/// counted: how many reach memory is up to the caches.
inline Traffic traffic_of_bucket_sets(const Problem& p, std::size_t sets) {
  const std::size_t sets_bytes = p.buckets * sets * p.element_bytes();
  return {.read_bytes = p.input_bytes() + sets_bytes,
          .written_bytes = sets_bytes + p.arrays().output_bytes()};
}

}  // namespace reduce_bench::BACKEND
