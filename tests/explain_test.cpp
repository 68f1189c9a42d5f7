// `explain` on made-up times and counters: it says what they show and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/error.hpp"
#include "expect_error.hpp"
#include "explain/model.hpp"
#include "explain/sentences.hpp"

namespace reduce_bench {
namespace {

constexpr double kMillion = 1e6;

/// A GPU of 100 SMs that reads 1000 bytes per ns and launches in 3 us, and in 1 us more each kernel
/// behind another.
constexpr Limits kLimits{
    .memory_gb_per_s = 1000, .empty_launch_ns = 3000, .further_launch_ns = 1000, .sm_count = 100};

/// A point of a million elements that took 103 us at 1000 MHz, and needs behind its launch a tenth of
/// 100 us of every throughput and half of it of latency.
Evidence evidence(const std::string& variant) {
  Evidence e{.point = {.variant = variant,
                       .operation = "reduce",
                       .backend = "cuda",
                       .n = 1'000'000,
                       .type = "i32",
                       .op = "sum",
                       .distribution = {.name = "uniform", .settings = {}}},
             .time_ns = 103'000,
             .sm_clock_mhz = 1000,
             .counted_by = CountedBy::kGpu};
  e.counts = {{"dram_read_bytes", 10 * kMillion},
              {"dram_written_bytes", 0},
              {"l2_busy_ns", 10'000},
              {"l1_busy_ns", 10'000},
              {"arithmetic_busy_ns", 10'000},
              {"instructions_issued", 4 * kMillion},
              {"instructions_executed", 4 * kMillion},
              {"thread_instructions", 64 * kMillion},
              {"busiest_sm_cycles", 100'000},
              {"scheduler_cycles", 40 * kMillion},
              {"warp_cycles", 400 * kMillion},
              {"warp_slot_cycles", 640 * kMillion},
              {"bank_conflicts", 0},
              {"stalled_long_scoreboard", 120 * kMillion},
              {"stalled_barrier", 80 * kMillion},
              {"stalled_not_selected", 120 * kMillion},
              {"stalled_mio_throttle", 80 * kMillion}};
  return e;
}

/// What a resource needs behind the launch, over what the point takes behind it.
double share_of(const Evidence& e, Resource resource, const Limits& limits = kLimits) {
  for (const Need& need : needs(e, limits)) {
    EXPECT_DOUBLE_EQ(need.share, need.ns / *e.time_ns);
    if (need.resource == resource)
      return (need.ns - limits.empty_launch_ns) / (*e.time_ns - limits.empty_launch_ns);
  }
  return -1;
}

Resource binding_of(const Evidence& e) { return binding(needs(e, kLimits)).value().resource; }

TEST(Model, GivesTheTimeOfEachResourceAtItsLimitBehindTheLaunch) {
  const Evidence e = evidence("a");
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kMemory), 0.1);  // 10 MB of 1000 B/ns
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kL2), 0.1);
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kL1), 0.1);
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kIssue), 0.1);  // four instructions per cycle and SM
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kArithmetic), 0.1);
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kLatency), 0.5);  // half of the time behind other warps
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kLaunch), 0);
}

TEST(Model, EachKernelBehindAnotherAddsItsLaunch) {
  Evidence e = evidence("a");
  e.kernels = 4;
  for (const Need& need : needs(e, kLimits)) {
    if (need.resource == Resource::kMemory) {
      EXPECT_DOUBLE_EQ(need.ns, 3000 + 3 * 1000 + 10'000);
    } else if (need.resource == Resource::kLaunch) {
      EXPECT_DOUBLE_EQ(need.ns, 3000 + 3 * 1000);
    }
  }
}

TEST(Model, LeavesOutWhatIsNotKnown) {
  Evidence e = evidence("a");
  e.counts.erase("dram_written_bytes");
  e.sm_clock_mhz.reset();
  EXPECT_EQ(share_of(e, Resource::kMemory), -1);
  EXPECT_EQ(share_of(e, Resource::kIssue), -1);
  EXPECT_EQ(share_of(e, Resource::kLatency), -1);
  EXPECT_EQ(share_of(e, Resource::kL2), 0.1);
  EXPECT_TRUE(needs(e, {.sm_count = 100}).empty());  // every need has a launch
  e.time_ns.reset();
  EXPECT_TRUE(needs(e, kLimits).empty());
  EXPECT_FALSE(binding({}));
  Evidence emulated = evidence("a");
  emulated.counted_by = CountedBy::kEmulator;
  EXPECT_TRUE(needs(emulated, kLimits).empty());
}

TEST(Model, NoUnitIsBusyForLongerThanTheBusiestSm) {
  Evidence e = evidence("a");  // whose busiest SM is active for 100 us
  e.counts["l1_busy_ns"] = e.counts["arithmetic_busy_ns"] = 105'000;
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kL1), 1.05);
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kArithmetic), 1.05);
  e.counts["l1_busy_ns"] = e.counts["arithmetic_busy_ns"] = 115'000;
  EXPECT_EQ(share_of(e, Resource::kL1), -1);
  EXPECT_EQ(share_of(e, Resource::kArithmetic), -1);
}

