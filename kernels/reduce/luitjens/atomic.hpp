// What the luitjens/*-atomic variants share: one launch, whose threads, warps or blocks each
// combine their result with the output by an atomic.
#pragma once

#include <cstdint>

#include "kernels/reduce/luitjens/params.hpp"
#include "kernels/reduce/persistent.hpp"
#include "kernels/shared/atomics.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// Combines the elements of one thread: i, i + stride, ...
template <class Op, class T>
__device__ T fold_strided(const T* values, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  T sum = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    sum = Op::combine(sum, values[i]);
  return sum;
}

/// Stores the neutral element in the output and runs `kernel(values, results, n)`.
template <class T, class Op>
void reduce_by_atomics(const TypedCall<T>& call, void (*kernel)(const T*, T*, std::size_t),
                       std::size_t shared_bytes = 0) {
  enqueue_fill(call.stream, call.results(), 1, Op::template identity<T>());
  launch(kernel,
         {persistent_blocks(call.problem, 1), call.params().number("block"), shared_bytes,
          call.stream},
         call.values(), call.results(), call.n());
}

/// One atomic per `threads_per_atomic` threads, which may all follow one another.
inline std::uint64_t depth_of_atomics(const Problem& p, unsigned threads_per_atomic) {
  const std::size_t blocks = persistent_blocks(p, 1);
  const std::size_t threads = blocks * p.params.number("block");
  return ceil_div(p.n, threads) + log2_ceil(threads_per_atomic) + threads / threads_per_atomic;
}

}  // namespace reduce_bench::BACKEND
