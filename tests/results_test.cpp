// The results document's parts, the journal, and writing whole files.
#include "results/results.hpp"
#include "results/measured.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>

#include "common/error.hpp"
#include "expect_error.hpp"
#include "fake_device.hpp"
#include "plan/plan.hpp"
#include "results/counted.hpp"
#include "results/files.hpp"
#include "results/journal.hpp"
#include "results/output_file.hpp"
#include "results/run_document.hpp"
#include "results_cases.hpp"

namespace reduce_bench {
namespace {

namespace fs = std::filesystem;

class InFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "results-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  static std::string content(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
  }

  fs::path folder;
};

// ---- where a document goes --------------------------------------------------------------------

using OutputFile = InFolder;

TEST_F(OutputFile, IsNamedAfterTheDeviceIfNoneIsAskedFor) {
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const fs::path file = output_file("", "NVIDIA H200", kResultsKind);
  EXPECT_TRUE(fs::is_directory(folder / "results" / "local"));
  fs::current_path(before);
  EXPECT_EQ(file.parent_path(), fs::path("results") / "local");
  EXPECT_TRUE(file.string().ends_with("Z-nvidia-h200.json")) << file;
}

TEST_F(OutputFile, IsWhereALinkLeads) {
  fs::create_symlink("there.json", folder / "link.json");
  EXPECT_EQ(output_file((folder / "link.json").string(), "", kResultsKind), folder / "there.json");
  fs::create_symlink("loop.json", folder / "loop.json");
  EXPECT_CONTAINS(message_of<UsageError>(
                      [&] { output_file((folder / "loop.json").string(), "", kResultsKind); }),
                  "its links have no end");
}

TEST_F(OutputFile, ReplacesADocumentOfItsKindAlone) {
  const fs::path file = folder / "there.json";
  const auto replaces = [&](std::string_view kind, const std::string& text) {
    std::ofstream(file) << text;
    EXPECT_EQ(output_file(file.string(), "", kind), file);
  };
  const auto why_not = [&](std::string_view kind, const std::string& text) {
    std::ofstream(file) << text;
    return message_of<UsageError>([&] { output_file(file.string(), "", kind); });
  };
  const std::string results = R"({"schema": 1, "kind": "reduce-bench-results"})";
  const std::string counts = R"({"schema": 1, "kind": "reduce-bench-counts"})";
  replaces(kResultsKind, "");
  replaces(kResultsKind, results);
  replaces(kCountsKind, counts);
  EXPECT_CONTAINS(why_not(kResultsKind, counts), "exists and is not a results file");
  EXPECT_CONTAINS(why_not(kCountsKind, results), "exists and is not a counts file");
  EXPECT_CONTAINS(why_not(kResultsKind, "notes"), "exists and is not a results file");
}

TEST_F(OutputFile, IsAFileWhoseFolderIsMade) {
  const auto why_not = [](const std::string& asked) {
    return message_of<UsageError>([&] { output_file(asked, "", kResultsKind); });
  };
  EXPECT_NO_THROW(output_file((folder / "a" / "b" / "r.json").string(), "", kResultsKind));
  EXPECT_TRUE(fs::is_directory(folder / "a" / "b"));
  EXPECT_CONTAINS(why_not((folder / "a").string() + "/"), "it names a directory");
  EXPECT_CONTAINS(why_not((folder / "a").string()), "it is a directory");
  EXPECT_CONTAINS(why_not("/dev/null"), "it is not a regular file");
  fs::create_directories(temporary_of(folder / "r.json"));
  EXPECT_CONTAINS(why_not((folder / "r.json").string()), "which is a directory; remove that");
}

// ---- whole files ------------------------------------------------------------------------------

using WriteAtomically = InFolder;

