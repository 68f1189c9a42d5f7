// eilers/global-ordered-sorted: eilers/global-ordered on sorted inputs
//
// Source: eilers section 4.3.5 and Figure 4.9.
// Idea: the inputs are first sorted by label, by all bits that labels below m have; a thread then
//   updates the same bucket many times in a row, which caches hold.
// Fixes: eilers/global-ordered's updates all over its bucket sets.
// Launch: the passes of eilers/radix-sort, 5 bits each; then eilers/global-ordered's.
// Traffic: for each pass of the sort, labels read twice, values once, both written once; then both
//   read, m results written, and the bucket sets written and read.
// Preconditions: n < 2^32. Order-preserving: the sort is stable.
// Deviations: those of eilers/global-ordered. The publication takes 3072 threads on 8
//   multiprocessors, half as many as it found best for random inputs; here they are 384 for each
//   SM. The suite's radix sort replaces the thesis's SRTS sort; sort=cub takes CUB's, of whose
//   passes one counts as traffic.

#include "kernels/multireduce/eilers/sorted_input.hpp"
#include "kernels/shared/global_ordered.hpp"

namespace reduce_bench::BACKEND::eilers_global_ordered_sorted {

struct EilersGlobalOrderedSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const SortedInput input = sorted_input(call.problem, kAllBits);
    const auto sorted = enqueue_sort(call, input);
    enqueue_global_ordered<Op>(call, sorted.values, sorted.labels, call.workspace + input.rest);
  }
};

std::vector<ParamSpec> params() {
  std::vector<ParamSpec> params =
      global_ordered_params("384 per SM; the publication's: 3072 on 8 SMs");
  params.push_back(sort_axis());
  return params;
}

Variant variant() {
  return {
      .id = "eilers/global-ordered-sorted",
      .title = "radix sort, then a bucket set for each thread",
      .source = "eilers section 4.3.5, Figure 4.9",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = params(),
      .restriction = radix_sort_restriction,
      .depth = depth_of_global_ordered,
      .traffic =
          [](const Problem& p) {
            return sorted_input(p, kAllBits)
                .traffic(p.element_bytes(), traffic_of_bucket_sets(p, global_ordered_plan(p).sets));
          },
      .workspace =
          [](const Problem& p) {
            const std::size_t sets = bucket_sets(p, global_ordered_plan(p).sets).bytes;
            return Workspace{.device_bytes =
                                 sorted_input(p, kAllBits).bytes(p.element_bytes(), sets)};
          },
      .count_bits = sort_count_bits,
      .enqueue = instantiate_for<EilersGlobalOrderedSorted, BasicAndOrderedOps, std::int32_t,
                                 std::int64_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_global_ordered_sorted
