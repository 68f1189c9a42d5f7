// The CPU backend's clock against work of known length.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/randomness.hpp"
#include "kernels/multireduce/cpu/multireduce.hpp"
#include "kernels/shared/arrays.hpp"
#include "kernels/shared/ops.hpp"
#include "point/measure.hpp"

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
    return median(measure(*device, mode, {.enqueue = enqueue}, settings).samples_ns);
  }
  std::unique_ptr<Device> device = make_cpu_device();
  MeasurementSettings settings{.min_samples = 20, .max_samples = 20};
};

TEST_F(Timing, NothingTakesLessThanAMicrosecond) {
  EXPECT_LT(median_ns(Mode::kCold, [] {}), 1000);
  EXPECT_LT(median_ns(Mode::kHot, [] {}), 100);  // a batch hides the clock's own cost
}

TEST_F(Timing, AKnownDelayIsMeasuredWithinFivePercent) {
  for (const Mode mode : {Mode::kCold, Mode::kHot, Mode::kWall}) {
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
  const double ns_a = median(a.samples_ns), ns_b = median(b.samples_ns);
  EXPECT_NEAR(ns_a / kWorkNs, 1, 0.5);
  EXPECT_GT(ns_b / ns_a, 0.8);
  EXPECT_LT(ns_b / ns_a, 1.25);
}

double duration_ns(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Each input of an enforced sequential multireduce takes as long as a step from a random line to
// the next, as the next is not known before: three quarters of it, where two inputs at a time would
// take half. Both are timed in turn, as a processor that others use changes its speed, and each
// right after the same buckets were stored, which leaves the same lines of them in the caches.
TEST(Chained, AnInputWaitsForTheOneBefore) {
  constexpr std::size_t kInputs = std::size_t{1} << 18, kLines = std::size_t{1} << 20;
  constexpr std::size_t kWordsOfLine = 16, kBuckets = kLines * kWordsOfLine;  // 64 MiB
  const Randomness random{1};
  std::vector<std::uint32_t> order(kLines), chain(kBuckets), buckets(kBuckets), labels(kInputs);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = kLines; i-- > 1;) std::swap(order[i], order[random.word(i) % (i + 1)]);
  for (std::size_t i = 0; i < kLines; ++i)
    chain[order[i] * kWordsOfLine] = order[(i + 1) % kLines] * kWordsOfLine;
  for (std::size_t i = 0; i < kInputs; ++i)
    labels[i] = static_cast<std::uint32_t>(random.word(kLines + i) % kBuckets);
  const std::vector<std::uint32_t> ones(kInputs, 1);

  constexpr double kNever = std::numeric_limits<double>::max();
  double steps_ns = kNever, filled_ns = kNever, inputs_ns = kNever;
  for (int round = 0; round < 10; ++round) {
    std::ranges::copy(chain, buckets.begin());
    std::uint32_t at = 0;
    steps_ns = std::min(steps_ns, duration_ns([&] {
                          for (std::size_t i = 0; i < kInputs; ++i) at = buckets[at];
                        }));
    volatile std::uint32_t sink = at;
    (void)sink;
    filled_ns = std::min(
        filled_ns, duration_ns([&] { cpu::fill(buckets.data(), kBuckets, std::uint32_t{0}); }));
    inputs_ns = std::min(inputs_ns, duration_ns([&] {
                           cpu::multireduce<cpu::Sum, std::uint32_t>(
                               kInputs, kBuckets, labels.data(), ones.data(),
                               cpu::Chained<std::uint32_t>(buckets.data()));
                         }));
  }
  EXPECT_GT(inputs_ns - filled_ns, 0.75 * steps_ns);
}

}  // namespace
}  // namespace reduce_bench
