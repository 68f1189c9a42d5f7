// What all amp reductions share: the tile size, and the last step, in which the few values that are
// left are copied to the host and folded there.
#pragma once

#include <cstddef>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

inline ParamSpec tile_size() {
  return {"tile",
          "512",
          {"64", "128", "256", "512", "1024"},
          "threads of a tile (the sample: 512; the walk-through names no number)"};
}

/// Host workspace: first what the host function captures, then the values.
inline constexpr std::size_t kCaptureBytes = 64;

inline std::size_t host_bytes_for(const Problem& problem, std::size_t most_values) {
  return kCaptureBytes + most_values * problem.element_bytes();
}

/// Folds `count` values from device memory in order, as std::accumulate does.
template <class Op, class T>
void fold_on_host(const TypedCall<T>& call, const T* device_values, std::size_t count) {
  T* values = reinterpret_cast<T*>(call.host_workspace + kCaptureBytes);
  if (count > 0) copy_to_host(values, device_values, count * sizeof(T), call.stream);
  const auto accumulate = [values, count, result = call.results()] {
    T accumulator = Op::template identity<T>();
    for (std::size_t i = 0; i < count; ++i) accumulator = Op::combine(accumulator, values[i]);
    *result = accumulator;
  };
  static_assert(sizeof(accumulate) <= kCaptureBytes);
  run_on_host(call.stream, call.host_workspace, accumulate);
}

}  // namespace reduce_bench::BACKEND
