// Which counts of kernels changed between two runs of `run --count`. Counts have no noise: every
// difference is a change of the code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/thresholds.hpp"
#include "results/counted.hpp"

namespace reduce_bench {

/// A count that differs.
struct CountChange {
  std::string metric;
  std::uint64_t base = 0, new_ = 0;

  /// Infinite where base has none.
  double ratio() const;
};

struct ChangedPoint {
  PointIdentity identity;
  /// kSlower where a count grew beyond the variant's threshold, kSame where counts differ otherwise;
  /// of points that are on one side only, or did not run on one, as for times.
  Verdict verdict = Verdict::kSame;
  std::vector<CountChange> changes;
  std::string note;
};

struct CountComparison {
  std::size_t compared = 0;          ///< points that have counts on both sides
  std::vector<ChangedPoint> points;  ///< those that differ; regressions first

  bool identical() const { return points.empty(); }
  bool has_regression() const;
};

/// Throws UsageError where the sides have no point in common.
CountComparison compare_counts(const CountedRun& base, const CountedRun& new_,
                               const Thresholds& thresholds, Missing missing = Missing::kFails);

std::string text(const CountComparison& comparison, const CountedRun& base, const CountedRun& new_);
std::string markdown(const CountComparison& comparison, const CountedRun& base,
                     const CountedRun& new_);
Json json(const CountComparison& comparison);
/// A report that continuous-integration servers read: a test case per point that differs, and one for
/// all.
std::string junit(const CountComparison& comparison);

}  // namespace reduce_bench
