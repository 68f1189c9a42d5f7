// Takes samples until the median is known well enough, and summarises them.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "plan/config.hpp"

namespace reduce_bench {

enum class StoppedBy { kCi, kTime, kSamples };
inline constexpr std::array kStoppedByNames{std::string_view{"ci"}, std::string_view{"time"},
                                            std::string_view{"samples"}};

/// Order statistics of values, in the values' own unit.
struct Summary {
  double median = 0, min = 0, max = 0, p25 = 0, p75 = 0, p95 = 0;
  double mean = 0, stddev = 0;
  double ci_low = 0, ci_high = 0;  ///< 95 % interval of the median, from order statistics
};
/// Throws std::logic_error for no values.
Summary summarise(std::span<const double> values);
/// The same, where nothing else is asked for.
double median(std::span<const double> values);

/// What a summary does not tell of samples.
struct Shape {
  std::size_t outliers = 0;  ///< beyond 1.5 interquartile ranges below or above the quartiles
  bool two_modes = false;    ///< they lie in two groups: the median is a time that few of them took
};
Shape shape_of(std::span<const double> values);

/// All samples of one mode of one point, in the order taken.
struct Measurement {
  std::vector<double> samples_ns;
  std::vector<double> sm_clocks_mhz;
  /// Where the host waits, Device::round_trip_ns after every sample: how fast the host was.
  std::vector<double> round_trips_ns;
  unsigned discarded = 0;  ///< samples dropped because the SM clock was under the floor
  bool throttled = false;  ///< the clock stayed under the floor, so samples were kept all the same
  StoppedBy stopped_by = StoppedBy::kSamples;

  /// Appends another round's samples.
  void merge(const Measurement& other);
};

/// Whether the median's confidence interval is narrow enough.
bool converged(std::span<const double> samples_ns, double relative_ci);

/// Measures `work`, warmed up before, in one mode. `share` (0, 1] of the time budget is used.
Measurement measure(Device& device, Mode mode, const Work& work,
                    const MeasurementSettings& settings, double share = 1);

}  // namespace reduce_bench
