// Where variants that sort with a library and reduce by key keep their data in the workspace.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

/// Offsets of the sorted pairs, of one result and its label for each run of equal labels, of the
/// number of runs, and of the library's own storage.
struct SortedRuns {
  std::size_t labels, values, run_labels, run_values, run_count, temporary, end;
};

inline SortedRuns sorted_runs(const Problem& p, std::size_t temporary_bytes) {
  const auto aligned = [](std::size_t bytes) { return ceil_div(bytes, 256) * 256; };
  const std::size_t runs = std::min(p.n, p.buckets);
  SortedRuns at{};
  at.values = aligned(p.n * sizeof(Label));
  at.run_labels = at.values + aligned(p.n * p.element_bytes());
  at.run_values = at.run_labels + aligned(runs * sizeof(Label));
  at.run_count = at.run_values + aligned(runs * p.element_bytes());
  at.temporary = at.run_count + aligned(sizeof(Count));
  at.end = at.temporary + aligned(temporary_bytes);
  return at;
}

}  // namespace reduce_bench
