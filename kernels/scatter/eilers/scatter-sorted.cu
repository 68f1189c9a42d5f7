// eilers/scatter-sorted: partial sort, then scatter
//
// Source: eilers section 4.5.1.
// Idea: sorted by the upper bits of their labels, inputs that are processed at the same time store
//   into few neighbouring buckets, which the cache holds.
// Fixes: gpu/scatter's cache misses for large m, without passes whose number grows with m.
// Launch: eilers/radix-sort's kernels, 5 bits per pass, none where there is no bit to sort by
//   (auto: up to 2^9 buckets); then gpu/scatter's.
// Traffic: the sort's passes, then gpu/scatter's.
// Preconditions: n < 2^32.
// Deviations: winner=last is gpu/scatter's; the sort is stable, so the last of equal labels stays
//   the last. The thesis states its limits for two scatters, without their numbers of blocks and
//   threads: 8 unsorted bits where every block has a contiguous segment of the sorted input
//   (traversal=contiguous), 9 where all threads stride over the whole of it (traversal=strided).
//   By default each block has 256 neighbouring inputs (traversal=tiles), so that blocks under way
//   together have neighbouring ones, as with striding; sort_bits=auto leaves 9 bits unsorted, as
//   striding allows. The suite's radix sort replaces the thesis's SRTS sort; sort=cub takes CUB's,
//   of whose passes one counts as traffic.

#include <algorithm>

#include "kernels/scatter/winner.hpp"
#include "kernels/shared/radix_sort.hpp"

namespace reduce_bench::BACKEND::eilers_scatter_sorted {

constexpr unsigned kUnsortedBits = 9;

/// Offsets into the workspace; the last positions come first.
struct Places {
  RadixSort sort;
  std::size_t labels, values, sorting, end;
};

unsigned sort_bits_of(const Problem& p) {
  const unsigned bits = log2_ceil(p.buckets);
  return p.params.is("sort_bits", "auto") ? bits - std::min(bits, kUnsortedBits)
                                          : std::min(bits, p.params.number("sort_bits"));
}
bool is_sorted_first(const Problem& p) { return sort_bits_of(p) > 0; }

Places places(const Problem& p) {
  Places at{.sort = plan_radix_sort(p, sort_bits_of(p))};
  at.labels = RadixSort::aligned(last_positions_bytes(p));
  at.values = at.labels + RadixSort::aligned(p.n * sizeof(Label));
  at.sorting = at.values + RadixSort::aligned(p.n * p.element_bytes());
  at.end = at.sorting + at.sort.workspace_bytes(p.element_bytes());
  return at;
}

struct EilersScatterSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    auto* const last = call.template scratch<Count>();
    if (!is_sorted_first(call.problem))
      return enqueue_scatter_as_traversed<T>(call, call.values(), call.labels(), last);
    const Places at = places(call.problem);
    const Pairs<Label, T> sorted{call.template scratch<Label>(at.labels), call.scratch(at.values)};
    enqueue_radix_sort<T>(call.stream, at.sort, {call.labels(), call.values()}, sorted,
                          call.workspace + at.sorting);
    enqueue_scatter_as_traversed<T>(call, sorted.values, sorted.labels, last);
  }
};

Variant variant() {
  return {
      .id = "eilers/scatter-sorted",
      .title = "partial sort, then scatter",
      .source = "eilers section 4.5.1",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kAdapted,
      .params = {{"sort_bits",
                  "auto",
                  {"auto", "5", "10", "15", "20"},
                  "upper bits of the labels to sort by (auto: all but 9)"},
                 winner_axis(),
                 traversal_axis("contiguous, then strided"),
                 sort_axis()},
      .restriction = scatter_restriction,
      .traffic =
          [](const Problem& p) {
            const Traffic scatter = traffic_of_scatter(p, 1);
            if (!is_sorted_first(p)) return scatter;
            const Traffic sort = places(p).sort.traffic(p.element_bytes());
            return Traffic{.read_bytes = sort.read_bytes + scatter.read_bytes,
                           .written_bytes = sort.written_bytes + scatter.written_bytes};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes =
                                 is_sorted_first(p) ? places(p).end : last_positions_bytes(p)};
          },
      .count_bits = [](const Problem& p) { return is_sorted_first(p) ? sort_count_bits(p) : 0; },
      .enqueue = instantiate<EilersScatterSorted, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_scatter_sorted