TEST_F(WriteAtomically, ReplacesTheFileAndLeavesNothingElse) {
  const fs::path file = folder / "r.json";
  write_atomically(file, "old and long");
  write_atomically(file, "new");
  EXPECT_EQ(content(file), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteAtomically, SaysWhyItCannotWrite) {
  const fs::path file = folder / "file";
  write_atomically(file, "text");
  const std::string message =
      message_of<UsageError>([&] { write_atomically(file / "below.json", "x"); });
  EXPECT_CONTAINS(message,
                  "cannot write '" + (file / "below.json").string() + "': Not a directory");
  EXPECT_CONTAINS(message, "-o");
}

TEST_F(WriteAtomically, LeavesNothingHalfWrittenWhereTheRenameFails) {
  const fs::path target = folder / "target";
  fs::create_directories(target / "not-empty");
  EXPECT_THROW(write_atomically(target, "x"), UsageError);
  EXPECT_TRUE(fs::is_directory(target));
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteAtomically, LeavesNothingHalfWrittenOnAFullDisk) {
  const fs::path file = folder / "r.json";
  write_atomically(file, "old");
  // The temporary file's name leads to a device that is always full.
  fs::create_symlink("/dev/full", file.string() + ".tmp");
  EXPECT_CONTAINS(message_of<UsageError>([&] { write_atomically(file, "new"); }),
                  "No space left on device");
  EXPECT_EQ(content(file), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteAtomically, ReplacesWhatAKilledRunLeft) {
  const fs::path file = folder / "r.json";
  std::ofstream(temporary_of(file)) << "half of a long result";
  write_atomically(file, "new");
  EXPECT_EQ(content(file), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteAtomically, IsRefusedWhileAnotherRunWrites) {
  const fs::path file = folder / "r.json";
  const int other = open_locked(temporary_of(file), file, "write");
  EXPECT_EQ(message_of<UsageError>([&] { write_atomically(file, "new"); }),
            "another run is writing '" + file.string() + "': choose another output with -o");
  EXPECT_TRUE(fs::exists(temporary_of(file)));  // which is the other's
  ::close(other);
  write_atomically(file, "new");
  EXPECT_EQ(content(file), "new");
}

// ---- the text of a document -------------------------------------------------------------------

TEST(DocumentText, HasAPointInALine) {
  const Json document = Json::parse(R"({"schema": 1, "config": {"sweeps": [{"n": [1, 2]}]},
      "points": [{"index": 0, "timing": {"cold": {"samples_ns": [1, 2]}}}, {"index": 1}]})");
  const std::string text = document_text(document);
  EXPECT_EQ(Json::parse(text), document);
  EXPECT_CONTAINS(text, "\n  {\"index\":0,\"timing\":{\"cold\":{\"samples_ns\":[1,2]}}},\n");
  EXPECT_CONTAINS(text, "\n  {\"index\":1}\n");
}

TEST(DocumentText, MayHaveNoPointsAndNoUtf8) {
  const Json document = {{"command", "a\xff"}, {"points", Json::array()}};
  const Json read = Json::parse(document_text(document));
  EXPECT_EQ(read.at("command"), "a\ufffd");
  EXPECT_TRUE(read.at("points").empty());
}

// ---- journal ----------------------------------------------------------------------------------

class JournalFile : public InFolder {
 protected:
  void SetUp() override {
    InFolder::SetUp();
    file = folder / "r.json.journal";
  }
  void write_two_points() {
    Journal journal(file, header, false);
    journal.append({{"index", 0}});
    journal.append({{"index", 1}});
  }
  std::vector<Json> resumed() { return Journal(file, header, true).take_finished(); }

  fs::path file;
  const Json header{{"journal", 1}, {"config", "this one"}, {"share", 0.1}};
};

TEST_F(JournalFile, IsOnDiskAfterEveryLine) {
  Journal journal(file, header, false);
  EXPECT_EQ(content(file), header.dump() + "\n");
  journal.append({{"index", 3}});
  EXPECT_EQ(content(file), header.dump() + "\n{\"index\":3}\n");
}

TEST_F(JournalFile, ResumesWithTheFinishedPointsAndGoesOn) {
  write_two_points();
  {
    Journal journal(file, header, true);
    EXPECT_EQ(journal.take_finished(), (std::vector<Json>{{{"index", 0}}, {{"index", 1}}}));
    journal.append({{"index", 2}});
  }
  EXPECT_EQ(resumed().size(), 3u);
}

TEST_F(JournalFile, ALineThatAKillCutOffIsRunAgain) {
  write_two_points();
  const std::string whole = content(file);
  // Without the newline, within the line, and with nothing but its first byte left.
  for (const std::size_t cut : {1u, 5u, 11u}) {
    std::ofstream(file) << whole.substr(0, whole.size() - cut);
    EXPECT_EQ(resumed().size(), 1u) << cut;
    Journal(file, header, true).append({{"index", 7}});
    EXPECT_EQ(resumed().at(1).at("index"), 7) << cut;
  }
}

TEST_F(JournalFile, DamagedBeforeGoodLinesIsRefusedAndKept) {
  write_two_points();
  std::string damaged = content(file);
  damaged[damaged.find("{\"index\":0}")] = '\0';
  std::ofstream(file) << damaged;
  EXPECT_CONTAINS(message_of<UsageError>([&] { resumed(); }),
                  "is damaged: not valid JSON at line 2, column 1, near");
  EXPECT_EQ(content(file), damaged);
}

TEST_F(JournalFile, CutOffInItsHeaderIsANewOne) {
  std::ofstream(file) << header.dump().substr(0, 10);
  EXPECT_TRUE(resumed().empty());
  EXPECT_EQ(content(file), header.dump() + "\n");
}

TEST_F(JournalFile, ToResumeNeedNotExist) {
  EXPECT_TRUE(resumed().empty());
  EXPECT_EQ(content(file), header.dump() + "\n");
}

TEST_F(JournalFile, OfAnotherRunIsRefusedAndKept) {
  write_two_points();
  const std::string before = content(file);
  Json other = header;
  other["config"] = "another";
  const std::string message = message_of<UsageError>([&] { Journal(file, other, true); });
  EXPECT_CONTAINS(message, "another configuration, build or device");
  EXPECT_CONTAINS(message, "--resume");
  EXPECT_EQ(content(file), before);
}

TEST_F(JournalFile, IsReplacedByANewRun) {
  EXPECT_EQ(Journal(file, header, false).overwritten(), 0u);
  write_two_points();
  Journal journal(file, header, false);
  EXPECT_EQ(journal.overwritten(), 2u);
  EXPECT_TRUE(journal.take_finished().empty());
  EXPECT_EQ(content(file), header.dump() + "\n");
}

TEST_F(JournalFile, OfForeignContentIsRefusedAndKept) {
  for (const char* foreign : {"my notes", "my notes\nof two lines\n", "{\"journey\": 1}", "\n"})
    for (const bool resume : {false, true}) {
      std::ofstream(file) << foreign;
      EXPECT_CONTAINS(message_of<UsageError>([&] { Journal(file, header, resume); }),
                      "'" + file.string() + "' exists and is not the journal of a run");
      EXPECT_EQ(content(file), foreign);
    }
}

TEST_F(JournalFile, IsLockedWhileARunWritesIt) {
  Journal journal(file, header, false);
  journal.append({{"index", 0}});
  for (const bool resume : {false, true})
    EXPECT_CONTAINS(message_of<UsageError>([&] { Journal(file, header, resume); }),
                    "another run is writing");
  EXPECT_CONTAINS(content(file), "{\"index\":0}");
}

TEST_F(JournalFile, ThatCannotBeWrittenIsNamed) {
  const fs::path nowhere = folder / "none" / "r.journal";
  EXPECT_CONTAINS(message_of<UsageError>([&] { Journal(nowhere, header, false); }),
                  "'" + nowhere.string() + "': No such file or directory");
  fs::create_symlink("/dev/full", folder / "full");
  EXPECT_CONTAINS(message_of<UsageError>([&] { Journal(folder / "full", header, false); }),
                  "/full': it is not a regular file");
}

TEST_F(JournalFile, IsRemovedWhenTheDocumentHoldsEverything) {
  Journal journal(file, header, false);
  journal.remove();
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(JournalFile, IsRestoredOnlyWithTimesThatResultsMayHave) {
  const std::vector<Point> plan =
      make_plan(
          parse_config(Json::parse(R"({"schema": 1, "sweeps": [{"variants": ["cpu/sequential"],
                                  "n": [1000], "type": ["i32"]}]})"),
                       "good", {}),
          {.automatic = {Backend::kCpu}})
          .points;
  Record record{.point = plan.at(0), .status = Status::kOk};
  record.verification = Verification{.passed_before = true, .passed_after = true};
  record.timing[record.point.measurement.modes.front()].samples_ns = {1000, 1010, 1020};
  const Json good = finish(plan.at(0), record, Ceilings{}, std::nullopt, true).entry;
  const auto restored = [&](const Json& point) {
    Journal(file, header, false).append(point);
    Journal journal(file, header, true);
    return restore(journal, plan).points.at(0).value();
  };
  EXPECT_EQ(restored(good).entry, good);
  EXPECT_EQ(restored(good).outcome.median_ns, 1010.0);
  // what only libraries, inputs with two legs, arrays on huge pages
  Record rare = record;
  rare.count_bits = 32;
  rare.verification->twin_passed_before = rare.verification->twin_passed_after = true;
  rare.pages = GrantedPages{.bytes = 1, .huge_bytes = 1};
  rare.timing.begin()->second.round_trips_ns = {9000, 9100};  // or a host that waits
  const Json all = finish(plan.at(0), rare, Ceilings{}, std::nullopt, true).entry;
  EXPECT_EQ(restored(all).entry, all);
  const Json elsewhere{{"variant", "cpu/kahan"},
                       {"n", 1001},
                       {"params", {{"block", "1"}}},
                       {"seed", 7},
                       {"primary_mode", "hot"}};
  for (const auto& [key, value] : elsewhere.items()) {
    Json other = good;
    other[key] = value;
    EXPECT_CONTAINS(message_of<UsageError>([&] { restored(other); }), "it is not of this plan");
  }
  const Json verification{{"expected", "1"},
                          {"actual", "1"},
                          {"error_abs", nullptr},
                          {"error_relative", 0.5},
                          {"error_ulp", nullptr},
                          {"bound_abs", 0.0},
                          {"condition", nullptr},
                          {"passed_before", true},
                          {"passed_after", true},
                          {"deterministic", true},
                          {"array", "results"},
                          {"index", 0},
                          {"elements", 1},
                          {"mismatches", 0},
                          {"twin_passed_before", nullptr},
                          {"twin_passed_after", nullptr}};
  Json verified = good;
  verified["verification"] = verification;
  EXPECT_EQ(restored(verified).entry, verified);
  const Json launch{
      {"kernels", 1}, {"grid", 2}, {"block", 3}, {"shared_bytes", 0}, {"registers", 32}};
  const std::vector<std::pair<const char*, Json>> mangled{
      {"/verification", 3},
      {"/verification/error_abs", "none"},
      {"/verification/error_abs", -1.0},
      {"/verification/passed_before", nullptr},
      {"/verification/deterministic", 1},
      {"/verification/index", 0.5},
      {"/verification/expected", 1},
      {"/verification/surprise", 1},
      {"/launch", launch.at("grid")},
      {"/launch/grid", nullptr},
      {"/timing/lukewarm", good.at("timing").at("cold")},
      {"/timing/hot", good.at("timing").at("cold")},  // not asked for
      {"/timing/cold/stopped_by", "boredom"},
      {"/timing/cold/mean_ns", "slow"},
      {"/timing/cold/discarded", -1},
      {"/timing/cold/sm_clock_mhz", {{"median", 1.0}}},
      {"/timing/cold/round_trip", {{"median_ns", 1.0}}},
      {"/pages", {{"bytes", 1}}},
      {"/counters", Json::array()},
      {"/bytes", 1.5},
      {"/input_checksum", 7},
      {"/surprise", 1}};
  for (const auto& [place, value] : mangled) {
    Json bad = verified;
    bad["launch"] = launch;
    EXPECT_NO_THROW(restored(bad));
    bad[Json::json_pointer(place)] = value;
    EXPECT_CONTAINS(message_of<UsageError>([&] { restored(bad); }), "is damaged: line 2: ")
        << place;
  }
  Json incomplete = good;
  incomplete.erase("launch");
  EXPECT_CONTAINS(message_of<UsageError>([&] { restored(incomplete); }), "'launch' is missing");
  const std::string mode = good.at("primary_mode");
  const Json wrong{{"ci_low_ns", 5000.0},
                   {"samples", 0},
                   {"samples_ns", {1000.0, "x"}},
                   {"sm_clock_mhz", {{"median", -1}}}};
  for (const auto& [key, value] : wrong.items()) {
    Json bad = good;
    bad["timing"][mode][key] = value;
    EXPECT_CONTAINS(message_of<UsageError>([&] { restored(bad); }), "is damaged: line 2: ");
  }
}

