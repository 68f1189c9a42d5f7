// The CPU backend's clock against work of known length.
#include <gtest/gtest.h>

#include <chrono>

#include "harness/measure.hpp"

namespace reduce_bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBusyNs = 200e3;
constexpr double kWorkNs = 100e3;

void wait_busily() {
  const auto end = Clock::now() + std::chrono::nanoseconds(static_cast<long>(kBusyNs));
  while (Clock::now() < end) {
  }
}

class Timing : public testing::Test {
 protected:
  double median_ns(Mode mode, const std::function<void()>& enqueue) {
    return summarise(measure(*device, mode, {.enqueue = enqueue}, settings).samples_ns).median_ns;
  }
  std::unique_ptr<Device> device = make_cpu_device();
  MeasurementSettings settings{.min_samples = 20, .max_samples = 20};
};

TEST_F(Timing, NothingTakesLessThanAMicrosecond) {
  EXPECT_LT(median_ns(Mode::kCold, [] {}), 1000);
  EXPECT_LT(median_ns(Mode::kHot, [] {}), 100);  // a batch hides the clock's own cost
}

TEST_F(Timing, AKnownDelayIsMeasuredWithinFivePercent) {
  for (const Mode mode : {Mode::kCold, Mode::kHot}) {
    const double ns = median_ns(mode, wait_busily);
    EXPECT_GE(ns, kBusyNs);
    EXPECT_LE(ns, 1.05 * kBusyNs);
  }
}

TEST_F(Timing, TheSameWorkTwiceTakesTheSameTime) {
  // As many dependent steps as take about kWorkNs here.
  std::uint64_t state = 1, steps = 1000;
  const auto work = [&] {
    for (std::uint64_t i = 0; i < steps; ++i) state = state * 6364136223846793005u + 1;
    volatile std::uint64_t sink = state;
    (void)sink;
  };
  steps = static_cast<std::uint64_t>(static_cast<double>(steps) * kWorkNs /
                                     median_ns(Mode::kHot, work));
  Measurement a, b;
  for (int round = 0; round < 10; ++round) {
    a.merge(measure(*device, Mode::kHot, {.enqueue = work}, settings));
    b.merge(measure(*device, Mode::kHot, {.enqueue = work}, settings));
  }
  const double ns_a = summarise(a.samples_ns).median_ns, ns_b = summarise(b.samples_ns).median_ns;
  EXPECT_NEAR(ns_a / kWorkNs, 1, 0.5);
  EXPECT_GT(ns_b / ns_a, 0.8);
  EXPECT_LT(ns_b / ns_a, 1.25);
}

}  // namespace
}  // namespace reduce_bench
