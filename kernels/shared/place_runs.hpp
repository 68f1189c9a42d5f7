// Behind a library that gives one result for each run of sorted labels: each to its bucket.
#pragma once

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

#ifdef __CUDACC__
template <class L, class T>
__global__ void place_runs_kernel(const L* run_labels, const T* run_values, const Count* run_count,
                                  T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < *run_count) results[run_labels[i]] = run_values[i];
}

/// Stores the results of the runs, of which there are at most `most_runs`; other buckets stay as they are.
template <class L, class T>
void enqueue_place_runs(const Stream& stream, std::size_t most_runs, const L* run_labels,
                        const T* run_values, const Count* run_count, T* results) {
  constexpr unsigned kBlock = 256;
  launch(place_runs_kernel<L, T>,
         {static_cast<unsigned>(ceil_div(most_runs, kBlock)), kBlock, 0, stream}, run_labels,
         run_values, run_count, results);
}
#endif

}  // namespace reduce_bench::BACKEND
