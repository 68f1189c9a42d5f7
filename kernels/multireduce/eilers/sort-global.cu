// eilers/sort-global: sort, then one segment per bucket
//
// Source: eilers Algorithm 4.12, sections 4.4 and 4.4.1; Figures 4.17 to 4.19.
// Idea: a stable sort by label makes every bucket one segment of neighbours, in the input's order;
//   a segmented reduction makes each segment one result.
// Fixes: the bucket sets of the algorithms by partitioning: no memory per thread, no conflicts, and
//   times that hardly depend on the labels.
// Launch: the passes of eilers/radix-sort, 5 bits each, over the bits that labels below m have; a
//   fill of the results; the segmented reduction.
// Traffic: for each pass of the sort, labels read twice, values once, both written once; then both
//   read and m results written.
// Preconditions: n < 2^32. Order-preserving.
// Deviations: the listing's flags mark the ends of segments, and the last one is cleared although
//   it is an end; its results lie side by side instead of where their labels say, so that a label
//   without input shifts all results after it. Here the last input ends a segment, and results go
//   where their labels say, all others being neutral. Flags are not stored: the reduction compares
//   labels, as the thesis notes that its library does. The sort and the reduction are the suite's.

#include "kernels/multireduce/eilers/sorted_input.hpp"
#include "kernels/shared/segmented_reduce.hpp"

namespace reduce_bench::BACKEND::eilers_sort_global {

struct EilersSortGlobal {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const SortedInput input = sorted_input(call.problem, kAllBits);
    const auto sorted = enqueue_sort(call, input);
    reduce_segments<Op>(call, sorted.values, KeysInMemory{sorted.labels}, call.n(),
                        AtKey<T>{call.results()}, call.workspace + input.rest);
  }
};

Variant variant() {
  return {
      .id = "eilers/sort-global",
      .title = "radix sort, then segmented reduction",
      .source = "eilers Algorithm 4.12",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .restriction = radix_sort_restriction,
      .depth = [](const Problem& p) { return depth_of_segments(p.n, p.device); },
      .traffic =
          [](const Problem& p) {
            return sorted_input(p, kAllBits)
                .traffic(p.element_bytes(), {.read_bytes = p.input_bytes(),
                                             .written_bytes = p.arrays().output_bytes()});
          },
      .workspace =
          [](const Problem& p) {
            const std::size_t reduction = segment_workspace(p.n, p.element_bytes(), p.device).bytes;
            return Workspace{.device_bytes =
                                 sorted_input(p, kAllBits).bytes(p.element_bytes(), reduction)};
          },
      .enqueue = instantiate_for<EilersSortGlobal, BasicAndOrderedOps, std::int32_t, std::int64_t,
                                 float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_sort_global
