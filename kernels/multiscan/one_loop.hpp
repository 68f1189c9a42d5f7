// The sequential multiscan (eilers Algorithm 2.3) of a stretch of the input.
#pragma once

#include <cstddef>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// `buckets` hold what is before input `first`, and in the end what is before `end`.
template <class Op, class T>
void scan_in_order(T* buckets, const Label* labels, const T* values, std::size_t first,
                   std::size_t end, bool inclusive, T* results) {
  for (std::size_t i = first; i < end; ++i) {
    T& bucket = buckets[labels[i]];
    const T before = bucket;
    bucket = Op::combine(before, values[i]);
    results[i] = inclusive ? bucket : before;
  }
}

}  // namespace reduce_bench::BACKEND
