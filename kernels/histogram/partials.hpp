// Partial histograms, one for each block or thread, and how they are added up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/histogram/words.hpp"
#include "kernels/shared/residency.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// The count of `bin` in partial histogram p is partials[p * partial_stride + bin * bin_stride].
struct Partials {
  const Count* partials;
  std::size_t count, partial_stride, bin_stride;
};

/// Block b sums up bin b. It also counts the edges, which no partial histogram holds.
template <class C>  // a template because several translation units define it
__global__ void merge_partials_kernel(Partials from, Edges edges, C* counts) {
  C* warp_results = dynamic_shared<C>();
  const std::size_t bin = blockIdx.x;
  C sum = 0;
  for (std::size_t p = threadIdx.x; p < from.count; p += blockDim.x)
    sum += from.partials[p * from.partial_stride + bin * from.bin_stride];
  if (threadIdx.x == 0) {
    for (std::size_t i = 0; i < edges.head; ++i) sum += edges.labels[i] == bin;
    for (std::size_t i = edges.tail; i < edges.n; ++i) sum += edges.labels[i] == bin;
  }
  sum = fold_block<Sum>(sum, warp_results);
  if (threadIdx.x == 0) counts[bin] = sum;
}

/// Sums up `bins` bins of all partial histograms. A block has the 256 threads of the CUDA samples,
/// fewer where they would have less than four partial histograms each.
inline void enqueue_merge(const Stream& stream, const Partials& from, const Edges& edges,
                          std::size_t bins, Count* counts) {
  const auto block = static_cast<unsigned>(
      std::clamp<std::size_t>(ceil_div(from.count, 4 * kWarpSize), 1, 8) * kWarpSize);
  launch(merge_partials_kernel<Count>,
         {static_cast<unsigned>(bins), block, kWarpSize * sizeof(Count), stream.aside()}, from,
         edges, counts);
}

/// How partial histograms are added up: by a kernel of their own, as in the listings of eilers
/// chapter 4, or by atomic additions of every block, as its section 4.3.1 says.
inline ParamSpec merge_axis() {
  return {"merge", "kernel", {"kernel", "atomics"}, "what adds up partial histograms"};
}
inline bool merged_by_atomics(const Problem& p) { return p.params.is("merge", "atomics"); }

/// Where blocks put their counts: each into a partial histogram of its own, or all onto the result.
struct BlockCounts {
  Count* counts;
  unsigned bins;  ///< of a partial histogram, or of the result
  bool onto_result;

  __device__ void put(unsigned bin, Count count) const {
    if (!onto_result) counts[std::size_t{blockIdx.x} * bins + bin] = count;
    else if (bin < bins) atomicAdd(&counts[bin], count);
  }
};

/// Each thread writes the count of one bin among the edges, onto which blocks add theirs.
template <class C>  // a template because several translation units define it
__global__ void count_edges_kernel(Edges edges, C* counts, unsigned bins) {
  const unsigned bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin >= bins) return;
  C sum = 0;
  for (std::size_t i = 0; i < edges.head; ++i) sum += edges.labels[i] == bin;
  for (std::size_t i = edges.tail; i < edges.n; ++i) sum += edges.labels[i] == bin;
  counts[bin] = sum;
}

/// Begins a result of `bins` bins onto which kernels add by atomics.
inline void enqueue_edges(const Stream& stream, const Edges& edges, unsigned bins, Count* counts) {
  constexpr unsigned kBlock = 256;
  launch(count_edges_kernel<Count>, {ceil_div(bins, kBlock), kBlock, 0, stream.aside()}, edges,
         counts, bins);
}

/// Has `count(where)` launch the kernel that counts, which calls `where.put` for each of `bins` bins
/// in each of `blocks` blocks, and adds up what the blocks put and the edges into `counts`, of which
/// there are `result_bins`. No block is launched where there is none.
template <class L, class Launch>
void count_in_blocks(const TypedCall<L>& call, unsigned blocks, unsigned bins,
                     std::size_t result_bins, Count* counts, const Edges& edges, Launch count) {
  if (merged_by_atomics(call.problem)) {
    const auto used = static_cast<unsigned>(result_bins);
    enqueue_edges(call.stream, edges, used, counts);
    if (blocks > 0) count(BlockCounts{counts, used, true});
    return;
  }
  Count* partials = call.template scratch<Count>();
  if (blocks > 0) count(BlockCounts{partials, bins, false});
  enqueue_merge(call.stream, {partials, blocks, bins, 1}, edges, result_bins, counts);
}

/// The workspace of a variant with the axis `merge`; none where blocks put counts onto the result.
inline std::size_t partials_bytes(const Problem& p, std::size_t partial_counts) {
  return merged_by_atomics(p) ? 0 : partial_counts * sizeof(Count);
}

/// Every label is read in each of `passes`; the partial histograms are written and read again, where
/// a kernel adds them up.
inline Traffic traffic_of_partials(const Problem& p, std::size_t partial_counts,
                                   std::size_t passes = 1) {
  if (merged_by_atomics(p)) partial_counts = 0;
  return {.read_bytes = passes * p.input_bytes() + partial_counts * sizeof(Count),
          .written_bytes = (partial_counts + p.buckets) * sizeof(Count)};
}

/// The axis of kernels whose grid just fills the device.
inline ParamSpec block_count_param(const std::string& published) {
  return {"blocks_per_sm",
          "auto",
          {"auto", "1", "3", "8"},
          "blocks per SM (auto: as many as are resident; published: " + published + ")"};
}
inline unsigned filling_blocks(const Problem& p, unsigned block, std::size_t shared_bytes) {
  const unsigned per_sm = p.params.is("blocks_per_sm", "auto")
                              ? resident_blocks_per_sm(p.device, block, shared_bytes)
                              : p.params.number("blocks_per_sm");
  return per_sm * p.device.sm_count;
}

/// A contiguous share of the inputs for each block.
struct Shares {
  std::size_t per_block;
  unsigned blocks;  ///< 0 where there is no input
};
/// Makes at most `most_blocks` shares, each but the last a multiple of `step`.
inline Shares shares_of(std::size_t inputs, std::size_t most_blocks, std::size_t step) {
  const std::size_t per_block =
      std::max(ceil_div(ceil_div(inputs, most_blocks), step), std::size_t{1}) * step;
  return {per_block, static_cast<unsigned>(ceil_div(inputs, per_block))};
}

}  // namespace reduce_bench::BACKEND
