#include "point/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace reduce_bench {
namespace {

using Clock = std::chrono::steady_clock;

double elapsed_ms(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

/// Linear interpolation between order statistics (the usual "type 7" quantile).
double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Ranks of the order statistics that enclose the median with 95 % confidence: the binomial
/// distribution of how many samples fall below it, by its normal approximation.
std::pair<std::size_t, std::size_t> median_interval(std::size_t n) {
  const double half_width = 0.98 * std::sqrt(static_cast<double>(n));
  const double middle = static_cast<double>(n - 1) / 2;
  const double low = std::floor(middle - half_width), high = std::ceil(middle + half_width);
  return {static_cast<std::size_t>(std::max(0.0, low)),
          static_cast<std::size_t>(std::min(static_cast<double>(n - 1), high))};
}

constexpr double kBatchNs = 1e6;        // long against the time that reading any clock takes
constexpr unsigned kLaunchQueue = 512;  // half of what a CUDA stream queues before a launch blocks
constexpr unsigned kCheckEvery = 5;     // samples between looks at the interval

/// Whether a time includes that the host waits for the device.
bool host_waits(Mode mode, const Work& work) { return work.synchronous || mode == Mode::kWall; }

unsigned batch_size(Device& device, Mode mode, const Work& work) {
  if (mode == Mode::kCold || mode == Mode::kWall) return 1;
  const unsigned most = std::max(1u, kLaunchQueue / std::max(1u, work.kernels));
  const double ns = device.sample(Mode::kHot, work, std::min(4u, most)).ns;
  const double batch_ns = work.guard != nullptr ? device.least_sample_ns() : kBatchNs;
  return static_cast<unsigned>(std::clamp(batch_ns / std::max(ns, 1.0), 1.0, double(most)));
}

}  // namespace

Summary summarise(std::span<const double> values) {
  if (values.empty()) throw std::logic_error("summarise: no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  Summary s;
  s.min = sorted.front();
  s.max = sorted.back();
  s.median = quantile(sorted, 0.5);
  s.p25 = quantile(sorted, 0.25);
  s.p75 = quantile(sorted, 0.75);
  s.p95 = quantile(sorted, 0.95);
  s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  double squares = 0;
  for (const double x : sorted) squares += (x - s.mean) * (x - s.mean);
  s.stddev = sorted.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  const auto [low, high] = median_interval(sorted.size());
  s.ci_low = sorted[low];
  s.ci_high = sorted[high];
  return s;
}

Shape shape_of(std::span<const double> values) {
  constexpr double kLeastShare = 0.1;   // of the samples, in the smaller group
  constexpr double kLeastApart = 0.02;  // of the median: groups nearer to each other do not matter
  constexpr double kSeparation = 2;     // 0.5 for values spread evenly, 0.8 in an exponential tail
  const Summary s = summarise(values);
  const double reach = 1.5 * (s.p75 - s.p25);
  Shape shape;
  for (const double x : values) shape.outliers += x < s.p25 - reach || x > s.p75 + reach;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto least = std::max<std::size_t>(
      2, static_cast<std::size_t>(std::ceil(kLeastShare * static_cast<double>(sorted.size()))));
  for (std::size_t cut = least; cut + least <= sorted.size() && !shape.two_modes; ++cut) {
    const std::span<const double> low(sorted.data(), cut);
    const std::span<const double> high(sorted.data() + cut, sorted.size() - cut);
    // The distances are between the middle halves of the two groups, and within them.
    const double apart = quantile(high, 0.25) - quantile(low, 0.75);
    const double within =
        (quantile(low, 0.75) - quantile(low, 0.25)) + (quantile(high, 0.75) - quantile(high, 0.25));
    shape.two_modes = apart >= kLeastApart * s.median && apart >= kSeparation * within;
  }
  return shape;
}

double median(std::span<const double> values) { return summarise(values).median; }

void Measurement::merge(const Measurement& other) {
  samples_ns.insert(samples_ns.end(), other.samples_ns.begin(), other.samples_ns.end());
  sm_clocks_mhz.insert(sm_clocks_mhz.end(), other.sm_clocks_mhz.begin(), other.sm_clocks_mhz.end());
  round_trips_ns.insert(round_trips_ns.end(), other.round_trips_ns.begin(),
                        other.round_trips_ns.end());
  discarded += other.discarded;
  throttled = throttled || other.throttled;
  stopped_by = other.stopped_by;
}

bool converged(std::span<const double> samples_ns, double relative_ci) {
  const Summary s = summarise(samples_ns);
  return (s.ci_high - s.ci_low) / 2 <= relative_ci * s.median;
}

Measurement measure(Device& device, Mode mode, const Work& work,
                    const MeasurementSettings& settings, double share) {
  const auto part = [&](unsigned whole) {
    return std::max(1u, static_cast<unsigned>(std::ceil(whole * share)));
  };
  const unsigned least = part(settings.min_samples), most = part(settings.max_samples);
  const double budget_ms = settings.max_time_ms * share;
  const auto max_clock = device.max_sm_clock_mhz();
  const double floor_mhz = max_clock ? settings.clock_floor * *max_clock : 0;

  const unsigned batch = batch_size(device, mode, work);
  device.sample(mode, work, batch);  // warm-up; captures the graph

  Measurement m;
  const auto start = Clock::now();
  for (;;) {
    const Sample sample = device.sample(mode, work, batch);
    if (sample.sm_clock_mhz && *sample.sm_clock_mhz < floor_mhz && !m.throttled) {
      // A few slow samples are dropped. On a card that stays slow all are kept, and marked.
      if (++m.discarded > std::max<std::size_t>(2 * least, m.samples_ns.size())) m.throttled = true;
      continue;
    }
    m.samples_ns.push_back(sample.ns);
    if (sample.sm_clock_mhz) m.sm_clocks_mhz.push_back(*sample.sm_clock_mhz);
    if (host_waits(mode, work))
      if (const auto ns = device.round_trip_ns()) m.round_trips_ns.push_back(*ns);
    const auto count = m.samples_ns.size();
    if (count < least) continue;
    if (count >= most) {
      m.stopped_by = StoppedBy::kSamples;
      break;
    }
    // The clock is looked at first, because sorting after every sample takes longer than small
    // kernels do.
    if (elapsed_ms(start) >= budget_ms) {
      m.stopped_by = StoppedBy::kTime;
      break;
    }
    const bool look = count < 50 ? count % kCheckEvery == 0 : count % (count / 10) == 0;
    if (look && converged(m.samples_ns, settings.relative_ci)) {
      m.stopped_by = StoppedBy::kCi;
      break;
    }
  }
  device.end_of_work();
  return m;
}

}  // namespace reduce_bench