// ---- points -----------------------------------------------------------------------------------

TEST(PointEntry, TellsTheRoundTripWhereTheHostWaits) {
  for (const bool waits : {false, true}) {
    auto owned = std::make_unique<FakeDevice>();
    owned->trip_ns = 9000;
    Session session(std::move(owned));
    CatalogEntry entry{.variant = {.id = "made-up/sum", .title = "a loop", .source = "section 1"}};
    entry.variant.synchronous = waits;
    entry.variant.enqueue[index_of(Type::kF32)][index_of(Op::kSum)] = [](const Call& call) {
      write_sum(call, 0);
    };
    entry.built[index_of(Backend::kCpu)] = &entry.variant;
    const Point point{.entry = &entry, .n = 1000, .type = Type::kF32};
    const Json cold = finish(point, session.execute(point), made_up_ceilings(), 100.0, false)
                          .entry.at("timing")
                          .at("cold");
    const Json trip =
        waits ? Json{{"median_ns", 9000.0}, {"p25_ns", 9000.0}, {"p75_ns", 9000.0}} : Json(nullptr);
    EXPECT_EQ(cold.at("round_trip"), trip);
    const std::string file = "made-up.json";
    EXPECT_EQ(read_series(Node(cold, "", file)).round_trip_ns,
              waits ? std::optional(9000.0) : std::nullopt);
  }
}

