// Values with their positions in the input (eilers Algorithms 2.5, 5.3 and 5.4): a multiscan sorts
// them by label and stores each result where its value came from.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

template <class T>
struct IndexValue {
  T value;
  Count index;
};

/// An operator on pairs that keeps the index of the later one: their scan takes indices along.
template <class Op>
struct OnPairs {
  template <class Pair>
  __host__ __device__ static constexpr Pair identity() {
    return {Op::template identity<decltype(Pair::value)>(), 0};
  }
  template <class Pair>
  __host__ __device__ static constexpr Pair combine(Pair a, Pair b) {
    return {Op::combine(a.value, b.value), b.index};
  }
};

inline std::size_t index_value_bytes(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() { return sizeof(IndexValue<T>); });
}

#if defined(__CUDACC__) || defined(REDUCE_BENCH_EMU)
template <class T>
__global__ void pack_index_values_kernel(const T* values, std::size_t n, IndexValue<T>* pairs) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) pairs[i] = {values[i], static_cast<Count>(i)};
}
template <class T>
__global__ void unpack_values_kernel(const IndexValue<T>* pairs, std::size_t n, T* values) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) values[i] = pairs[i].value;
}
template <class T>
__device__ IndexValue<T> shuffle_up(IndexValue<T> pair, unsigned distance) {
  return {__shfl_up_sync(kAllLanes, pair.value, distance),
          __shfl_up_sync(kAllLanes, pair.index, distance)};
}
/// A pair's result belongs where it came from, whatever precedes it.
template <class T>
__device__ IndexValue<T> exclusive_result(IndexValue<T> before, IndexValue<T> pair) {
  return {before.value, pair.index};
}

/// Each value goes where its pair came from.
template <class T>
__global__ void scatter_back_kernel(const IndexValue<T>* pairs, const T* values, std::size_t n,
                                    T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) results[pairs[i].index] = values[i];
}
template <class T>
__global__ void scatter_pairs_back_kernel(const IndexValue<T>* pairs, std::size_t n, T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) results[pairs[i].index] = pairs[i].value;
}
/// A thread for each of n > 0 elements.
inline LaunchShape one_thread_each(const Stream& stream, std::size_t n) {
  constexpr unsigned kBlock = 256;
  return {static_cast<unsigned>(ceil_div(n, kBlock)), kBlock, 0, stream};
}
#endif

/// Positions are counted in 32 bits.
inline std::string index_restriction(const Problem& p) {
  if (p.n <= ~Count{0}) return {};
  return std::to_string(p.n) + " inputs: their positions are counted in 32 bits";
}

}  // namespace reduce_bench::BACKEND
