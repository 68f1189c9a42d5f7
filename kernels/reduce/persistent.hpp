// Grid-stride kernels: the grid fits the device whatever n is, so there are few enough partial
// results for one more block to fold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND {

inline ParamSpec blocks_per_sm_param(const std::string& published) {
  return {"blocks_per_sm",
          "32",
          {"1", "2", "4", "8", "16", "32"},
          "most blocks per SM, as far as they are resident (" + published + ")"};
}

/// Blocks that cover n with `per_thread` elements per thread in each step of the loop, but no more
/// than `blocks_per_sm` on every SM, and no more than are resident at once.
inline unsigned persistent_blocks(const Problem& p, unsigned per_thread) {
  const unsigned block = p.params.number("block");
  const unsigned resident =
      std::clamp(p.device.max_threads_per_sm / block, 1u, p.device.max_blocks_per_sm);
  const unsigned per_sm = std::min(p.params.number("blocks_per_sm"), resident);
  return static_cast<unsigned>(std::min(blocks_of_pass(p.n, std::size_t{per_thread} * block),
                                        std::size_t{p.device.sm_count} * per_sm));
}

/// Operator applications in one pass: `per_thread` elements paired off, joined step by step to the
/// thread's result, and a balanced tree over the block.
inline std::uint64_t depth_of_grid_stride(const Problem& p, std::size_t n, std::size_t blocks,
                                          unsigned per_thread) {
  const unsigned block = p.params.number("block");
  return log2_ceil(per_thread) + ceil_div(n, blocks * block * per_thread) + log2_ceil(block);
}

/// Calls `pass(values, n, results, blocks)` for the grid and, where it has several blocks, for one
/// block that folds their results. Of halves the second pass reads floats.
template <class T, class Pass>
void reduce_in_two_passes(const TypedCall<T>& call, unsigned per_thread, Pass&& pass) {
  const unsigned blocks = persistent_blocks(call.problem, per_thread);
  if (blocks == 1) return pass(call.values(), call.n(), call.results(), 1u);
  auto* const partials = call.template scratch<Combined<T>>();
  pass(call.values(), call.n(), partials, blocks);
  pass(static_cast<const Combined<T>*>(partials), std::size_t{blocks}, call.results(), 1u);
}

/// The workspace of `reduce_in_two_passes`: a partial result per block.
inline Workspace workspace_of_two_passes(const Problem& p, unsigned per_thread) {
  return {.device_bytes = persistent_blocks(p, per_thread) * p.combined_bytes()};
}

inline Traffic traffic_of_two_passes(const Problem& p, unsigned per_thread) {
  const std::size_t blocks = persistent_blocks(p, per_thread);
  const std::size_t partials = blocks == 1 ? 0 : blocks;
  return {.read_bytes = p.input_bytes() + partials * p.combined_bytes(),
          .written_bytes = (partials + 1) * p.combined_bytes()};
}

inline std::uint64_t depth_of_two_passes(const Problem& p, unsigned per_thread) {
  const std::size_t blocks = persistent_blocks(p, per_thread);
  const std::uint64_t first = depth_of_grid_stride(p, p.n, blocks, per_thread);
  return blocks == 1 ? first : first + depth_of_grid_stride(p, blocks, 1, per_thread);
}

}  // namespace reduce_bench::BACKEND
