// The energy of a call, on a made-up board.
#include "devices/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace reduce_bench {
namespace {

/// A board that takes `watts` whatever runs, and tells so every `step_ms`.
struct Board {
  double watts = 500, step_ms = 100, call_ms = 0.25, now_ms = 12345;
  std::uint64_t calls = 0;

  EnergyProbe probe() {
    return {.millijoules =
                [this] {
                  return static_cast<std::uint64_t>(watts * std::floor(now_ms / step_ms) * step_ms);
                },
            .now_ms = [this] { return now_ms; },
            .run =
                [this](std::uint64_t count) {
                  calls += count;
                  now_ms += static_cast<double>(count) * call_ms;
                }};
  }
};

TEST(Energy, IsThatOfTheBoardWhileTheCallsRun) {
  Board board;
  const Energy energy = measure_energy(board.probe());
  ASSERT_TRUE(energy.joules_per_call);
  // Steps are noticed within a batch of 5 ms, of a second.
  EXPECT_NEAR(*energy.joules_per_call, 500 * 0.25e-3, 0.01 * 500 * 0.25e-3);
  EXPECT_GE(energy.window_ms, 1000);
  EXPECT_LT(energy.window_ms, 1200);
  EXPECT_EQ(energy.unavailable, "");
}

TEST(Energy, OfAVeryShortAndAVeryLongCall) {
  for (const double call_ms : {1e-3, 700.0}) {
    Board board{.call_ms = call_ms};
    const Energy energy = measure_energy(board.probe());
    ASSERT_TRUE(energy.joules_per_call) << call_ms;
    // A long call may end a whole step after the last.
    EXPECT_NEAR(*energy.joules_per_call, 0.5 * call_ms, 0.15 * 0.5 * call_ms) << call_ms;
    EXPECT_LE(energy.calls, board.calls);
  }
}

TEST(Energy, ACounterThatStandsStillIsUnavailable) {
  Board board{.watts = 0};
  const Energy energy = measure_energy(board.probe());
  EXPECT_FALSE(energy.joules_per_call);
  EXPECT_NE(energy.unavailable, "");
  EXPECT_LT(board.now_ms, 12345 + 5000);
}

TEST(Energy, WithoutAGpuTheReasonIsSaid) {
  try {
    nvml_energy_counter("0000:ff:1f.7");
    FAIL() << "there is no such GPU";
  } catch (const std::runtime_error& why) {
    EXPECT_NE(std::string(why.what()), "");
  }
}

}  // namespace
}  // namespace reduce_bench
