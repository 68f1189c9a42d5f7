// cpu/gather-sorted: labels partially sorted before the values are fetched
//
// Source: eilers Algorithm 2.6, section 2.4.
// Idea: one run of a radix sort puts labels of neighbouring values side by side, so that fetching
//   them stays in the cache. A second loop over the labels brings the fetched values back into the
//   labels' order: the next result of a digit is the next value fetched for it.
// Fixes: cpu/gather's cache misses for large m.
// Launch: the calling thread.
// Traffic: n labels and the values that they name read, n results written; not counted: labels are
//   read twice more, sorted labels and fetched values written and read.
// Preconditions: none.
// Deviations: those of cpu/radix-sort. The listing assigns the copy of the offsets backwards and
//   fetches from the array that it writes to. The run sorts by the upper `sort_bits` bits that
//   labels below m have.

#include "kernels/gather/cpu/gather.hpp"
#include "kernels/shared/cpu_radix_sort.hpp"

namespace reduce_bench::BACKEND::cpu_gather_sorted {

CpuRadixSort sort_of(const Problem& p) {
  const unsigned sort_bits = p.params.number("sort_bits");
  return plan_cpu_radix_sort(p.n, p.buckets, sort_bits, sort_bits);
}

/// Offsets into the workspace. It holds the digits' offsets, their copy, the sorted labels and the
/// values that they name.
struct Places {
  std::size_t copy, labels, fetched, end;
};
Places places(const Problem& p) {
  Places at{};
  at.copy = CpuRadixSort::aligned(sort_of(p).base() * sizeof(std::size_t));
  at.labels = 2 * at.copy;
  at.fetched = at.labels + CpuRadixSort::aligned(p.n * sizeof(Label));
  at.end = at.fetched + CpuRadixSort::aligned(p.n * p.element_bytes());
  return at;
}

struct CpuGatherSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const CpuRadixSort sort = sort_of(call.problem);
    const Places at = places(call.problem);
    const GatherSpace<std::size_t*, Label*, T*> space{
        call.template scratch<std::size_t>(), call.template scratch<std::size_t>(at.copy),
        call.template scratch<Label>(at.labels), call.scratch(at.fetched)};
    gather_sorted<T>(sort, call.labels(), call.values(), call.results(), space);
  }
};

Variant variant() {
  return {
      .id = "cpu/gather-sorted",
      .title = "one run of a radix sort, then one loop",
      .source = "eilers Algorithm 2.6",
      .operation = Operation::kGather,
      .fidelity = Fidelity::kCorrected,
      .params = {{"sort_bits",
                  "8",
                  {"2", "4", "6", "8", "12"},
                  "upper bits of the labels to sort by (not stated)"}},
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .enqueue = instantiate<CpuGatherSorted, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_gather_sorted
