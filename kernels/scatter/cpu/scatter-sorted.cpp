// cpu/scatter-sorted: partial radix sort, then one loop
//
// Source: eilers section 2.4: Algorithm 2.4 before Algorithm 2.1.
// Idea: sorted by the upper bits of their labels, inputs come in sections that store into
//   neighbouring buckets.
// Fixes: cpu/scatter's cache misses for large m.
// Launch: the calling thread.
// Traffic: n labels and n values read, as many results written as labels occur; the sort, which is
//   not counted, reads and writes n labels and n values in each run.
// Preconditions: none.
// Deviations: those of cpu/radix-sort. The sort is stable, so the last of equal labels stays. The
//   thesis states neither the bits of a run, here 8, nor how many bits are sorted by.

#include "kernels/scatter/cpu/scatter.hpp"
#include "kernels/shared/cpu_radix_sort.hpp"

namespace reduce_bench::BACKEND::cpu_scatter_sorted {

constexpr unsigned kBitsPerRun = 8;

CpuRadixSort sort_of(const Problem& p) {
  return plan_cpu_radix_sort(p.n, p.buckets, p.params.number("sort_bits"), kBitsPerRun);
}

/// Offsets into the workspace; the sorted labels come first.
struct Places {
  std::size_t values, sorting, end;
};
Places places(const Problem& p) {
  Places at{};
  at.values = CpuRadixSort::aligned(p.n * sizeof(Label));
  at.sorting = at.values + CpuRadixSort::aligned(p.n * p.element_bytes());
  at.end = at.sorting + sort_of(p).workspace_bytes(p.element_bytes());
  return at;
}

struct CpuScatterSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const Places at = places(call.problem);
    Label* labels = call.template scratch<Label>();
    T* values = call.scratch(at.values);
    sort_pairs(sort_of(call.problem), call.labels(), call.values(), labels, values,
               call.workspace + at.sorting);
    scatter<T>(call.n(), labels, values, call.results());
  }
};

Variant variant() {
  return {
      .id = "cpu/scatter-sorted",
      .title = "partial radix sort, then one loop",
      .source = "eilers section 2.4",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kCorrected,
      .params = {{"sort_bits",
                  "8",
                  {"2", "4", "6", "8", "12"},
                  "upper bits of the labels to sort by (not stated)"}},
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .enqueue = instantiate<CpuScatterSorted, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_scatter_sorted
