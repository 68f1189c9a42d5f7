// The loops of cpu/parallel, and of mpi/reduce on each rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/api/variant.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// Long enough that a chunk's overhead does not show, short enough that the float error bound of a
/// chunk stays small, which that of a plain `parallel for simd` over 2^30 floats does not.
inline constexpr std::size_t kChunk = std::size_t{1} << 15;

template <class T, class Op>
T reduce_chunk(const T* values, std::size_t n) {
#pragma omp declare reduction(fold:T : omp_out = Op::combine(omp_out, omp_in)) \
    initializer(omp_priv = Op::template identity<T>())
  T result = Op::template identity<T>();
#pragma omp simd reduction(fold : result)
  for (std::size_t i = 0; i < n; ++i) result = Op::combine(result, values[i]);
  return result;
}

template <class T, class Op>
T reduce_in_parallel(const T* values, std::size_t n) {
#pragma omp declare reduction(fold:T : omp_out = Op::combine(omp_out, omp_in)) \
    initializer(omp_priv = Op::template identity<T>())
  T result = Op::template identity<T>();
#pragma omp parallel for schedule(static) reduction(fold : result)
  for (std::size_t first = 0; first < n; first += kChunk)
    result = Op::combine(result, reduce_chunk<T, Op>(values + first, std::min(kChunk, n - first)));
  return result;
}

/// A chunk in one lane at worst, then all chunks one after the other.
constexpr std::uint64_t depth_of_parallel_reduce(std::size_t n) {
  return std::min(n, kChunk) + ceil_div(n, kChunk) + 1;
}

}  // namespace reduce_bench::BACKEND
