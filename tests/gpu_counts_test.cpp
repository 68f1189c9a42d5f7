// What a record has of CUPTI's metrics, on made-up values, and that CUPTI knows the metrics asked for.
#include "devices/gpu_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace reduce_bench {
namespace {

/// Every metric with the value 8, but for those of stalls, which are 0.
MetricValues all_values() {
  MetricValues values;
  for (const std::string& metric : gpu_metrics())
    values[metric] = metric.find("_issue_stalled_") == std::string::npos ? 8 : 0;
  return values;
}

const Counter* find(const std::vector<Counter>& counters, std::string_view name) {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [&](const Counter& each) { return each.name == name; });
  return found == counters.end() ? nullptr : &*found;
}

TEST(GpuCounts, EveryCountHasTheSumOfItsMetrics) {
  const auto counters = gpu_counts(all_values(), 16);
  ASSERT_EQ(counters.size(), kGpuCounters.size() + 1 + kBusyTimes.size());
  for (const GpuCounter& each : kGpuCounters) {
    const Counter* const counter = find(counters, each.name);
    ASSERT_NE(counter, nullptr) << each.name;
    EXPECT_EQ(counter->count, each.metrics[1].empty() ? 8u : 16u) << each.name;
    EXPECT_EQ(counter->unavailable, "");
  }
}

TEST(GpuCounts, OfALargerRangeNothingIsLost) {
  MetricValues values = all_values();
  values["dram__bytes_read.sum"] = 1e13;
  EXPECT_EQ(find(gpu_counts(values, 16), "dram_read_bytes")->count, 10'000'000'000'000u);
}

TEST(GpuCounts, SlotsAndTheTimesOfBusyPartsAreComputed) {
  MetricValues values = all_values();
  values["smsp__cycles_active.sum"] = 1000;
  values["lts__throughput.avg.pct_of_peak_sustained_elapsed"] = 25;
  values["sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"] = 50;
  values["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"] = 60;
  values.erase("sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed");
  values["gpu__time_duration.sum"] = 4000;
  const auto counters = gpu_counts(values, 12);
  EXPECT_EQ(find(counters, kWarpSlotCycles)->count, 12'000u);
  EXPECT_EQ(find(counters, kL2BusyNs)->count, 1000u);
  EXPECT_EQ(find(counters, kL1BusyNs)->count, 320u);
  EXPECT_EQ(find(counters, kArithmeticBusyNs)->count, 2400u);  // of the busiest unit that is there
}

TEST(GpuCounts, WhatAGpuLacksIsUnavailableAndTheRestIsThere) {
  MetricValues values = all_values();
  values.erase("dram__bytes_read.sum");
  values.erase("lts__t_sectors_srcunit_tex_op_red.sum");  // one of two
  values["gpu__time_duration.sum"] = std::numeric_limits<double>::quiet_NaN();
  const auto counters = gpu_counts(values, 16);
  for (const std::string_view name :
       {std::string_view("dram_read_bytes"), std::string_view("l2_atomic_sectors"), kL2BusyNs,
        kArithmeticBusyNs}) {
    EXPECT_FALSE(find(counters, name)->count) << name;
    EXPECT_NE(find(counters, name)->unavailable, "") << name;
  }
  EXPECT_EQ(find(counters, "dram_written_bytes")->count, 8u);
}

TEST(GpuCounts, EveryReasonForWhichWarpsWaitedIsKept) {
  MetricValues values = all_values();
  values["smsp__warps_issue_stalled_wait.sum"] = 5;
  values["smsp__warps_issue_stalled_barrier.sum"] = 50;
  const auto counters = gpu_counts(values, 16);
  EXPECT_EQ(find(counters, "stalled_barrier")->count, 50u);
  EXPECT_EQ(find(counters, "stalled_wait")->count, 5u);
  EXPECT_EQ(find(counters, "stalled_membar"), nullptr);
  EXPECT_EQ(counters.size(), kGpuCounters.size() + 1 + kBusyTimes.size() + 2);
}

TEST(GpuCounts, NamesAreDistinct) {
  const auto names = gpu_counter_names();
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  for (const Counter& counter : gpu_counts(all_values(), 16))
    EXPECT_NE(std::find(names.begin(), names.end(), counter.name), names.end()) << counter.name;
}

}  // namespace
}  // namespace reduce_bench
