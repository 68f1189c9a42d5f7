// The input of a reduction as 16-byte vectors, cut into chunks that a block loads at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/vector16.hpp"

namespace reduce_bench::BACKEND::onepass_reduce {

/// The elements before the first 16-byte boundary.
template <class T>
std::size_t head_of(const T* values, std::size_t n) {
  const auto address = reinterpret_cast<std::uintptr_t>(values);
  return std::min<std::size_t>(n, (16 - address % 16) % 16 / sizeof(T));
}

/// The input as 16-byte vectors from the first 16-byte boundary on, cut into chunks of `kLoads`
/// vectors per thread of a block. `kAhead`: whether loads have the L2 cache fetch ahead.
template <class T, unsigned kBlock, unsigned kLoads, bool kAhead>
struct Chunks {
  using Vec = Vector16<T>;
  using Loads = Vec[kLoads];
  static constexpr unsigned kChunk = kBlock * kLoads;  ///< vectors

  const T* values;
  std::size_t n, head;
  const Vec* vectors;
  std::size_t count;  ///< vectors
  unsigned chunks;    ///< whole ones

  /// `head`: the elements before the first 16-byte boundary.
  __device__ Chunks(const T* values_, std::size_t n_, std::size_t head_)
      : values(values_),
        n(n_),
        head(head_),
        vectors(reinterpret_cast<const Vec*>(values_ + head_)),
        count((n_ - head_) / Vec::kCount),
        chunks(static_cast<unsigned>(count / kChunk)) {}

  /// This thread's vectors of a whole chunk.
  __device__ void load(unsigned chunk, Loads& loads) const {
    const Vec* from = vectors + std::size_t{chunk} * kChunk + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) loads[k] = load_vector(from + k * kBlock);
  }
  /// The same of a chunk that may be cut short: neutral elements stand for what is missing.
  __device__ void load_partial(unsigned chunk, Loads& loads, T neutral) const {
    const std::size_t i = std::size_t{chunk} * kChunk + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      if (i + k * kBlock < count) {
        loads[k] = load_vector(vectors + i + k * kBlock);
      } else {
#pragma unroll
        for (T& element : loads[k].at) element = neutral;
      }
    }
  }
  /// Where the elements behind the last vector begin.
  __device__ std::size_t tail() const { return head + count * Vec::kCount; }

 private:
  __device__ static Vec load_vector(const Vec* from) {
    if constexpr (kAhead) return load_ahead(from);
    else return *from;
  }
};

}  // namespace reduce_bench::BACKEND::onepass_reduce
