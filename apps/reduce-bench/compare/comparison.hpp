// Which points became slower, faster, wrong: the verdicts of `reduce-bench compare`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compare/sides.hpp"
#include "compare/statistics.hpp"
#include "compare/thresholds.hpp"

namespace reduce_bench {

/// The verdicts in the order in which they are reported.
enum class Verdict {
  kBroken,  ///< was not bad in base: now wrong, failed or timed out
  kLost,    ///< has a verified time in base and none in new
  kSlower,
  kInconclusive,  ///< a change beyond the threshold can neither be shown nor excluded
  kFixed,         ///< was wrong, failed or timed out in base
  kFaster,
  kOnlyBase,  ///< lost with leave, or without a verified time in base too
  kOnlyNew,
  kNotCompared,  ///< no verified time on either side, or documented as wrong
  kSame
};
inline constexpr std::array kVerdictNames{
    std::string_view{"broken"},       std::string_view{"lost"},
    std::string_view{"slower"},       std::string_view{"inconclusive"},
    std::string_view{"fixed"},        std::string_view{"faster"},
    std::string_view{"only in base"}, std::string_view{"only in new"},
    std::string_view{"not compared"}, std::string_view{"same"}};
constexpr std::string_view name_of(Verdict v) { return kVerdictNames[index_of(v)]; }
constexpr bool is_regression(Verdict v) {
  return v == Verdict::kBroken || v == Verdict::kLost || v == Verdict::kSlower;
}

/// Where a ratio's interval comes from.
enum class IntervalSource { kRounds, kSamples, kSummary };
inline constexpr std::array kIntervalSourceNames{
    std::string_view{"rounds"}, std::string_view{"samples"}, std::string_view{"summary"}};

/// What the two sides' times say.
struct TimeChange {
  double base_ns = 0, new_ns = 0;  ///< medians; of several rounds, their geometric mean
  LogRatio log_ratio;              ///< new / base, with the noise between identical runs
  double p_value = 1;
  bool waits = false;  ///< the time of a GPU includes that the host waits, as in wall mode
  std::optional<double> trip_ratio;  ///< new over base round trip, where the host waits
  bool at_one_speed = false;         ///< the ratio is what that leaves of the times'
  double trip_noise = 0;             ///< else what the round trips may make of the logarithm
  double noise_floor = 0;            ///< 95 % of identical runs differ by less
  double clocks = 0;                 ///< change of the SM clock
  double threshold = 0;         ///< change that counts, widened by noise and clocks; 0.03 is 3 %
  double common_threshold = 0;  ///< the same where all points change alike
  IntervalSource interval_source = IntervalSource::kSamples;
  std::size_t rounds = 1;  ///< that have the point on both sides
  /// False of a single round that has one sample of a side, or few points of a CPU: no error is
  /// known.
  bool decides = true;

  double ratio() const;
  double ratio_low() const;  ///< 95 % interval
  double ratio_high() const;
};

struct ComparedPoint {
  PointIdentity identity;
  std::string mode;  ///< empty where no time is compared
  Verdict verdict = Verdict::kNotCompared;
  std::optional<TimeChange> change;
  std::string note;  ///< what the verdict rests on, where it is not the times
  /// Whether both sides ran the same machine code; nothing where a round does not tell.
  std::optional<bool> same_code;
};

struct GeometricMean {
  std::string operation, backend;
  double ratio = 1;
  std::size_t count = 0;
};

/// The points of a backend became slower, or faster, together: most of them by more than runs differ
/// by together, and all but one in twenty along with them.
struct CommonShift {
  std::string backend;
  Verdict verdict = Verdict::kSame;  ///< kSlower or kFaster
  double ratio = 1;                  ///< median of new / base, of all points
  std::size_t count = 0, of = 0;     ///< points that moved, and all
};

struct RunComparison {
  std::vector<ComparedPoint> points;  ///< by verdict, the largest change first
  std::vector<GeometricMean> means;
  std::vector<CommonShift> shifts;
  std::size_t rounds = 1;
  bool identical = false;  ///< both sides are the same runs
  bool one_build = false;  ///< every run is of one and the same program: no code differs

  std::size_t count(Verdict verdict) const;
  bool has_regression() const;
};

/// May new lack points that base has?
enum class Missing { kFails, kAllowed };

/// Pairs and judges. Throws UsageError where the sides have no point in common or differ in their
/// number of rounds.
RunComparison compare_sides(const Side& base, const Side& new_, const Thresholds& thresholds,
                            Missing missing = Missing::kFails);

}  // namespace reduce_bench
