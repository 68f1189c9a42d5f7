// The clock of where a fault runs.
#pragma once

#include <chrono>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Nanoseconds since whenever.
inline __host__ __device__ unsigned long long clock_ns() {
#ifdef __CUDA_ARCH__
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#else
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<unsigned long long>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
#endif
}

}  // namespace reduce_bench::BACKEND
