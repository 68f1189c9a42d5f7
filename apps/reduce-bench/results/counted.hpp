// What the emulator counted of a plan's points: a document of its own, since nothing in it is a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/document.hpp"
#include "plan/config.hpp"
#include "plan/identity.hpp"
#include "point/record.hpp"

namespace reduce_bench {

inline constexpr std::string_view kCountsKind = "reduce-bench-counts";

/// The counts of one point, by name; none where it did not run.
struct CountedPoint {
  std::string status, reason;
  std::map<std::string, std::uint64_t> counts;

  bool operator==(const CountedPoint&) const = default;
};
struct CountedRun {
  std::string file;
  Json environment;
  std::map<PointIdentity, CountedPoint> points;
};

/// The document of a run of `run --count`.
Json counts_document(const std::vector<Record>& records, const Config& config,
                     const Json& environment);
/// Reads one; `name` stands for the file in messages. Throws UsageError that names the place.
CountedRun parse_counted(const Json& document, const std::string& name);
bool is_counts_document(const Json& document);

}  // namespace reduce_bench
