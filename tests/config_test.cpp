// Reading configurations: what is accepted, what complaints say, and overriding.
#include "plan/config.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "common/error.hpp"
#include "config_cases.hpp"
#include "expect_error.hpp"
#include "plan/plan.hpp"

namespace reduce_bench {
namespace {

Config parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(Json::parse(text), "file.json", overrides);
}

// ---- complaints -------------------------------------------------------------------------------

class Malformed : public testing::TestWithParam<BadConfig> {};

TEST_P(Malformed, IsRefusedWithThePlaceTheFindingAndAdvice) {
  const std::string message = message_of<UsageError>([] { parse(GetParam().text); });
  EXPECT_EQ(message.rfind("file.json: ", 0), 0u) << message;
  EXPECT_CONTAINS(message, GetParam().pointer);
  EXPECT_CONTAINS(message, GetParam().found);
  EXPECT_CONTAINS(message, GetParam().advice);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Config, Malformed, testing::ValuesIn(kBadConfigs),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Config, LongFindingsAreCutShort) {
  const std::string message = message_of<UsageError>([] {
    parse(R"({"schema": 1, "description": ["y)" + std::string(1000, 'x') + R"("], "sweeps": []})");
  });
  EXPECT_LT(message.size(), 200u);
}

// ---- what is read -----------------------------------------------------------------------------

TEST(Config, DefaultsFillWhatIsLeftOut) {
  const Config config = parse(kGoodConfigs[0].text);
  ASSERT_EQ(config.sweeps.size(), 1u);
  const Sweep& sweep = config.sweeps[0];
  EXPECT_EQ(sweep.n, std::vector<std::size_t>{0});
  EXPECT_EQ(sweep.types, std::vector{Type::kI32});
  EXPECT_EQ(sweep.ops, std::vector{Op::kSum});
  EXPECT_EQ(sweep.distributions, std::vector{Distribution{}});
  EXPECT_TRUE(sweep.backends.empty());
  EXPECT_EQ(sweep.measurement.modes, std::vector{Mode::kCold});
  EXPECT_EQ(sweep.measurement.min_samples, 10u);
}

TEST(Config, LabelsAndBucketsArrive) {
  const Config config = parse(kGoodConfigs[2].text);
  const Sweep& keyed = config.sweeps.at(0);
  EXPECT_EQ(keyed.operation, Operation::kMultireduce);
  constexpr std::size_t kMost = std::size_t{1} << 32;
  EXPECT_EQ(keyed.buckets, (std::vector<std::size_t>{kMost, 1, 65536, kMost}));
  EXPECT_EQ(keyed.labels.at(5).exponent, 1);
  EXPECT_EQ(keyed.labels.at(11).exponent, 10);
  EXPECT_EQ(keyed.labels.at(12).length, 3u);
  const Sweep& histogram = config.sweeps.at(1);
  EXPECT_EQ(histogram.types, (std::vector{Type::kU8, Type::kU16, Type::kU32}));
}

TEST(Config, DefaultsFollowTheOperation) {
  const auto sweep_of = [](const std::string& operation) {
    return parse(R"({"schema": 1, "sweeps": [{"variants": ["*"], "n": [1], "operation": ")" +
                 operation + R"("}]})")
        .sweeps.at(0);
  };
  EXPECT_EQ(sweep_of("reduce").buckets, std::vector<std::size_t>{0});
  EXPECT_EQ(sweep_of("multireduce").buckets, std::vector<std::size_t>{256});
  EXPECT_EQ(sweep_of("multireduce").ops, std::vector{Op::kSum});
  EXPECT_EQ(sweep_of("sort").ops, std::vector{Op::kNone});
  EXPECT_EQ(sweep_of("sort").types, std::vector{Type::kI32});
  EXPECT_EQ(sweep_of("histogram").types, std::vector{Type::kU32});
}

TEST(Config, EveryKeyArrives) {
  const Config config = parse(kGoodConfigs[1].text);
  EXPECT_EQ(config.description, "all of it");
  const Sweep& sweep = config.sweeps.at(0);
  EXPECT_EQ(sweep.n, (std::vector<std::size_t>{std::size_t{1} << 40, 1, std::size_t{1} << 40, 8}));
  EXPECT_EQ(sweep.backends, (std::vector{Backend::kCpu, Backend::kCuda}));
  EXPECT_EQ(sweep.types.size(), kValueTypeCount);
  EXPECT_EQ(sweep.ops.size(), kOpCount - 1);
  EXPECT_EQ(sweep.distributions[6].condition, 1);
  EXPECT_EQ(sweep.distributions[7].condition, 1e3);
  EXPECT_EQ(sweep.params.at("block"), (std::vector<std::string>{"64", "128"}));
  EXPECT_EQ(sweep.zip, (std::vector<std::vector<std::string>>{{"block", "blocks_per_sm"}}));
  const MeasurementSettings& m = sweep.measurement;
  EXPECT_EQ(m.modes, std::vector{Mode::kHot});  // the sweep's own
  EXPECT_EQ(m.max_samples, 10u);                // the document's
  EXPECT_EQ(m.max_time_ms, 0.5);
  EXPECT_EQ(m.relative_ci, 1);
  EXPECT_EQ(m.interleave, 1000u);
  EXPECT_EQ(m.clock_floor, 0);
  EXPECT_TRUE(m.counters);
  EXPECT_TRUE(m.energy);
}

