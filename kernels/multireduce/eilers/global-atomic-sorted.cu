// eilers/global-atomic-sorted: eilers/global-atomic on partly sorted inputs
//
// Source: eilers section 4.3.5 and Table 4.2.
// Idea: the inputs are first sorted by the upper sort_bits bits of their labels; those that are
//   processed at the same time then update few buckets, which the L2 cache holds.
// Fixes: eilers/global-atomic's cache misses where its buckets exceed the L2 cache.
// Launch: the passes of eilers/radix-sort, 5 bits each, none for sort_bits = 0; then
//   eilers/global-atomic's.
// Traffic: for each pass of the sort, labels read twice, values once, both written once; then both
//   read, m results written, the sets written and read once.
// Preconditions: n < 2^32; the operator commutes.
// Deviations: those of eilers/global-atomic. The thesis finds sort_bits by trial and gives as a
//   rule that about 7 bits of an input's place (its bucket and set) should be left unsorted, which
//   `auto` follows. For 2^14 to 2^24 buckets its table has sort_bits 0, 2, 15, 15, 15, 20 and sets
//   4, 2, 8, 4, 2, 4. The suite's radix sort replaces the thesis's SRTS sort; sort=cub takes
//   CUB's, of whose passes one counts as traffic.

#include "kernels/multireduce/eilers/global_atomic.hpp"
#include "kernels/multireduce/eilers/sorted_input.hpp"

namespace reduce_bench::BACKEND::eilers_global_atomic_sorted {

/// Bits of a bucket's place that are left unsorted ("a rest complexity of around seven").
constexpr unsigned kRestBits = 7;

unsigned sort_bits_of(const Problem& p) {
  if (!p.params.is("sort_bits", "auto")) return p.params.number("sort_bits");
  const unsigned bits = log2_ceil(p.buckets) + log2_ceil(p.params.number("sets"));
  return bits > kRestBits ? bits - kRestBits : 0;
}

bool is_sorted_first(const Problem& p) { return sort_bits_of(p) > 0 && p.buckets > 1; }

struct EilersGlobalAtomicSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (!is_sorted_first(call.problem))
      return enqueue_global_atomic<Op>(call, call.values(), call.labels(), call.workspace);
    const SortedInput input = sorted_input(call.problem, sort_bits_of(call.problem));
    const auto sorted = enqueue_sort(call, input);
    enqueue_global_atomic<Op>(call, sorted.values, sorted.labels, call.workspace + input.rest);
  }
};

Variant variant() {
  return {
      .id = "eilers/global-atomic-sorted",
      .title = "partial radix sort, then bucket sets and atomics",
      .source = "eilers section 4.3.5, Table 4.2",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kAdapted,
      .params = {sets_param("4", "the publication's best vary from 2 to 8"),
                 {"sort_bits",
                  "auto",
                  {"auto", "0", "2", "5", "10", "15", "20"},
                  "upper bits to sort by, at most those that labels have (auto: all but 7 bits of "
                  "m * sets, the publication's rule)"},
                 sort_axis()},
      .restriction = radix_sort_restriction,
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .traffic =
          [](const Problem& p) {
            const Traffic atomics = traffic_of_global_atomic(p);
            if (!is_sorted_first(p)) return atomics;
            return sorted_input(p, sort_bits_of(p)).traffic(p.element_bytes(), atomics);
          },
      .workspace =
          [](const Problem& p) {
            const std::size_t sets = global_atomic_bytes(p);
            if (!is_sorted_first(p)) return Workspace{.device_bytes = sets};
            return Workspace{.device_bytes =
                                 sorted_input(p, sort_bits_of(p)).bytes(p.element_bytes(), sets)};
          },
      .count_bits = [](const Problem& p) { return is_sorted_first(p) ? sort_count_bits(p) : 0; },
      .enqueue = instantiate<EilersGlobalAtomicSorted, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_global_atomic_sorted
