#include "devices/gpu_counts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace reduce_bench {
namespace {

constexpr const char* kSchedulerCycles = "smsp__cycles_active.sum";
constexpr const char* kL2Percent = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kRangeNs = "gpu__time_duration.sum";

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
  std::vector<std::string> names{kL2Percent, kRangeNs};
  for (const GpuCounter& each : kGpuCounters)
    for (const std::string_view metric : each.metrics)
      if (!metric.empty()) names.emplace_back(metric);
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
  const auto product = [&](const char* metric, std::optional<double> factor) {
    const auto value = value_of(metric);
    return value && factor ? std::optional(*value * *factor) : std::nullopt;
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
  counters.push_back(counter(kWarpSlotCycles, product(kSchedulerCycles, warp_slots)));
  counters.push_back(counter(kL2BusyNs, product(kRangeNs, product(kL2Percent, 0.01))));
  std::vector<std::pair<double, std::string_view>> stalls;
  for (const std::string_view reason : kStallReasons)
    if (const auto value = value_of(stall_metric(reason)); value && *value > 0)
      stalls.emplace_back(*value, reason);
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (stalls.size() > kRecordedStalls) stalls.resize(kRecordedStalls);
  for (const auto& [value, reason] : stalls)
    counters.push_back(counter(std::string(kStalledPrefix) + std::string(reason), value));
  return counters;
}

std::vector<std::string> gpu_counter_names() {
  std::vector<std::string> names;
  for (const GpuCounter& each : kGpuCounters) names.emplace_back(each.name);
  names.emplace_back(kWarpSlotCycles);
  names.emplace_back(kL2BusyNs);
  for (const std::string_view reason : kStallReasons)
    names.push_back(std::string(kStalledPrefix) + std::string(reason));
  names.emplace_back(kAllCounters);
  return names;
}

}  // namespace reduce_bench
