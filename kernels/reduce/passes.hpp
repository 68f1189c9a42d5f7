// Reducing in passes: the same kernel runs again on the partial results of its blocks until one is
// left. A kernel boundary is the grid-wide barrier that CUDA lacks ("kernel decomposition").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Elements per block where every thread combines two as it loads.
inline unsigned two_per_thread(const Problem& problem) {
  return 2 * problem.params.number("block");
}

/// Blocks of one pass over n elements; an empty input still takes one, which writes the neutral
/// element.
inline std::size_t blocks_of_pass(std::size_t n, std::size_t elements_per_block) {
  return std::max<std::size_t>(1, ceil_div(n, elements_per_block));
}

/// Keeps the second array of partial results aligned for vector loads.
inline std::size_t padded(std::size_t elements) { return ceil_div(elements, 16) * 16; }

/// Calls `pass(values, n, results, blocks)` until one block has written the result.
template <class T, class Pass>
void reduce_in_passes(const TypedCall<T>& call, std::size_t elements_per_block, Pass&& pass) {
  const T* values = call.values();
  std::size_t n = call.n();
  T* partials = call.scratch();
  T* next_partials = partials + padded(blocks_of_pass(n, elements_per_block));
  for (;;) {
    const std::size_t blocks = blocks_of_pass(n, elements_per_block);
    T* results = blocks == 1 ? call.results() : partials;
    pass(values, n, results, static_cast<unsigned>(blocks));
    if (blocks == 1) return;
    values = results;
    n = blocks;
    std::swap(partials, next_partials);
  }
}

/// The workspace of `reduce_in_passes`: two arrays of partial results.
inline Workspace workspace_of_passes(const Problem& problem, std::size_t elements_per_block) {
  const std::size_t first = blocks_of_pass(problem.n, elements_per_block);
  const std::size_t second = blocks_of_pass(first, elements_per_block);
  return {.device_bytes = (padded(first) + second) * problem.element_bytes()};
}

/// Every pass reads what the pass before it wrote.
inline Traffic traffic_of_passes(const Problem& problem, std::size_t elements_per_block) {
  Traffic traffic;
  for (std::size_t n = problem.n;;) {
    const std::size_t blocks = blocks_of_pass(n, elements_per_block);
    traffic.read_bytes += n * problem.element_bytes();
    traffic.written_bytes += blocks * problem.element_bytes();
    if (blocks == 1) return traffic;
    n = blocks;
  }
}

/// Each pass is a balanced tree over `elements_per_block`.
inline std::uint64_t depth_of_passes(const Problem& problem, std::size_t elements_per_block) {
  std::uint64_t depth = 0;
  for (std::size_t n = problem.n;;) {
    depth += log2_ceil(elements_per_block);
    n = blocks_of_pass(n, elements_per_block);
    if (n == 1) return depth;
  }
}

}  // namespace reduce_bench::BACKEND
