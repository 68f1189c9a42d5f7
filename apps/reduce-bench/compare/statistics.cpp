#include "compare/statistics.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

namespace reduce_bench {
namespace {

// Enough that the standard error itself is known to 1/sqrt(2 * 200), 5 %.
constexpr std::size_t kReplicates = 200;
// Blocks as long as a twentieth of the run see every correlation that is shorter.
constexpr std::size_t kBlocks = 20;
constexpr std::size_t kNeighbours = 5;  // on either side of a point

double variance_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  return squares / (count - 1);
}

/// The squared standard error of a log median, and how well it is known.
struct MedianError {
  double variance = 0, degrees = 0;
};

MedianError median_error(const Series& series) {
  const std::vector<double>& samples = series.samples_ns;
  if (samples.empty()) {
    const double error = std::log(series.ci_high_ns / series.ci_low_ns) / (2 * kNormal95);
    return {error * error, std::max(1.0, static_cast<double>(series.count) - 1)};
  }
  const std::size_t blocks = std::min(kBlocks, samples.size());
  std::vector<std::pair<double, std::size_t>> sorted;  // sample and its block
  sorted.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    sorted.emplace_back(samples[i], i * blocks / samples.size());
  std::sort(sorted.begin(), sorted.end());

  // The seed is fixed, so that the same files always give the same verdicts.
  std::mt19937 engine(1);
  std::vector<double> log_medians;
  std::vector<unsigned> times_drawn(blocks);
  for (std::size_t replicate = 0; replicate < kReplicates; ++replicate) {
    std::fill(times_drawn.begin(), times_drawn.end(), 0u);
    // 32 random bits scaled: a division for each draw would take most of the time.
    for (std::size_t i = 0; i < blocks; ++i)
      ++times_drawn[static_cast<std::uint64_t>(engine()) * blocks >> 32];
    // Each sample counts as often as its block was drawn. Blocks may differ in length by one.
    std::size_t total = 0, passed = 0, middle = 0;
    for (const auto& [ns, block] : sorted) total += times_drawn[block];
    while ((passed += times_drawn[sorted[middle].second]) * 2 <= total) ++middle;
    log_medians.push_back(std::log(sorted[middle].first));
  }
  return {variance_of(log_medians), std::max(1.0, static_cast<double>(blocks) - 1)};
}

/// The x whose trigamma function is `y` > 0, by Newton's method on its reciprocal, which is convex.
double inverse_trigamma(double y) {
  double x = 0.5 + 1 / y;
  for (int step = 0; step < 50; ++step) {
    const double now = boost::math::trigamma(x);
    const double change = now * (1 - now / y) / boost::math::polygamma(2, x);
    x += change;
    if (std::abs(change) < 1e-10 * x) break;
  }
  return x;
}

double middle_ns(const Series& series, Middle middle) {
  return middle == Middle::kTrimean ? series.trimean_ns() : series.median_ns;
}

}  // namespace

double Noise::half_width() const {
  const double deviations =
      std::isinf(tail) ? kNormal95 : boost::math::quantile(boost::math::students_t(tail), 0.975);
  return deviations * std::sqrt(variance);
}

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

LogRatio log_ratio(std::span<const Round> rounds, Middle middle) {
  if (rounds.empty()) throw std::logic_error("log_ratio: no rounds");
  if (rounds.size() == 1) {
    const auto& [base, new_] = rounds[0];
    const MedianError base_error = median_error(base), new_error = median_error(new_);
    return {.value = std::log(new_.median_ns / base.median_ns),
            .variance = base_error.variance + new_error.variance,
            .degrees = base_error.degrees + new_error.degrees};
  }
  std::vector<double> ratios;
  for (const Round& round : rounds)
    ratios.push_back(std::log(middle_ns(round.new_, middle) / middle_ns(round.base, middle)));
  const auto count = static_cast<double>(ratios.size());
  return {.value = std::accumulate(ratios.begin(), ratios.end(), 0.0) / count,
          .variance = variance_of(ratios) / count,
          .degrees = count - 1};
}

std::optional<AtOneSpeed> log_ratio_at_one_speed(std::span<const Round> rounds, Middle middle) {
  struct Sums {
    std::vector<double> trips, times;
    double mean_trip = 0, mean_time = 0;
  };
  const auto count = static_cast<double>(rounds.size());
  double trips = 0, products = 0, times = 0;  // sums of squares about each side's mean
  std::array<Sums, 2> sides;
  for (Sums& side : sides) {
    for (const Round& round : rounds) {
      const Series& series = &side == &sides[0] ? round.base : round.new_;
      if (!series.round_trip_ns) return std::nullopt;
      side.trips.push_back(std::log(*series.round_trip_ns));
      side.times.push_back(std::log(middle_ns(series, middle)));
    }
    side.mean_trip = std::accumulate(side.trips.begin(), side.trips.end(), 0.0) / count;
    side.mean_time = std::accumulate(side.times.begin(), side.times.end(), 0.0) / count;
    for (std::size_t k = 0; k < rounds.size(); ++k) {
      const double trip = side.trips[k] - side.mean_trip, time = side.times[k] - side.mean_time;
      trips += trip * trip;
      products += trip * time;
      times += time * time;
    }
  }
  if (trips == 0) return std::nullopt;
  const double slope = products / trips, degrees = 2 * count - 3;
  const double apart = sides[1].mean_trip - sides[0].mean_trip;
  const LogRatio of_trips{
      .value = apart, .variance = trips / (2 * count - 2) * 2 / count, .degrees = 2 * count - 2};
  const double left = std::max(0.0, times - slope * products) / degrees;
  const LogRatio of_slope{.value = slope, .variance = left / trips, .degrees = degrees};
  AtOneSpeed at_one_speed{.log_ratio = {},
                          .log_trips = apart,
                          .slope_at_most = std::abs(slope) + of_slope.half_width(0.95)};
  if (of_trips.p_value() < 0.05) return at_one_speed;
  const double leverage = 2 / count + apart * apart / trips;
  at_one_speed.log_ratio =
      LogRatio{.value = sides[1].mean_time - sides[0].mean_time - slope * apart,
               .variance = left * leverage,
               .degrees = degrees,
               .leverage = leverage};
  return at_one_speed;
}

