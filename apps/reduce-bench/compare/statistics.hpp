// What the samples of two runs say about the ratio of their times. Numbers only: what they mean
// is decided in comparison.cpp, and why they are these is told in docs/adr/0006-comparison.md.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "results/measured.hpp"

namespace reduce_bench {

/// Half-width of the two-sided 95 % interval of the normal distribution, in standard deviations.
inline constexpr double kNormal95 = 1.959964;

/// The same point measured once by each side.
struct Round {
  Series base, new_;
};

/// The logarithm of a ratio, its squared standard error, and how well that error is known.
struct LogRatio {
  double value = 0;
  double variance = 0;
  double degrees = 0;  ///< of freedom, as in Student's t
  /// By what factor the variance exceeds the part that points alike share.
  double leverage = 1;

  /// Half-width of the two-sided interval.
  double half_width(double confidence) const;
  /// How likely a value this far from 0 is where the truth is 0 (two-sided).
  double p_value() const;
};

/// What stands for the samples of a series.
enum class Middle { kMedian, kTrimean };

/// Mean over the rounds of log(new middle / base middle). Its error comes from the spread of the
/// rounds. Of a single round it is log(new median / base median), and its error comes from a bootstrap
/// over contiguous blocks of samples, because neighbouring samples are correlated: they share the clock
/// and the load of the machine. Where only the summary is known, the error comes from its interval.
LogRatio log_ratio(std::span<const Round> rounds, Middle middle = Middle::kMedian);

/// What is left of a ratio where the host's speed is taken to be the same on both sides.
struct AtOneSpeed {
  /// Nothing where the sides' mean round trips differ more than chance would make them in 95 of 100
  /// cases, judged by the rounds of each side: then something else than the host's speed changed them.
  std::optional<LogRatio> log_ratio;
  double log_trips = 0;  ///< logarithm of new over base round trip
  /// Of a time over a round trip, without its sign, with 95 % confidence.
  double slope_at_most = 0;
};
/// The ratio of times in which the host waits: the logarithm of a time is taken to grow in a straight
/// line with that of the round trip that was measured beside it (analysis of covariance, one slope for
/// both sides). What the host's speed changes from run to run is then neither a change of the code nor
/// an error. The further apart the sides' round trips are, the larger is the error. Nothing where a run
/// lacks a round trip, or where all are alike. Of two rounds or more.
std::optional<AtOneSpeed> log_ratio_at_one_speed(std::span<const Round> rounds, Middle middle);

/// The least points that show what the errors of points like them have in common.
inline constexpr std::size_t kLeastAlike = 20;

/// Draws the squared errors of points that are alike, each known from the same few rounds, toward what
/// they have in common, and adds the degrees of freedom that this is worth: the moderated t of Smyth
/// (Linear models and empirical Bayes methods for assessing differential expression in microarray
/// experiments, 2004, sections 3 and 6.2). The less the errors differ beyond chance, the more they are
/// drawn together. Fewer than kLeastAlike are left as they are. Throws std::logic_error where
/// their degrees differ.
void moderate(std::span<LogRatio* const> alike);

/// How far identical measurements lie apart.
struct Noise {
  double variance = 0;  ///< of a log ratio
  double degrees = 0;   ///< how well it is known; 0: nothing is known
  /// Degrees of freedom of the Student's t that has its shape: it may reach far more often than normal
  /// noise.
  double tail = std::numeric_limits<double>::infinity();

  /// 95 % of identical measurements lie within this.
  double half_width() const;
};
/// The noise that the log ratios of A/A pairs show, of which all would be 0 without it.
Noise noise_of_pairs(std::span<const double> log_ratios);

/// The noise of what shows itself in two ways: it lies as far apart as the larger part, and has the tail of
/// the one that reaches further.
Noise larger_of(const Noise& a, const Noise& b);

/// Noise of which it is known that 95 % of it lies within `half_width`.
Noise known_noise(double half_width);

/// The most noise that two runs may have where their A/A pairs show `pairs`: what two processes
/// differ by, and with it the end of the 95 % interval of what the pairs estimate.
Noise most_noise(Noise processes, Noise pairs);

/// The least points whose ratios show the noise of a single pair of runs: a twentieth of them, on
/// either side, is two.
inline constexpr std::size_t kLeastSweep = 40;

/// The degrees of freedom of the Student's t by which the points of two runs of one build differ: they
/// differ by more than others of the same sweep more often than normal deviates do.
inline constexpr double kSweepDegrees = 2.75;

/// How far the unchanged points of a single pair of runs lie apart, from the ratios of some of them.
/// A point is judged by the spread on the other side of their median, so that slowdowns do not pass
/// for the noise that hides them. Nothing is known from fewer than kLeastSweep points.
class SweepNoise {
 public:
  explicit SweepNoise(std::vector<double> log_ratios);
  Noise as_seen_from(double log_ratio) const { return log_ratio > middle_ ? below_ : above_; }

 private:
  double middle_ = 0;
  Noise below_, above_;
};

/// The noise at one log ratio, from its neighbours in the order of the run. A change of the clock or
/// of the load moves neighbouring points together, so a point that moved no further than they did
/// shows nothing of its own. The half-width of the noise's 95 % interval is how far the neighbours
/// moved the same way: the larger of the medians of the five before and of the five after.
Noise noise_of_neighbours(std::span<const double> log_ratios, std::size_t index);

/// Adds the noise between identical measurements, which the samples of one point cannot show.
LogRatio with_noise(LogRatio own, Noise noise);

/// Which of the hypotheses are rejected with a false discovery rate of at most `rate` (Benjamini
/// and Hochberg, 1995).
std::vector<bool> discoveries(std::span<const double> p_values, double rate);

}  // namespace reduce_bench
