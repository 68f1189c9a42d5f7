// eilers/multiscan-sort-global: sort, segmented scan, scatter back
//
// Source: eilers Algorithm 5.3, sections 5.5 and 5.5.1; Figures 5.6 and 5.7.
// Idea: a stable sort by label makes every bucket one segment of neighbours, in the input's order;
//   a segmented scan of these is the multiscan. Values are sorted together with their positions, so
//   that each result can be scattered back to its own.
// Fixes: the bucket sets of the algorithms by partitioning: the time hardly depends on m.
// Launch: a kernel that pairs values with positions; the passes of eilers/radix-sort, 5 bits each,
//   over the bits that labels below m have; with scanned=values a kernel that takes the values out
//   again; the segmented scan; the scatter.
// Traffic: n values read, n pairs written; for each pass of the sort labels read twice, pairs once,
//   both written once. scanned=values: pairs read and values written; labels and values read twice
//   and n scanned values written; pairs and scanned values read, n results written. scanned=pairs:
//   labels and pairs read twice and n scanned pairs written; those read, n results written.
//   Elements that are scattered cost a sector of 32 bytes: with m = 64 and n = 2^26 an H200 moves
//   1.5 times these bytes.
// Preconditions: n < 2^32. Order-preserving.
// Deviations: the listing's flags mark the ends of segments, where a scan needs their beginnings,
//   and the last one is cleared. Flags are not stored: the scan compares labels, as Thrust's
//   scan-by-key does, which the thesis uses; scan and sort are the suite's. scanned=pairs is the
//   other version of section 5.5.1, which scans the pairs themselves and saves the kernel that
//   takes the values out. The thesis has it for inclusive scans alone, since an exclusive one
//   shifts the indices too; the suite's leaves every pair its own index.

#include "kernels/multiscan/index_values.hpp"
#include "kernels/shared/radix_sort.hpp"
#include "kernels/shared/segmented_scan.hpp"

namespace reduce_bench::BACKEND::eilers_multiscan_sort_global {

bool scans_pairs(const Params& params) { return params.is("scanned", "pairs"); }

/// Offsets into the workspace. It holds the pairs, which the values and the scanned values, or the
/// scanned pairs, replace after the sort; the sorted labels and pairs; and what first the sort and
/// then the scan needs.
struct Places {
  RadixSort sort;
  std::size_t labels, sorted, rest, end;
};
Places places(const Problem& p) {
  constexpr unsigned kAllBits = 32;
  const std::size_t pairs_bytes = RadixSort::aligned(p.n * index_value_bytes(p));
  Places at{.sort = plan_radix_sort(p, kAllBits)};
  at.labels = pairs_bytes;
  at.sorted = at.labels + RadixSort::aligned(p.n * sizeof(Label));
  at.rest = at.sorted + pairs_bytes;
  const std::size_t scanned_bytes =
      scans_pairs(p.params) ? index_value_bytes(p) : p.element_bytes();
  at.end = at.rest + std::max(at.sort.workspace_bytes(index_value_bytes(p)),
                              plan_segmented_scan(p.n, scanned_bytes, p.device).bytes);
  return at;
}

struct EilersMultiscanSortGlobal {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    using Pair = IndexValue<T>;
    if (call.n() == 0) return;
    const Places at = places(call.problem);
    const LaunchShape each = one_thread_each(call.stream, call.n());
    auto* pairs = call.template scratch<Pair>();
    auto* labels = call.template scratch<Label>(at.labels);
    auto* sorted = call.template scratch<Pair>(at.sorted);
    launch(pack_index_values_kernel<T>, each, call.values(), call.n(), pairs);
    enqueue_radix_sort<Pair>(call.stream, at.sort, {call.labels(), pairs}, {labels, sorted},
                             call.workspace + at.rest);
    if (scans_pairs(call.params())) {
      enqueue_scan_segments<OnPairs<Op>>(call, sorted, labels, pairs, call.workspace + at.rest);
      launch(scatter_pairs_back_kernel<T>, each, pairs, call.n(), call.results());
      return;
    }
    static_assert(sizeof(Pair) >= 2 * sizeof(T));
    T* values = call.scratch();
    T* scanned = values + call.n();
    launch(unpack_values_kernel<T>, each, sorted, call.n(), values);
    enqueue_scan_segments<Op>(call, values, labels, scanned, call.workspace + at.rest);
    launch(scatter_back_kernel<T>, each, sorted, scanned, call.n(), call.results());
  }
};

Variant variant() {
  return {
      .id = "eilers/multiscan-sort-global",
      .title = "radix sort, segmented scan, scatter back",
      .source = "eilers Algorithm 5.3",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kCorrected,
      .params = {scan_axis(),
                 {"scanned",
                  "values",
                  {"values", "pairs"},
                  "what is scanned (the publication's faster: values)"}},
      .restriction = radix_sort_restriction,
      .depth = [](const Problem& p) { return depth_of_segmented_scan(p.n, p.device); },
      .traffic =
          [](const Problem& p) {
            const Traffic sort = places(p).sort.traffic(index_value_bytes(p));
            const std::size_t pairs = p.n * index_value_bytes(p), values = p.n * p.element_bytes();
            const std::size_t labels = p.n * sizeof(Label);
            if (scans_pairs(p.params))
              return Traffic{.read_bytes = sort.read_bytes + values + 2 * labels + 3 * pairs,
                             .written_bytes = sort.written_bytes + 2 * pairs + values};
            return Traffic{.read_bytes = sort.read_bytes + 2 * pairs + 2 * labels + 4 * values,
                           .written_bytes = sort.written_bytes + pairs + 3 * values};
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .enqueue = instantiate_ordered<EilersMultiscanSortGlobal>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_multiscan_sort_global
