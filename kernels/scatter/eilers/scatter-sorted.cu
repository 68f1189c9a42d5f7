// eilers/scatter-sorted: partial sort, then scatter
//
// Source: eilers section 4.5.1.
// Idea: sorted by the upper bits of their labels, inputs that are processed at the same time store
//   into few neighbouring buckets, which the cache holds.
// Fixes: gpu/scatter's cache misses for large m, without passes whose number grows with m.
// Launch: eilers/radix-sort's kernels, 5 bits per pass, then gpu/scatter's; with
//   traversal=contiguous and traversal=strided as many blocks of 256 threads as are resident, at
//   most ceil(n / 256), in place of a thread for each input.
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

/// Calls `visit(i)` for the inputs of this thread: the block has `per_block` neighbouring ones or,
/// with kStrided, all threads of the grid take turns.
template <bool kStrided, class Visit>
__device__ void traverse(std::size_t n, std::size_t per_block, Visit visit) {
  const std::size_t first = blockIdx.x * (kStrided ? blockDim.x : per_block);
  const std::size_t step = kStrided ? std::size_t{gridDim.x} * blockDim.x : blockDim.x;
  const std::size_t end = !kStrided && first + per_block < n ? first + per_block : n;
  for (std::size_t i = first + threadIdx.x; i < end; i += step) visit(i);
}

template <class T, bool kStrided>
__global__ void scatter_shares_kernel(const T* values, const Label* labels, std::size_t n,
                                      std::size_t per_block, T* results) {
  traverse<kStrided>(n, per_block, [&](std::size_t i) { results[labels[i]] = values[i]; });
}

/// Does what find_last_kernel (winner.hpp) does, over the shares of blocks.
template <bool kStrided>
__global__ void find_last_of_shares_kernel(const Label* labels, std::size_t n,
                                           std::size_t per_block, Count* last) {
  traverse<kStrided>(
      n, per_block, [&](std::size_t i) { atomicMax(&last[labels[i]], static_cast<Count>(i + 1)); });
}

/// Does what `enqueue_scatter` does, in one pass, with resident blocks that take several inputs per
/// thread.
template <bool kStrided, class T>
void enqueue_scatter_by_shares(const TypedCall<T>& call, const T* values, const Label* labels,
                               Count* last) {
  if (call.n() == 0) return;
  const std::size_t resident = std::size_t{call.device().sm_count} *
                               std::max(1u, call.device().max_threads_per_sm / kScatterBlock);
  const std::size_t per_block =
      ceil_div(ceil_div(call.n(), resident), kScatterBlock) * kScatterBlock;
  const LaunchShape shares{static_cast<unsigned>(ceil_div(call.n(), per_block)), kScatterBlock, 0,
                           call.stream};
  if (any_wins(call.params())) {
    launch(scatter_shares_kernel<T, kStrided>, shares, values, labels, call.n(), per_block,
           call.results());
    return;
  }
  enqueue_fill(call.stream, last, call.buckets(), 0);
  launch(find_last_of_shares_kernel<kStrided>, shares, labels, call.n(), per_block, last);
  launch(fetch_last_kernel<T>,
         {static_cast<unsigned>(ceil_div(call.buckets(), kScatterBlock)), kScatterBlock, 0,
          call.stream},
         values, last, LabelRange{0, call.buckets()}, call.results());
}

/// Offsets into the workspace; the last positions come first.
struct Places {
  RadixSort sort;
  std::size_t labels, values, sorting, end;
};

Places places(const Problem& p) {
  const unsigned bits = log2_ceil(p.buckets);
  const unsigned sort_bits = p.params.is("sort_bits", "auto") ? bits - std::min(bits, kUnsortedBits)
                                                              : p.params.number("sort_bits");
  Places at{.sort = plan_radix_sort(p, sort_bits)};
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
    auto* last = call.template scratch<Count>();
    if (call.params().is("traversal", "contiguous"))
      enqueue_scatter_by_shares<false>(call, sorted.values, sorted.labels, last);
    else if (call.params().is("traversal", "strided"))
      enqueue_scatter_by_shares<true>(call, sorted.values, sorted.labels, last);
    else enqueue_scatter<T>(call, sorted.values, sorted.labels, 1, last);
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
                 {"traversal",
                  "tiles",
                  {"tiles", "contiguous", "strided"},
                  "the scatter's inputs of a block: 256 neighbours, a contiguous share, or strides "
                  "over all (the publication's: contiguous, then strided)"},
                 sort_axis()},
      .restriction = scatter_restriction,
      .traffic =
          [](const Problem& p) {
            const Traffic sort = places(p).sort.traffic(p.element_bytes());
            const Traffic scatter = traffic_of_scatter(p, 1);
            return Traffic{.read_bytes = sort.read_bytes + scatter.read_bytes,
                           .written_bytes = sort.written_bytes + scatter.written_bytes};
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .count_bits = sort_count_bits,
      .enqueue = instantiate<EilersScatterSorted, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_scatter_sorted
