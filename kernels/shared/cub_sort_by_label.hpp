// CUB's radix sort of labels with values, as it stands and before reductions and scans by key.
#pragma once

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#endif

namespace reduce_bench::BACKEND {

#ifdef __CUDACC__
/// Sorts n pairs by the bits [first_bit, end_bit) of their labels.
template <class V>
void run_cub_sort(void* temporary, std::size_t& temporary_bytes, const Label* labels,
                  Label* sorted_labels, const V* values, V* sorted_values, std::size_t n,
                  unsigned first_bit, unsigned end_bit, cudaStream_t stream) {
  with_library_count(n, [&](auto count) {
    check(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, labels, sorted_labels, values,
                                          sorted_values, count, static_cast<int>(first_bit),
                                          static_cast<int>(end_bit), stream),
          "cub::DeviceRadixSort::SortPairs");
  });
}

/// Sorts by the bits in which labels below m can differ.
template <class V>
void run_cub_sort_by_label(void* temporary, std::size_t& temporary_bytes, const Label* labels,
                           Label* sorted_labels, const V* values, V* sorted_values,
                           const Problem& p, cudaStream_t stream) {
  run_cub_sort(temporary, temporary_bytes, labels, sorted_labels, values, sorted_values, p.n, 0,
               std::max(1u, log2_ceil(p.buckets)), stream);
}

template <class V>
std::size_t cub_sort_by_label_bytes(const Problem& p) {
  std::size_t bytes = 0;
  run_cub_sort_by_label<V>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, p, nullptr);
  return bytes;
}
#endif

}  // namespace reduce_bench::BACKEND
