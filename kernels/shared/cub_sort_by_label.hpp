// CUB's radix sort of labels with values, as it stands and before reductions and scans by key.
#pragma once

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#endif

namespace reduce_bench::BACKEND {

#ifdef __CUDACC__
/// Sorts by the bits in which labels below m can differ.
template <class V>
void run_cub_sort_by_label(void* temporary, std::size_t& temporary_bytes, const Label* labels,
                           Label* sorted_labels, const V* values, V* sorted_values,
                           const Problem& p, cudaStream_t stream) {
  const int bits = std::max(1, static_cast<int>(log2_ceil(p.buckets)));
  with_library_count(p.n, [&](auto count) {
    check(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, labels, sorted_labels, values,
                                          sorted_values, count, 0, bits, stream),
          "cub::DeviceRadixSort::SortPairs");
  });
}

template <class V>
std::size_t cub_sort_by_label_bytes(const Problem& p) {
  std::size_t bytes = 0;
  run_cub_sort_by_label<V>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, p, nullptr);
  return bytes;
}
#endif

}  // namespace reduce_bench::BACKEND
