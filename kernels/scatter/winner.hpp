// Scatters of label ranges, and which of equal labels wins.
//
// The publications let any of them win, with one store per input. For the last to win, a first
// kernel finds the position of each bucket's last input, and a second fetches the values from
// there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kScatterBlock = 256;

/// The labels that a pass scatters: `count` of them from `low` on.
struct LabelRange {
  Label low;
  std::size_t count;
  __device__ bool has(Label label) const { return label - low < count; }
};

template <class T>
__global__ void scatter_kernel(const T* values, const Label* labels, std::size_t n,
                               LabelRange range, T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && range.has(labels[i])) results[labels[i]] = values[i];
}

/// last[label] = 1 + the last position of the label; 0, its initial value, where there is none.
template <class L>
__global__ void find_last_kernel(const L* labels, std::size_t n, LabelRange range, Count* last) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && range.has(labels[i])) atomicMax(&last[labels[i]], static_cast<Count>(i + 1));
}

template <class T>
__global__ void fetch_last_kernel(const T* values, const Count* last, LabelRange range,
                                  T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= range.count) return;
  const std::size_t bucket = range.low + i;
  if (last[bucket] > 0) results[bucket] = values[last[bucket] - 1];
}

/// Scatters n pairs to the buckets below `buckets` in `passes` ranges of labels, one after the
/// other; `last` has room for a position of each bucket where the last of equal labels wins.
template <class T>
void enqueue_scatter(const TypedCall<T>& call, const T* values, const Label* labels,
                     std::size_t passes, Count* last) {
  if (call.n() == 0) return;
  const auto blocks = [](std::size_t n) {
    return static_cast<unsigned>(ceil_div(n, kScatterBlock));
  };
  const bool last_wins = !any_wins(call.params());
  if (last_wins) enqueue_fill(call.stream, last, call.buckets(), 0);
  const std::size_t range_size = ceil_div(call.buckets(), passes);
  for (std::size_t low = 0; low < call.buckets(); low += range_size) {
    const LabelRange range{static_cast<Label>(low), std::min(range_size, call.buckets() - low)};
    if (!last_wins) {
      launch(scatter_kernel<T>, {blocks(call.n()), kScatterBlock, 0, call.stream}, values, labels,
             call.n(), range, call.results());
      continue;
    }
    launch(find_last_kernel<Label>, {blocks(call.n()), kScatterBlock, 0, call.stream}, labels,
           call.n(), range, last);
    launch(fetch_last_kernel<T>, {blocks(range.count), kScatterBlock, 0, call.stream}, values, last,
           range, call.results());
  }
}

/// How the inputs of a scatter in one pass are divided among blocks.
inline ParamSpec traversal_axis(const std::string& published) {
  return {"traversal",
          "tiles",
          {"tiles", "contiguous", "strided"},
          "the scatter's inputs of a block: 256 neighbours, a contiguous share, or strides over "
          "all (the publication's: " +
              published + ")"};
}

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

/// Does what find_last_kernel does, over the shares of blocks.
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

/// Does what `enqueue_scatter` does, in one pass, with the inputs of a block as `traversal` says.
template <class T>
void enqueue_scatter_as_traversed(const TypedCall<T>& call, const T* values, const Label* labels,
                                  Count* last) {
  if (call.params().is("traversal", "contiguous"))
    enqueue_scatter_by_shares<false>(call, values, labels, last);
  else if (call.params().is("traversal", "strided"))
    enqueue_scatter_by_shares<true>(call, values, labels, last);
  else enqueue_scatter(call, values, labels, 1, last);
}

inline std::size_t last_positions_bytes(const Problem& p) {
  return any_wins(p.params) ? 0 : p.buckets * sizeof(Count);
}

/// Traffic of `enqueue_scatter` with `passes` passes.
inline Traffic traffic_of_scatter(const Problem& p, std::size_t passes) {
  const Arrays arrays = p.arrays();
  const std::size_t results_bytes = std::min(p.n, p.buckets) * p.element_bytes();
  if (any_wins(p.params))
    return {.read_bytes = passes * arrays.labels.bytes() + arrays.values.bytes(),
            .written_bytes = results_bytes};
  const std::size_t positions_bytes = p.buckets * sizeof(Count);
  return {.read_bytes = passes * arrays.labels.bytes() + 2 * positions_bytes + results_bytes,
          .written_bytes = 2 * positions_bytes + results_bytes};
}

inline std::string scatter_restriction(const Problem& p) {
  if (p.n <= ~Count{0}) return {};
  return std::to_string(p.n) + " inputs: positions are counted in 32 bits";
}

}  // namespace reduce_bench::BACKEND
