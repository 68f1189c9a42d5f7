// From the numbers of onepass.h to the templates of onepass.hpp.
#pragma once

#include "onepass.h"
#include "onepass.hpp"

#define ONEPASS_EXPORT extern "C" __attribute__((visibility("default")))

namespace onepass::numbers {

/// What `f.template operator()<T>()` returns for the type of that number.
template <class F>
int with_value_type(int type, F&& f) {
  switch (type) {
    case ONEPASS_I32: return f.template operator()<std::int32_t>();
    case ONEPASS_I64: return f.template operator()<std::int64_t>();
    case ONEPASS_F32: return f.template operator()<float>();
    case ONEPASS_F64: return f.template operator()<double>();
    default: return cudaErrorInvalidValue;
  }
}
template <class F>
int with_operator(int op, F&& f) {
  switch (op) {
    case ONEPASS_SUM: return f.template operator()<Sum>();
    case ONEPASS_MIN: return f.template operator()<Min>();
    case ONEPASS_MAX: return f.template operator()<Max>();
    default: return cudaErrorInvalidValue;
  }
}

/// What `f` returns with `device` as the current one.
template <class F>
int on_device([[maybe_unused]] int device, F&& f) {
  return detail::code_of([&] {
#ifdef __CUDACC__
    const reduce_bench::cuda::CurrentDevice current(device);
#endif
    return static_cast<cudaError_t>(f());
  });
}

template <class T>
const T* typed(const void* array) {
  return static_cast<const T*>(array);
}
template <class T>
T* typed(void* array) {
  return static_cast<T*>(array);
}

}  // namespace onepass::numbers
