// How a comparison is shown.
#pragma once

#include <string>
#include <vector>

#include "compare/comparison.hpp"

namespace reduce_bench {

struct ComparisonReport {
  const Side& base;
  const Side& new_;
  std::vector<std::string> environment_differences;  ///< that the user allowed
  RunComparison comparison;

  std::string text() const;
  std::string markdown() const;
  Json json() const;
  /// A report that continuous-integration servers read: one test case per point.
  std::string junit() const;
};

}  // namespace reduce_bench
