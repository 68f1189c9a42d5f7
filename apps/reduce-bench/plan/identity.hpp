// What makes two points the same point: in one plan, in a journal, or in two runs.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/document.hpp"

namespace reduce_bench {

struct Point;

/// Elements, buckets or samples in a results document are at most so many.
inline constexpr std::uint64_t kMostCount = std::uint64_t{1} << 62;

/// A distribution as results name it, such as `zipf` with the setting `exponent`.
struct DistributionIdentity {
  using Setting = std::variant<double, std::uint64_t, std::string>;
  std::string name;
  std::map<std::string, Setting> settings;

  auto operator<=>(const DistributionIdentity&) const = default;
  bool operator==(const DistributionIdentity&) const = default;
  /// `zipf exponent=1.5`.
  std::string text() const;
};

/// A variant's parameters with their values, in the order of its declaration. Revisions may differ
/// in that order, so it does not count in comparisons.
struct ParamsIdentity {
  std::vector<std::pair<std::string, std::string>> entries;

  std::strong_ordering operator<=>(const ParamsIdentity& other) const;
  bool operator==(const ParamsIdentity& other) const { return (*this <=> other) == 0; }
};

/// Names are text, because results may be of a revision that knows others. The seed is not a part:
/// runs with different seeds measure the same points.
struct PointIdentity {
  std::string variant, operation, backend;
  std::uint64_t n = 0;
  std::optional<std::uint64_t> buckets;  ///< nothing where the operation has no labels
  std::string type, op;
  DistributionIdentity distribution;           ///< of the values
  std::optional<DistributionIdentity> labels;  ///< nothing where the operation has none
  ParamsIdentity params;

  auto operator<=>(const PointIdentity&) const = default;
  bool operator==(const PointIdentity&) const = default;

  /// The text for a report, with parameters beside their variant and sizes as powers of two:
  /// `harris/3 block=128, 2^20 i32 sum uniform on cuda`, or with labels
  /// `atomic/global block=256, 2^20 into 2^8 by zipf exponent=1.5 i32 sum uniform on cuda`.
  std::string text() const;
  /// The text for a run's progress, with every number in full:
  /// `harris/3 n=1024 i32 sum uniform block=128 on cuda`, or with labels
  /// `atomic/global n=1024 m=256 i32 sum uniform zipf(1.5) block=256 on cuda`.
  std::string line() const;
};

PointIdentity identity_of(const Point& point);

/// The members that identify a point of a results document. Throws UsageError that names the place.
PointIdentity read_identity(const Node& point);
/// Those members, as a results document holds them.
Json to_json(const PointIdentity& identity);

}  // namespace reduce_bench
