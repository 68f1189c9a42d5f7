// The CPU variants that can be simulated.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/labels.hpp"
#include "memory.hpp"
#include "traced.hpp"

namespace reduce_bench {

/// What to simulate: 32-bit values under addition, as the thesis measured.
struct Workload {
  std::size_t n = 0, buckets = 0;
  LabelDistribution labels;
  std::uint64_t seed = 0;
  std::string sort_bits;  ///< of the algorithms that sort; `auto` where they have it
  bool sequential_fetch = false;
};

/// Which axes the variant has beside `sort_bits`. Of a scan only the exclusive is simulated: the
/// inclusive makes the same accesses.
struct Axes {
  bool fetch = false, pages = false, scan = false;
};

/// Runs an algorithm on the simulated memory and returns its results.
template <class Value>
using Run = std::vector<Value> (*)(const Workload& workload, Memory& memory,
                                   std::uint64_t page_bytes);

struct Algorithm {
  std::string_view id;
  std::string_view default_sort_bits;  ///< empty: it does not sort
  Axes axes;
  Run<std::int32_t> run;  ///< with values, for the tests of what is simulated
  Run<Blank> trace;       ///< the same accesses without values, and no results
};

std::span<const Algorithm> algorithms();

/// Throws UsageError, suggesting the nearest id.
const Algorithm& find_algorithm(const std::string& id);

/// The labels that the algorithms read. Throws UsageError where the buckets cannot have them.
std::vector<std::uint32_t> labels_of(const Workload& workload);

}  // namespace reduce_bench
