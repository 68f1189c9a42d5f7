#include "compare/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>

namespace reduce_bench {
namespace {

using Engine = std::mt19937_64;

// Enough that the standard error itself is known to 1/sqrt(2 * 400), under 4 %.
constexpr std::size_t kReplicates = 400;
// Blocks as long as a twentieth of the run see every correlation that is shorter.
constexpr std::size_t kBlocks = 20;
constexpr double kNormal90 = 1.644854, kNormal95 = 1.959964;  // of the normal distribution
constexpr std::size_t kLeastSweep = 40;  // so that two ratios lie beyond a twentieth

/// Draws log medians as other runs of the same series would give them.
class MedianBootstrap {
 public:
  explicit MedianBootstrap(const Series& series) {
    const std::vector<double>& samples = series.samples_ns;
    if (samples.empty()) {
      log_median_ = std::log(series.median_ns);
      error_ = std::log(series.ci_high_ns / series.ci_low_ns) / (2 * kNormal95);
      return;
    }
    const std::size_t blocks = std::min(kBlocks, samples.size());
    times_drawn_.resize(blocks);
    sorted_.reserve(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i)
      sorted_.emplace_back(samples[i], i * blocks / samples.size());
    std::sort(sorted_.begin(), sorted_.end());
  }

  double draw(Engine& engine) {
    if (sorted_.empty()) return log_median_ + error_ * std::normal_distribution<>()(engine);
    std::fill(times_drawn_.begin(), times_drawn_.end(), 0u);
    std::uniform_int_distribution<std::size_t> block(0, times_drawn_.size() - 1);
    for (std::size_t i = 0; i < times_drawn_.size(); ++i) ++times_drawn_[block(engine)];
    // Each sample counts as often as its block was drawn. Blocks may differ in length by one.
    std::size_t total = 0;
    for (const auto& [ns, index] : sorted_) total += times_drawn_[index];
    std::size_t passed = 0;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      passed += times_drawn_[sorted_[i].second];
      if (2 * passed > total) return std::log(sorted_[i].first);
    }
    throw std::logic_error("a bootstrap replicate without samples");
  }

  /// Independent pieces of evidence, less one for the median itself.
  static double degrees(const Series& series) {
    const std::size_t pieces =
        series.samples_ns.empty() ? series.count : std::min(kBlocks, series.samples_ns.size());
    return std::max(1.0, static_cast<double>(pieces) - 1);
  }

 private:
  double log_median_ = 0, error_ = 0;
  std::vector<std::pair<double, std::size_t>> sorted_;  // sample and its block
  std::vector<unsigned> times_drawn_;
};

}  // namespace

double LogRatio::half_width(double confidence) const {
  if (variance == 0) return 0;
  const boost::math::students_t t(degrees);
  return boost::math::quantile(t, (1 + confidence) / 2) * std::sqrt(variance);
}

double LogRatio::p_value() const {
  if (value == 0) return 1;
  if (variance == 0) return 0;
  const boost::math::students_t t(degrees);
  return 2 * boost::math::cdf(boost::math::complement(t, std::abs(value) / std::sqrt(variance)));
}

LogRatio log_ratio(std::span<const Round> rounds) {
  if (rounds.empty()) throw std::logic_error("log_ratio: no rounds");
  const auto count = static_cast<double>(rounds.size());
  LogRatio ratio;
  std::vector<std::pair<MedianBootstrap, MedianBootstrap>> bootstraps;
  for (const Round& round : rounds) {
    ratio.value += std::log(round.new_.median_ns / round.base.median_ns) / count;
    bootstraps.emplace_back(round.base, round.new_);
  }
  // Fixed, so that the same files always give the same verdicts.
  Engine engine(1);
  std::uniform_int_distribution<std::size_t> any(0, rounds.size() - 1);
  double sum = 0, squares = 0;
  for (std::size_t replicate = 0; replicate < kReplicates; ++replicate) {
    double mean = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      auto& [base, new_] = bootstraps[rounds.size() == 1 ? 0 : any(engine)];
      mean += (new_.draw(engine) - base.draw(engine)) / count;
    }
    const double deviation = mean - ratio.value;
    sum += deviation;
    squares += deviation * deviation;
  }
  const double replicates = kReplicates;
  ratio.variance = std::max(0.0, (squares - sum * sum / replicates) / (replicates - 1));
  ratio.degrees = rounds.size() > 1 ? count - 1
                                    : MedianBootstrap::degrees(rounds[0].base) +
                                          MedianBootstrap::degrees(rounds[0].new_);
  return ratio;
}

Noise noise_of_pairs(std::span<const double> log_ratios) {
  if (log_ratios.empty()) return {};
  double squares = 0;
  for (const double x : log_ratios) squares += x * x;
  const auto count = static_cast<double>(log_ratios.size());
  return {squares / count, count};
}

SweepNoise::SweepNoise(std::vector<double> log_ratios) {
  if (log_ratios.size() < kLeastSweep) return;
  std::sort(log_ratios.begin(), log_ratios.end());
  middle_ = log_ratios[log_ratios.size() / 2];
  // A twentieth lies beyond these on either side: the ends of a normal 90 % interval.
  const std::size_t tail = log_ratios.size() / 20;
  const auto noise = [&](double end) {
    const double deviation = (end - middle_) / kNormal90;
    return Noise{deviation * deviation, static_cast<double>(tail)};
  };
  below_ = noise(log_ratios[tail]);
  above_ = noise(log_ratios[log_ratios.size() - 1 - tail]);
}

LogRatio with_noise(LogRatio own, Noise noise) {
  if (noise.degrees == 0 || noise.variance == 0) return own;
  const double total = own.variance + noise.variance;
  // Welch and Satterthwaite: the freedom of a sum of two estimated variances.
  own.degrees =
      total * total /
      (own.variance * own.variance / own.degrees + noise.variance * noise.variance / noise.degrees);
  own.variance = total;
  return own;
}

std::vector<bool> discoveries(std::span<const double> p_values, double rate) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> rejected(p_values.size(), false);
  for (std::size_t rank = order.size(); rank-- > 0;) {
    const double limit =
        rate * static_cast<double>(rank + 1) / static_cast<double>(p_values.size());
    if (p_values[order[rank]] > limit) continue;
    for (std::size_t i = 0; i <= rank; ++i) rejected[order[i]] = true;
    break;
  }
  return rejected;
}

}  // namespace reduce_bench