TEST(Config, PowersOfTwoIncludeBothEnds) {
  const auto sizes = [](const std::string& range) {
    return parse(R"({"schema": 1, "sweeps": [{"variants": ["*"], "n": [{"pow2": )" + range +
                 "}]}]}")
        .sweeps[0]
        .n;
  };
  EXPECT_EQ(sizes("[2, 4]"), (std::vector<std::size_t>{4, 8, 16}));
  EXPECT_EQ(sizes("[2, 6, 2]"), (std::vector<std::size_t>{4, 16, 64}));
  EXPECT_EQ(sizes("[2, 5, 2]"), (std::vector<std::size_t>{4, 16}));
}

TEST(Config, APowerOfTwoMayBeText) {
  const Sweep sweep = parse(KEYED(R"("buckets": ["2^0", "2^32"])")).sweeps.at(0);
  EXPECT_EQ(sweep.buckets, (std::vector<std::size_t>{1, std::size_t{1} << 32}));
  EXPECT_EQ(parse(SWEEP(R"({"variants": ["harris/7"], "n": ["2^40", 8]})")).sweeps.at(0).n,
            (std::vector<std::size_t>{std::size_t{1} << 40, 8}));
}

TEST(Config, WrittenOutItReadsBackTheSame) {
  for (const GoodConfig& good : kGoodConfigs) {
    const Json written = to_json(parse(good.text));
    EXPECT_EQ(to_json(parse(written.dump())).dump(), written.dump()) << good.name;
  }
}

TEST(Config, EveryShippedFileCanBePlanned) {
  std::set<std::filesystem::path> of_plugins;  // which are not loaded here
  std::ifstream file(SOURCE_DIR "/scripts/results.json");
  const Json results = Json::parse(file);
  for (const Json& part : results.at("parts"))
    if (part.contains("plugins"))
      of_plugins.insert(std::filesystem::path(SOURCE_DIR) / part.at("config").get<std::string>());
  ASSERT_FALSE(of_plugins.empty());
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".json" || entry.path().parent_path().filename() == "schema" ||
        entry.path().parent_path().filename() == "hierarchies" ||
        entry.path().filename() == "thresholds.json" || of_plugins.contains(entry.path()))
      continue;
    ++count;
    try {
      make_plan(read_config(entry.path(), {}), {.automatic = {Backend::kCuda}, .filter = {}});
    } catch (const UsageError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(count, 0u);
}

// ---- files ------------------------------------------------------------------------------------

TEST(ConfigFile, ThatIsMissingIsNamed) {
  const std::string message = message_of<UsageError>([] { read_config("/no/such.json", {}); });
  EXPECT_CONTAINS(message, "'/no/such.json'");
  EXPECT_CONTAINS(message, "No such file");
}

TEST(ConfigFile, ThatIsCutShortIsRefusedWithThePlace) {
  const std::string path = testing::TempDir() + "cut-short.json";
  std::ofstream(path) << R"({"schema": 1, "sweeps": [)";
  const std::string message = message_of<UsageError>([&] { read_config(path, {}); });
  EXPECT_CONTAINS(message, path);
  EXPECT_CONTAINS(message, "not valid JSON at line 1, column 26, near");
  std::filesystem::remove(path);
}

TEST(ConfigFile, ImagesLieBesideIt) {
  const std::filesystem::path folder = testing::TempDir() + "config_test_images";
  std::filesystem::create_directories(folder / "grey");
  std::ofstream(folder / "grey" / "a.pgm") << "P2 2 1 255 3 200";
  const auto save = [&](const std::string& image) {
    std::ofstream(folder / "c.json")
        << R"({"schema": 1, "sweeps": [{"variants": ["*"], "operation": "histogram", "n": [2],
               "labels": [{"name": "image", "file": ")" +
               image + R"("}]}]})";
    return folder / "c.json";
  };
  const auto labels = read_config(save("grey/a.pgm"), {}).sweeps.at(0).labels.at(0);
  EXPECT_EQ(labels.file, "grey/a.pgm");  // results say the same wherever the folder is
  EXPECT_EQ(labels.path, (folder / "grey" / "a.pgm").string());
  EXPECT_EQ(labels.image->pixels.at(1), 200);
  EXPECT_EQ(read_config(save((folder / "grey" / "a.pgm").string()), {}).sweeps[0].labels[0].path,
            labels.path);
  EXPECT_EQ(read_config(folder / "c.json", {"labels=image(grey/a.pgm)"}).sweeps[0].labels[0].path,
            labels.path);
  const std::string message = message_of<UsageError>([&] { read_config(save("b.pgm"), {}); });
  EXPECT_CONTAINS(message, "c.json: /sweeps/0/labels/0/file: there is no '");
  EXPECT_CONTAINS(message, (folder / "b.pgm").string() + "': an image's path begins at the conf");
  std::filesystem::remove_all(folder);
}

