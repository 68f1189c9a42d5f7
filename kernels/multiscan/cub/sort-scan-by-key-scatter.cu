// cub/sort-scan-by-key-scatter: CUB's radix sort and scan by key, and a scatter
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceRadixSort::SortPairs and
//   cub::DeviceScan's scans by key of CCCL.
// Idea: as eilers/multiscan-sort-global: sorting the values together with their positions by label
//   makes every bucket one run of inputs; a scan by key of the runs is the multiscan; a last kernel
//   puts the results where their values came from.
// Fixes: eilers/multiscan-sort-global's sort and scan, which are not tuned to the card.
// Launch: a kernel that pairs values with positions; the library's kernels, the sort for as many
//   bits as labels below m have; the scatter.
// Traffic: n labels and n values read, n results written; not counted: each sorting pass reads and
//   writes labels and pairs, 24 bytes per input of 4-byte values; the scan reads labels and pairs
//   and writes values; the scatter reads pairs and values. With m = 64 and n = 2^26 an H200 moves
//   11 times the first three.
// Preconditions: n < 2^32. Order-preserving: the sort is stable, and the scan's operator need not
//   commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How the library groups float sums depends on the
//   order in which its blocks finish, so they differ from run to run.
// Choice: labels decide between the two compositions, so both are measured. On one H200, 2^26
//   sorted labels, this one takes 1449 us (m = 16), 1951 (2^10), 2066 (2^16) and 2608 (2^20), and
//   cub/sort-index-scan-by-key 902, 1250, 1372 and 1766; on uniform labels this one wins, by 4 to
//   12 %. With 64-bit counts it takes 1 to 2 % longer. Counts have 32 bits where n allows, and the
//   sort is told how many bits labels below m have. Labels and pairs are sorted into other arrays:
//   the labels are inputs, and to sort them in place would take a copy.

#include "kernels/multiscan/index_values.hpp"
#include "kernels/shared/cub_scan_by_key.hpp"
#include "kernels/shared/cub_sort_by_label.hpp"

#ifdef __CUDACC__
#include <thrust/iterator/transform_iterator.h>
#endif

namespace reduce_bench::BACKEND::cub_sort_scan_by_key_scatter {

#ifdef __CUDACC__
template <class T>
struct ValueOf {
  __host__ __device__ T operator()(const IndexValue<T>& pair) const { return pair.value; }
};
template <class T>
auto values_of(const IndexValue<T>* pairs) {
  return thrust::make_transform_iterator(pairs, ValueOf<T>{});
}

template <class T>
using OpaquePair = IndexValue<Opaque<T>>;

std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() {
    return std::max(cub_sort_by_label_bytes<OpaquePair<T>>(p),
                    cub_scan_by_key_bytes<T>(values_of<T>(nullptr), static_cast<T*>(nullptr),
                                             is_inclusive(p.params), p.n));
  });
}

/// Offsets into the workspace. It holds the pairs, which the scanned values replace after the sort;
/// the sorted labels and pairs; and the library's storage.
struct Places {
  std::size_t labels, sorted, temporary, end;
};
Places places(const Problem& p) {
  const auto aligned = [](std::size_t bytes) { return ceil_div(bytes, 256) * 256; };
  const std::size_t pairs_bytes = aligned(p.n * index_value_bytes(p));
  Places at{};
  at.labels = pairs_bytes;
  at.sorted = at.labels + aligned(p.n * sizeof(Label));
  at.temporary = at.sorted + pairs_bytes;
  at.end = at.temporary + temporary_bytes_of(p);
  return at;
}

struct CubSortScanByKeyScatter {
  static Workspace workspace(const Problem& p) { return {.device_bytes = places(p).end}; }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Places at = places(call.problem);
    const LaunchShape each = one_thread_each(call.stream, call.n());
    std::byte* temporary = call.workspace + at.temporary;
    std::size_t bytes = at.end - at.temporary;
    auto* pairs = call.template scratch<IndexValue<T>>();
    auto* labels = call.template scratch<Label>(at.labels);
    auto* sorted = call.template scratch<IndexValue<T>>(at.sorted);
    T* scanned = call.scratch();
    launch(pack_index_values_kernel<T>, each, call.values(), call.n(), pairs);
    run_cub_sort_by_label(
        temporary, bytes, call.labels(), labels, reinterpret_cast<const OpaquePair<T>*>(pairs),
        reinterpret_cast<OpaquePair<T>*>(sorted), call.problem, native(call.stream));
    run_cub_scan_by_key<T>(temporary, bytes, labels, values_of<T>(sorted), scanned,
                           library_operator<Op>(), Op::template identity<T>(), call.inclusive(),
                           call.n(), native(call.stream));
    launch(scatter_back_kernel<T>, each, sorted, scanned, call.n(), call.results());
  }
};
#else
struct CubSortScanByKeyScatter;
#endif

Variant variant() {
  return {
      .id = "cub/sort-scan-by-key-scatter",
      .title = "CUB radix sort and scan by key, scatter",
      .source = "CCCL, CUB",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBaseline,
      .params = {scan_axis()},
      .restriction = index_restriction,
      // Partial results of tiles are joined along a chain of tiles.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = workspace_of<CubSortScanByKeyScatter>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate_ordered<CubSortScanByKeyScatter>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_sort_scan_by_key_scatter
