// How one device counts its share into a table, for the variants on several devices.
#pragma once

#include "kernels/histogram/onepass/one_launch.hpp"

namespace reduce_bench::BACKEND::share_histogram {

template <class L>
__global__ void atomic_kernel(const L* labels, std::size_t n, Count* counts) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(&counts[labels[i]], 1u);
}

/// onepass/histogram; by atomics in the table itself where its counters do not fit into shared memory.
struct LocalHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    if (table_restriction(call.problem, sizeof(Count)).empty())
      return onepass_histogram::OnepassHistogram::enqueue<L, Op>(call);
    enqueue_fill(call.stream, call.results(), call.buckets(), 0);
    if (call.n() == 0) return;
    constexpr unsigned kBlock = 256;
    const std::size_t most = std::size_t{call.device().sm_count} * 32;
    const auto blocks =
        static_cast<unsigned>(std::min<std::size_t>(ceil_div(call.n(), kBlock), most));
    launch(atomic_kernel<L>, {blocks, kBlock, 0, call.stream}, call.labels(), call.n(),
           call.results());
  }
};

}  // namespace reduce_bench::BACKEND::share_histogram
