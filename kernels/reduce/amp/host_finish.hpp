// What all amp reductions share: the tile size, and the last step, in which the few values that are
// left are copied to the host and folded there. The copy waits, as the source's does. A function that
// the stream calls on the host (cudaLaunchHostFunc) in place of it lets the caller go on, and takes
// longer: amp/tiled-4 of 2^10 elements 47 us instead of 15, of 2^24 107 instead of 71 (H200).
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

/// Folds `count` values from device memory in order, as std::accumulate does. The variant's host
/// workspace has room for them.
template <class Op, class T>
void fold_on_host(const TypedCall<T>& call, const T* device_values, std::size_t count) {
  T* values = reinterpret_cast<T*>(call.host_workspace);
  if (count > 0) copy_to_host(values, device_values, count * sizeof(T), call.stream);
  T accumulator = Op::template identity<T>();
  for (std::size_t i = 0; i < count; ++i) accumulator = Op::combine(accumulator, values[i]);
  *call.results() = accumulator;
}

}  // namespace reduce_bench::BACKEND
