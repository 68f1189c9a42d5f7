// Sixteen bytes of elements, the widest load of a thread.
#pragma once

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// Elements that one 16-byte access loads or stores.
template <class T>
struct alignas(16) Vector16 {
  static constexpr unsigned kCount = 16 / sizeof(T);
  T at[kCount];
};

}  // namespace reduce_bench::BACKEND
