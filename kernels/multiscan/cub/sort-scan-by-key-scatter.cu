// cub/sort-scan-by-key-scatter: CUB's radix sort of pairs, and a scan by key that scatters
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceRadixSort::SortPairs and
//   cub::DeviceScan's scans by key of CCCL, the latter into a permutation iterator.
// Idea: as eilers/multiscan-sort-global: sorting the values together with their positions by label
//   makes every bucket one run of inputs; a scan by key of the runs is the multiscan. It stores
//   each result where the pair's position says.
// Fixes: eilers/multiscan-sort-global's sort and scan, which are not tuned to the card, and the
//   kernel that puts the results back.
// Launch: a kernel that pairs values with positions; the library's kernels, the sort for as many
//   bits as labels below m have.
// Traffic: n labels and n values read, n results written; not counted: each sorting pass reads and
//   writes labels and pairs, 24 bytes per input of 4-byte values; the scan reads labels and pairs,
//   and scatters single results, each of which may move 32 bytes.
// Preconditions: n < 2^32. Order-preserving: the sort is stable, and the scan's operator need not
//   commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How the library groups float sums depends on the
//   order in which its blocks finish, so they differ from run to run.
// Choice: labels decide between the two compositions, so both are measured. On one H200, 2^26 i32,
//   this one takes, of uniform labels, 2674 us (m = 16), 5686 (2^10), 5817 (2^16) and 6399 (2^20),
//   of sorted ones 1216, 1714, 1829 and 2374; with a scan into an array of its own and a kernel
//   that scatters from there 2698, 5859, 6010 and 6593, and 1441, 1942, 2058 and 2600;
//   cub/sort-index-scan-by-key 2854, 6721, 6889 and 7312, and 899, 1246, 1370 and 1764. Counts have
//   32 bits where n allows (with 64 bits it took 1 to 2 % longer), and the sort is told how many
//   bits labels below m have. Labels and pairs are sorted into other arrays, which takes 646 us for
//   m = 16, 1257 (2^10) and 1890 (2^20): to sort in place (DoubleBuffer) the labels, which are
//   inputs, must be copied first, and it takes 774, 1385 and 2019.

#include "kernels/multiscan/index_values.hpp"
#include "kernels/shared/cub_scan_by_key.hpp"
#include "kernels/shared/cub_sort_by_label.hpp"

#ifdef __CUDACC__
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#endif

namespace reduce_bench::BACKEND::cub_sort_scan_by_key_scatter {

#ifdef __CUDACC__
template <class T>
struct ValueOf {
  __host__ __device__ T operator()(const IndexValue<T>& pair) const { return pair.value; }
};
template <class T>
struct IndexOf {
  __host__ __device__ Count operator()(const IndexValue<T>& pair) const { return pair.index; }
};
template <class T>
auto values_of(const IndexValue<T>* pairs) {
  return thrust::make_transform_iterator(pairs, ValueOf<T>{});
}
/// Where the values of the pairs came from, in `results`.
template <class T>
auto origins_of(const IndexValue<T>* pairs, T* results) {
  return thrust::make_permutation_iterator(results,
                                           thrust::make_transform_iterator(pairs, IndexOf<T>{}));
}

template <class T>
using OpaquePair = IndexValue<Opaque<T>>;

std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() {
    return std::max(cub_sort_by_label_bytes<OpaquePair<T>>(p),
                    cub_scan_by_key_bytes<T>(values_of<T>(nullptr), origins_of<T>(nullptr, nullptr),
                                             is_inclusive(p.params), p.n));
  });
}

/// Offsets into the workspace, which begins with the pairs in the order of the inputs.
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
    std::byte* temporary = call.workspace + at.temporary;
    std::size_t bytes = at.end - at.temporary;
    auto* pairs = call.template scratch<IndexValue<T>>();
    auto* labels = call.template scratch<Label>(at.labels);
    auto* sorted = call.template scratch<IndexValue<T>>(at.sorted);
    launch(pack_index_values_kernel<T>, one_thread_each(call.stream, call.n()), call.values(),
           call.n(), pairs);
    run_cub_sort_by_label(
        temporary, bytes, call.labels(), labels, reinterpret_cast<const OpaquePair<T>*>(pairs),
        reinterpret_cast<OpaquePair<T>*>(sorted), call.problem, native(call.stream));
    run_cub_scan_by_key<T>(temporary, bytes, labels, values_of<T>(sorted),
                           origins_of<T>(sorted, call.results()), library_operator<Op>(),
                           Op::template identity<T>(), call.inclusive(), call.n(),
                           native(call.stream));
  }
};
#else
struct CubSortScanByKeyScatter;
#endif

Variant variant() {
  return {
      .id = "cub/sort-scan-by-key-scatter",
      .title = "CUB radix sort of pairs, scattering scan by key",
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
