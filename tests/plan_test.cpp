// From a configuration to its points.
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "common/error.hpp"
#include "expect_error.hpp"
#include "plan/identity.hpp"

namespace reduce_bench {
namespace {

const PlanOptions kOnCuda{.automatic = {Backend::kCuda}, .filter = {}, .seed = 9};

std::vector<Point> plan_of(const std::string& sweeps, const PlanOptions& options = kOnCuda) {
  const Json document = Json::parse(R"({"schema": 1, "sweeps": [)" + sweeps + "]}");
  return make_plan(parse_config(document, "file", {}), options).points;
}

std::vector<std::string> described(const std::vector<Point>& points) {
  std::vector<std::string> texts;
  for (const Point& point : points) texts.push_back(describe(point));
  return texts;
}

TEST(Plan, IsTheProductOfTheAxes) {
  const auto points =
      plan_of(R"({"variants": ["harris/[01]"], "n": [1, 2, 3], "type": ["i32", "f32"],
      "op": ["sum", "min"], "distribution": ["uniform", "ones"], "params": {"block": [64, 128]}})");
  EXPECT_EQ(points.size(), 2u * 3 * 2 * 2 * 2 * 2);
  const std::vector<std::string> texts = described(points);
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].index, i);
}

TEST(Plan, DescribesAPointByAllThatIdentifiesIt) {
  EXPECT_EQ(described(plan_of(R"({"variants": ["harris/0"], "n": [7]})")),
            std::vector<std::string>{"harris/0 n=7 i32 sum uniform block=128 on cuda"});
}

TEST(Plan, VariantsOfOneProblemFollowEachOtherInAGroup) {
  const auto points = plan_of(
      R"({"variants": ["harris/[01]"], "n": [1, 2]}, {"variants": ["harris/0"], "n": [3]})");
  std::vector<std::string> order;
  for (const Point& p : points)
    order.push_back(std::string(p.entry->variant.id) + "@" + std::to_string(p.n));
  EXPECT_EQ(order, (std::vector<std::string>{"harris/0@1", "harris/1@1", "harris/0@2", "harris/1@2",
                                             "harris/0@3"}));
  EXPECT_EQ(points[0].group, points[1].group);
  EXPECT_NE(points[1].group, points[2].group);
  EXPECT_NE(points[3].group, points[4].group);  // another sweep may measure otherwise
}

TEST(Plan, OverlappingSweepsMeasureAProblemOnceAsFirstAskedFor) {
  const auto points = plan_of(
      R"({"variants": ["harris/0"], "n": [2, {"pow2": [0, 1]}], "measurement": {"interleave": 4}},
         {"variants": ["harris/*"], "n": [2]})");
  unsigned times = 0;
  for (const Point& p : points)
    if (p.entry->variant.id == "harris/0" && p.n == 2) {
      ++times;
      EXPECT_EQ(p.measurement.interleave, 4u);
    }
  EXPECT_EQ(times, 1u);
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].index, i);
}

TEST(Plan, PointsKnowTheSweepsThatAskForThem) {
  const auto points = plan_of(
      R"({"variants": ["harris/0"], "n": [1, 2]}, {"variants": ["harris/1"], "n": [1]},
         {"variants": ["harris/0", "harris/0*"], "n": [2, 3]})");
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].sweeps, std::vector<std::size_t>{0});
  EXPECT_EQ(points[1].sweeps, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(points[2].sweeps, std::vector<std::size_t>{1});
  EXPECT_EQ(points[3].sweeps, std::vector<std::size_t>{2});
}

TEST(Plan, PointsCarrySeedAndMeasurementOfTheirSweep) {
  const auto points =
      plan_of(R"({"variants": ["harris/0"], "n": [1], "measurement": {"interleave": 4}},
                                 {"variants": ["harris/0"], "n": [2]})");
  EXPECT_EQ(points[0].measurement.interleave, 4u);
  EXPECT_EQ(points[1].measurement.interleave, 1u);
  EXPECT_EQ(points[0].seed, 9u);
  EXPECT_EQ(points[0].input_key().seed, 9u);
}

