// cub/radix-sort: CUB's radix sort of pairs
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceRadixSort::SortPairs of
//   CCCL.
// Idea: a few bits per pass from the lowest, each pass a stable partition: one histogram of all
//   digits beforehand, and tile prefixes passed on by look-back.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device, the types and the bits that labels below m have.
// Traffic: n labels and n values read and written once; each further pass, which is not counted,
//   does so again. With m = 2^16 and n = 2^26 an H200 moves 2.3 times the first.
// Preconditions: none.
// Deviations: the temporary storage is allocated beforehand.
// Choice: counts have 32 bits where n allows, and the sort is told how many bits labels below m
//   have. On one H200, 2^26 pairs: 492 us (m = 16), 938 (2^10) and 1405 (2^20), with a 64-bit count
//   559, 1070 and 1605, by all 32 bits 1479 to 1734. Labels and values are sorted into other
//   arrays: they are inputs, and to sort them in place (DoubleBuffer) takes a copy of both first,
//   259 us.

#include "kernels/shared/cub_sort_by_label.hpp"

namespace reduce_bench::BACKEND::cub_radix_sort {

#ifdef __CUDACC__
std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() { return cub_sort_by_label_bytes<Opaque<T>>(p); });
}

struct CubRadixSort {
  static Workspace workspace(const Problem& p) { return {.device_bytes = temporary_bytes_of(p)}; }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    std::size_t bytes = temporary_bytes_of(call.problem);
    run_cub_sort_by_label(call.workspace, bytes, call.labels(), call.result_labels(),
                          reinterpret_cast<const Opaque<T>*>(call.values()),
                          reinterpret_cast<Opaque<T>*>(call.results()), call.problem,
                          native(call.stream));
  }
};
#else
struct CubRadixSort;
#endif

Variant variant() {
  return {
      .id = "cub/radix-sort",
      .title = "CUB radix sort of pairs",
      .source = "CCCL, CUB",
      .operation = Operation::kSort,
      .fidelity = Fidelity::kBaseline,
      .workspace = workspace_of<CubRadixSort>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate<CubRadixSort, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_radix_sort
