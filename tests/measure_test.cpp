// When measuring stops, what it keeps, and how samples are summarised.
#include "point/measure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "fake_device.hpp"

namespace reduce_bench {
namespace {

// ---- summaries --------------------------------------------------------------------------------

TEST(Summary, OfKnownSamples) {
  const Summary s = summarise(std::vector<double>{4, 1, 3, 2});
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 4);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.p25, 1.75);
  EXPECT_EQ(s.p75, 3.25);
  EXPECT_DOUBLE_EQ(s.p95, 3.85);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_DOUBLE_EQ(s.stddev, std::sqrt(5.0 / 3));
}

TEST(Summary, OfOneSampleIsThatSample) {
  const Summary s = summarise(std::vector<double>{7});
  for (const double x : {s.min, s.median, s.p95, s.max, s.ci_low, s.ci_high}) EXPECT_EQ(x, 7);
  EXPECT_EQ(s.stddev, 0);
}

TEST(Summary, OfNothingIsAnError) {
  EXPECT_THROW(summarise(std::vector<double>{}), std::logic_error);
}

std::vector<double> repeated(double value, std::size_t times) {
  return std::vector<double>(times, value);
}
std::vector<double> together(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Shape, CountsWhatLiesFarOutsideTheQuartiles) {
  std::vector<double> samples = together(repeated(100, 10), repeated(102, 10));
  EXPECT_EQ(shape_of(samples).outliers, 0u);
  samples.push_back(90);
  samples.push_back(500);
  EXPECT_EQ(shape_of(samples).outliers, 2u);
  EXPECT_FALSE(shape_of(samples).two_modes);  // two samples are no group
}

TEST(Shape, TellsTwoGroups) {
  EXPECT_TRUE(shape_of(together(repeated(100, 10), repeated(110, 10))).two_modes);
  EXPECT_TRUE(shape_of(together(repeated(100, 18), repeated(110, 2))).two_modes);
  EXPECT_FALSE(shape_of(together(repeated(100, 19), repeated(110, 1))).two_modes);
  EXPECT_FALSE(
      shape_of(together(repeated(100, 9), repeated(110, 1))).two_modes);  // one is no group
  EXPECT_FALSE(shape_of(together(repeated(100, 10), repeated(101, 10))).two_modes);  // a tick
  std::vector<double> wide;
  for (int i = 0; i < 20; ++i) wide.push_back(100 + i % 10 + (i < 10 ? 0 : 40));
  EXPECT_TRUE(shape_of(wide).two_modes);
  wide.push_back(5000);
  EXPECT_TRUE(shape_of(wide).two_modes);
}

TEST(Shape, OneGroupIsOneHoweverWide) {
  std::vector<double> even, tail;
  for (int i = 1; i <= 200; ++i) {
    even.push_back(100 + i);
    tail.push_back(100 - 100 * std::log(1 - (i - 0.5) / 200));  // quantiles of an exponential
  }
  EXPECT_FALSE(shape_of(even).two_modes);
  EXPECT_FALSE(shape_of(tail).two_modes);
  EXPECT_FALSE(shape_of(repeated(7, 1)).two_modes);
  EXPECT_EQ(shape_of(repeated(7, 1)).outliers, 0u);
}