// ---- overriding -------------------------------------------------------------------------------

const std::string kTwoSweeps =
    SWEEP(R"({"variants": ["harris/7"], "n": [1]}, {"variants": ["harris/0"], "n": [2]})");

Sweep overridden(const std::string& setting) { return parse(kTwoSweeps, {setting}).sweeps[1]; }

TEST(Override, ReplacesAnAxisOfEverySweep) {
  const Config config = parse(kTwoSweeps, {"n=8,16", "type=f32"});
  for (const Sweep& sweep : config.sweeps) {
    EXPECT_EQ(sweep.n, (std::vector<std::size_t>{8, 16}));
    EXPECT_EQ(sweep.types, std::vector{Type::kF32});
  }
}

TEST(Override, TakesListsJsonAndRanges) {
  EXPECT_EQ(overridden("n=[8, 16]").n, (std::vector<std::size_t>{8, 16}));
  EXPECT_EQ(overridden(R"(n={"pow2": [3, 4]})").n, (std::vector<std::size_t>{8, 16}));
  EXPECT_EQ(overridden("op=min,max").ops, (std::vector{Op::kMin, Op::kMax}));
  EXPECT_EQ(overridden("variants=cpu/*").variants, std::vector<std::string>{"cpu/*"});
  EXPECT_EQ(overridden("backends=cpu").backends, std::vector{Backend::kCpu});
  EXPECT_EQ(overridden(R"(distribution={"name": "cancelling", "condition": 7})")
                .distributions.at(0)
                .condition,
            7);
}

TEST(Override, TakesNumbersAsTheProgramWritesThem) {
  EXPECT_EQ(overridden("n=2^20").n, std::vector<std::size_t>{1 << 20});
  EXPECT_EQ(overridden("n=1e6, 2^10,5,1.5e3").n,
            (std::vector<std::size_t>{1000000, 1024, 5, 1500}));
  EXPECT_EQ(overridden("n=[1024, 2^11,1e6]").n, (std::vector<std::size_t>{1024, 2048, 1000000}));
  EXPECT_EQ(overridden(R"(n=["2^11"])").n, std::vector<std::size_t>{2048});
  EXPECT_EQ(overridden("params.block=2^7").params.at("block"), std::vector<std::string>{"128"});
  EXPECT_EQ(overridden("measurement.max_samples=1e3").measurement.max_samples, 1000u);
  EXPECT_EQ(overridden("measurement.relative_ci=1e-3").measurement.relative_ci, 1e-3);
  for (const char* wrong : {"n=2^64", "n=1e-1", "n=1.5", "n=2^", "n=^2", "n=1e", "n=-2^3"})
    EXPECT_CONTAINS(message_of<UsageError>([&] { overridden(wrong); }),
                    "expected an integer from 0 to 1099511627776");
}

TEST(Override, TakesDistributionsAsTheProgramWritesThem) {
  const std::string keyed = KEYED(R"("buckets": [16])");
  const auto labels = [&](const std::string& text) {
    return parse(keyed, {"labels=" + text}).sweeps.at(0).labels;
  };
  for (const char* text : {"zipf(1.2)", "zipf(exponent=1.2)", "zipf exponent=1.2",
                           R"({"name": "zipf", "exponent": 1.2})", R"j(["zipf(1.2)"])j"}) {
    ASSERT_EQ(labels(text).size(), 1u) << text;
    EXPECT_EQ(labels(text)[0].kind, LabelDistribution::Kind::kZipf) << text;
    EXPECT_EQ(labels(text)[0].exponent, 1.2) << text;
  }
  const auto several = labels(R"(sorted, runs(2^4),{"name": "zipf", "exponent": 2})");
  ASSERT_EQ(several.size(), 3u);
  EXPECT_EQ(several[0].kind, LabelDistribution::Kind::kSorted);
  EXPECT_EQ(several[1].length, 16u);
  EXPECT_EQ(several[2].exponent, 2);
  EXPECT_EQ(overridden("distribution=cancelling(1e6)").distributions.at(0).condition, 1e6);
  EXPECT_CONTAINS(message_of<UsageError>([&] { labels("zip(1.2)"); }), "found \"zip\" (did you");
  for (const char* text : {"uniform(3)", "uniform x=3", "sorted,uniform(3)"})
    EXPECT_CONTAINS(message_of<UsageError>([&] { labels(text); }),
                    "takes no value, as 'zipf(1.2)' does: write 'uniform'");
  EXPECT_CONTAINS(message_of<UsageError>([&] { labels("zipf(x)"); }), "exponent: found \"x\"");
}

