// cpu/radix-sort: counting sorts by a few bits, from the lowest
//
// Source: eilers Algorithm 2.4, section 2.4.
// Idea: each run counts the digits, sums the counts up to where each digit begins, and moves every
//   pair to the next place of its digit.
// Fixes: nothing: cpu/multireduce-sorted and the other sorting CPU algorithms build on it.
// Launch: the calling thread.
// Traffic: n labels and n values read and written once; each further run, which is not counted,
//   does so again.
// Preconditions: none.
// Deviations: the listing divides by run * base where it must divide by base^run, which is a
//   division by 0 in its first run; it copies from the results of a run in the wrong direction,
//   and only from the third run on, so that the second sorts the input again; here two arrays take
//   turns. All bits that labels below m have are sorted by; the number of bits in a run is not
//   stated.

#include "kernels/shared/cpu_radix_sort.hpp"

namespace reduce_bench::BACKEND::cpu_radix_sort {

CpuRadixSort sort_of(const Problem& p) {
  return plan_cpu_radix_sort(p.n, p.buckets, 32, p.params.number("bits"));
}

struct CpuSort {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    sort_pairs(sort_of(call.problem), call.labels(), call.values(), call.result_labels(),
               call.results(), call.workspace);
  }
};

Variant variant() {
  return {
      .id = "cpu/radix-sort",
      .title = "counting sorts by a few bits",
      .source = "eilers Algorithm 2.4",
      .operation = Operation::kSort,
      .fidelity = Fidelity::kCorrected,
      .params = {{"bits", "8", {"4", "8", "11"}, "bits per run (not stated)"}},
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = sort_of(p).workspace_bytes(p.element_bytes())};
          },
      .enqueue = instantiate<CpuSort, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_radix_sort
