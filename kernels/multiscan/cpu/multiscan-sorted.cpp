// cpu/multiscan-sorted: partial radix sort, then one loop
//
// Source: eilers section 2.4, Algorithm 2.5.
// Idea: sorted by the upper bits of their labels, inputs come in sections whose buckets are
//   neighbours and stay in the cache. Each value is sorted together with its position, where its
//   result is stored.
// Fixes: cpu/multiscan's cache misses for large m.
// Launch: the calling thread.
// Traffic: n labels and n values read, n results written; the sort, which is not counted, reads and
//   writes n labels and n positions with values in each run.
// Preconditions: n < 2^32. Order-preserving: the sort is stable.
// Deviations: those of cpu/radix-sort. The listing nests the sort's runs into each other, and scans
//   into the sorted order without bringing the results back to their positions. sort_bits=auto as
//   for cpu/multireduce-sorted.

#include "kernels/multiscan/one_loop.hpp"
#include "kernels/shared/cpu_radix_sort.hpp"

namespace reduce_bench::BACKEND::cpu_multiscan_sorted {

/// Offsets into the workspace. It holds the buckets and, where inputs are sorted, the pairs in the
/// input's order, the sorted labels and the sorted pairs.
struct Places {
  std::size_t pairs, sorted_labels, sorted_pairs, sorting, end;
};
Places places(const Problem& p) {
  const CpuRadixSort sort = plan_partial_cpu_sort(p);
  const std::size_t pairs_bytes = CpuRadixSort::aligned(p.n * index_value_bytes(p));
  Places at{};
  at.pairs = CpuRadixSort::aligned(p.buckets * p.element_bytes());
  at.end = at.pairs;
  if (sort.runs() == 0) return at;
  at.sorted_labels = at.pairs + pairs_bytes;
  at.sorted_pairs = at.sorted_labels + CpuRadixSort::aligned(p.n * sizeof(Label));
  at.sorting = at.sorted_pairs + pairs_bytes;
  at.end = at.sorting + sort.workspace_bytes(index_value_bytes(p));
  return at;
}

struct CpuMultiscanSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const CpuRadixSort sort = plan_partial_cpu_sort(call.problem);
    const Places at = places(call.problem);
    T* buckets = call.scratch();
    fill(buckets, call.buckets(), Op::template identity<T>());
    if (sort.runs() == 0)
      return scan_in_order<Op, T>(buckets, call.labels(), call.values(), 0, call.n(),
                                  call.inclusive(), call.results());
    auto* pairs = call.template scratch<IndexValue<T>>(at.pairs);
    auto* labels = call.template scratch<Label>(at.sorted_labels);
    auto* sorted = call.template scratch<IndexValue<T>>(at.sorted_pairs);
    pair_with_positions<T>(call.n(), call.values(), pairs);
    sort_pairs(sort, call.labels(), pairs, labels, sorted, call.workspace + at.sorting);
    scan_sorted<Op, T>(call.n(), buckets, labels, sorted, call.inclusive(), call.results());
  }
};

Variant variant() {
  return {
      .id = "cpu/multiscan-sorted",
      .title = "partial radix sort, then one loop",
      .source = "eilers Algorithm 2.5",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kCorrected,
      .params = {scan_axis(), partial_cpu_sort_axis()},
      .restriction = index_restriction,
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .enqueue = instantiate<CpuMultiscanSorted, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_multiscan_sorted
