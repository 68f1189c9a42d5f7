// The schemas of cache-sim against what it reads and writes.
#include <gtest/gtest.h>

#include "hierarchy_cases.hpp"
#include "published_schema.hpp"
#include "simulation.hpp"

namespace reduce_bench {
namespace {

TEST(HierarchySchema, AgreesWithTheReader) {
  const PublishedSchema schema("hierarchy.schema.json");
  for (const BadConfig& bad : kBadHierarchies)
    EXPECT_EQ(schema.complaint(Json::parse(bad.text)).empty(), !bad.in_schema) << bad.name;
  for (const GoodConfig& good : kGoodHierarchies) {
    const Json document = Json::parse(good.text);
    EXPECT_EQ(schema.complaint(document), "") << good.name;
    EXPECT_EQ(schema.complaint(to_json(parse_hierarchy(document, good.name))), "") << good.name;
  }
}

TEST(SimulationSchema, AcceptsEveryAlgorithmWithAndWithoutOverlap) {
  const PublishedSchema schema("simulation.schema.json");
  for (const GoodConfig& good : kGoodHierarchies) {
    const Hierarchy hierarchy = parse_hierarchy(Json::parse(good.text), good.name);
    for (const Algorithm& algorithm : algorithms()) {
      Workload load{.n = 1000, .buckets = 16};
      load.sort_bits = algorithm.default_sort_bits;
      const Json result = simulate(hierarchy, hierarchy.pages.back(), algorithm, load);
      EXPECT_EQ(schema.complaint(result), "") << algorithm.id;
      EXPECT_EQ(result.at("pipelined").is_null(), !hierarchy.overlap.has_value());
    }
  }
}

TEST(SimulationSchema, RefusesWhatIsNoSimulation) {
  EXPECT_NE(PublishedSchema("simulation.schema.json").complaint(Json::object()), "");
}

}  // namespace
}  // namespace reduce_bench
