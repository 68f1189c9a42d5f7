// Counts by an atomic in device memory for each label: for any number of bins.
#pragma once

#include <algorithm>

#include "kernels/shared/arguments.hpp"

namespace reduce_bench::BACKEND {

template <class L>
__global__ void atomic_counts_kernel(const L* labels, std::size_t n, Count* counts) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(&counts[labels[i]], 1u);
}

/// Clears the counts, unless they are `cleared`, and counts all labels.
template <class L>
void enqueue_atomic_counts(const Arguments<Count, L>& call, bool cleared = false) {
  if (!cleared) enqueue_fill(call.stream, call.results, call.buckets(), 0);
  if (call.n() == 0) return;
  constexpr unsigned kBlock = 256;
  const std::size_t most = std::size_t{call.sizes.device.sm_count} * 32;
  const auto blocks =
      static_cast<unsigned>(std::min<std::size_t>(ceil_div(call.n(), kBlock), most));
  launch(atomic_counts_kernel<L>, {blocks, kBlock, 0, call.stream}, call.labels, call.n(),
         call.results);
}

}  // namespace reduce_bench::BACKEND