void expect_finite(const Json& json, const std::string& where) {
  if (json.is_structured()) {
    for (const auto& [key, value] : json.items()) expect_finite(value, where + "/" + key);
  } else if (json.is_number_float()) {
    EXPECT_TRUE(std::isfinite(json.get<double>())) << where;
  }
}

TEST(PointJson, HoldsNoNumberThatJsonLacks) {
  for (const Json& point : points_of_every_kind())
    expect_finite(point, point.at("variant").get<std::string>());
}

TEST(PointJson, HoldsWhatTheSchemaNamesOfVerificationAndLaunch) {
  const Json point = points_of_every_kind().at(kRight);
  const std::set<std::string> verification{
      "expected",     "actual",        "error_abs",          "error_relative",
      "error_ulp",    "bound_abs",     "condition",          "passed_before",
      "passed_after", "deterministic", "twin_passed_before", "twin_passed_after",
      "array",        "index",         "elements",           "mismatches"};
  std::set<std::string> found;
  for (const auto& [key, unused] : point.at("verification").items()) found.insert(key);
  EXPECT_EQ(found, verification);
  EXPECT_EQ(point.at("verification").at("array"), "results");
  EXPECT_EQ(point.at("verification").at("passed_after"), true);
}

TEST(PointJson, TellsANanAsText) {
  const Json point = points_of_every_kind().at(kWrongNan);
  EXPECT_EQ(point.at("status"), "wrong");
  EXPECT_EQ(point.at("verification").at("actual"), "nan");
  EXPECT_TRUE(point.at("verification").at("error_abs").is_null());
  EXPECT_TRUE(point.at("timing").empty());
}

