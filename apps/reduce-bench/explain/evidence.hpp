// What is known of a point that is to be explained: its time, and what was counted of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/document.hpp"
#include "plan/identity.hpp"

namespace reduce_bench {

/// Who counted.
enum class CountedBy { kNobody, kGpu, kEmulator };

struct Evidence {
  PointIdentity point;
  std::optional<double> time_ns;       ///< median of the primary mode
  std::optional<double> sm_clock_mhz;  ///< median while it was timed
  double kernels = 1;                  ///< launched by a call; 1 where unknown
  CountedBy counted_by = CountedBy::kNobody;
  std::map<std::string, double> counts;  ///< those that are available, by name
  std::string uncounted;                 ///< why there are none

  bool has(std::string_view count) const { return counts.contains(std::string(count)); }
  /// The sum of counts; nothing where one of them is missing.
  std::optional<double> sum(std::initializer_list<std::string_view> names) const;
};

/// The device's limits, as the run measured them. What is not known is 0.
struct Limits {
  double memory_gb_per_s =
      0;  ///< of the largest read stream, with what it wrote back and unlaunched
  double empty_launch_ns = 0;
  double further_launch_ns = 0;  ///< what each kernel behind another adds
  double sm_count = 0;
  double noise_floor = 0;  ///< by how much two times differ of one variant
};

/// A document with everything that it holds of points that can be explained.
struct AllEvidence {
  std::vector<Evidence> points;  ///< in the document's order
  Limits limits;
};

/// Reads the results of `run`, or the counts of `run --count`; `name` stands for the file in
/// messages. Of results, points of GPUs with a verified time. Throws UsageError that names the place.
AllEvidence read_evidence(const Json& document, const std::string& name);

/// The evidence of one problem for each of the variants, in their order: of the largest n at which
/// all are there, or of the one asked for, and where there is a choice of one that all were counted
/// at. Of a variant's parameters the fastest, or the first counted. Throws UsageError where the
/// variants have no problem in common.
std::vector<Evidence> choose_problem(const AllEvidence& all, std::span<const std::string> variants,
                                     std::optional<std::uint64_t> n, const std::string& name);

}  // namespace reduce_bench
