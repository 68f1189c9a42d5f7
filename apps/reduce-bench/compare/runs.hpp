// The runs that are compared, read from results documents.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/statistics.hpp"
#include "plan/config.hpp"
#include "point/execute.hpp"

namespace reduce_bench {

/// What pairs a point with the same point of another run.
struct PointIdentity {
  std::string variant, operation, backend;
  std::uint64_t n = 0;
  std::optional<std::uint64_t> buckets;
  std::string type, op;
  std::string distribution;  ///< of the values: `cancelling condition=1000.0`
  std::string labels;        ///< their distribution; empty where there are none
  std::string params;        ///< ` block=128 form=corrected`
  unsigned occurrence = 0;   ///< a plan may hold one point twice: they pair in its order

  auto operator<=>(const PointIdentity&) const = default;
  /// `harris/3 block=128, 2^20 i32 sum uniform on cuda`; with labels `2^20 into 2^8 by zipf ...`.
  std::string text() const;
};

struct MeasuredPoint {
  Status status = Status::kOk;
  bool known_wrong = false;
  std::string reason;
  std::map<std::string, Series> timing;  ///< by mode
  std::size_t position = 0;              ///< in the document, which has the order of the run

  /// A verified time of a variant that is right; nothing else is compared.
  bool ranked() const { return status == Status::kOk && !known_wrong && !timing.empty(); }
  /// Wrong, failed or timed out, and not documented to be.
  bool bad() const;
};

/// One results document.
struct MeasuredRun {
  std::string file;
  Json environment;
  bool interrupted = false;
  std::map<std::string, std::vector<double>> aa_log_ratios;  ///< by backend
  std::map<PointIdentity, MeasuredPoint> points;

  std::string revision() const;
};

/// Base or new: one run, or several rounds of it.
struct Side {
  std::string name;  ///< as the user gave it
  std::vector<MeasuredRun> rounds;
};

/// Reads a results document, or every *.json of a folder as the rounds of one side, in the order of
/// their names. Throws UsageError that names the file and the place in it.
Side read_side(const std::filesystem::path& file_or_folder);

/// The same from a parsed document; `name` stands for the file in messages.
MeasuredRun parse_run(const Json& document, const std::string& name);

/// The summary of one mode, with the samples where it holds them.
Series read_series(const Node& node);

/// What differs between the machines and builds of two runs, one clause each; revisions, dates and
/// host names do not count.
std::vector<std::string> environment_differences(const Json& base, const Json& new_);

/// The SM clocks that the two sides ran at, where their medians differ by more than 3 %; else
/// empty.
std::string clock_difference(const Side& base, const Side& new_);

}  // namespace reduce_bench
