// How kernels read halves.
#pragma once

#include "kernels/api/types.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// A value in the type in which it is combined: itself, or the float that a half is.
template <class T>
__device__ Combined<T> combined(T value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, F16>) {
    float converted;
    asm("cvt.f32.f16 %0, %1;" : "=f"(converted) : "h"(value.bits));
    return converted;
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
  } else {
    return value;
  }
#else
  if constexpr (kIsHalf<T>) return to_float(value);
  else return value;
#endif
}

}  // namespace reduce_bench::BACKEND
