// Matching and suggesting names.
#include "common/names.hpp"
#include "plan/variants.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "expect_error.hpp"

namespace reduce_bench {
namespace {

constexpr std::array kFruit{std::string_view{"apple"}, std::string_view{"pear"},
                            std::string_view{"peach"}};

TEST(Names, NearestIsTheFewestEditsAway) {
  EXPECT_EQ(nearest("appel", kFruit), "apple");  // two letters swapped
  EXPECT_EQ(nearest("peech", kFruit), "peach");
  EXPECT_EQ(nearest("bear", kFruit), "pear");
  EXPECT_EQ(nearest("pear", kFruit), "pear");
  EXPECT_EQ(nearest("peac", kFruit), "pear");  // the first of two equally near
}

TEST(Names, OneEditForEveryFourLettersIsNear) {
  constexpr std::array kKnown{std::string_view{"min"}, std::string_view{"i64"},
                              std::string_view{"run"}, std::string_view{"max_time_ms"},
                              std::string_view{"uniform"}};
  EXPECT_EQ(nearest("argmin", kKnown), "");
  EXPECT_EQ(nearest("u64", kKnown), "");
  EXPECT_EQ(nearest("ran", kKnown), "");
  EXPECT_EQ(nearest("min_time_ms", kKnown), "max_time_ms");
  EXPECT_EQ(nearest("average_ms", kKnown), "");
  EXPECT_EQ(nearest("unifrom", kKnown), "uniform");
  EXPECT_EQ(nearest("unfirom", kKnown), "");
}

TEST(Names, ABeginningIsNear) {
  constexpr std::array kKnown{std::string_view{"max_time_ms"}, std::string_view{"runs"}};
  EXPECT_EQ(nearest("max_", kKnown), "max_time_ms");
  EXPECT_EQ(nearest("max", kKnown), "");
  EXPECT_EQ(nearest("time_ms", kKnown), "");
}

TEST(Names, NothingIsSuggestedForANameThatResemblesNone) {
  EXPECT_EQ(nearest("zucchini", kFruit), "");
  EXPECT_EQ(suggestion("zucchini", kFruit), "");
  EXPECT_EQ(nearest("apple", {}), "");
}

TEST(Names, SuggestionIsAClause) {
  EXPECT_EQ(suggestion("pearr", kFruit), " (did you mean 'pear'?)");
}

TEST(Names, OneOfListsWithOr) {
  EXPECT_EQ(one_of(kFruit), "'apple', 'pear' or 'peach'");
  EXPECT_EQ(one_of(std::span(kFruit).first(1)), "'apple'");
}

TEST(Names, SomeOfNamesFour) {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
  EXPECT_EQ(some_of(names), "a, b, c, d and 2 more");
  EXPECT_EQ(some_of(std::span(names).first(4)), "a, b, c, d");
}

TEST(Names, GlobsSpanSlashes) {
  EXPECT_TRUE(glob_matches("*", "harris/0"));
  EXPECT_TRUE(glob_matches("harris/*", "harris/0"));
  EXPECT_TRUE(glob_matches("*is/[0-3]", "harris/0"));
  EXPECT_FALSE(glob_matches("harris", "harris/0"));
  EXPECT_FALSE(glob_matches("harris/?", "harris/10"));
}

std::vector<std::string> ids_of(const std::vector<std::string>& globs) {
  std::vector<std::string> ids;
  for (const CatalogEntry* entry : select_variants(globs)) ids.emplace_back(entry->variant.id);
  return ids;
}

TEST(Names, SelectedVariantsComeOnceAndInCatalogOrder) {
  EXPECT_EQ(ids_of({"harris/2", "harris/[12]", "harris/0"}),
            (std::vector<std::string>{"harris/0", "harris/1", "harris/2"}));
  EXPECT_EQ(ids_of({"*"}).size(), catalog().size());
}

TEST(Names, AGlobThatMatchesNothingIsAnError) {
  EXPECT_EQ(
      message_of<UsageError>([] { ids_of({"harris/*", "haris/0"}); }),
      "no variant matches 'haris/0' (did you mean 'harris/0'?); 'reduce-bench list' shows them "
      "all");
  EXPECT_CONTAINS(message_of<UsageError>([] { ids_of({"#"}); }), "'reduce-bench list'");
}

TEST(Names, AVariantIsFoundByItsWholeId) {
  EXPECT_EQ(find_variant("harris/3").variant.id, "harris/3");
  EXPECT_EQ(message_of<UsageError>([] { find_variant("haris/3"); }),
            "unknown variant 'haris/3' (did you mean 'harris/3'?); 'reduce-bench list' shows them "
            "all");
  EXPECT_CONTAINS(message_of<UsageError>([] { find_variant("harris/*"); }), "unknown variant");
}

TEST(Names, FindNameGivesTheIndex) {
  EXPECT_EQ(find_name(kFruit, "peach"), 2u);
  EXPECT_EQ(find_name(kFruit, "plum"), std::nullopt);
}

}  // namespace
}  // namespace reduce_bench
