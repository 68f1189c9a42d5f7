// eilers/scatter-sorted: partial sort, then scatter
//
// Source: eilers section 4.5.1.
// Idea: sorted by the upper bits of their labels, inputs that are processed at the same time store
//   into few neighbouring buckets, which the cache holds.
// Fixes: gpu/scatter's cache misses for large m, without passes whose number grows with m.
// Launch: eilers/radix-sort's kernels, 5 bits per pass, then gpu/scatter's.
// Traffic: the sort's passes, then gpu/scatter's.
// Preconditions: n < 2^32.
// Deviations: winner=last is gpu/scatter's; the sort is stable, so the last of equal labels stays
//   the last. The thesis states its limits for two scatters: 8 unsorted bits where every block has
//   a contiguous segment of the sorted input, 9 where all threads stride over the whole of it. Here
//   each block has 256 neighbouring inputs, so that blocks under way together have neighbouring
//   ones, as with striding; sort_bits=auto leaves 9 bits unsorted, as striding allows.

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

Places places(const Problem& p) {
  const unsigned bits = log2_ceil(p.buckets);
  const unsigned sort_bits = p.params.is("sort_bits", "auto") ? bits - std::min(bits, kUnsortedBits)
                                                              : p.params.number("sort_bits");
  Places at{.sort = plan_radix_sort(p.n, p.buckets, sort_bits, kBitsPerSortPass, p.device)};
  at.labels = RadixSort::aligned(last_positions_bytes(p));
  at.values = at.labels + RadixSort::aligned(p.n * sizeof(Label));
  at.sorting = at.values + RadixSort::aligned(p.n * p.element_bytes());
  at.end = at.sorting + at.sort.workspace_bytes(p.element_bytes());
  return at;
}

struct EilersScatterSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const Places at = places(call.problem);
    const Pairs<Label, T> sorted{call.template scratch<Label>(at.labels), call.scratch(at.values)};
    enqueue_radix_sort<T>(call.stream, at.sort, {call.labels(), call.values()}, sorted,
                          call.workspace + at.sorting);
    enqueue_scatter<T>(call, sorted.values, sorted.labels, 1, call.template scratch<Count>());
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
                 winner_axis()},
      .restriction = scatter_restriction,
      .traffic =
          [](const Problem& p) {
            const Traffic sort = places(p).sort.traffic(p.element_bytes());
            const Traffic scatter = traffic_of_scatter(p, 1);
            return Traffic{.read_bytes = sort.read_bytes + scatter.read_bytes,
                           .written_bytes = sort.written_bytes + scatter.written_bytes};
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .enqueue = instantiate<EilersScatterSorted, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_scatter_sorted