void moderate(std::span<LogRatio* const> alike) {
  if (alike.size() < kLeastAlike) return;
  const double degrees = alike[0]->degrees;
  std::vector<double> variances;
  for (const LogRatio* ratio : alike) {
    if (ratio->degrees != degrees) throw std::logic_error("moderate: degrees of freedom differ");
    variances.push_back(ratio->variance / ratio->leverage);
  }
  std::sort(variances.begin(), variances.end());
  // Clocks of a coarse resolution make some rounds equal, and the logarithm of 0 is none.
  const double least = 1e-5 * variances[variances.size() / 2];
  if (least == 0) return;
  // A variance estimated with d degrees has this mean and variance of its logarithm by chance.
  const double bias = boost::math::digamma(degrees / 2) - std::log(degrees / 2);
  std::vector<double> logs;
  for (const double variance : variances)
    logs.push_back(std::log(std::max(variance, least)) - bias);
  const double mean =
      std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  const double beyond_chance = variance_of(logs) - boost::math::trigamma(degrees / 2);
  double prior_degrees = std::numeric_limits<double>::infinity(), prior = std::exp(mean);
  if (beyond_chance > 0) {
    prior_degrees = 2 * inverse_trigamma(beyond_chance);
    prior *= std::exp(boost::math::digamma(prior_degrees / 2) - std::log(prior_degrees / 2));
  }
  const double weight = std::isinf(prior_degrees) ? 1 : prior_degrees / (prior_degrees + degrees);
  for (LogRatio* ratio : alike) {
    ratio->variance = weight * prior * ratio->leverage + (1 - weight) * ratio->variance;
    ratio->degrees += prior_degrees;
  }
}

Noise noise_of_pairs(std::span<const double> log_ratios) {
  if (log_ratios.empty()) return {};
  double squares = 0;
  for (const double x : log_ratios) squares += x * x;
  const auto count = static_cast<double>(log_ratios.size());
  return {squares / count, count};
}

Noise larger_of(const Noise& a, const Noise& b) {
  Noise larger = a.half_width() < b.half_width() ? b : a;
  const double before = larger.half_width();
  larger.tail = std::min(a.tail, b.tail);
  if (before == 0) return larger;
  const double scale = before / larger.half_width();
  larger.variance *= scale * scale;
  return larger;
}

Noise known_noise(double half_width) {
  const double deviation = half_width / kNormal95;
  return {deviation * deviation, std::numeric_limits<double>::infinity()};
}

Noise most_noise(Noise processes, Noise pairs) {
  if (pairs.degrees == 0) return processes;
  const boost::math::chi_squared squares(pairs.degrees);
  processes.variance += pairs.variance * pairs.degrees / boost::math::quantile(squares, 0.05);
  return processes;
}

SweepNoise::SweepNoise(std::vector<double> log_ratios) {
  if (log_ratios.size() < kLeastSweep) return;
  std::sort(log_ratios.begin(), log_ratios.end());
  middle_ = log_ratios[log_ratios.size() / 2];
  // A twentieth lies beyond these on either side: the ends of a 90 % interval.
  const std::size_t tail = log_ratios.size() / 20;
  const double to_90 = boost::math::quantile(boost::math::students_t(kSweepDegrees), 0.95);
  const auto noise = [&](double end) {
    const double deviation = (end - middle_) / to_90;
    return Noise{deviation * deviation, static_cast<double>(tail), kSweepDegrees};
  };
  below_ = noise(log_ratios[tail]);
  above_ = noise(log_ratios[log_ratios.size() - 1 - tail]);
}

Noise noise_of_neighbours(std::span<const double> log_ratios, std::size_t index) {
  const std::size_t first = index - std::min(index, kNeighbours);
  const std::size_t last = std::min(index + 1 + kNeighbours, log_ratios.size());
  double shift = 0;
  for (const auto& side : {log_ratios.subspan(first, index - first),
                           log_ratios.subspan(index + 1, last - index - 1)}) {
    if (side.empty()) continue;
    std::vector<double> sorted(side.begin(), side.end());
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[sorted.size() / 2];
    shift = std::max(shift, log_ratios[index] < 0 ? -median : median);
  }
  const double deviation = shift / kNormal95;
  return {deviation * deviation, static_cast<double>(kNeighbours)};
}

LogRatio with_noise(LogRatio own, Noise noise) {
  if (noise.degrees == 0 || noise.variance == 0) return own;
  const double total = own.variance + noise.variance;
  // Welch and Satterthwaite: the freedom of a sum of two estimated variances.
  const double known =
      total * total /
      (own.variance * own.variance / own.degrees + noise.variance * noise.variance / noise.degrees);
  // Far from the middle a sum has the tail of the part that reaches furthest, unless that is small.
  own.degrees = std::min(known, noise.tail * std::max(1.0, own.variance / noise.variance));
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
