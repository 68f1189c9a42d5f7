// Reading a hierarchy, and the files that the project gives.
#include "hierarchy.hpp"

#include <gtest/gtest.h>

#include "algorithms.hpp"
#include "common/error.hpp"
#include "expect_error.hpp"
#include "hierarchy_cases.hpp"
#include "simulation.hpp"

namespace reduce_bench {
namespace {

TEST(Hierarchy, SaysWhereTheFaultIsAndWhatIsAllowed) {
  for (const BadConfig& bad : kBadHierarchies) {
    const std::string message = message_of<UsageError>(
        [&] { parse_hierarchy(Json::parse(bad.text), std::string("file ") + bad.name); });
    EXPECT_CONTAINS(message, std::string("file ") + bad.name);
    EXPECT_CONTAINS(message, bad.pointer);
    EXPECT_CONTAINS(message, bad.found);
    EXPECT_CONTAINS(message, bad.advice);
  }
}

TEST(Hierarchy, IsTheSameWhenReadAgain) {
  for (const GoodConfig& good : kGoodHierarchies) {
    const Json resolved = to_json(parse_hierarchy(Json::parse(good.text), good.name));
    EXPECT_EQ(to_json(parse_hierarchy(resolved, "resolved")), resolved) << good.name;
  }
}

TEST(Hierarchy, FillsInWhatIsNotGiven) {
  const Hierarchy smallest = parse_hierarchy(Json::parse(kGoodHierarchies[0].text), "smallest");
  ASSERT_EQ(smallest.caches.size(), 1U);
  EXPECT_EQ(smallest.caches[0].name, "L1");
  EXPECT_EQ(smallest.caches[0].line_bytes, 64U);
  EXPECT_EQ(smallest.caches[0].replacement, Replacement::kApproximateLru);
  EXPECT_EQ(smallest.caches[0].prefetch, Prefetch::kNone);
  ASSERT_EQ(smallest.pages.size(), 1U);
  EXPECT_TRUE(smallest.pages[0].tlb.empty());
  EXPECT_FALSE(smallest.overlap.has_value());
  const Hierarchy every = parse_hierarchy(Json::parse(kGoodHierarchies[1].text), "every key");
  EXPECT_EQ(every.caches[1].name, "L2");
  EXPECT_EQ(every.pages[1].tlb[0].associativity, 4U);  // full
}

TEST(Hierarchy, TheThesisMachinesAreAsTheThesisSays) {
  const Hierarchy opteron = read_hierarchy(SOURCE_DIR "/configs/hierarchies/opteron-6274.json");
  ASSERT_EQ(opteron.caches.size(), 3U);
  EXPECT_EQ(opteron.caches[0].size_bytes, 16U << 10);
  EXPECT_EQ(opteron.caches[1].size_bytes, 2048U << 10);
  EXPECT_EQ(opteron.caches[2].size_bytes, 6144U << 10);
  const Hierarchy core2 = read_hierarchy(SOURCE_DIR "/configs/hierarchies/core2-t7300.json");
  ASSERT_EQ(core2.caches.size(), 2U);
  EXPECT_EQ(core2.caches[0].size_bytes, 32U << 10);
  EXPECT_EQ(core2.caches[1].size_bytes, 4096U << 10);
  EXPECT_EQ(core2.memory_latency_ns, 111);
  EXPECT_EQ(core2.pages[0].tlb[0].entries, 256U);
  EXPECT_EQ(core2.pages[1].bytes, 2048U << 10);
}

TEST(Hierarchy, AMissingFileIsOneSentence) {
  EXPECT_CONTAINS(message_of<UsageError>([] { read_hierarchy("/nowhere/none.json"); }),
                  "cannot read the hierarchy '/nowhere/none.json': No such file or directory");
}

}  // namespace
}  // namespace reduce_bench