/// Every distribution that a run's progress, tables and comparisons print can be typed.
TEST(Override, TakesWhatIsPrinted) {
  const Config all = parse(kGoodConfigs[2].text);
  const std::string keyed = KEYED(R"("buckets": [16])");
  for (const LabelDistribution& labels : all.sweeps.at(0).labels) {
    const Json json = to_json(labels);
    std::string brief(labels.name()), named(labels.name());
    for (const auto& [key, value] : json.items()) {
      if (key == "name") continue;
      brief += fmt::format("({})", value.dump());
      named += fmt::format(" {}={}", key, value.dump());
    }
    for (const std::string& text : {brief, named})
      EXPECT_EQ(to_json(parse(keyed, {"labels=" + text}).sweeps.at(0).labels.at(0)), json) << text;
  }
}

TEST(Override, ReachesParametersAndMeasurement) {
  EXPECT_EQ(overridden("params.block=64,128").params.at("block"),
            (std::vector<std::string>{"64", "128"}));
  EXPECT_EQ(overridden("measurement.max_time_ms=1.5").measurement.max_time_ms, 1.5);
  EXPECT_EQ(overridden("measurement.modes=hot,cold").measurement.modes,
            (std::vector{Mode::kHot, Mode::kCold}));
}

TEST(Override, IsCheckedLikeTheFile) {
  EXPECT_CONTAINS(message_of<UsageError>([] { overridden("n=abc"); }),
                  "/sweeps/0/n/0: found \"abc\"");
  EXPECT_CONTAINS(message_of<UsageError>([] { overridden("n="); }), "/sweeps/0/n/0: ");
  EXPECT_CONTAINS(message_of<UsageError>([] { overridden("measurement.min_sample=20"); }),
                  "did you mean 'min_samples'?");
}

TEST(Override, ThatMakesNoSenseIsExplained) {
  for (const char* setting : {"n", "=5", ""})
    EXPECT_CONTAINS(message_of<UsageError>([&] { overridden(setting); }), "expected key=value");
  EXPECT_CONTAINS(message_of<UsageError>([] { overridden("typ=i32"); }), "did you mean 'type'?");
  EXPECT_CONTAINS(message_of<UsageError>([] { overridden("measurement=5"); }), "measurement.NAME");
  EXPECT_CONTAINS(message_of<UsageError>([] { overridden("n.x=5"); }), "unknown key 'n.x'");
}

TEST(ConfigOverrides, AFaultyOneIsBlamedOnTheCommandLine) {
  const std::string good = R"({"schema": 1, "sweeps": [{"variants": ["cpu/*"], "n": [1]}]})";
  try {
    parse(good, {"n=abc"});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("--set n=abc: /sweeps/0/n/0"), 0u) << message;
    EXPECT_EQ(message.find("file.json"), std::string::npos) << message;
  }
}

TEST(UsageError, IsOneLineOfTextWhateverItQuotes) {
  EXPECT_STREQ(UsageError("a \"b\" \\ \xe2\x82\xac").what(), "a \"b\" \\ \xe2\x82\xac");
  EXPECT_STREQ(UsageError("clear\x1b[2J, then\nanother line").what(),
               "clear\\u001b[2J, then\\nanother line");
  EXPECT_STREQ(UsageError("\xff").what(), "\xef\xbf\xbd");
}

TEST(UsageError, KeepsTheBeginningAndTheAdviceOfALongMessage) {
  std::string euros;
  for (int i = 0; i < 10000; ++i) euros += "\xe2\x82\xac";
  const std::string message = UsageError("unknown key '" + euros + "': remove it").what();
  EXPECT_LT(message.size(), 300 - std::string("reduce-bench: ").size());
  EXPECT_CONTAINS(message, "unknown key '\xe2\x82\xac");
  EXPECT_CONTAINS(message, "': remove it");
  EXPECT_NO_THROW((void)Json(message).dump()) << "a character was cut";
}

TEST(UsageError, DoesNotCutACharacterOfTheExcerpt) {
  const std::string message = message_of<UsageError>([] {
    parse(R"({"schema": ")" + std::string(55, 'x') + "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\"}");
  });
  EXPECT_CONTAINS(message, "xxx...");
  EXPECT_EQ(message.find("\xef\xbf\xbd"), std::string::npos) << message;
}

}  // namespace
}  // namespace reduce_bench
