// Reads results documents: the points with their status and times.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/document.hpp"
#include "plan/identity.hpp"
#include "point/record.hpp"

namespace reduce_bench {

/// What to do about a file that should hold results and does not.
inline constexpr const char* kNameResults =
    "name a file that 'reduce-bench run' wrote, or a folder of them";

/// Tukey's, of a median and its quartiles.
constexpr double trimean(double p25, double median, double p75) {
  return (p25 + 2 * median + p75) / 4;
}

/// One mode of one point in one run: its summary, and its samples where the run kept them.
struct Series {
  double median_ns = 0;
  double p25_ns = 0, p75_ns = 0;         ///< quartiles
  double ci_low_ns = 0, ci_high_ns = 0;  ///< 95 % interval of the median
  std::size_t count = 0;                 ///< samples behind the median
  std::vector<double> samples_ns;        ///< in the order taken; empty: only the summary is known
  std::optional<double> sm_clock_mhz;    ///< median that was seen; nothing on the CPU
  /// Trimean of what a host that waits does at least, measured beside the samples; nothing where it
  /// does not wait, and in older files.
  std::optional<double> round_trip_ns;

  double trimean_ns() const { return trimean(p25_ns, median_ns, p75_ns); }

  bool operator==(const Series&) const = default;
};

/// The summary of one mode, with the samples where it holds them.
Series read_series(const Node& node);

struct MeasuredPoint {
  Status status = Status::kOk;
  bool known_wrong = false;
  std::string reason;
  std::map<std::string, Series> timing;  ///< by mode
  bool waits = false;                    ///< its time includes that the host waits for a device
  std::string code;                      ///< hash of its machine code; empty where unknown
  std::size_t position = 0;              ///< in the document, which has the order of the run

  /// A verified time of a variant that is right; nothing else is compared.
  bool ranked() const { return status == Status::kOk && !known_wrong && !timing.empty(); }
  /// Wrong, failed or timed out, and not documented to be.
  bool bad() const;
  bool operator==(const MeasuredPoint&) const = default;
};

/// The status and the times of one entry of a document's `points`.
MeasuredPoint read_point(const Node& node);

/// One results document.
struct MeasuredRun {
  std::string file;
  Json environment;
  bool interrupted = false;
  std::map<std::string, std::vector<double>> aa_log_ratios;  ///< by backend
  std::map<PointIdentity, MeasuredPoint> points;

  std::string revision() const;
  /// The same run, read twice: two runs differ in their dates or in their times.
  bool is_same_as(const MeasuredRun& other) const;
};

/// Reads a results document; `name` stands for the file in messages. Throws UsageError that names
/// the place.
MeasuredRun parse_run(const Json& document, const std::string& name);

/// The median over all points of all the runs; nothing where none saw a clock.
std::optional<double> median_sm_clock_mhz(std::span<const MeasuredRun> runs);

}  // namespace reduce_bench
