// The published schemas against what the program reads and writes.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string_view>

#include "compare/thresholds.hpp"
#include "config_cases.hpp"
#include "devices/gpu_counts.hpp"
#include "plan/plan.hpp"
#include "published_schema.hpp"
#include "results/environment.hpp"
#include "results_cases.hpp"
#include "thresholds_cases.hpp"

namespace reduce_bench {
namespace {

TEST(ConfigSchema, RefusesWhatTheReaderRefuses) {
  const PublishedSchema schema("config.schema.json");
  for (const BadConfig& bad : kBadConfigs)
    EXPECT_EQ(schema.complaint(Json::parse(bad.text)).empty(), !bad.in_schema) << bad.name;
}

TEST(ConfigSchema, AcceptsWhatTheReaderAccepts) {
  const PublishedSchema schema("config.schema.json");
  for (const GoodConfig& good : kGoodConfigs) {
    const Json document = Json::parse(good.text);
    EXPECT_EQ(schema.complaint(document), "") << good.name;
    EXPECT_EQ(schema.complaint(to_json(parse_config(document, good.name, {}))), "") << good.name;
  }
}

/// A member of a schema by its path; its `enum` has the names.
Json schema_at(const char* file, const char* path) {
  std::ifstream stream(std::string(SOURCE_DIR "/configs/schema/") + file);
  return Json::parse(stream).at(Json::json_pointer(path));
}
Json timed_backends() {
  const auto begin = kBackendNames.begin();
  return std::vector<std::string_view>(begin, begin + kTimedBackendCount);
}

TEST(ConfigSchema, NamesEveryTypeOperatorBackendAndDistribution) {
  const Json definitions = schema_at("config.schema.json", "/definitions");
  const Json& sweep = definitions.at("sweep").at("properties");
  EXPECT_EQ(sweep.at("type").at("items").at("enum"), Json(kTypeNames));
  EXPECT_EQ(sweep.at("op").at("items").at("enum"), Json(kOpNames));
  EXPECT_EQ(sweep.at("operation").at("enum"), Json(kOperationNames));
  EXPECT_EQ(sweep.at("backends").at("items").at("enum"), timed_backends());
  EXPECT_EQ(definitions.at("distribution_name").at("enum"), Json(Distribution::kNames));
  EXPECT_EQ(definitions.at("labels_name").at("enum"), Json(LabelDistribution::kNames));
  EXPECT_EQ(definitions.at("measurement").at("properties").at("modes").at("items").at("enum"),
            Json(kModeNames));
}

TEST(ConfigSchema, StatesTheDefaultsOfTheReader) {
  const Json settings = schema_at("config.schema.json", "/definitions/measurement/properties");
  const Config config = parse_config(Json::parse(kGoodConfigs[0].text), "smallest", {});
  const Json defaults = to_json(config).at("sweeps").at(0).at("measurement");
  for (const auto& [name, value] : defaults.items())
    EXPECT_EQ(settings.at(name).at("default"), value) << name;
}

TEST(ThresholdsSchema, AgreesWithTheReader) {
  const PublishedSchema schema("thresholds.schema.json");
  for (const BadConfig& bad : kBadThresholds)
    EXPECT_EQ(schema.complaint(Json::parse(bad.text)).empty(), !bad.in_schema) << bad.name;
  for (const GoodConfig& good : kGoodThresholds) {
    EXPECT_EQ(schema.complaint(Json::parse(good.text)), "") << good.name;
    EXPECT_NO_THROW(parse_thresholds(Json::parse(good.text), good.name)) << good.name;
  }
}

GpuInfo made_up_gpu() {
  GpuInfo gpu{.name = "NVIDIA Imaginary", .compute_capability = "9.0", .sm_count = 132};
  gpu.sm_clock_mhz_max = 1980;
  gpu.memory_bus_bits = 5120;
  return gpu;
}

Json results_with(const Json& points, const GpuInfo* gpu, const OpenclInfo* opencl = nullptr) {
  CudaStatus cuda;
  if (gpu != nullptr) cuda.driver_version = "580.65.06";
  const Config config = parse_config(Json::parse(kGoodConfigs[1].text), "every key", {});
  return {{"schema", 1},
          {"kind", "reduce-bench-results"},
          {"config", to_json(config)},
          {"environment",
           environment_json(cuda, gpu, opencl, {"reduce-bench", "run"}, 1, "cpu: asked for")},
          {"ceilings", {{"cpu", to_json(made_up_ceilings())}}},
          {"noise_floor", {{"aa", Json::array()}, {"relative", nullptr}}},
          {"interrupted", false},
          {"points", points}};
}

TEST(ResultsSchema, AcceptsPointsOfEveryKind) {
  const PublishedSchema schema("results.schema.json");
  for (const bool keep_samples : {false, true})
    for (const Json& point : points_of_every_kind(keep_samples))
      EXPECT_EQ(schema.complaint(results_with(Json::array({point}), nullptr)), "") << point.dump(1);
}

TEST(ResultsSchema, AcceptsTheEnvironmentWithAndWithoutAGpu) {
  const PublishedSchema schema("results.schema.json");
  const GpuInfo gpu = made_up_gpu();
  EXPECT_EQ(schema.complaint(results_with(Json::array(), &gpu)), "");
  EXPECT_EQ(schema.complaint(results_with(Json::array(), nullptr)), "");
  OpenclInfo opencl{.platform = "Imaginary", .name = "NVIDIA Imaginary", .kind = "gpu"};
  opencl.compute_units = 132;
  EXPECT_EQ(schema.complaint(results_with(Json::array(), &gpu, &opencl)), "");
}

TEST(ResultsSchema, NamesEveryTypeOperatorBackendStatusAndDistribution) {
  const Json definitions = schema_at("results.schema.json", "/definitions");
  EXPECT_EQ(definitions.at("type").at("enum"), Json(kTypeNames));
  Json bytes = Json::object();
  for (std::size_t t = 0; t < kTypeCount; ++t)
    bytes[std::string(kTypeNames[t])] = size_bytes(static_cast<Type>(t));
  EXPECT_EQ(definitions.at("type").at("bytes"), bytes);
  EXPECT_EQ(definitions.at("op").at("enum"), Json(kOpNames));
  EXPECT_EQ(definitions.at("backend").at("enum"), timed_backends());
  EXPECT_EQ(definitions.at("mode").at("enum"), Json(kModeNames));
  const Json& point = definitions.at("point").at("properties");
  EXPECT_EQ(point.at("fidelity").at("enum"), Json(kFidelityNames));
  EXPECT_EQ(point.at("operation").at("enum"), Json(kOperationNames));
  EXPECT_EQ(point.at("status").at("enum"), Json(kStatusNames));
  const auto names_of = [](const Json& distribution) {
    return distribution.at("properties").at("name").at("enum");
  };
  EXPECT_EQ(names_of(point.at("distribution")), Json(Distribution::kNames));
  EXPECT_EQ(names_of(point.at("labels").at("anyOf").at(1)), Json(LabelDistribution::kNames));
  // One device's ceilings for every backend that is timed.
  for (const Json& backend : timed_backends())
    EXPECT_TRUE(schema_at("results.schema.json", "/properties/ceilings/properties")
                    .contains(backend.get<std::string>()))
        << backend;
}

TEST(ResultsSchema, NamesEveryCounterOfAGpu) {
  const PublishedSchema schema("results.schema.json");
  const Json point = points_of_every_kind().at(kRight);
  const auto complaint_of = [&](const Json& counters) {
    Json counted = point;
    counted["counters"] = counters;
    return schema.complaint(results_with(Json::array({counted}), nullptr));
  };
  Json all = Json::object();
  for (const std::string& name : gpu_counter_names())
    if (name != kAllCounters) all[name] = {{"count", 7}, {"unavailable", nullptr}};
  EXPECT_EQ(complaint_of(all), "");
  // Reasons for which no warp waited are not there, nor what older files lack; everything else is.
  const std::set<std::string_view> newer{"busiest_sm_cycles", kL1BusyNs, kArithmeticBusyNs,
                                         kFlushWrittenBytes};
  for (const auto& [name, unused] : all.items()) {
    Json without = all;
    without.erase(name);
    EXPECT_EQ(complaint_of(without).empty(),
              name.starts_with(kStalledPrefix) || newer.contains(name))
        << name;
  }
  all["surprise"] = {{"count", 7}, {"unavailable", nullptr}};
  EXPECT_NE(complaint_of(all), "");
  EXPECT_EQ(complaint_of({{"all", {{"count", nullptr}, {"unavailable", "forbidden"}}}}), "");
}

TEST(ResultsSchema, RefusesATimeWithoutAVerifiedResult) {
  const PublishedSchema schema("results.schema.json");
  const std::vector<Json> points = points_of_every_kind();
  Json wrong = points.at(kWrong);
  wrong["timing"] = points.at(kRight).at("timing");
  EXPECT_NE(schema.complaint(results_with(Json::array({wrong}), nullptr)), "");
}

}  // namespace
}  // namespace reduce_bench