TEST(Model, WaitingIsLatencyOnlyWhileNothingIsSaturated) {
  Evidence e = evidence("a");
  EXPECT_EQ(binding_of(e), Resource::kLatency);
  e.counts["stalled_not_selected"] = e.counts["stalled_mio_throttle"] =
      0;  // all waiting is latency
  e.counts["dram_read_bytes"] = 89 * kMillion;
  EXPECT_EQ(binding_of(e), Resource::kLatency);
  e.counts["dram_read_bytes"] = 91 * kMillion;
  EXPECT_EQ(binding_of(e), Resource::kMemory);
  e.counts["instructions_issued"] = 38 * kMillion;
  EXPECT_EQ(binding_of(e), Resource::kIssue);
}

TEST(Model, WaitingBehindOtherWarpsIsNoLatency) {
  Evidence e = evidence("a");
  e.counts["stalled_mio_throttle"] = 240 * kMillion;
  EXPECT_DOUBLE_EQ(share_of(e, Resource::kLatency), 0.1);
  EXPECT_EQ(longest_wait(e)->reason, "a place in the queue of shared memory");
}

TEST(Model, AnEmptyKernelIsBoundByItsLaunch) {
  Evidence e = evidence("a");
  e.time_ns = 3500;
  for (auto& [unused, count] : e.counts) count /= 1000;
  EXPECT_EQ(binding_of(e), Resource::kLaunch);
}

TEST(Explain, TellsTheRatioWhatMovedAndWhatBinds) {
  Evidence a = evidence("a"), b = evidence("b");
  a.counts["instructions_issued"] = 36 * kMillion;
  b.time_ns = 53'000;
  b.counts["instructions_issued"] = 18 * kMillion;
  b.counts["bank_conflicts"] = 500'000;
  const std::string text = explain_step(a, b, kLimits);
  EXPECT_TRUE(text.starts_with("a to b: 1.94 times faster (103 us to 53 us)\n")) << text;
  EXPECT_CONTAINS(text, "Bank conflicts per element 0 to 0.5, instructions per element 36 to 18.");
  EXPECT_CONTAINS(text, "Unchanged within 5 %: bytes of device memory per element 10.");
  EXPECT_CONTAINS(text,
                  "Instruction issue binds a (90 % of its time); instruction issue binds "
                  "b (91 % of its time).");
  EXPECT_CONTAINS(text, "needs 1.94 times as long before: the ratio of the times.");
}

TEST(Explain, DoesNotCallAStepExplainedThatTheCountsDoNotShow) {
  Evidence a = evidence("a"), b = evidence("b");
  a.counts["dram_read_bytes"] = 90 * kMillion;
  b.counts["dram_read_bytes"] = 45 * kMillion;
  b.time_ns = 98'000;  // half the bytes gained little
  b.counts["stalled_long_scoreboard"] = 300 * kMillion;
  b.counts["stalled_not_selected"] = b.counts["stalled_mio_throttle"] = 0;
  const std::string text = explain_step(a, b, kLimits);
  EXPECT_CONTAINS(text, "1.05 times faster");
  EXPECT_CONTAINS(text, "latency binds b");
  EXPECT_CONTAINS(text, "waited 75 % of theirs for data of caches and device memory");
  b.counts["stalled_not_selected"] = 200 * kMillion;
  const std::string unexplained = explain_step(a, b, kLimits);
  EXPECT_CONTAINS(unexplained, "the counts do not explain the step.");
}

TEST(Explain, ClaimsNoCauseBelowHalfOfTheTimeOrBeyondIt) {
  Evidence a = evidence("a"), b = evidence("b");
  for (Evidence* each : {&a, &b}) each->counts["stalled_not_selected"] = 240 * kMillion;
  b.counts["dram_read_bytes"] = 120 * kMillion;
  const std::string text = explain_step(a, b, kLimits);
  EXPECT_CONTAINS(text,
                  "Nothing counted accounts for half of the time of a (the most is "
                  "latency, 22 %)");
  EXPECT_CONTAINS(text,
                  "the model does not hold for b, which took less than its need of "
                  "device memory");
  EXPECT_FALSE(contains(text, "binds")) << text;
}

TEST(Explain, WhatDiffersByNoiseHasNotMoved) {
  Evidence a = evidence("a"), b = evidence("b");
  b.time_ns = 104'000;
  b.counts["instructions_issued"] *= 1.02;
  b.counts["bank_conflicts"] = 100;  // of a million elements
  // 0.1 and 0.3 % of what was asked of L2
  a.counts.insert({{"l2_hit_sectors", 1'000}, {"l2_missed_sectors", 999'000}});
  b.counts.insert({{"l2_hit_sectors", 3'000}, {"l2_missed_sectors", 997'000}});
  const std::string text = explain_step(a, b, kLimits);
  EXPECT_TRUE(text.starts_with("a to b: as fast (103 us to 104 us)\n")) << text;
  EXPECT_CONTAINS(text, "No count moved.");
  EXPECT_FALSE(contains(text, "conflicts")) << text;
  b.counts["l2_hit_sectors"] = 13'000;
  EXPECT_CONTAINS(explain_step(a, b, kLimits), "Hit rate of L2 0 % to 1 %.");
}

TEST(Explain, TimesWithinTheRunsNoiseAreTheSame) {
  Evidence a = evidence("a"), b = evidence("b");
  b.time_ns = 98'000;
  Limits noisy = kLimits;
  noisy.noise_floor = 0.06;
  EXPECT_CONTAINS(explain_step(a, b, kLimits), "1.05 times faster");
  EXPECT_CONTAINS(explain_step(a, b, noisy), "a to b: as fast (103 us to 98 us)");
}

TEST(Explain, NamesBothOfTwoResourcesThatNeedAsLong) {
  Evidence a = evidence("a"), b = evidence("b");
  a.counts["dram_read_bytes"] = 95 * kMillion;
  a.counts["l2_busy_ns"] = 93'000;
  a.counts["l1_busy_ns"] = 89'000;
  EXPECT_CONTAINS(explain_step(a, b, kLimits), "Device memory or L2 binds a (95 % of its time)");
}

TEST(Explain, NamesNoCauseOfWhatWasNotCounted) {
  const Evidence whole = evidence("a");
  // Whatever single count is missing, no other is taken for it.
  for (const auto& [missing, unused] : whole.counts) {
    Evidence a = whole, b = evidence("b");
    a.counts["dram_read_bytes"] = a.counts["dram_written_bytes"] = 47 * kMillion;
    a.counts.erase(missing);
    const std::string text = explain_step(a, b, kLimits);
    const bool of_memory = missing == "dram_read_bytes" || missing == "dram_written_bytes";
    EXPECT_EQ(contains(text, "Device memory binds a"), !of_memory) << missing << "\n" << text;
    if (missing == "busiest_sm_cycles" || missing == "warp_cycles") {
      a.counts.erase("dram_read_bytes");
      EXPECT_CONTAINS(explain_step(a, b, kLimits),
                      "Nothing counted accounts for half of the time of a");
    }
  }
}

TEST(Explain, TellsNoCauseWithoutAClockOrALaunch) {
  Evidence a = evidence("a"), b = evidence("b");
  for (Evidence* each : {&a, &b}) each->sm_clock_mhz.reset();
  EXPECT_CONTAINS(explain_step(a, b, kLimits),
                  "Nothing counted accounts for half of the time of a");
  const std::string text = explain_step(a, b, {.memory_gb_per_s = 1000, .sm_count = 100});
  for (const char* word : {"binds", "accounts", "model"})
    EXPECT_FALSE(contains(text, word)) << word << " in " << text;
}

TEST(Explain, CountsOfTheEmulatorGiveNoTimeAndNoCause) {
  Evidence a = evidence("a"), b = evidence("b");
  for (Evidence* each : {&a, &b}) {
    each->time_ns.reset();
    each->counted_by = CountedBy::kEmulator;
    each->point.n = 65536;
    each->counts = {{"requests", 40'840}, {"active_lanes", 330'000}, {"bank_conflicts", 0}};
  }
  b.counts = {{"requests", 17'575}, {"active_lanes", 330'000}, {"bank_conflicts", 23'265}};
  const std::string text = explain_steps(std::array{a, b}, kLimits);
  EXPECT_CONTAINS(text,
                  "\na to b\n  Bank conflicts 0 to 23,265, requests of memory 40,840 to "
                  "17,575, lanes in a request 8.08 to 18.8.\n");
  for (const char* word : {"faster", "slower", "binds", "us)", "model"})
    EXPECT_FALSE(contains(text, word)) << word << " in " << text;
  EXPECT_CONTAINS(text, "The emulator counted");
}

TEST(Explain, TimesAloneGiveTheirRatioAndWhyNothingElseIsSaid) {
  Evidence a = evidence("a"), b = evidence("b");
  for (Evidence* each : {&a, &b}) {
    each->counts.clear();
    each->counted_by = CountedBy::kNobody;
    each->uncounted = "the run counted nothing";
  }
  b.time_ns = 206'000;
  const std::string text = explain_steps(std::array{a, b}, kLimits);
  EXPECT_CONTAINS(text, "a to b: 2.00 times slower");
  EXPECT_CONTAINS(text, "Not counted: the run counted nothing.");
  EXPECT_FALSE(contains(text, "binds")) << text;
}

TEST(Explain, ASequenceEndsWithHowWellTheModelDoes) {
  Evidence a = evidence("a"), b = evidence("b"), c = evidence("c");
  b.counts["dram_read_bytes"] = 90 * kMillion;
  c.counts["dram_read_bytes"] = 80 * kMillion;
  const std::string text = explain_steps(std::array{a, b, c}, kLimits);
  EXPECT_CONTAINS(text,
                  "The model accounts for 81 % of the time in the median of 3 points, "
                  "51 % to 90 %.");
}

/// The parts of the times that the model accounts for, of a results file's reductions of 2^24 elements
/// or more.
std::vector<double> accounted_shares(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const AllEvidence all = read_evidence(Json::parse(stream), file.string());
  std::vector<double> shares;
  for (const Evidence& each : all.points)
    if (each.point.operation == "reduce" && each.point.n >= 1 << 24)
      if (const auto most = binding(needs(each, all.limits))) shares.push_back(most->share);
  std::sort(shares.begin(), shares.end());
  return shares;
}

TEST(Model, AccountsForNineTenthsOfTheTimesOfCommittedReductions) {
  std::size_t files = 0;
  for (const auto& device : std::filesystem::directory_iterator(SOURCE_DIR "/results")) {
    const std::filesystem::path file = device.path() / "counted.json";
    if (!std::filesystem::exists(file)) continue;
    ++files;
    const std::vector<double> shares = accounted_shares(file);
    ASSERT_GE(shares.size(), 40u) << file;
    EXPECT_GE(shares[shares.size() / 2], 0.9) << file;
    EXPECT_LE(shares[shares.size() * 19 / 20], 1.05) << file;
    EXPECT_LE(shares.back(), 1.1) << file;
  }
  EXPECT_GT(files, 0u) << "no results of configs/counted.json are committed";
}

// ---- the choice of what is compared -----------------------------------------------------------

AllEvidence all_of(std::vector<Evidence> points) {
  return {.points = std::move(points), .limits = kLimits};
}

TEST(ChooseProblem, TakesTheLargestThatAllHave) {
  Evidence small_a = evidence("a"), small_b = evidence("b"), large_a = evidence("a");
  small_a.point.n = small_b.point.n = 1000;
  const AllEvidence all = all_of({small_a, small_b, large_a});
  const std::vector<std::string> variants{"b", "a"};
  const auto chosen = choose_problem(all, variants, {}, "file");
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].point.variant, "b");
  EXPECT_EQ(chosen[1].point.n, 1000u);
  EXPECT_CONTAINS(message_of<UsageError>([&] { choose_problem(all, variants, 1'000'000, "file"); }),
                  "'file' has no problem of 1000000 elements");
}

TEST(ChooseProblem, PrefersWhatIsCountedAndThenTheFastest) {
  Evidence counted_a = evidence("a"), counted_b = evidence("b");
  Evidence a = evidence("a"), b = evidence("b"), fast_a = evidence("a");
  for (Evidence* each : {&counted_a, &counted_b}) each->point.n = 1000;
  for (Evidence* each : {&a, &b}) each->counted_by = CountedBy::kNobody;
  fast_a.point.n = 1000;
  fast_a.point.params.entries = {{"block", "512"}};
  fast_a.time_ns = 1000;
  const auto chosen = choose_problem(all_of({a, b, counted_a, counted_b, fast_a}),
                                     std::vector<std::string>{"a", "b"}, {}, "file");
  EXPECT_EQ(chosen[0].point.n, 1000u);
  EXPECT_EQ(chosen[0].time_ns, 1000);
}

}  // namespace
}  // namespace reduce_bench
