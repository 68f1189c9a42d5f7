// A segment and a bucket set for each thread (eilers section 5.3, appendix B): every thread runs
// the sequential algorithm on a stretch of the input, and the block loads its threads' inputs
// together.
#pragma once

#include <cstddef>

#include "kernels/multiscan/segment_totals.hpp"

namespace reduce_bench::BACKEND {

/// Shared memory for the inputs that a thread takes at a time; a thread's row is padded by one
/// element so that reading it causes no bank conflicts.
inline std::size_t tile_bytes_per_thread(const Problem& p) {
  return (p.params.number("items") + 1) * (p.element_bytes() + sizeof(Label));
}

/// Thread t of the grid scans its inputs from t * per_thread on, `items` at a time, on its buckets
/// own[label * stride], which it first sets to the neutral element. The block brings its threads'
/// inputs to `tile_values` and the labels after them by coalesced loads, and their results back.
template <class Op, class T>
__device__ void scan_thread_segments(const T* values, const Label* labels, std::size_t n,
                                     std::size_t per_thread, unsigned items, unsigned buckets,
                                     bool inclusive, T* own, std::size_t stride, T* tile_values,
                                     T* results) {
  auto* tile_labels = reinterpret_cast<Label*>(tile_values + (items + 1) * blockDim.x);
  for (std::size_t b = 0; b < buckets; ++b) own[b * stride] = Op::template identity<T>();
  const std::size_t block_first = std::size_t{blockIdx.x} * blockDim.x * per_thread;
  const std::size_t own_first = block_first + threadIdx.x * per_thread;
  const auto for_each_of_block = [&](std::size_t step, auto&& f) {
    for (unsigned i = threadIdx.x; i < items * blockDim.x; i += blockDim.x) {
      const unsigned segment = i / items, item = i % items;
      const std::size_t index = block_first + segment * per_thread + step + item;
      if (index < n) f(index, segment * (items + 1) + item);
    }
  };
  for (std::size_t step = 0; step < per_thread; step += items) {
    for_each_of_block(step, [&](std::size_t index, unsigned place) {
      tile_labels[place] = labels[index];
      tile_values[place] = values[index];
    });
    __syncthreads();
    const unsigned row = threadIdx.x * (items + 1);
    for (unsigned k = 0; k < items && own_first + step + k < n; ++k) {
      T& bucket = own[tile_labels[row + k] * stride];
      const T before = bucket;
      const T after = Op::combine(before, tile_values[row + k]);
      bucket = after;
      tile_values[row + k] = inclusive ? after : before;
    }
    __syncthreads();
    for_each_of_block(
        step, [&](std::size_t index, unsigned place) { results[index] = tile_values[place]; });
    __syncthreads();
  }
}

}  // namespace reduce_bench::BACKEND
