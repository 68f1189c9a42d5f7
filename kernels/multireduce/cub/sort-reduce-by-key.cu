// cub/sort-reduce-by-key: CUB's radix sort and reduce-by-key
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceRadixSort::SortPairs and
//   cub::DeviceReduce::ReduceByKey of CCCL.
// Idea: sorting by label makes every bucket one run of inputs; a reduction by key turns each run
//   into its result; a last kernel puts the results where their labels say.
// Fixes: atomic/global's contention: the time hardly depends on the labels.
// Launch: the library's kernels, which sort by the bits that labels below m have; a fill of the m
//   results; a scatter of min(n, m) threads.
// Traffic: n labels and n values read, m results written; not counted: each sorting pass reads and
//   writes labels and values, 16 bytes per input of 4-byte values, and the reduction reads them.
//   With m = 256 and n = 2^26 an H200 moves 3.5 times the first three.
// Preconditions: none. Order-preserving: the sort is stable, and the reduction's operator need not
//   commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How ReduceByKey groups float sums depends on
//   the order in which its blocks finish, so they differ from run to run.
// Choice: counts have 32 bits where n allows. On one H200, 2^26 inputs, the sort and the reduction
//   take 697 us (m = 16), 1144 (2^10) and 1618 (2^20), with 64-bit counts 843, 1355 and 1906. The
//   sort is told how many bits labels below m have: by all 32 bits it alone takes 1479 us instead
//   of 492 (m = 16). Labels and values are sorted into other arrays: they are inputs, and to sort
//   them in place (DoubleBuffer) takes a copy of both first, 749 us in all.

#include "kernels/shared/cub_reduce_by_key.hpp"
#include "kernels/shared/cub_sort_by_label.hpp"
#include "kernels/shared/sorted_runs.hpp"

namespace reduce_bench::BACKEND::cub_sort_reduce_by_key {

#ifdef __CUDACC__
template <class T>
std::size_t temporary_bytes(const Problem& p) {
  return std::max(cub_sort_by_label_bytes<Opaque<T>>(p), cub_reduce_by_key_bytes<T>(p.n));
}

std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() { return temporary_bytes<T>(p); });
}

struct CubSortReduceByKey {
  static Workspace workspace(const Problem& p) {
    return {.device_bytes = sorted_runs(p, temporary_bytes_of(p)).end};
  }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const SortedRuns at = sorted_runs(call.problem, temporary_bytes_of(call.problem));
    std::size_t bytes = at.end - at.temporary;
    auto* labels = call.template scratch<Label>(at.labels);
    auto* values = call.template scratch<T>(at.values);
    auto* run_labels = call.template scratch<Label>(at.run_labels);
    auto* run_values = call.template scratch<T>(at.run_values);
    auto* run_count = call.template scratch<Count>(at.run_count);
    run_cub_sort_by_label(call.workspace + at.temporary, bytes, call.labels(), labels,
                          reinterpret_cast<const Opaque<T>*>(call.values()),
                          reinterpret_cast<Opaque<T>*>(values), call.problem, native(call.stream));
    run_cub_reduce_by_key(call.workspace + at.temporary, bytes, labels, run_labels, values,
                          run_values, run_count, library_operator<Op>(), call.n(),
                          native(call.stream));
    enqueue_place_runs(call.stream, std::min(call.n(), call.buckets()), run_labels, run_values,
                       run_count, call.results());
  }
};
#else
struct CubSortReduceByKey;
#endif

Variant variant() {
  return {
      .id = "cub/sort-reduce-by-key",
      .title = "CUB radix sort and ReduceByKey",
      .source = "CCCL, CUB",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      // Partial results of tiles are joined along a chain of tiles, so one bucket may be one chain.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = workspace_of<CubSortReduceByKey>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate<CubSortReduceByKey, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_sort_reduce_by_key