TEST(Plan, BucketsAndLabelsAreAxesAndPartOfTheIdentity) {
  EXPECT_EQ(described(plan_of(R"({"variants": ["atomic/*"], "operation": "multireduce", "n": [9],
      "buckets": [2, 3], "labels": ["sorted", {"name": "zipf", "exponent": 1.5}]})")),
            (std::vector<std::string>{
                "atomic/global n=9 m=2 i32 sum uniform sorted block=256 on cuda",
                "atomic/global n=9 m=2 i32 sum uniform zipf(1.5) block=256 on cuda",
                "atomic/global n=9 m=3 i32 sum uniform sorted block=256 on cuda",
                "atomic/global n=9 m=3 i32 sum uniform zipf(1.5) block=256 on cuda"}));
  EXPECT_EQ(described(plan_of(R"({"variants": ["cub/*"], "operation": "histogram", "n": [9]})")),
            (std::vector<std::string>{"cub/histogram n=9 m=256 u32 uniform on cuda",
                                      "cub/sort-run-length n=9 m=256 u32 uniform on cuda"}));
}

TEST(Plan, VariantsOfAnotherOperationAreRefused) {
  EXPECT_CONTAINS(
      message_of<UsageError>([] { plan_of(R"({"variants": ["atomic/global"], "n": [1]})"); }),
      "no variant of atomic/global computes 'reduce'");
}

// ---- identity ---------------------------------------------------------------------------------

TEST(Identity, IsReadAsItIsWritten) {
  const std::string file = "file";
  for (const char* sweep :
       {R"({"variants": ["harris/7"], "n": [1048576], "distribution": ["cancelling"]})",
        R"({"variants": ["atomic/*"], "operation": "multireduce", "n": [9], "buckets": [256],
            "labels": ["sorted", {"name": "zipf", "exponent": 2}, {"name": "runs", "length": 3}]})",
        R"({"variants": ["cub/*"], "operation": "histogram", "n": [9]})"})
    for (const Point& point : plan_of(sweep)) {
      const PointIdentity identity = identity_of(point);
      const Json json = Json::parse(to_json(identity).dump());
      EXPECT_EQ(read_identity(Node{json, "", file}), identity) << json;
    }
}

TEST(Identity, DoesNotDependOnTheOrderOfParameters) {
  PointIdentity a{.variant = "a/x", .params = {{{"block", "1"}, {"form", "2"}}}};
  PointIdentity b{.variant = "a/x", .params = {{{"form", "2"}, {"block", "1"}}}};
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.text(), b.text());
  b.params.entries[0].second = "3";
  EXPECT_NE(a, b);
}

TEST(Identity, IsToldForReportsWithPowersOfTwo) {
  const auto points = plan_of(R"({"variants": ["atomic/*"], "operation": "multireduce",
      "n": [1048576], "buckets": [1024], "labels": [{"name": "zipf", "exponent": 1.5}]})");
  EXPECT_EQ(identity_of(points.at(0)).text(),
            "atomic/global block=256, 2^20 into 2^10 by zipf exponent=1.5 i32 sum uniform on cuda");
}

// ---- parameters -------------------------------------------------------------------------------

std::vector<std::string> settings_of(const std::string& sweep) {
  std::vector<std::string> texts;
  for (const Point& p : plan_of(sweep))
    texts.push_back(p.params.text("block") + "x" + p.params.text("blocks_per_sm"));
  return texts;
}

TEST(PlanParameters, LeftOutKeepTheirDefaults) {
  const auto points = plan_of(R"({"variants": ["harris/7"], "n": [1]})");
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].params,
            default_params(find_if(catalog().begin(), catalog().end(), [](auto& e) {
                             return e.variant.id == "harris/7";
                           })->variant));
}

TEST(PlanParameters, AreAxesOfTheProduct) {
  EXPECT_EQ(settings_of(R"({"variants": ["harris/7"], "n": [1],
                            "params": {"block": [64, 128], "blocks_per_sm": [1, 2]}})"),
            (std::vector<std::string>{"64x1", "64x2", "128x1", "128x2"}));
}

TEST(PlanParameters, VaryTogetherWhereZipped) {
  EXPECT_EQ(settings_of(R"({"variants": ["harris/7"], "n": [1], "zip": [["block", "blocks_per_sm"]],
                            "params": {"block": [64, 128], "blocks_per_sm": [1, 2]}})"),
            (std::vector<std::string>{"64x1", "128x2"}));
}

TEST(PlanParameters, ThatAVariantLacksDoNotMultiplyIt) {
  const auto texts = described(plan_of(R"({"variants": ["harris/[07]"], "n": [1],
                                           "params": {"blocks_per_sm": [1, 2]}})"));
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "harris/0 n=1 i32 sum uniform block=128 on cuda",
                       "harris/7 n=1 i32 sum uniform block=256 blocks_per_sm=1 on cuda",
                       "harris/7 n=1 i32 sum uniform block=256 blocks_per_sm=2 on cuda"}));
}

TEST(PlanParameters, ThatNoVariantHasAreRefused) {
  EXPECT_EQ(message_of<UsageError>([] {
              plan_of(R"({"variants": ["harris/0"], "n": [1], "params": {"bolck": [64]}})");
            }),
            "file: /sweeps/0/params/bolck: no variant of harris/0 has a parameter 'bolck' (did you "
            "mean 'block'?), allowed are 'block'");
}

TEST(PlanParameters, OutsideTheirValuesAreRefused) {
  EXPECT_EQ(message_of<UsageError>([] {
              plan_of(R"({"variants": ["harris/0"], "n": [1], "params": {"block": [64, 77]}})");
            }),
            "file: /sweeps/0/params/block: parameter 'block' cannot be 77 in any variant of "
            "harris/0: allowed are 1024, 128, 256, "
            "512, 64");
}

// ---- what falls out ---------------------------------------------------------------------------

TEST(Plan, LeavesOutOperatorsThatATypeDoesNotHave) {
  const auto points =
      plan_of(R"({"variants": ["harris/7"], "n": [1], "type": ["i32", "f32"], "op": ["xor"]})");
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].type, Type::kI32);
  EXPECT_CONTAINS(
      message_of<UsageError>([] {
        plan_of(R"({"variants": ["harris/7"], "n": [1], "type": ["f32"], "op": ["xor"]})");
      }),
      "the plan is empty: 'xor' is not defined on f32;");
  EXPECT_CONTAINS(
      message_of<UsageError>([] {
        plan_of(
            R"({"operation": "histogram", "variants": ["*"], "n": [1], "type": ["u8", "u32"], "op": ["sum"]})");
      }),
      "the plan is empty: a histogram has no operator, so leave 'sum' out, cpu/histogram does not");
  EXPECT_CONTAINS(
      message_of<UsageError>([] {
        plan_of(R"({"operation": "histogram", "variants": ["*"], "n": [1], "type": ["i32"]})");
      }),
      "the plan is empty: a histogram does not take i32");
  EXPECT_CONTAINS(
      message_of<UsageError>([] {
        plan_of(R"({"operation": "multireduce", "variants": ["*"], "n": [1], "op": ["none"]})");
      }),
      "the plan is empty: a multireduce needs an operator");
}

std::vector<std::string> left_out(const std::string& sweeps, const PlanOptions& options) {
  const Json document = Json::parse(R"({"schema": 1, "sweeps": [)" + sweeps + "]}");
  return make_plan(parse_config(document, "file", {}), options).left_out;
}

TEST(Plan, SaysWhatItLeavesOutAndWhy) {
  const PlanOptions on_cpu{.automatic = {Backend::kCpu}, .filter = {}};
  EXPECT_EQ(left_out(R"({"variants": ["cpu/sequential"], "n": [1]})", on_cpu),
            std::vector<std::string>{});
  // Three variants of 2 * 2 points each, in two sweeps, one of which has another.
  EXPECT_EQ(left_out(R"({"variants": ["harris/0", "harris/1"], "n": [1, 2], "type": ["i32", "f32"]},
                        {"variants": ["harris/2", "cpu/sequential"], "n": [1, 2],
                         "params": {"block": [64, 128]}})",
                     on_cpu),
            (std::vector<std::string>{"12 points of 3 variants that do not run on cpu: harris/0, "
                                      "harris/1, harris/2",
                                      "all points of 1 of 2 sweeps, for the reasons above"}));
  EXPECT_EQ(left_out(R"({"variants": ["cpu/sequential"], "n": [1]},
                        {"variants": ["harris/0"], "n": [1]})",
                     {.automatic = {Backend::kCpu}, .filter = {"cpu/*"}}),
            std::vector<std::string>{"1 of 2 sweeps, of whose variants the filter keeps none"});
  EXPECT_EQ(left_out(R"({"variants": ["cpu/sequential"], "n": [1, 2], "type": ["i32", "f32"],
                         "op": ["xor", "sum"]})",
                     on_cpu),
            std::vector<std::string>{
                "2 points of what no variant computes: 'xor' is not defined on f32"});
  // What runs on another backend that is asked for is there.
  EXPECT_EQ(left_out(R"({"variants": ["harris/0", "cpu/sequential"], "n": [1],
                         "backends": ["cpu", "cuda"]})",
                     on_cpu),
            std::vector<std::string>{});
  const auto many = left_out(R"({"variants": ["*"], "n": [1]})", on_cpu);
  ASSERT_EQ(many.size(), 1u);
  EXPECT_LT(many[0].size(), 200u);
  EXPECT_CONTAINS(many[0], " more");
}

TEST(Plan, KeepsOnlyWhatTheFilterMatches) {
  const PlanOptions filtered{.automatic = {Backend::kCuda}, .filter = {"harris/1", "harris/2"}};
  const auto points = plan_of(R"({"variants": ["harris/[0-2]"], "n": [1]})", filtered);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].entry->variant.id, "harris/1");
  EXPECT_CONTAINS(
      message_of<UsageError>([&] { plan_of(R"({"variants": ["harris/0"], "n": [1]})", filtered); }),
      "the plan is empty: the filter keeps none of the configuration's variants;");
  // Not for what a variant that is not kept cannot do.
  EXPECT_CONTAINS(message_of<UsageError>([&] {
                    plan_of(
                        R"({"variants": ["harris/7"], "n": [1], "type": ["f32"], "op": ["xor"]})",
                        filtered);
                  }),
                  "the plan is empty: the filter keeps none of the configuration's variants;");
  EXPECT_CONTAINS(message_of<UsageError>([] {
                    plan_of(R"({"variants": ["harris/0"], "n": [1]})",
                            {.automatic = {Backend::kCuda}, .filter = {"haris/1"}});
                  }),
                  "did you mean 'harris/1'?");
}

TEST(Plan, RunsAVariantWhereItIsWrittenFor) {
  const auto points = plan_of(
      R"({"variants": ["harris/0", "cpu/sequential"], "n": [1], "backends": ["cpu", "cuda"]})");
  EXPECT_EQ(described(points),
            (std::vector<std::string>{"cpu/sequential n=1 i32 sum uniform on cpu",
                                      "harris/0 n=1 i32 sum uniform block=128 on cuda"}));
  EXPECT_EQ(
      plan_of(R"({"variants": ["*"], "n": [1]})", {.automatic = {Backend::kCpu}, .filter = {}})
          .front()
          .backend,
      Backend::kCpu);
}

TEST(Plan, BeyondWhatCanBeMeasuredIsRefusedBeforeItFillsTheMemory) {
  // 41 sizes, a thousand times over: a file of 20 kB that asks for tens of millions of points.
  std::string sizes = R"({"pow2": [0, 40]})";
  for (int i = 1; i < 1000; ++i) sizes += R"(, {"pow2": [0, 40]})";
  const std::string sweep = R"({"variants": ["harris/*"], "type": ["i32", "i64", "f32", "f64"],
      "op": ["sum", "min", "max", "prod"], "n": [)" +
                            sizes + "]}";
  const std::string message = message_of<UsageError>([&] { plan_of(sweep); });
  EXPECT_CONTAINS(message, "file: /sweeps/0: the plan is beyond 100000 points");
  EXPECT_CONTAINS(message, "ask for fewer");
}

}  // namespace
}  // namespace reduce_bench
