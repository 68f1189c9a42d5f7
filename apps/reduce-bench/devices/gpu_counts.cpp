#include "devices/gpu_counts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace reduce_bench {
namespace {

constexpr const char* kSchedulerCycles = "smsp__cycles_active.sum";
constexpr const char* kRangeNs = "gpu__time_duration.sum";

std::string percent_metric(std::string_view share) {
  return std::string(share) + ".avg.pct_of_peak_sustained_elapsed";
}

std::string stall_metric(std::string_view reason) {
  return "smsp__warps_issue_stalled_" + std::string(reason) + ".sum";
}

Counter counter(std::string_view name, std::optional<double> value) {
  Counter counter{.name = std::string(name)};
  if (value) counter.count = static_cast<std::uint64_t>(std::llround(*value));
  else counter.unavailable = "this GPU has no such counter";
  return counter;
}

}  // namespace

std::vector<std::string> gpu_metrics() {
  std::vector<std::string> names{kRangeNs};
  for (const GpuCounter& each : kGpuCounters)
    for (const std::string_view metric : each.metrics)
      if (!metric.empty()) names.emplace_back(metric);
  for (const BusyTime& each : kBusyTimes)
    for (const std::string_view share : each.shares)
      if (!share.empty()) names.push_back(percent_metric(share));
  for (const std::string_view reason : kStallReasons) names.push_back(stall_metric(reason));
  return names;
}

std::vector<Counter> gpu_counts(const MetricValues& values, unsigned warp_slots) {
  const auto value_of = [&](const std::string& metric) -> std::optional<double> {
    const auto found = values.find(metric);
    // What was not collected is not a number.
    if (found == values.end() || !(found->second >= 0)) return std::nullopt;
    return found->second;
  };
  std::vector<Counter> counters;
  for (const GpuCounter& each : kGpuCounters) {
    std::optional<double> sum = 0;
    for (const std::string_view metric : each.metrics) {
      if (metric.empty()) continue;
      const auto value = value_of(std::string(metric));
      sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
    }
    counters.push_back(counter(each.name, sum));
  }
  const auto cycles = value_of(kSchedulerCycles);
  counters.push_back(
      counter(kWarpSlotCycles, cycles ? std::optional(*cycles * warp_slots) : std::nullopt));
  const auto range_ns = value_of(kRangeNs);
  for (const BusyTime& each : kBusyTimes) {
    std::optional<double> busiest;  // of those parts that the GPU has
    for (const std::string_view share : each.shares)
      if (const auto percent = share.empty() ? std::nullopt : value_of(percent_metric(share)))
        busiest = std::max(busiest.value_or(0), *percent);
    counters.push_back(counter(
        each.name, busiest && range_ns ? std::optional(*range_ns * *busiest / 100) : std::nullopt));
  }
  for (const std::string_view reason : kStallReasons)
    if (const auto stalled = value_of(stall_metric(reason)); stalled && *stalled > 0)
      counters.push_back(counter(std::string(kStalledPrefix) + std::string(reason), stalled));
  return counters;
}

std::vector<std::string> gpu_counter_names() {
  std::vector<std::string> names;
  for (const GpuCounter& each : kGpuCounters) names.emplace_back(each.name);
  names.emplace_back(kWarpSlotCycles);
  for (const BusyTime& each : kBusyTimes) names.emplace_back(each.name);
  names.emplace_back(kFlushWrittenBytes);
  for (const std::string_view reason : kStallReasons)
    names.push_back(std::string(kStalledPrefix) + std::string(reason));
  names.emplace_back(kAllCounters);
  return names;
}

}  // namespace reduce_bench
