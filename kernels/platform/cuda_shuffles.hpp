// CUDA's shuffles for structures of 4 or 8 bytes, which it has for numbers alone.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

namespace reduce_bench::cuda::detail {

template <class T>
concept ShuffledStructure =
    std::is_class_v<T> && std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// What `shuffle` makes of the bits of a value.
template <class T, class Shuffle>
__device__ T shuffle_bits(const T& value, Shuffle shuffle) {
  std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long> bits;
  memcpy(&bits, &value, sizeof(T));
  bits = shuffle(bits);
  T other;
  memcpy(&other, &bits, sizeof(T));
  return other;
}

}  // namespace reduce_bench::cuda::detail

// These stand in the namespace of CUDA's own, so that a kernel calls either.
template <reduce_bench::cuda::detail::ShuffledStructure T>
__device__ T __shfl_sync(unsigned mask, T value, int lane) {
  return reduce_bench::cuda::detail::shuffle_bits(
      value, [=](auto bits) { return __shfl_sync(mask, bits, lane); });
}
template <reduce_bench::cuda::detail::ShuffledStructure T>
__device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta) {
  return reduce_bench::cuda::detail::shuffle_bits(
      value, [=](auto bits) { return __shfl_up_sync(mask, bits, delta); });
}
template <reduce_bench::cuda::detail::ShuffledStructure T>
__device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta) {
  return reduce_bench::cuda::detail::shuffle_bits(
      value, [=](auto bits) { return __shfl_down_sync(mask, bits, delta); });
}
template <reduce_bench::cuda::detail::ShuffledStructure T>
__device__ T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return reduce_bench::cuda::detail::shuffle_bits(
      value, [=](auto bits) { return __shfl_xor_sync(mask, bits, lanes); });
}
