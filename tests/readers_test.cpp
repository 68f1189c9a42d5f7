// What every reader of JSON says of a text that is none, and the reader of results of files that were
// altered. tests/python/test_readers.py holds the scripts' readers to the same corpus.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "common/error.hpp"
#include "common/json_fault.hpp"
#include "compare/sides.hpp"
#include "expect_error.hpp"
#include "plan/config.hpp"

namespace reduce_bench {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = SOURCE_DIR "/tests/corpus";
constexpr std::size_t kMostMessage = 300;

Json read(const fs::path& file) { return read_document(file, "the corpus", "restore it"); }

TEST(JsonFault, NamesThePlaceAndTheCause) {
  const Json corpus = read(kCorpus / "json.json");
  ASSERT_GT(corpus.size(), 50u);
  for (const Json& entry : corpus) {
    const std::string text = entry.at("text");
    const auto fault = json_fault(text);
    EXPECT_EQ(fault ? Json(*fault) : Json(nullptr), entry.at("fault")) << text;
    EXPECT_LT(fault.value_or("").size(), kMostMessage) << text;
  }
}

// The library's parser decides what is JSON; doubled keys, deep nesting and large numbers are beside
// that.
TEST(JsonFault, IsFoundInWhatIsNoJsonAndNothingElse) {
  const std::string good =
      R"({"a": [1, -2.5e+3, 0], "b\u00e9": {"c": null, "d": true}, "e": "\n€"})";
  ASSERT_EQ(json_fault(good), std::nullopt);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string altered = good;
      altered[i] = static_cast<char>(byte);
      const auto fault = json_fault(altered);
      if (!fault || fault->starts_with("not valid JSON")) {
        ASSERT_EQ(Json::accept(altered), !fault) << altered;
      }
    }
    const std::string cut = good.substr(0, i);
    ASSERT_TRUE(json_fault(cut)) << cut;
  }
}

TEST(JsonFault, CountsLinesFromTheFirst) {
  EXPECT_CONTAINS(json_fault("[1,\n2,]", 7).value_or(""), "line 8, column 2, near '2,]'");
}

TEST(Results, OfTwoRevisionsAreNotRoundsOfOneSide) {
  const fs::path folder = fs::path(testing::TempDir()) / "readers_test_rounds";
  fs::create_directories(folder);
  Json round = read(kCorpus / "results" / "good.json");
  std::ofstream(folder / "1.json") << round;
  std::ofstream(folder / "2.json") << round;
  EXPECT_EQ(read_side(folder).rounds.size(), 2u);
  round["environment"]["git"]["revision"] = "0123456789";
  std::ofstream(folder / "2.json") << round;
  EXPECT_CONTAINS(message_of<UsageError>([&] { read_side(folder); }),
                  "rounds of one side are runs of one build");
  fs::remove_all(folder);
}

TEST(Results, ThatWereAlteredAreRefusedInTheWordsOfTheScripts) {
  const fs::path folder = kCorpus / "results";
  const Json expected = read(folder / "index.json");
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != "index.json") files.insert(entry.path().filename().string());
  std::set<std::string> listed;
  for (const auto& [name, message] : expected.items()) {
    listed.insert(name);
    const fs::path file = folder / name;
    if (message.is_null()) {
      EXPECT_EQ(read_side(file).rounds.at(0).points.size(), 1u) << name;
      continue;
    }
    const std::string said = message_of<UsageError>([&] { read_side(file); });
    EXPECT_EQ(said, file.string() + ": " + message.get<std::string>());
    EXPECT_LT(message.get<std::string>().size(), kMostMessage) << name;
  }
  EXPECT_EQ(listed, files);
}

}  // namespace
}  // namespace reduce_bench
