// cub/sort-run-length: CUB's radix sort of labels and run-length encoding
//
// Source: no publication; what a CUDA programmer would call for more bins than HistogramEven is
//   good for: cub::DeviceRadixSort::SortKeys and cub::DeviceRunLengthEncode::Encode of CCCL.
// Idea: sorting makes the labels of every bin one run, whose length is the count; a last kernel
//   puts the counts where their labels say.
// Fixes: cub/histogram's atomics on partial counts in global memory, beyond 256 bins.
// Launch: the library's kernels, which sort by the bits that labels below m have; a fill of the m
//   counts; a scatter of min(n, m) threads.
// Traffic: n labels read, m counts written; not counted: each sorting pass reads and writes the
//   labels, and the encoding reads them.
// Preconditions: none.
// Deviations: the temporary storage is allocated beforehand.
// Choice: labels alone are sorted, where cub/sort-reduce-by-key would carry ones along; the sort is
//   told how many bits labels below m have. Counts have 32 bits where n allows. Labels are sorted
//   into another array: they are inputs. Encode is CUB's ReduceByKey of ones, tuned for them. Of
//   2^26 u32 labels on an H200, in one run with cub/histogram: into 2^15 bins 1022 us for 1403,
//   2^16 1028 for 2732, 2^20 1405 for 5702, 2^24 1541 for 31 058.

#include "kernels/shared/library.hpp"
#include "kernels/shared/sorted_runs.hpp"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#endif

namespace reduce_bench::BACKEND::cub_sort_run_length {

#ifdef __CUDACC__
template <class L>
void sort(void* temporary, std::size_t& temporary_bytes, const L* labels, L* sorted,
          const Problem& p, cudaStream_t stream) {
  with_library_count(p.n, [&](auto count) {
    check(cub::DeviceRadixSort::SortKeys(temporary, temporary_bytes, labels, sorted, count, 0,
                                         static_cast<int>(std::max(1u, log2_ceil(p.buckets))),
                                         stream),
          "cub::DeviceRadixSort::SortKeys");
  });
}

template <class L>
void encode(void* temporary, std::size_t& temporary_bytes, const L* sorted, L* run_labels,
            Count* lengths, Count* run_count, const Problem& p, cudaStream_t stream) {
  with_library_count(p.n, [&](auto count) {
    check(cub::DeviceRunLengthEncode::Encode(temporary, temporary_bytes, sorted, run_labels,
                                             lengths, run_count, count, stream),
          "cub::DeviceRunLengthEncode::Encode");
  });
}

template <class L>
std::size_t temporary_bytes(const Problem& p) {
  std::size_t of_sort = 0, of_encoding = 0;
  sort<L>(nullptr, of_sort, nullptr, nullptr, p, nullptr);
  encode<L>(nullptr, of_encoding, nullptr, nullptr, nullptr, nullptr, p, nullptr);
  return std::max(of_sort, of_encoding);
}

struct CubSortRunLength {
  static Workspace workspace(const Problem& p) {
    std::size_t bytes = 0;
    with_label_type(p.type, [&]<class L>() { bytes = temporary_bytes<L>(p); });
    return {.device_bytes = sorted_runs(p, bytes).end};
  }

  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    enqueue_fill(call.stream, call.results(), call.buckets(), 0);
    if (call.n() == 0) return;
    const Problem& p = call.problem;
    const SortedRuns at = sorted_runs(p, temporary_bytes<L>(p));
    std::byte* const temporary = call.workspace + at.temporary;
    std::size_t bytes = at.end - at.temporary;
    auto* sorted = call.template scratch<L>(at.labels);
    auto* run_labels = call.template scratch<L>(at.run_labels);
    auto* lengths = call.template scratch<Count>(at.run_values);
    auto* run_count = call.template scratch<Count>(at.run_count);
    sort(temporary, bytes, call.labels(), sorted, p, native(call.stream));
    encode(temporary, bytes, sorted, run_labels, lengths, run_count, p, native(call.stream));
    enqueue_place_runs(call.stream, std::min(p.n, p.buckets), run_labels, lengths, run_count,
                       call.results());
  }
};
#else
struct CubSortRunLength;
#endif

Variant variant() {
  return {
      .id = "cub/sort-run-length",
      .title = "CUB radix sort and run-length encoding",
      .source = "CCCL, CUB",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBaseline,
      .workspace = workspace_of<CubSortRunLength>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate_histogram<CubSortRunLength>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_sort_run_length
