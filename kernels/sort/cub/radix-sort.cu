// cub/radix-sort: CUB's radix sort of pairs
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceRadixSort::SortPairs of the
//   CUDA Toolkit.
// Idea: a few bits per pass from the lowest, each pass a stable partition: one histogram of all
//   digits beforehand, and tile prefixes passed on by look-back.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device, the types and the bits that labels below m have.
// Traffic: n labels and n values read and written once; each further pass, which is not counted,
//   does so again.
// Preconditions: none.
// Deviations: the temporary storage is allocated beforehand.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#endif

namespace reduce_bench::BACKEND::cub_radix_sort {

#ifdef __CUDACC__
template <class T>
void sort_pairs(void* temporary, std::size_t& temporary_bytes, const Label* labels,
                Label* sorted_labels, const T* values, T* sorted_values, const Problem& p,
                cudaStream_t stream) {
  const int bits = std::max(1, static_cast<int>(log2_ceil(p.buckets)));
  check(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, labels, sorted_labels, values,
                                        sorted_values, static_cast<std::int64_t>(p.n), 0, bits,
                                        stream),
        "cub::DeviceRadixSort::SortPairs");
}

std::size_t temporary_bytes_of(const Problem& p) {
  std::size_t bytes = 0;
  with_value_type(p.type, [&]<class T>() {
    sort_pairs<Opaque<T>>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, p, nullptr);
  });
  return bytes;
}

struct CubRadixSort {
  static Workspace workspace(const Problem& p) { return {.device_bytes = temporary_bytes_of(p)}; }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    std::size_t bytes = temporary_bytes_of(call.problem);
    sort_pairs(call.workspace, bytes, call.labels(), call.result_labels(),
               reinterpret_cast<const Opaque<T>*>(call.values()),
               reinterpret_cast<Opaque<T>*>(call.results()), call.problem, native(call.stream));
  }
};
#else
struct CubRadixSort;
#endif

Variant variant() {
  return {
      .id = "cub/radix-sort",
      .title = "CUB radix sort of pairs",
      .source = "CUDA Toolkit, CUB",
      .operation = Operation::kSort,
      .fidelity = Fidelity::kBaseline,
      .workspace = workspace_of<CubRadixSort>(),
      .enqueue = instantiate<CubRadixSort, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_radix_sort
