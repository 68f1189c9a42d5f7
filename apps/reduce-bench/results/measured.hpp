// What other programs of the suite read of a results document: points, their status and times.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/document.hpp"
#include "point/record.hpp"

namespace reduce_bench {

/// One mode of one point in one run: its summary, and its samples where the run kept them.
struct Series {
  double median_ns = 0;
  double ci_low_ns = 0, ci_high_ns = 0;  ///< 95 % interval of the median
  std::size_t count = 0;                 ///< samples behind the median
  std::vector<double> samples_ns;        ///< in the order taken; empty: only the summary is known
  std::optional<double> sm_clock_mhz;    ///< median that was seen; nothing on the CPU
};

/// The summary of one mode, with the samples where it holds them.
Series read_series(const Node& node);

/// What pairs a point with the same point of another run.
struct PointIdentity {
  std::string variant, operation, backend;
  std::uint64_t n = 0;
  std::optional<std::uint64_t> buckets;
  std::string type, op;
  std::string distribution;  ///< of the values: `cancelling condition=1000.0`
  std::string labels;        ///< their distribution; empty where there are none
  std::string params;        ///< ` block=128 form=corrected`
  /// Documents of earlier revisions may hold one point twice, from sweeps that overlap: they pair in
  /// the order of the document.
  unsigned occurrence = 0;

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

/// Reads a results document; `name` stands for the file in messages. Throws UsageError that names
/// the place.
MeasuredRun parse_run(const Json& document, const std::string& name);

}  // namespace reduce_bench
