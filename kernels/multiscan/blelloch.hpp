// Blelloch's work-efficient scan within a block (eilers Algorithm 5.1), of elements or of vectors.
#pragma once

#include <cstddef>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Scans `count` vectors of `width` elements, [vector][element], exclusively and in place in shared
/// memory; `count` is a power of two. Their total is stored as vector `count`, for which there must
/// be room. All threads must call; the result is visible to all.
template <class Op, class T>
__device__ void exclusive_scan_by_tree(T* data, unsigned count, unsigned width) {
  // Upsweep: the last vector of every subtree gets what the subtree combines to.
  for (unsigned stride = 1; stride < count; stride *= 2) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count / (2 * stride) * width; i += blockDim.x) {
      T* left = data + (i / width * 2 * stride + stride - 1) * width + i % width;
      T* right = left + stride * width;
      *right = Op::combine(*left, *right);
    }
  }
  __syncthreads();
  for (unsigned e = threadIdx.x; e < width; e += blockDim.x) {
    data[count * width + e] = data[(count - 1) * width + e];
    data[(count - 1) * width + e] = Op::template identity<T>();
  }
  // Downsweep: the left child gets what is before the subtree, the right one that and the left.
  for (unsigned stride = count / 2; stride > 0; stride /= 2) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count / (2 * stride) * width; i += blockDim.x) {
      T* left = data + (i / width * 2 * stride + stride - 1) * width + i % width;
      T* right = left + stride * width;
      const T of_left = *left;
      *left = *right;
      *right = Op::combine(*right, of_left);
    }
  }
  __syncthreads();
}

}  // namespace reduce_bench::BACKEND
