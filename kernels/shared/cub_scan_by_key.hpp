// CUB's scans by key, as they stand and behind a sort.
#pragma once

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_scan.cuh>

#include <algorithm>
#endif

namespace reduce_bench::BACKEND {

#ifdef __CUDACC__
/// `values` and `results` are iterators over T.
template <class T, class Values, class Results, class Operator>
void run_cub_scan_by_key(void* temporary, std::size_t& temporary_bytes, const Label* keys,
                         Values values, Results results, Operator op, T neutral, bool inclusive,
                         std::size_t n, cudaStream_t stream) {
  with_library_count(n, [&](auto count) {
    if (inclusive)
      check(cub::DeviceScan::InclusiveScanByKey(temporary, temporary_bytes, keys, values, results,
                                                op, count, ::cuda::std::equal_to<>{}, stream),
            "cub::DeviceScan::InclusiveScanByKey");
    else
      check(
          cub::DeviceScan::ExclusiveScanByKey(temporary, temporary_bytes, keys, values, results, op,
                                              neutral, count, ::cuda::std::equal_to<>{}, stream),
          "cub::DeviceScan::ExclusiveScanByKey");
  });
}

template <class T, class Values, class Results>
std::size_t cub_scan_by_key_bytes(Values values, Results results, bool inclusive, std::size_t n) {
  return most_library_bytes<T, sizeof(T) == 4>([&](auto op) {
    std::size_t bytes = 0;
    run_cub_scan_by_key<T>(nullptr, bytes, nullptr, values, results, op, T{}, inclusive, n,
                           nullptr);
    return bytes;
  });
}
#endif

}  // namespace reduce_bench::BACKEND
