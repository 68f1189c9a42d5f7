// What amp/tiled-1 to amp/tiled-4 share: one launch after the other turns every tile into one
// partial result, until the partial results would fit one tile; the host folds those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/reduce/amp/host_finish.hpp"
#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND {

/// Calls `reduce(values, n, results, tiles)` for every launch; two arrays take turns as results.
template <class Op, class T, class Reduce>
void reduce_tiles(const TypedCall<T>& call, std::size_t elements_per_tile, Reduce&& reduce) {
  const std::size_t tile = call.params().number("tile");
  const T* values = call.values();
  std::size_t n = call.n();
  T* results = call.scratch();
  T* other = results + padded(ceil_div(n, elements_per_tile));
  while (n > tile) {
    const std::size_t tiles = ceil_div(n, elements_per_tile);
    reduce(values, n, results, static_cast<unsigned>(tiles));
    values = results;
    n = tiles;
    std::swap(results, other);
  }
  fold_on_host<Op>(call, values, n);
}

inline Workspace workspace_of_tiles(const Problem& problem, std::size_t elements_per_tile) {
  const std::size_t first = ceil_div(problem.n, elements_per_tile);
  const std::size_t second = ceil_div(first, elements_per_tile);
  return {.device_bytes = (padded(first) + second) * problem.element_bytes(),
          .host_bytes = problem.params.number("tile") * problem.element_bytes()};
}

/// Every launch reads what the launch before it wrote; the host reads the rest.
inline Traffic traffic_of_tiles(const Problem& problem, std::size_t elements_per_tile) {
  Traffic traffic;
  std::size_t n = problem.n;
  for (; n > problem.params.number("tile"); n = ceil_div(n, elements_per_tile)) {
    traffic.read_bytes += n * problem.element_bytes();
    traffic.written_bytes += ceil_div(n, elements_per_tile) * problem.element_bytes();
  }
  traffic.read_bytes += n * problem.element_bytes();
  return traffic;
}

/// A balanced tree in every launch, and a chain on the host.
inline std::uint64_t depth_of_tiles(const Problem& problem, std::size_t elements_per_tile) {
  std::uint64_t depth = 0;
  std::size_t n = problem.n;
  for (; n > problem.params.number("tile"); n = ceil_div(n, elements_per_tile))
    depth += log2_ceil(elements_per_tile);
  return depth + n;
}

}  // namespace reduce_bench::BACKEND
