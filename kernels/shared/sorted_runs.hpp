// What variants share that sort by label with a library and then have one result for each run of equal
// labels: where their data lie in the workspace, and how results come to their buckets.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench {

/// Offsets of the sorted labels, with values where the operation has such, of one result and its label
/// for each run, of the number of runs, and of the library's own storage.
struct SortedRuns {
  std::size_t labels, values, run_labels, run_values, run_count, temporary, end;
};

inline SortedRuns sorted_runs(const Problem& p, std::size_t temporary_bytes) {
  const auto aligned = [](std::size_t bytes) { return ceil_div(bytes, 256) * 256; };
  const std::size_t runs = std::min(p.n, p.buckets);
  const bool pairs = has_values(p.operation);  // else labels of the problem's type are counted
  const std::size_t label_bytes = pairs ? sizeof(Label) : p.element_bytes(),
                    result_bytes = pairs ? p.element_bytes() : sizeof(Count);
  SortedRuns at{};
  at.values = aligned(p.n * label_bytes);
  at.run_labels = at.values + (pairs ? aligned(p.n * p.element_bytes()) : 0);
  at.run_values = at.run_labels + aligned(runs * label_bytes);
  at.run_count = at.run_values + aligned(runs * result_bytes);
  at.temporary = at.run_count + aligned(sizeof(Count));
  at.end = at.temporary + aligned(temporary_bytes);
  return at;
}

namespace BACKEND {

#ifdef __CUDACC__
template <class L, class T>
__global__ void place_runs_kernel(const L* run_labels, const T* run_values, const Count* run_count,
                                  T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < *run_count) results[run_labels[i]] = run_values[i];
}

/// Stores the results of the runs, of which there are at most `most_runs`; other buckets stay as they
/// are.
template <class L, class T>
void enqueue_place_runs(const Stream& stream, std::size_t most_runs, const L* run_labels,
                        const T* run_values, const Count* run_count, T* results) {
  constexpr unsigned kBlock = 256;
  launch(place_runs_kernel<L, T>,
         {static_cast<unsigned>(ceil_div(most_runs, kBlock)), kBlock, 0, stream}, run_labels,
         run_values, run_count, results);
}
#endif

}  // namespace BACKEND
}  // namespace reduce_bench
