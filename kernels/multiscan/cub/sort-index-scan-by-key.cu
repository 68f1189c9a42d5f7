// cub/sort-index-scan-by-key: CUB's radix sort of positions, and a scan by key through them
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceRadixSort::SortPairs and
//   cub::DeviceScan's scans by key of CCCL, the latter on permutation iterators.
// Idea: as cub/sort-scan-by-key-scatter, but only the positions of the values are sorted by label.
//   The scan by key reads each value where its position says and stores each result there.
// Fixes: cub/sort-scan-by-key-scatter's sorting passes, which move the values too.
// Launch: a kernel that counts positions; the library's kernels, the sort for as many bits as
//   labels below m have.
// Traffic: n labels and n values read, n results written; not counted: each sorting pass reads and
//   writes labels and positions, 16 bytes per input; the scan reads both and gathers and scatters
//   single elements, each of which may move 32 bytes. With m = 64 and n = 2^26 an H200 moves 13
//   times the first three.
// Preconditions: n < 2^32. Order-preserving: the sort is stable, and the scan's operator need not
//   commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How the library groups float sums depends on the
//   order in which its blocks finish, so they differ from run to run.
// Choice: labels decide between the two compositions, so both are measured: the header of
//   cub/sort-scan-by-key-scatter has their times. On many sorted labels this one wins; on uniform
//   ones its gathers are not coalesced, and pairs win. Counts have 32 bits where n allows; with 64
//   bits this one took 6 to 11 % longer on sorted labels. Both arrays are sorted into others, which
//   of 2^26 on the same H200 takes 493 us for m = 16, 940 (2^10) and 1409 (2^20): to sort in place
//   (DoubleBuffer) the labels, which are inputs, must be copied first, and it takes 621, 1068 and
//   1536.

#include "kernels/multiscan/index_values.hpp"
#include "kernels/shared/cub_scan_by_key.hpp"
#include "kernels/shared/cub_sort_by_label.hpp"

#ifdef __CUDACC__
#include <thrust/iterator/permutation_iterator.h>
#endif

namespace reduce_bench::BACKEND::cub_sort_index_scan_by_key {

#ifdef __CUDACC__
__global__ void count_positions_kernel(Count* positions, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) positions[i] = static_cast<Count>(i);
}

std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() {
    const Count* positions = nullptr;
    return std::max(
        cub_sort_by_label_bytes<Count>(p),
        cub_scan_by_key_bytes<T>(
            thrust::make_permutation_iterator(static_cast<const T*>(nullptr), positions),
            thrust::make_permutation_iterator(static_cast<T*>(nullptr), positions),
            is_inclusive(p.params), p.n));
  });
}

/// Offsets into the workspace, which begins with the positions in the order of the inputs.
struct Places {
  std::size_t labels, sorted, temporary, end;
};
Places places(const Problem& p) {
  const auto aligned = [](std::size_t bytes) { return ceil_div(bytes, 256) * 256; };
  const std::size_t positions_bytes = aligned(p.n * sizeof(Count));
  Places at{};
  at.labels = positions_bytes;
  at.sorted = at.labels + aligned(p.n * sizeof(Label));
  at.temporary = at.sorted + positions_bytes;
  at.end = at.temporary + temporary_bytes_of(p);
  return at;
}

struct CubSortIndexScanByKey {
  static Workspace workspace(const Problem& p) { return {.device_bytes = places(p).end}; }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Places at = places(call.problem);
    std::byte* temporary = call.workspace + at.temporary;
    std::size_t bytes = at.end - at.temporary;
    auto* positions = call.template scratch<Count>();
    auto* labels = call.template scratch<Label>(at.labels);
    auto* sorted = call.template scratch<Count>(at.sorted);
    launch(count_positions_kernel, one_thread_each(call.stream, call.n()), positions, call.n());
    run_cub_sort_by_label(temporary, bytes, call.labels(), labels,
                          static_cast<const Count*>(positions), sorted, call.problem,
                          native(call.stream));
    const Count* from = sorted;
    run_cub_scan_by_key<T>(
        temporary, bytes, labels, thrust::make_permutation_iterator(call.values(), from),
        thrust::make_permutation_iterator(call.results(), from), library_operator<Op>(),
        Op::template identity<T>(), call.inclusive(), call.n(), native(call.stream));
  }
};
#else
struct CubSortIndexScanByKey;
#endif

Variant variant() {
  return {
      .id = "cub/sort-index-scan-by-key",
      .title = "CUB radix sort of positions, gathering scan by key",
      .source = "CCCL, CUB",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBaseline,
      .params = {scan_axis()},
      .restriction = index_restriction,
      // Partial results of tiles are joined along a chain of tiles.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = workspace_of<CubSortIndexScanByKey>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate_ordered<CubSortIndexScanByKey>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_sort_index_scan_by_key