TEST(PointJson, DerivesRatesFromThePrimaryMode) {
  const Json point = points_of_every_kind().at(kRight);
  EXPECT_EQ(point.at("timing").at("cold").at("median_ns"), 2000.0);
  EXPECT_EQ(point.at("bytes"), 4004);
  EXPECT_EQ(point.at("gb_per_s"), 4004 / 2000.0);
  EXPECT_EQ(point.at("items_per_s"), 1000 / 2000.0 * 1e9);
  EXPECT_EQ(point.at("ns_per_item"), 2000.0 / 1000);
  EXPECT_EQ(point.at("ceiling_share"), 1000 / 2000.0);
  EXPECT_EQ(point.at("peak_share"), 4004 / 2000.0 / 100);
  EXPECT_EQ(point.at("reason"), nullptr);
  EXPECT_FALSE(point.at("timing").at("cold").contains("samples_ns"));
}

TEST(PointJson, KeepsSamplesOnRequest) {
  const Json point = points_of_every_kind(true).at(kRight);
  EXPECT_EQ(point.at("timing").at("cold").at("samples_ns").size(),
            point.at("timing").at("cold").at("samples"));
}

TEST(PointJson, OfAModeThatWasNotMeasuredHasNoRate) {
  const Json point = points_of_every_kind().at(kWithoutPrimaryMode);
  EXPECT_EQ(point.at("status"), "ok");
  EXPECT_TRUE(point.at("timing").contains("cold"));
  EXPECT_TRUE(point.at("gb_per_s").is_null());
}

TEST(PointJson, NamesThePluginOfAVariant) {
  const PluginFile plugin{
      .path = "far/away/a.so", .name = "a.so", .checksum = "0f", .version = "2"};
  CatalogEntry entry{.variant = {.id = "a/b", .title = "c", .source = "d"}};
  const Record record{.point = {.entry = &entry}};
  EXPECT_EQ(to_json(record, {}, false).at("plugin"), nullptr);
  entry.plugin = &plugin;
  EXPECT_EQ(to_json(record, {}, false).at("plugin"),
            (Json{{"file", "a.so"}, {"checksum", "0f"}, {"version", "2"}}));
}