std::vector<double> one_to(std::size_t n) {
  std::vector<double> samples(n);
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

TEST(Summary, IntervalOfTheMedianIsAPairOfSamples) {
  const Summary of_10 = summarise(one_to(10));
  EXPECT_EQ(of_10.ci_low, 2);
  EXPECT_EQ(of_10.ci_high, 9);
  const Summary of_100 = summarise(one_to(100));
  EXPECT_EQ(of_100.ci_low, 40);
  EXPECT_EQ(of_100.ci_high, 61);
}

TEST(Summary, IntervalHoldsTheMedianWith95Percent) {
  for (std::size_t n = 10; n <= 1000; ++n) {
    const Summary s = summarise(one_to(n));
    // The true median is between order statistics l and h where l to h - 1 samples are below it.
    double confidence = 0;
    const double size = static_cast<double>(n);
    for (double k = s.ci_low; k < s.ci_high; ++k)
      confidence += std::exp(std::lgamma(size + 1) - std::lgamma(k + 1) -
                             std::lgamma(size - k + 1) - size * std::log(2));
    EXPECT_GE(confidence, 0.95) << n;
    EXPECT_LE(confidence, 0.99) << n;  // and is no wider than it must be
  }
}

TEST(Summary, ConvergedIsHalfTheIntervalOverTheMedian) {
  std::vector<double> samples(100, 1000);
  EXPECT_TRUE(converged(samples, 1e-9));
  // A quarter of the samples on either side pulls both ends of the interval 1 % apart.
  for (std::size_t i = 0; i < 45; ++i) {
    samples[i] = 990;
    samples[99 - i] = 1010;
  }
  EXPECT_FALSE(converged(samples, 0.0099));
  EXPECT_TRUE(converged(samples, 0.01));
}

// ---- stopping ---------------------------------------------------------------------------------

class Measure : public testing::Test {
 protected:
  void SetUp() override {
    settings.max_time_ms = 60000;
    settings.relative_ci = 0.005;
  }
  Measurement run(Mode mode = Mode::kCold, double share = 1) {
    return measure(device, mode,
                   {.enqueue = [this] { ++calls; }, .synchronous = synchronous, .kernels = kernels},
                   settings, share);
  }
  /// Times that never settle.
  void be_noisy() {
    device.script = [](std::size_t k) { return Sample{.ns = k % 2 == 0 ? 100.0 : 300.0}; };
  }
  void show_clocks(double (*clock_mhz)(std::size_t)) {
    device.max_clock_mhz = 1000;
    device.script = [=](std::size_t k) { return Sample{.ns = 1000, .sm_clock_mhz = clock_mhz(k)}; };
  }

  FakeDevice device;
  MeasurementSettings settings;
  unsigned kernels = 1;
  bool synchronous = false;
  unsigned calls = 0;
};

TEST_F(Measure, StopsWhenTheIntervalIsNarrow) {
  const Measurement m = run();
  EXPECT_EQ(m.stopped_by, StoppedBy::kCi);
  EXPECT_EQ(m.samples_ns, std::vector<double>(settings.min_samples, 1000));
}

TEST_F(Measure, StopsAtTheMostSamples) {
  be_noisy();
  settings.max_samples = 23;
  const Measurement m = run();
  EXPECT_EQ(m.stopped_by, StoppedBy::kSamples);
  EXPECT_EQ(m.samples_ns.size(), 23u);
}

TEST_F(Measure, StopsWhenTheTimeIsSpent) {
  device.script = [](std::size_t k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Sample{.ns = k % 2 == 0 ? 100.0 : 300.0};
  };
  settings.max_time_ms = 30;
  const Measurement m = run();
  EXPECT_EQ(m.stopped_by, StoppedBy::kTime);
  EXPECT_GE(m.samples_ns.size(), settings.min_samples);
  EXPECT_LE(m.samples_ns.size(), 31u);  // no sample is shorter than 1 ms
}

TEST_F(Measure, TakesTheFewestSamplesWhateverTheTime) {
  be_noisy();
  settings.max_time_ms = 1e-6;
  settings.min_samples = 17;
  const Measurement m = run();
  EXPECT_EQ(m.stopped_by, StoppedBy::kTime);
  EXPECT_EQ(m.samples_ns.size(), 17u);
}

TEST_F(Measure, TakesItsShareOfTheSamples) {
  be_noisy();
  settings.max_samples = 40;
  EXPECT_EQ(run(Mode::kCold, 0.25).samples_ns.size(), 10u);
  settings.max_time_ms = 1e-6;
  EXPECT_EQ(run(Mode::kCold, 0.25).samples_ns.size(), 3u);
}

TEST_F(Measure, WarmsUpWithASampleThatIsNotKept) {
  device.script = [](std::size_t k) { return Sample{.ns = k == 0 ? 1e9 : 1000}; };
  EXPECT_EQ(summarise(run().samples_ns).max, 1000);
  EXPECT_EQ(calls, settings.min_samples + 1);
}

TEST_F(Measure, TimesTheRoundTripBesideEverySampleThatTheHostWaitsFor) {
  device.trip_ns = 9000;
  EXPECT_TRUE(run().round_trips_ns.empty());
  device.modes.insert(Mode::kWall);
  EXPECT_EQ(run(Mode::kWall).round_trips_ns, std::vector<double>(settings.min_samples, 9000));
  synchronous = true;
  EXPECT_EQ(run().round_trips_ns, std::vector<double>(settings.min_samples, 9000));
  device.trip_ns.reset();
  EXPECT_TRUE(run().round_trips_ns.empty());
}

TEST_F(Measure, EndsTheWorkOnce) {
  run(Mode::kGraph);
  EXPECT_EQ(device.ended_works, 1u);
}

TEST_F(Measure, MergedRoundsAddUp) {
  Measurement a{.samples_ns = {1}, .sm_clocks_mhz = {5}, .round_trips_ns = {8}, .discarded = 1};
  a.merge({.samples_ns = {2, 3},
           .sm_clocks_mhz = {6, 7},
           .round_trips_ns = {9},
           .discarded = 2,
           .throttled = true,
           .stopped_by = StoppedBy::kCi});
  EXPECT_EQ(a.samples_ns, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(a.sm_clocks_mhz, (std::vector<double>{5, 6, 7}));
  EXPECT_EQ(a.round_trips_ns, (std::vector<double>{8, 9}));
  EXPECT_EQ(a.discarded, 3u);
  EXPECT_TRUE(a.throttled);
  EXPECT_EQ(a.stopped_by, StoppedBy::kCi);
  a.merge({.samples_ns = {4}});
  EXPECT_TRUE(a.throttled);  // a later round on a fast card does not take it back
}

// ---- batches ----------------------------------------------------------------------------------

TEST_F(Measure, ColdAndWallNeverBatch) {
  device.script = [](std::size_t) { return Sample{.ns = 1}; };
  for (const Mode asked : {Mode::kCold, Mode::kWall}) {
    device.taken.clear();
    run(asked);
    for (const auto& [mode, batch] : device.taken) {
      EXPECT_EQ(mode, asked);
      EXPECT_EQ(batch, 1u);
    }
  }
}

TEST_F(Measure, HotBatchesLastAMillisecondAsFarAsTheyFitTheLaunchQueue) {
  const auto batch_for = [&](double ns, unsigned launches) {
    device.script = [=](std::size_t) { return Sample{.ns = ns}; };
    kernels = launches;
    run(Mode::kHot);
    return device.taken.back().second;
  };
  EXPECT_EQ(batch_for(1e5, 1), 10u);
  EXPECT_EQ(batch_for(1e7, 1), 1u);
  EXPECT_EQ(batch_for(10, 1), 512u);
  EXPECT_EQ(batch_for(10, 3), 170u);
  EXPECT_EQ(batch_for(10, 5000), 1u);
}

// ---- the SM clock -----------------------------------------------------------------------------

TEST_F(Measure, DiscardsSamplesUnderTheClockFloor) {
  show_clocks([](std::size_t k) { return k % 3 == 0 ? 749.0 : 750.0; });
  const Measurement m = run();
  EXPECT_FALSE(m.throttled);
  EXPECT_EQ(m.samples_ns.size(), 10u);
  EXPECT_EQ(m.discarded, 4u);  // of samples 1 to 14; sample 0 was the warm-up
  EXPECT_EQ(m.sm_clocks_mhz, std::vector<double>(10, 750));
}

TEST_F(Measure, AFewSlowSamplesInALongRunAreNoThrottling) {
  device.max_clock_mhz = 1000;
  device.script = [](std::size_t k) {
    return Sample{.ns = k % 2 == 0 ? 100.0 : 300.0, .sm_clock_mhz = k % 7 == 0 ? 500.0 : 1000.0};
  };
  settings.max_samples = 900;
  const Measurement m = run();
  EXPECT_FALSE(m.throttled);
  EXPECT_EQ(m.discarded, 149u);
}

TEST_F(Measure, MeasuresACardThatStaysSlowAndMarksIt) {
  show_clocks([](std::size_t) { return 500.0; });
  const Measurement m = run();
  EXPECT_TRUE(m.throttled);
  EXPECT_EQ(m.samples_ns.size(), 10u);
  EXPECT_EQ(m.discarded, 21u);
}

TEST_F(Measure, KeepsAllSamplesWithoutAFloorOrAClock) {
  show_clocks([](std::size_t) { return 500.0; });
  settings.clock_floor = 0;
  EXPECT_EQ(run().discarded, 0u);
  settings.clock_floor = 0.75;
  device.max_clock_mhz.reset();
  EXPECT_EQ(run().discarded, 0u);
}

}  // namespace
}  // namespace reduce_bench
