// What the faults share: a right sum to depart from, computed by one thread of any backend.
#pragma once

#include "kernels/shared/instantiate.hpp"

#if !defined(__CUDACC__) && !defined(REDUCE_BENCH_EMU)
#define __global__
#endif

namespace reduce_bench::BACKEND {

/// Runs `kernel(arguments...)` on one thread of the device; on the backend `cpu` it is called.
template <class... Parameters, class... Arguments>
void on_one_thread([[maybe_unused]] const Stream& stream, void (*kernel)(Parameters...),
                   Arguments... arguments) {
#if defined(__CUDACC__) || defined(REDUCE_BENCH_EMU)
  launch(kernel, {1, 1, 0, stream}, arguments...);
#else
  kernel(arguments...);
#endif
}

template <class T>
__host__ __device__ T sum_of(const T* input, std::size_t n) {
  T sum = Sum::identity<T>();
  for (std::size_t i = 0; i < n; ++i) sum = Sum::combine(sum, input[i]);
  return sum;
}

/// A variant `fault/...` that sums i32 and f32; the sum is right but for its fault.
template <class Launch>
Variant fault(std::string_view id, std::string_view title) {
  return {
      .id = id,
      .title = title,
      .source = "made up to test the harness",
      .depth = [](const Problem& p) -> std::uint64_t { return p.n + 1; },
      .enqueue = instantiate_for<Launch, OpList<Sum>, std::int32_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND
