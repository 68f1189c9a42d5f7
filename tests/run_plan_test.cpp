// A whole run on backends that the test makes up: which point runs when, and what becomes of it.
#include "results/run_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "common/error.hpp"
#include "devices/gpu_counts.hpp"
#include "expect_error.hpp"
#include "plan/identity.hpp"
#include "results/older.hpp"
#include "results/run_document.hpp"
#include "results/table.hpp"

namespace reduce_bench {
namespace {

/// Two problems of two variants each.
Config config(unsigned interleave = 1) {
  Json document = Json::parse(R"({"schema": 1, "sweeps": [
      {"variants": ["cpu/sequential", "cpu/pairwise"], "n": [1000, 2000], "type": ["i32"]}]})");
  document["sweeps"][0]["measurement"] = {{"interleave", interleave}};
  return parse_config(document, "config", {});
}
std::vector<Point> plan_of(const Config& config) {
  return make_plan(config, {.automatic = {Backend::kCpu}}).points;
}

/// Everything around a run, as a test wants it: one executor for every backend.
class MadeUp final : public RunSurroundings, public Executor {
 public:
  /// What becomes of execution number k (from 0).
  std::function<std::optional<Record>(std::size_t k, Record good)> script =
      [](std::size_t, Record good) { return good; };
  std::function<std::optional<Ceilings>()> ceilings = [] {
    return Ceilings{.reads = {{.size_bytes = 4000, .median_ns = 500, .shape = "one thread"},
                              {.size_bytes = 8000, .median_ns = 1000, .shape = "one thread"}}};
  };
  int interrupts_so_far = 0;

  std::vector<std::size_t> executed;  ///< indices of points, in the order of their turns
  std::vector<double> shares, shares_done;
  std::vector<std::size_t> renewed;  ///< numbers of the executions before which the process was new
  std::vector<int> patience;
  std::vector<bool> profiled, weighed;  ///< of every execution, whether it was to
  std::vector<std::size_t> begun, ended, ceilings_begun;
  std::vector<std::vector<std::size_t>> ceilings_asked;

  Executor& executor(Backend) override { return *this; }
  int interrupts() override { return interrupts_so_far; }
  void begin_ceilings(Backend, std::size_t) override {}
  void begin_ceiling(std::size_t k) override { ceilings_begun.push_back(k); }
  void begin_point(const Point& point, double share) override {
    begun.push_back(point.index);
    shares_done.push_back(share);
  }
  void end_point(const Point& point, const Record&, const Outcome&) override {
    ended.push_back(point.index);
  }

  std::optional<Record> execute(const Point& point, const ExecuteOptions& options,
                                int its_patience) override {
    Record good{.point = point, .status = Status::kOk};
    good.traffic.read_bytes = 4 * point.n;
    good.verification.emplace().passed_before = true;
    good.verification->passed_after = true;
    good.timing[Mode::kCold].samples_ns = {1000, 1000, 1000};
    const std::size_t k = executed.size();
    executed.push_back(point.index);
    shares.push_back(options.budget_share);
    patience.push_back(its_patience);
    profiled.push_back(options.profiled);
    weighed.push_back(options.weighed);
    return script(k, std::move(good));
  }
  std::optional<Ceilings> measure_ceilings(const std::vector<std::size_t>& sizes_bytes,
                                           bool /*between_devices*/,
                                           const BeginSize& begin_size) override {
    ceilings_asked.push_back(sizes_bytes);
    for (std::size_t k = 0; k < sizes_bytes.size(); ++k) begin_size(k);
    return ceilings();
  }
  void renew() override { renewed.push_back(executed.size()); }
};

struct RunPlan : testing::Test {
  RunResults run() { return run_plan(plan, settings, std::move(restored), nullptr, made_up); }
  Status status(const RunResults& results, std::size_t index) const {
    return results.points.at(index)->outcome.status;
  }

  Config asked = config();
  std::vector<Point> plan = plan_of(asked);
  RunSettings settings{.seed = 5};
  Restored restored;
  MadeUp made_up;
};

TEST_F(RunPlan, MeasuresEveryPointOnceThenTheNoise) {
  const RunResults results = run();
  ASSERT_EQ(plan.size(), 4u);
  // Of four points the first, the third and the last of their sizes, twice each.
  ASSERT_EQ(made_up.executed.size(), 4u + 2 * 3);
  EXPECT_EQ((std::vector(made_up.executed.begin(), made_up.executed.begin() + 4)),
            (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(made_up.begun, (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(made_up.ended, made_up.begun);
  EXPECT_EQ(made_up.patience, (std::vector<int>{2, 2, 2, 2, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(made_up.ceilings_asked, (std::vector<std::vector<std::size_t>>{{4000, 8000}}));
  EXPECT_EQ(made_up.ceilings_begun, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(results.done(), 4u);
  EXPECT_EQ(results.noise.size(), 3u);
  EXPECT_EQ(results.noise_floor(), 0.0);
  EXPECT_FALSE(results.interrupted);
  EXPECT_EQ(results.exit_status(), kExitGood);
  EXPECT_EQ(results.points[3]->outcome.median_ns, 1000);
  EXPECT_EQ(results.points[3]->outcome.gb_per_s, 8.0);
  EXPECT_EQ(results.points[3]->outcome.ceiling_share, 1.0);
}

TEST_F(RunPlan, TheNoiseIsOfTwoTimesOfPointsWithInputs) {
  asked = parse_config(Json::parse(R"({"schema": 1, "sweeps": [
      {"variants": ["cpu/sequential"], "n": [0, 1000, 2000], "type": ["i32"]}]})"),
                       "config", {});
  plan = plan_of(asked);
  made_up.script = [](std::size_t k, Record record) {
    if (k == 4) record.timing[Mode::kCold].samples_ns = {1250};  // the first point's second time
    return record;
  };
  const RunResults results = run();
  EXPECT_EQ(made_up.executed, (std::vector<std::size_t>{0, 1, 2, 1, 1, 2, 2}));
  EXPECT_EQ(results.noise_floor(), 0.25);
}

TEST_F(RunPlan, TheNoiseIsNotOfPointsThatTakeLongWhereOthersDoNot) {
  made_up.script = [](std::size_t, Record record) {
    if (record.point.n == 2000) record.timing[Mode::kCold].samples_ns = {1.01e8};
    return record;
  };
  run();
  made_up.executed.erase(made_up.executed.begin(), made_up.executed.begin() + 4);
  for (const std::size_t index : made_up.executed) EXPECT_EQ(plan[index].n, 1000u);
  EXPECT_EQ(made_up.executed.size(), 4u);

  made_up.executed.clear();
  made_up.script = [](std::size_t, Record record) {
    record.timing[Mode::kCold].samples_ns = {1.01e8};
    return record;
  };
  run();
  EXPECT_EQ(made_up.executed.size(), 4u + 2 * 3);
}

TEST_F(RunPlan, TheNoiseIsNotOfCallsThatWaitWhereOthersDoNot) {
  CatalogEntry waiting = *plan[0].entry;
  waiting.variant.synchronous = true;
  for (const std::size_t index : {0, 2, 3}) plan[index].entry = &waiting;
  run();
  made_up.executed.erase(made_up.executed.begin(), made_up.executed.begin() + 4);
  EXPECT_EQ(made_up.executed, (std::vector<std::size_t>{1, 1}));

  made_up.executed.clear();
  plan[1].entry = &waiting;
  run();
  EXPECT_EQ(made_up.executed.size(), 4u + 2 * 3);
}

TEST_F(RunPlan, ProblemsOfDifferentRoundsHaveBlocksOfTheirOwn) {
  asked = parse_config(Json::parse(R"({"schema": 1, "sweeps": [
      {"variants": ["cpu/sequential"], "n": [1000], "measurement": {"interleave": 2}},
      {"variants": ["cpu/sequential"], "n": [2000], "measurement": {"interleave": 3}}]})"),
                       "config", {});
  plan = plan_of(asked);
  run();
  made_up.executed.resize(5);  // without the noise
  EXPECT_EQ(made_up.executed, (std::vector<std::size_t>{0, 0, 1, 1, 1}));
}

TEST_F(RunPlan, VariantsOfOneProblemTakeTurns) {
  asked = config(3);
  plan = plan_of(asked);
  const RunResults results = run();
  // Each round has every problem in turn, and of it every variant.
  for (std::size_t turn = 0; turn < 6; ++turn) {
    std::vector<std::size_t> turns(made_up.executed.begin() + static_cast<long>(2 * turn),
                                   made_up.executed.begin() + static_cast<long>(2 * turn + 2));
    std::sort(turns.begin(), turns.end());
    EXPECT_EQ(turns,
              turn % 2 == 0 ? (std::vector<std::size_t>{0, 1}) : (std::vector<std::size_t>{2, 3}))
        << turn;
  }
  // Every round but the first begins with a fresh process.
  EXPECT_EQ(made_up.renewed, (std::vector<std::size_t>{4, 8}));
  for (std::size_t k = 0; k < 12; ++k)
    EXPECT_DOUBLE_EQ(made_up.shares_done[k], static_cast<double>(k) / 12) << k;
  for (std::size_t k = 0; k < 12; ++k) EXPECT_DOUBLE_EQ(made_up.shares[k], 1.0 / 3) << k;
  EXPECT_EQ(results.points[0]->entry.at("timing").at("cold").at("samples"), 9);
  EXPECT_EQ(made_up.ended.size(), 4u);
}

// Starting a process for every round of a small problem would take longer than the round.
TEST_F(RunPlan, ManyProblemsShareTheProcessOfARound) {
  Json document = Json::parse(R"({"schema": 1, "sweeps": [
      {"variants": ["cpu/sequential", "cpu/pairwise"], "type": ["i32"],
       "measurement": {"interleave": 2}}]})");
  for (int n = 1; n <= 120; ++n) document["sweeps"][0]["n"].push_back(n);
  asked = parse_config(document, "config", {});
  plan = plan_of(asked);
  run();
  // 240 points: 200 with two rounds, and 40.
  EXPECT_EQ(made_up.renewed, (std::vector<std::size_t>{200, 440}));
  EXPECT_EQ(made_up.ended.size(), 240u);
}

TEST_F(RunPlan, TheOrderOfTurnsIsThatOfTheSeed) {
  asked = config(20);
  plan = plan_of(asked);
  const auto order = [&](std::uint64_t seed) {
    settings.seed = seed;
    made_up.executed.clear();
    run();
    return made_up.executed;
  };
  const auto first = order(1);
  EXPECT_EQ(order(1), first);
  EXPECT_NE(order(2), first);
}

TEST_F(RunPlan, ALostBackendFailsWhatIsLeft) {
  made_up.script = [](std::size_t k, Record good) -> std::optional<Record> {
    if (k == 1) throw DeviceLost("no process comes up");
    return good;
  };
  const RunResults results = run();
  EXPECT_EQ(made_up.executed, (std::vector<std::size_t>{0, 1}));  // and no noise
  EXPECT_EQ(status(results, 0), Status::kOk);
  for (std::size_t k = 1; k < 4; ++k) {
    EXPECT_EQ(status(results, k), Status::kFailed);
    EXPECT_EQ(results.points[k]->outcome.reason, "not run: no process comes up");
  }
  EXPECT_EQ(results.not_run, (std::set<std::size_t>{1, 2, 3}));
  EXPECT_EQ(results.exit_status(), kExitIncomplete);
}

TEST_F(RunPlan, ABackendLostInTheNoiseLosesNoPoint) {
  made_up.script = [](std::size_t k, Record good) -> std::optional<Record> {
    if (k == 4) throw DeviceLost("gone");
    return good;
  };
  const RunResults results = run();
  EXPECT_TRUE(results.not_run.empty());
  EXPECT_EQ(results.exit_status(), kExitGood);
}

TEST_F(RunPlan, ABackendWhoseCeilingsCannotBeMeasuredIsLost) {
  made_up.ceilings = []() -> std::optional<Ceilings> { throw DeviceLost("it died twice"); };
  const RunResults results = run();
  EXPECT_TRUE(made_up.executed.empty());
  EXPECT_EQ(results.points[0]->outcome.reason,
            "not run: the ceilings of cpu could not be measured: it died twice");
  EXPECT_EQ(results.not_run.size(), 4u);
}

TEST_F(RunPlan, AnAbsentBackendIsSkipped) {
  settings.absent[Backend::kCpu] = "this machine has none";
  const RunResults results = run();
  EXPECT_TRUE(made_up.executed.empty());
  EXPECT_EQ(status(results, 0), Status::kSkipped);
  EXPECT_EQ(results.points[0]->outcome.reason, "this machine has none");
  EXPECT_TRUE(results.not_run.empty());
  EXPECT_TRUE(results.all_skipped());
  EXPECT_EQ(results.exit_status(), kExitIncomplete);
}

/// Four points of kernels, two of each problem, that a GPU is to count.
Config counted_config() {
  return parse_config(Json::parse(R"({"schema": 1, "sweeps": [
      {"variants": ["harris/0", "harris/1"], "n": [1000, 2000], "type": ["i32"],
       "measurement": {"interleave": 2, "counters": true}}]})"),
                      "config", {});
}

TEST_F(RunPlan, CountingHasAProcessOfItsOwnAfterTheTimes) {
  asked = counted_config();
  plan = make_plan(asked, {.automatic = {Backend::kCuda}}).points;
  made_up.script = [&](std::size_t, Record record) {
    if (made_up.profiled.back()) {
      record.timing.clear();
      record.counters = {{.name = std::string(kAllCounters), .unavailable = "forbidden"}};
      record.code = MachineCode{.hash = 0xabc, .kernels = 2};
    }
    return record;
  };
  const RunResults results = run();
  // Two rounds of four turns, four counted calls, and then the noise.
  ASSERT_GE(made_up.profiled.size(), 12u);
  for (std::size_t k = 0; k < made_up.profiled.size(); ++k)
    EXPECT_EQ(made_up.profiled[k], k >= 8 && k < 12) << k;
  EXPECT_EQ(made_up.renewed, (std::vector<std::size_t>{4, 8, 8, 12}));
  for (std::size_t index = 0; index < 4; ++index) {
    // Each once, problem by problem.
    EXPECT_EQ(std::count(made_up.executed.begin() + 8, made_up.executed.begin() + 12, index), 1);
    EXPECT_EQ(made_up.executed[8 + index] / 2, index / 2);
    const Json& entry = results.points[index]->entry;
    EXPECT_EQ(entry.at("counters").at("all").at("unavailable"), "forbidden");
    EXPECT_EQ(entry.at("code"),
              Json({{"hash", "0000000000000abc"}, {"kernels", 2}, {"unavailable", nullptr}}));
    EXPECT_EQ(results.points[index]->outcome.uncounted, "forbidden");
    EXPECT_EQ(read_finished(plan[index], entry, "journal").outcome.uncounted, "forbidden");
    EXPECT_EQ(entry.at("timing").at("cold").at("samples"), 6);
  }
  EXPECT_EQ(made_up.ended.size(), 4u);
}

TEST_F(RunPlan, AJournalOfWhatWasCountedGoesOn) {
  asked = counted_config();
  plan = make_plan(asked, {.automatic = {Backend::kCuda}}).points;
  // As a GPU's are: no reason keeps all from being counted, and not every one counts every stall.
  made_up.script = [&](std::size_t, Record record) {
    if (!made_up.profiled.back()) return record;
    for (const std::string& name : gpu_counter_names())
      if (name != kAllCounters && name != "stalled_misc")
        record.counters.push_back({.name = name, .count = 1});
    return record;
  };
  const RunResults results = run();
  for (std::size_t index = 0; index < plan.size(); ++index) {
    const Json& entry = results.points[index]->entry;
    ASSERT_GT(entry.at("counters").size(), 30u);
    EXPECT_EQ(read_finished(plan[index], entry, "journal").entry, entry);
  }
}

TEST_F(RunPlan, CountedPointsOfSeveralProblemsShareTheirProcesses) {
  asked = counted_config();
  asked.sweeps[0].measurement.interleave = 1;
  plan = make_plan(asked, {.automatic = {Backend::kCuda}}).points;
  run();
  EXPECT_EQ(made_up.renewed, (std::vector<std::size_t>{4, 4, 8}));
}

TEST_F(RunPlan, ACountedCallThatFailsCostsTheCountsAndNotTheTime) {
  asked = counted_config();
  plan = make_plan(asked, {.automatic = {Backend::kCuda}}).points;
  made_up.script = [&](std::size_t, Record record) {
    if (!made_up.profiled.back()) return record;
    return Record{.point = record.point, .status = Status::kTimeout, .reason = "ran too long"};
  };
  const RunResults results = run();
  EXPECT_EQ(status(results, 0), Status::kOk);
  EXPECT_EQ(results.points[0]->entry.at("counters").at("all").at("unavailable"),
            "the call for it ended as 'timeout': ran too long");
  EXPECT_EQ(results.points[0]->entry.at("code").at("unavailable"),
            "the call for it ended as 'timeout': ran too long");
  EXPECT_EQ(results.exit_status(), kExitGood);
}

TEST_F(RunPlan, EnergyIsMeasuredBeforeAnythingIsCounted) {
  asked = counted_config();
  asked.sweeps[0].measurement.energy = true;
  plan = make_plan(asked, {.automatic = {Backend::kCuda}}).points;
  made_up.script = [&](std::size_t k, Record record) {
    if (made_up.weighed.back()) record.energy = Energy{.joules_per_call = 0.5, .calls = 1};
    EXPECT_EQ(made_up.weighed.back(), k >= 8 && k < 12) << k;
    EXPECT_EQ(made_up.profiled.back(), k >= 12 && k < 16) << k;
    return record;
  };
  const RunResults results = run();
  // 1000 elements of 4 bytes.
  EXPECT_DOUBLE_EQ(results.points[0]->entry.at("energy").at("pj_per_byte"), 0.5 / 4000 * 1e12);
}

TEST_F(RunPlan, APointThatWasNotTimedIsNotCounted) {
  asked = counted_config();
  plan = make_plan(asked, {.automatic = {Backend::kCuda}}).points;
  made_up.script = [&](std::size_t, Record record) {
    if (record.point.index == 0) {
      record.status = Status::kWrong;
      record.timing.clear();
    }
    return record;
  };
  const RunResults results = run();
  EXPECT_EQ(std::count(made_up.profiled.begin(), made_up.profiled.end(), true), 3);
  EXPECT_TRUE(results.points[0]->entry.at("counters").is_null());
}

TEST_F(RunPlan, AnInterruptLetsThePointInFlightEnd) {
  made_up.script = [&](std::size_t k, Record good) {
    if (k == 1) made_up.interrupts_so_far = 1;
    return good;
  };
  RunResults results = run();
  EXPECT_EQ(made_up.executed.size(), 2u);
  EXPECT_EQ(results.done(), 2u);
  EXPECT_TRUE(results.interrupted);
  EXPECT_EQ(results.exit_status(), kExitInterrupted);

  const Json planned = take_document(results, plan, asked, Json::object()).at("planned");
  EXPECT_EQ(planned.at("points"), 4);
  EXPECT_EQ(planned.at("sweeps"), Json::parse("[[0, 1, 2, 3]]"));
  ASSERT_EQ(planned.at("missing").size(), 2u);
  const Json& missing = planned.at("missing").at(1);
  EXPECT_EQ(missing.at("index"), 3);
  const std::string name = "missing";
  EXPECT_EQ(read_identity(Node{missing, "", name}), identity_of(plan[3]));
}

TEST_F(RunPlan, APointThatIsGivenUpIsNotDone) {
  made_up.script = [&](std::size_t k, Record good) -> std::optional<Record> {
    if (k < 1) return good;
    made_up.interrupts_so_far = 2;
    return std::nullopt;
  };
  EXPECT_EQ(run().done(), 1u);
}

