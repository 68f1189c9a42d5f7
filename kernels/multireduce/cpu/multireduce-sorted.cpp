// cpu/multireduce-sorted: partial radix sort, then one loop
//
// Source: eilers section 2.4, Algorithm 2.4 before Algorithm 2.2 (Figure 2.7).
// Idea: sorted by the upper bits of their labels, inputs come in sections whose buckets are
//   neighbours and stay in the cache.
// Fixes: cpu/multireduce's cache misses for large m.
// Launch: the calling thread.
// Traffic: n labels and n values read, m results written; the sort, which is not counted, reads and
//   writes n labels and n values in each run.
// Preconditions: none. Order-preserving: the sort is stable.
// Deviations: those of cpu/radix-sort. sort_bits=auto leaves 18 bits unsorted and sorts from 2^21
//   buckets on, as the thesis found best on its machine (it prints "if m < 2^21"); with fewer
//   buckets the loop reads the input itself. The 8 bits of a run are ours; the thesis states none.
//   fetch=sequential as for cpu/multireduce.

#include "kernels/multireduce/cpu/multireduce.hpp"
#include "kernels/shared/cpu_radix_sort.hpp"

namespace reduce_bench::BACKEND::cpu_multireduce_sorted {

/// Offsets into the workspace; the sorted labels come first.
struct Places {
  std::size_t values, sorting, end;
};
Places places(const Problem& p) {
  const CpuRadixSort sort = plan_partial_cpu_sort(p);
  if (sort.runs() == 0) return {};
  Places at{};
  at.values = CpuRadixSort::aligned(p.n * sizeof(Label));
  at.sorting = at.values + CpuRadixSort::aligned(p.n * p.element_bytes());
  at.end = at.sorting + sort.workspace_bytes(p.element_bytes());
  return at;
}

struct CpuMultireduceSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const CpuRadixSort sort = plan_partial_cpu_sort(call.problem);
    const Label* labels = call.labels();
    const T* values = call.values();
    if (sort.runs() > 0) {
      const Places at = places(call.problem);
      Label* sorted_labels = call.template scratch<Label>();
      T* sorted_values = call.scratch(at.values);
      sort_pairs(sort, labels, values, sorted_labels, sorted_values, call.workspace + at.sorting);
      labels = sorted_labels;
      values = sorted_values;
    }
    if (call.params().is("fetch", "sequential"))
      multireduce<Op, T>(call.n(), call.buckets(), labels, values, Chained<T>(call.results()));
    else multireduce<Op, T>(call.n(), call.buckets(), labels, values, call.results());
  }
};

Variant variant() {
  return {
      .id = "cpu/multireduce-sorted",
      .title = "partial radix sort, then one loop",
      .source = "eilers Algorithm 2.4",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = {partial_cpu_sort_axis(), fetch_axis()},
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .enqueue = instantiate<CpuMultireduceSorted, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_multireduce_sorted
