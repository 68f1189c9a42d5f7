// eilers/radix-sort: stable partitions by a few bits, from the lowest
//
// Source: eilers Algorithms 3.1 and 3.2, section 3.2.1, after the SRTS sort of Merrill and Grimshaw
//   that the thesis uses.
// Idea: each pass orders by b bits: an element sets its flag in the flag vector of its digit, and
//   the exclusive scan over all 2^b flag vectors, laid end to end, is where every element goes. The
//   scan keeps elements of one digit in their order, so the next pass can rely on the last.
// Fixes: nothing. Other sorts cannot use that the labels are integers below m.
// Launch: for each of ceil(log2(m) / b) passes, as many blocks of 256 threads as are resident for
//   counting, one block of 1024 for the scan, and the first again for moving.
// Traffic: for each pass, labels read twice, values once, both written once.
// Preconditions: n < 2^32.
// Deviations: 2^b * run in the listings must be 2^(b * run), and the scan is over 2^b * n flags,
//   not n. The flags are not stored, which would move 2^b * n words twice: blocks count the flags
//   of their share, the counts are scanned, and a block ranks its elements by itself, tile by tile,
//   as SRTS does. The listing's one block of n threads becomes a grid. Only the bits that labels
//   below m have are sorted by, as everywhere in the thesis. Values travel with their labels.

#include "kernels/shared/radix_sort.hpp"

namespace reduce_bench::BACKEND::eilers_radix_sort {

RadixSort sort_of(const Problem& p) { return plan_radix_sort(p, 32, p.params.number("bits")); }

struct EilersRadixSort {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_radix_sort<T>(call.stream, sort_of(call.problem), {call.labels(), call.values()},
                          {call.result_labels(), call.results()}, call.workspace);
  }
};

Variant variant() {
  return {
      .id = "eilers/radix-sort",
      .title = "stable partitions by a few bits",
      .source = "eilers Algorithms 3.1 and 3.2",
      .operation = Operation::kSort,
      .fidelity = Fidelity::kCorrected,
      .params = {{"bits",
                  "5",
                  {"1", "2", "4", "5", "6", "8"},
                  "bits per pass (5: SRTS as the thesis uses it)"}},
      .restriction = radix_sort_restriction,
      .traffic = [](const Problem& p) { return sort_of(p).traffic(p.element_bytes()); },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = sort_of(p).workspace_bytes(p.element_bytes())};
          },
      .enqueue = instantiate<EilersRadixSort, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_radix_sort