TEST(ImpossibleTime, IsLessThanHalfOfTheReadStreams) {
  const PluginFile plugin;
  CatalogEntry entry{.plugin = &plugin};
  Record record{.point = {.entry = &entry}, .traffic = {.read_bytes = 1 << 16}};
  const Ceilings ceilings{.reads = {{.size_bytes = 1 << 15, .median_ns = 1000, .shape = ""},
                                    {.size_bytes = 1 << 16, .median_ns = 2000, .shape = ""}}};
  EXPECT_EQ(impossible_time(record, ceilings), "");  // there is none
  record.timing[Mode::kCold].samples_ns = {1000};
  EXPECT_EQ(impossible_time(record, ceilings), "");
  record.timing[Mode::kCold].samples_ns = {990};
  EXPECT_EQ(impossible_time(record, ceilings),
            "took 990 ns, in which 65536 bytes cannot be read: the fastest stream takes 2 us");
  record.traffic.read_bytes = 1 << 15;  // too little to tell
  EXPECT_EQ(impossible_time(record, ceilings), "");
  record.traffic.read_bytes = 1 << 16;
  record.timing = {{Mode::kHot, {.samples_ns = {990}}}};  // the data may be in a cache
  EXPECT_EQ(impossible_time(record, ceilings), "");
  entry.plugin = nullptr;
  record.timing = {{Mode::kCold, {.samples_ns = {990}}}};
  EXPECT_EQ(impossible_time(record, ceilings), "");
}

TEST(Ceilings, TakeTheFastestShapeOfEverySize) {
  FakeDevice device;
  // Two shapes of one size take turns: a warm-up and ten samples each.
  device.script = [](std::size_t k) { return Sample{.ns = k < 11 ? 3000.0 : 1000.0}; };
  const Ceilings ceilings = measure_ceilings(device, {4096});
  ASSERT_EQ(ceilings.reads.size(), 1u);
  EXPECT_EQ(ceilings.reads[0].shape, "fast");
  EXPECT_EQ(ceilings.read_ns(4096), 1000.0);
  EXPECT_EQ(ceilings.read_ns(4097), std::nullopt);
  EXPECT_EQ(ceilings.copy_bytes, 8192u);
}

TEST(Ceilings, AFurtherLaunchIsWhatEightMoreAddByEighths) {
  FakeDevice device;
  // Behind the streams, their copy and the launch alone, each a warm-up and ten samples.
  device.script = [](std::size_t k) { return Sample{.ns = k < 5 * 11 ? 1000.0 : 9000.0}; };
  const Ceilings ceilings = measure_ceilings(device, {4096});
  EXPECT_EQ(ceilings.empty_launch_ns, 1000.0);
  EXPECT_EQ(ceilings.further_launch_ns, 1000.0);
}

TEST(Ceilings, AreMeasuredAtNoMoreSizesThanTell) {
  EXPECT_EQ(ceiling_sizes({5000, 1, 4096, 4096, 4200, 4609, 5100}),
            (std::vector<std::size_t>{16, 4096, 4609, 5100}));
  EXPECT_TRUE(ceiling_sizes({}).empty());
  std::vector<std::size_t> many(100000);
  std::iota(many.begin(), many.end(), std::size_t{1000});
  EXPECT_LT(ceiling_sizes(many).size(), 50u);
}

TEST(Ceilings, BetweenTwoSizesLieOnTheLine) {
  const Ceilings ceilings{.reads = {{.size_bytes = 100, .median_ns = 10, .shape = ""},
                                    {.size_bytes = 200, .median_ns = 30, .shape = ""}}};
  EXPECT_EQ(ceilings.read_ns(100), 10.0);
  EXPECT_EQ(ceilings.read_ns(150), 20.0);
  EXPECT_EQ(ceilings.read_ns(200), 30.0);
  EXPECT_EQ(ceilings.read_ns(99), std::nullopt);
  EXPECT_EQ(ceilings.read_ns(201), std::nullopt);
}

TEST(Ceilings, LeaveOutWhatDoesNotFitTwice) {
  FakeDevice device;
  device.available_bytes = 10000;
  const Ceilings ceilings = measure_ceilings(device, {6000, 4096, 4096});
  ASSERT_EQ(ceilings.reads.size(), 1u);
  EXPECT_EQ(ceilings.reads[0].size_bytes, 4096u);
}

TEST(Ceilings, SurviveTheJournal) {
  const Json json = to_json(made_up_ceilings());
  const std::string name = "journal";
  EXPECT_EQ(to_json(read_ceilings({json, "", name})), json);
}

}  // namespace
}  // namespace reduce_bench
