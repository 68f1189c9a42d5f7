// CUB's reduction by key, as it stands and behind a sort.
#pragma once

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_reduce.cuh>
#endif

namespace reduce_bench::BACKEND {

#ifdef __CUDACC__
template <class T, class Operator>
void run_cub_reduce_by_key(void* temporary, std::size_t& temporary_bytes, const Label* labels,
                           Label* result_labels, const T* values, T* results, Count* result_count,
                           Operator op, std::size_t n, cudaStream_t stream) {
  with_library_count(n, [&](auto count) {
    check(cub::DeviceReduce::ReduceByKey(temporary, temporary_bytes, labels, result_labels, values,
                                         results, result_count, op, count, stream),
          "cub::DeviceReduce::ReduceByKey");
  });
}

template <class T>
std::size_t cub_reduce_by_key_bytes(std::size_t n) {
  return most_library_bytes<T>([&](auto op) {
    std::size_t bytes = 0;
    run_cub_reduce_by_key<T>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, nullptr, op, n,
                             nullptr);
    return bytes;
  });
}
#endif

}  // namespace reduce_bench::BACKEND