TEST_F(RunPlan, DoesNotRepeatWhatWasRestored) {
  Record done{.point = plan[0], .status = Status::kOk};
  done.timing[Mode::kCold].samples_ns = {10, 10};
  restored.points.resize(plan.size());
  restored.points[0] = finish(plan[0], done, Ceilings{}, std::nullopt, false);
  restored.ceilings[Backend::kCpu] = *made_up.ceilings();
  const RunResults results = run();
  EXPECT_TRUE(made_up.ceilings_asked.empty());
  EXPECT_EQ(made_up.begun, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(results.points[0]->outcome.median_ns, 10);
  EXPECT_EQ(results.done(), 4u);
}

TEST_F(RunPlan, ARunWhosePointsWereAllRestoredHasItsNoise) {
  RunResults whole = run();
  ASSERT_EQ(whole.noise.size(), 3u);
  restored.points = std::move(whole.points);
  restored.ceilings = std::move(whole.ceilings);
  made_up.executed.clear();
  made_up.begun.clear();
  const RunResults results = run();
  EXPECT_TRUE(made_up.begun.empty());
  EXPECT_EQ(made_up.executed.size(), 2u * 3);
  ASSERT_EQ(results.noise.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(results.noise[k].point, whole.noise[k].point);
  EXPECT_EQ(results.noise_floor(), 0.0);
}

TEST_F(RunPlan, TheExitCodeNamesTheWorst) {
  const auto exit_after = [&](Status status, bool known_wrong) {
    made_up.executed.clear();
    made_up.script = [=](std::size_t k, Record record) {
      if (k != 2) return record;
      record.status = status;
      record.known_wrong = known_wrong;
      record.reason = "made up";
      record.timing.clear();
      return record;
    };
    return run().exit_status();
  };
  EXPECT_EQ(exit_after(Status::kOk, false), kExitGood);
  EXPECT_EQ(exit_after(Status::kSkipped, false), kExitGood);
  EXPECT_EQ(exit_after(Status::kWrong, true), kExitGood);
  EXPECT_EQ(exit_after(Status::kFailed, true), kExitGood);
  EXPECT_EQ(exit_after(Status::kFailed, false), kExitIncomplete);
  EXPECT_EQ(exit_after(Status::kTimeout, false), kExitIncomplete);
  EXPECT_EQ(exit_after(Status::kWrong, false), kExitWrongResult);
}

TEST_F(RunPlan, WhatWasLostIsNotInTheJournal) {
  const auto file = std::filesystem::path(testing::TempDir()) / "run_plan_test.journal";
  std::filesystem::remove(file);
  const Json header{{"journal", 1}};
  made_up.script = [](std::size_t k, Record good) -> std::optional<Record> {
    if (k == 2) throw DeviceLost("gone");
    return good;
  };
  {
    Journal journal(file, header, false);
    run_plan(plan, settings, {}, &journal, made_up);
  }
  Journal journal(file, header, true);
  const Restored read = restore(journal, plan);
  EXPECT_EQ(read.ceilings.at(Backend::kCpu).reads.size(), 2u);
  EXPECT_TRUE(read.points[0] && read.points[1]);
  EXPECT_FALSE(read.points[2] || read.points[3]);
  EXPECT_EQ(read.points[1]->outcome.gb_per_s, 4.0);
  journal.remove();
}

/// A results file that an earlier run wrote.
struct OlderFile : RunPlan {
  OlderFile() { std::filesystem::remove(file); }
  ~OlderFile() override { std::filesystem::remove(file); }
  Json document(RunResults results) { return take_document(results, plan, asked, Json::object()); }
  void save(const std::string& text) { std::ofstream(file) << text; }
  std::optional<OlderResult> older() { return older_result(file, asked, plan); }

  // Each test has its own: ctest runs several at once.
  std::filesystem::path file =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(OlderFile, ThatIsNotThereOrEmptyIsNothing) {
  const Json whole = document(run());
  EXPECT_FALSE(older());
  EXPECT_TRUE(holds_all_of(whole, file));
  save("");
  EXPECT_FALSE(older());
  EXPECT_TRUE(holds_all_of(whole, file));
}

TEST_F(OlderFile, OfAnotherConfigurationIsTold) {
  save(document(run()).dump());
  ASSERT_TRUE(older());
  EXPECT_EQ(older()->points, 4u);
  EXPECT_TRUE(older()->of_this_plan);
  const Config same = asked;
  asked = config(2);  // the same points, measured otherwise
  EXPECT_FALSE(older()->of_this_plan);
  asked = same;
  plan.pop_back();  // as a filter does
  EXPECT_FALSE(older()->of_this_plan);
}

TEST_F(OlderFile, ThatIsDamagedBelongsToNoPlan) {
  for (const char* text : {R"({"kind": "reduce-bench-results")", "[]", R"({"points": [1]})"}) {
    save(text);
    ASSERT_TRUE(older());
    EXPECT_FALSE(older()->of_this_plan) << text;
    EXPECT_FALSE(holds_all_of(document(run()), file)) << text;
  }
}

TEST_F(OlderFile, IsHeldByARunThatGoesOnWithIt) {
  made_up.script = [&](std::size_t k, Record good) {
    if (k == 1) made_up.interrupts_so_far = 1;
    return good;
  };
  RunResults interrupted = run();
  restored.points = interrupted.points;
  const Json partial = document(std::move(interrupted));
  ASSERT_EQ(partial.at("points").size(), 2u);
  save(partial.dump());
  made_up.interrupts_so_far = 0;
  made_up.script = [](std::size_t, Record good) { return good; };
  const Json whole = document(run());
  ASSERT_EQ(whole.at("points").size(), 4u);
  EXPECT_TRUE(holds_all_of(whole, file));
  save(whole.dump());
  EXPECT_FALSE(holds_all_of(partial, file));
  // The same points with other times are another measurement.
  restored = {};
  made_up.script = [](std::size_t, Record good) {
    good.timing[Mode::kCold].samples_ns = {2000, 2000};
    return good;
  };
  EXPECT_FALSE(holds_all_of(document(run()), file));
}

TEST_F(RunPlan, TheTableShowsARowForEachVariant) {
  made_up.script = [](std::size_t k, Record record) {
    if (k == 3) {
      record.status = Status::kTimeout;
      record.reason = "did not end";
      record.timing.clear();
    }
    return record;
  };
  const RunResults results = run();
  const std::string table = results_table(results.points);
  EXPECT_CONTAINS(table, "sum of i32 (uniform values) on cpu");
  EXPECT_CONTAINS(table, "4 (50%)");
  EXPECT_CONTAINS(table, "timeout");
  EXPECT_CONTAINS(problems_text(results.points), "timeout (1 point): cpu/");
  EXPECT_EQ(table.find('!'), std::string::npos);
}

TEST_F(RunPlan, TheTableOfFloatsEndsWithTheLargestErrorOfARow) {
  made_up.script = [](std::size_t k, Record record) {
    if (k < 3) record.verification->comparison.error_ulp = k == 0 ? 12.25 : 0.5;
    return record;
  };
  EXPECT_EQ(results_table(run().points).find("ulp"), std::string::npos) << "of integers";
  Json document = Json::parse(R"({"schema": 1, "sweeps": [
      {"variants": ["cpu/sequential", "cpu/pairwise"], "n": [1000, 2000], "type": ["f32"]}]})");
  plan = plan_of(parse_config(document, "config", {}));
  made_up.executed.clear();
  const RunResults results = run();
  const std::string table = results_table(results.points);
  EXPECT_CONTAINS(table, "  error (ulp)\n");
  EXPECT_CONTAINS(table, "         12.2\n");  // 12.25 and 0.5 of one row, or of either
  // A journal kept the same.
  for (const auto& finished : results.points)
    EXPECT_EQ(read_finished(*finished->point, finished->entry, "journal").outcome.error_ulp,
              finished->outcome.error_ulp);
}

TEST_F(RunPlan, TheTableMarksSharesAboveTheCeiling) {
  made_up.script = [](std::size_t k, Record record) {
    if (k == 1) record.timing[Mode::kCold].samples_ns = {100, 100};
    return record;
  };
  const std::string table = results_table(run().points);
  EXPECT_CONTAINS(table, "%!)");
  EXPECT_CONTAINS(table,
                  "\n! of 1 point the share is above 105 %: the read ceiling was measured too");
}

}  // namespace
}  // namespace reduce_bench
