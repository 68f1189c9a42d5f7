// What the traced emulator counts, against counts derived by hand from what the sources say; and the
// comparison of counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "compare/count_changes.hpp"
#include "devices/device.hpp"
#include "expect_error.hpp"
#include "explain/evidence.hpp"
#include "kernels/platform/warp.hpp"
#include "plan/variants.hpp"
#include "point/execute.hpp"
#include "results/counted.hpp"

namespace reduce_bench {
namespace {

using emu::Counts;
using emu::Metric;

Record counted_record(std::string_view id, std::size_t n, std::uint64_t seed = 1,
                      emu::Tracing tracing = emu::Tracing::kCounts) {
  static Session session(make_emu_device());
  Point point{.entry = &find_variant(std::string(id)), .backend = Backend::kEmu, .n = n};
  const Variant& variant = point.entry->variant;
  point.buckets = has_labels(variant.operation) ? 200 : 0;
  if (variant.operation == Operation::kHistogram) point.buckets = 64;
  point.type = has_values(variant.operation) ? Type::kI32 : Type::kU32;
  point.op = default_op(variant.operation);
  point.params = default_params(variant);
  return session.execute(
      point, {.timed = false, .check_determinism = false, .emu_seed = seed, .tracing = tracing});
}

Counts counts_of(std::string_view id, std::size_t n, std::uint64_t seed = 1) {
  const Record record = counted_record(id, n, seed);
  EXPECT_EQ(record.status, Status::kOk) << id << ": " << record.reason;
  return record.counted.empty() ? Counts{} : record.counted.front().counts;
}
std::uint64_t of(const Counts& counts, Metric metric) { return counts[index_of(metric)]; }

constexpr std::size_t kBlock = 128, kBlocks = 128, kWarps = kBlock / kWarpSize;
constexpr std::size_t kElements =
    kBlock * kBlocks;  // one pass of 128 blocks, then one of one block

/// What a block of a Harris tree does in its steps, as his slides draw it: `index(s, t)` is where
/// thread t folds to with its partner `distance(s)` away, or nothing.
struct Tree {
  std::uint64_t requests = 0, wavefronts = 0, barriers = 0;
};
Tree tree_of(const std::vector<unsigned>& steps,
             const std::function<std::optional<unsigned>(unsigned s, unsigned t)>& index) {
  Tree tree;
  for (const unsigned s : steps) {
    tree.barriers += kWarps;
    for (unsigned warp = 0; warp < kWarps; ++warp)
      for (const unsigned offset : {0u, s}) {
        std::map<unsigned, std::set<unsigned>> words_of_bank;
        for (unsigned lane = 0; lane < kWarpSize; ++lane)
          if (const auto at = index(s, warp * kWarpSize + lane))
            words_of_bank[(*at + offset) % 32].insert(*at + offset);
        std::size_t most = 0;
        for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
        tree.requests += most > 0;
        tree.wavefronts += most;
      }
  }
  return tree;
}

void expect_tree(std::string_view id, const Tree& tree) {
  SCOPED_TRACE(id);
  const Counts counts = counts_of(id, kElements);
  const std::uint64_t blocks = kBlocks + 1;
  // The tree's loads, and the one that stores the block's sum.
  EXPECT_EQ(of(counts, Metric::kSharedLoadRequests), blocks * (tree.requests + 1));
  EXPECT_EQ(of(counts, Metric::kSharedLoadWavefronts), blocks * (tree.wavefronts + 1));
  // Every step stores what it folds where its first load was; before it all threads store.
  EXPECT_EQ(of(counts, Metric::kSharedStoreRequests), blocks * (tree.requests / 2 + kWarps));
  EXPECT_EQ(of(counts, Metric::kBarriers), blocks * (tree.barriers + kWarps));
  EXPECT_EQ(of(counts, Metric::kGlobalLoadRequests), blocks * kWarps);
  EXPECT_EQ(of(counts, Metric::kGlobalLoadSectors), blocks * kBlock * 4 / 32);
  EXPECT_EQ(of(counts, Metric::kGlobalStoreRequests), blocks);
  EXPECT_EQ(of(counts, Metric::kGlobalStoreSectors), blocks);
  EXPECT_EQ(of(counts, Metric::kShuffles) + of(counts, Metric::kVotes), 0u);
  EXPECT_EQ(of(counts, Metric::kGlobalAtomics) + of(counts, Metric::kSharedAtomics), 0u);
}

// Kernels 1 to 3 of Harris's slides: divergence, bank conflicts, neither.
TEST(Counts, TellHarrissFirstStepsApart) {
  const std::vector<unsigned> rising{1, 2, 4, 8, 16, 32, 64}, falling{64, 32, 16, 8, 4, 2, 1};
  const auto divergent = [](unsigned s, unsigned t) {
    return t % (2 * s) == 0 ? std::optional(t) : std::nullopt;
  };
  const auto strided = [](unsigned s, unsigned t) {
    return 2 * s * t < kBlock ? std::optional(2 * s * t) : std::nullopt;
  };
  const auto sequential = [](unsigned s, unsigned t) {
    return t < s ? std::optional(t) : std::nullopt;
  };
  expect_tree("harris/0", tree_of(rising, divergent));
  expect_tree("harris/1", tree_of(rising, strided));
  expect_tree("harris/2", tree_of(falling, sequential));

  const Counts first = counts_of("harris/0", kElements), second = counts_of("harris/1", kElements),
               third = counts_of("harris/2", kElements);
  EXPECT_EQ(of(first, Metric::kBankConflicts), 0u);
  EXPECT_GT(of(second, Metric::kBankConflicts), 0u);
  EXPECT_EQ(of(third, Metric::kBankConflicts), 0u);
  // The same sums by fewer instructions: whole warps have nothing to do.
  EXPECT_EQ(of(first, Metric::kActiveLanes), of(second, Metric::kActiveLanes));
  EXPECT_GT(of(first, Metric::kRequests), of(second, Metric::kRequests));
}

TEST(Counts, OfAtomicsAndShuffles) {
  const std::size_t n = 3 * kWarpSize;
  const Record record = counted_record("luitjens/warp-atomic", n);
  const Counts& counts = record.counted.front().counts;
  ASSERT_TRUE(record.launch);
  const std::uint64_t warps = std::uint64_t{record.launch->grid} * record.launch->block / kWarpSize;
  EXPECT_EQ(of(counts, Metric::kShuffles), 5 * warps);
  EXPECT_EQ(of(counts, Metric::kGlobalAtomics), warps);
  EXPECT_EQ(of(counts, Metric::kMostAtomicsOnOneAddress), warps);
  EXPECT_EQ(of(counts, Metric::kGlobalLoadRequests), 3u);
  EXPECT_EQ(of(counts, Metric::kGlobalLoadSectors), 12u);
}

TEST(Counts, OfPlacesAddUpToThoseOfTheKernels) {
  const Counts all = counts_of("harris/1", 5000);
  Counts sum{};
  std::set<std::string> lines;
  for (const emu::CountedPlace& place :
       counted_record("harris/1", 5000, 1, emu::Tracing::kCountsByPlace).counted) {
    emu::add(sum, place.counts);
    EXPECT_EQ(place.kernel, "harris_1::kernel");
    lines.insert(place.where);
  }
  EXPECT_EQ(sum, all);
  EXPECT_TRUE(lines.contains("kernels/reduce/harris/1.cu:35")) << *lines.begin();
}

/// Kernels that do more or less as the schedule has it: blocks that poll for others, or of which the
/// last to arrive does the rest; threads that try again where another was first. (Blocks of
/// onepass/histogram poll, too; of 5003 labels it has one.)
const std::set<std::string_view> kScheduled{"onepass/histogram-split",   "onepass/multireduce",
                                            "onepass/multireduce-split", "peers/multireduce",
                                            "sheffler/global",           "sheffler/shared"};

TEST(Counts, DoNotDependOnTheScheduleWhereTheKernelsOwnDoNot) {
  Session session(make_emu_device());
  std::set<std::string_view> scheduled;
  const Config config = read_config(SOURCE_DIR "/configs/counts.json", {"n=5003"});
  for (const Point& point : make_plan(config, {.automatic = {Backend::kEmu}}).points) {
    const auto counts_under = [&](std::uint64_t seed) {
      const auto counted = session
                               .execute(point, {.timed = false,
                                                .check_determinism = false,
                                                .emu_seed = seed,
                                                .tracing = emu::Tracing::kCounts})
                               .counted;
      return counted.empty() ? Counts{} : counted.front().counts;
    };
    const Counts first = counts_under(1);
    for (const std::uint64_t seed : {2, 3, 4})
      if (counts_under(seed) != first) scheduled.insert(point.entry->variant.id);
  }
  EXPECT_EQ(scheduled, kScheduled);
}

// ---- against a GPU ----------------------------------------------------------------------------

/// What the emulator counts of these differs by more than 2 % from what the GPU counts; ADR 1 says why.
const std::map<std::string_view, std::set<Metric>> kOtherwise = [] {
  constexpr Metric kLoaded = Metric::kGlobalLoadSectors, kStored = Metric::kGlobalStoreSectors,
                   kLoads = Metric::kSharedLoadWavefronts, kStores = Metric::kSharedStoreWavefronts;
  return std::map<std::string_view, std::set<Metric>>{
      {"amp/cascade", {kLoads}},
      {"epita/reduce5", {kLoads}},
      {"epita/reduce6", {kLoads}},
      {"epita/cascade-unrolled", {kLoads}},
      {"onepass/reduce", {kLoaded, kStored}},
      {"eilers/shared-thread", {kLoads}},
      {"eilers/shared-thread-ordered", {kLoads}},
      {"eilers/sort-shared", {kLoads, kStores}},
      {"onepass/multireduce", {kLoaded}},
      {"onepass/multireduce-split", {kLoaded}},
      {"onepass/multireduce-ordered", {kLoads}},
      {"partition/multireduce-ordered", {kLoads}},
      {"eilers/minimal", {kLoads}},
      {"eilers/global-ordered", {kLoads}},
      {"eilers/global-ordered-sorted", {kLoads}},
      {"eilers/global-atomic", {kStored, kLoads}},
      {"eilers/global-atomic-sorted", {kStores}},
      {"eilers/sort-global", {kLoads, kStores}},
      {"eilers/segmented-reduce", {kLoads}},
      {"onepass/histogram", {kLoaded}},
      {"onepass/histogram-split", {kLoaded}},
      {"eilers/scatter-sorted", {kLoads, kStores}},
      {"eilers/radix-sort", {kLoads, kStores}},
      {"eilers/multiscan-global", {kLoads}},
      {"eilers/multiscan-shared", {kLoads}},
      {"sheffler/global", {kLoaded}},
      {"sheffler/shared", {kLoads, kStores}},
      {"eilers/multiscan-vector", {kLoads}},
      {"eilers/multiscan-sort-global", {kLoaded, kStored, kStores}},
      {"eilers/multiscan-sort-shared", {kLoads, kStores}},
      {"partition/multiscan", {kLoaded}},
      {"blelloch/scan", {kLoads}}};
}();

/// The operations whose counts are held against the GPU's: reductions, or all where the environment
/// asks for it, which takes a minute.
bool is_held(const Point& point) {
  return point.operation() == Operation::kReduce || std::getenv("REDUCE_BENCH_HOLD_ALL") != nullptr;
}

/// A GPU repeats a few wavefronts of shared memory, now more, now fewer, and leaves none out: in six
/// runs on an H200 the 264 stores of onepass/reduce, which have no conflict, were 266, 268, 269 twice,
/// 270 and 277. So the round with fewer counts, and it may have so many more where it has as many
/// requests.
constexpr double kRepeatedWavefronts = 8;
/// The 2056 stores of harris/7 were 2091 and 2108 in two rounds, within 2 % and beyond: as many of its
/// requests may be repeated.
constexpr double kRepeatedShare = kRepeatedWavefronts / 264;
const std::map<Metric, Metric> kRequestsOf{
    {Metric::kSharedLoadWavefronts, Metric::kSharedLoadRequests},
    {Metric::kSharedStoreWavefronts, Metric::kSharedStoreRequests}};

/// A configuration of the points of a document with the parameters that they had: the defaults may be
/// others by now.
Json config_of(const Json& document) {
  Json sweeps = Json::array();
  for (const Json& point : document.at("points")) {
    Json sweep{{"operation", point.at("operation")},
               {"variants", {point.at("variant")}},
               {"backends", {"cuda"}},
               {"n", {point.at("n")}},
               {"params", Json::object()}};
    if (point.at("type").is_string()) sweep["type"] = {point.at("type")};
    if (point.at("op").is_string() && point.at("op") != "none") sweep["op"] = {point.at("op")};
    if (!point.at("buckets").is_null()) {
      sweep["buckets"] = {point.at("buckets")};
      sweep["labels"] = {point.at("labels")};
    }
    for (const auto& [name, value] : point.at("params").items()) sweep["params"][name] = {value};
    sweeps.push_back(std::move(sweep));
  }
  return {{"schema", 1}, {"sweeps", std::move(sweeps)}};
}

// The emulated device has what kernels ask of the GPU, above all its number of SMs.
TEST(Counts, AreThoseOfAGpu) {
  const std::string folder = SOURCE_DIR "/results/nvidia-h200/", file = folder + "emulated.json";
  const Json document = read_document(file, "counts of a GPU", "");
  std::map<PointIdentity, Evidence> of_gpu;
  for (const Evidence& each : read_evidence(document, file).points) of_gpu[each.point] = each;
  if (const std::string again = folder + "again/emulated.json"; std::filesystem::exists(again))
    for (const Evidence& each :
         read_evidence(read_document(again, "counts of a GPU", ""), again).points)
      if (const auto first = of_gpu.find(each.point); first != of_gpu.end())
        for (auto& [name, count] : first->second.counts)
          if (name.find("wavefronts") != std::string::npos)
            count = std::min(count, each.counts.at(name));
  const DeviceTraits usual = emu::settings().device;
  emu::settings().device = {
      .sm_count = document.at("environment").at("gpu").at("sm_count").get<unsigned>(),
      .max_threads_per_sm = 2048,
      .max_blocks_per_sm = 32,
      .max_shared_bytes_per_block = 227 * 1024,
      .max_blocks_per_cluster = 8};
  Session session(make_emu_device());
  std::map<std::string_view, std::set<Metric>> otherwise_of;  // each variant that was held
  std::size_t held = 0;
  for (const Point& point : make_plan(parse_config(config_of(document), file, {}), {}).points) {
    const auto counted = of_gpu.find(identity_of(point));
    if (!is_held(point) || point.entry->traced == nullptr || counted == of_gpu.end()) continue;
    const Record record = session.execute(point, {.timed = false,
                                                  .check_determinism = false,
                                                  .emu_seed = 1,
                                                  .tracing = emu::Tracing::kCounts});
    ASSERT_FALSE(record.counted.empty()) << describe(point) << ": " << record.reason;
    ++held;
    std::set<Metric>& otherwise = otherwise_of[point.entry->variant.id];
    for (const Metric metric : {Metric::kGlobalLoadSectors, Metric::kGlobalStoreSectors,
                                Metric::kSharedLoadWavefronts, Metric::kSharedStoreWavefronts}) {
      const auto emulated_of = [&](Metric each) {
        return static_cast<double>(of(record.counted.front().counts, each));
      };
      const auto gpu_of = [&](Metric each) -> double {
        return counted->second.counts.at(std::string(emu::kMetricNames[index_of(each)]));
      };
      const double emulated = emulated_of(metric), gpu = gpu_of(metric), more = gpu - emulated;
      if (std::abs(more) <= 0.02 * gpu) continue;
      const auto requests = kRequestsOf.find(metric);
      if (requests != kRequestsOf.end() &&
          gpu_of(requests->second) == emulated_of(requests->second) && more >= 0 &&
          more <= (point.entry->variant.id == "harris/7" ? kRepeatedShare * gpu_of(requests->second)
                                                         : kRepeatedWavefronts))
        continue;
      otherwise.insert(metric);
      const auto known = kOtherwise.find(point.entry->variant.id);
      EXPECT_TRUE(known != kOtherwise.end() && known->second.contains(metric))
          << describe(point) << ": " << emu::kMetricNames[index_of(metric)] << ' ' << emulated
          << ", of the GPU " << gpu;
    }
  }
  emu::settings().device = usual;
  EXPECT_GT(held, 40u);
  // What is known to differ does so at some point.
  for (const auto& [variant, metrics] : otherwise_of) {
    const auto known = kOtherwise.find(variant);
    EXPECT_EQ(metrics, known != kOtherwise.end() ? known->second : std::set<Metric>{}) << variant;
  }
}

// ---- comparisons ------------------------------------------------------------------------------

PointIdentity identity(std::uint64_t n) {
  return {.variant = "harris/1", .operation = "reduce", .backend = "emu", .n = n};
}
CountedRun run_of(std::map<std::string, std::uint64_t> counts) {
  CountedRun run{.file = "x.json", .environment = {{"git", {{"revision", "abcdef"}}}}};
  run.points[identity(7)] = {.status = "ok", .reason = "", .counts = std::move(counts)};
  return run;
}

TEST(CountComparisons, SayWhatIsIdentical) {
  const CountedRun run = run_of({{"barriers", 5}});
  const CountComparison comparison = compare_counts(run, run, {});
  EXPECT_TRUE(comparison.identical());
  EXPECT_FALSE(comparison.has_regression());
  EXPECT_CONTAINS(text(comparison, run, run), "the counts of 1 point are identical");
  EXPECT_TRUE(json(comparison).at("identical").get<bool>());
}

TEST(CountComparisons, FailWhereACountGrowsBeyondTheThreshold) {
  const CountedRun base = run_of({{"barriers", 1000}, {"votes", 0}, {"active_lanes", 10}});
  const auto verdict = [&](std::map<std::string, std::uint64_t> counts) {
    const CountComparison comparison = compare_counts(base, run_of(std::move(counts)), {});
    return comparison.points.at(0).verdict;
  };
  EXPECT_EQ(verdict({{"barriers", 1031}, {"votes", 0}, {"active_lanes", 10}}), Verdict::kSlower);
  EXPECT_EQ(verdict({{"barriers", 1029}, {"votes", 0}, {"active_lanes", 10}}), Verdict::kSame);
  EXPECT_EQ(verdict({{"barriers", 1}, {"votes", 0}, {"active_lanes", 10}}), Verdict::kSame);
  EXPECT_EQ(verdict({{"barriers", 1000}, {"votes", 1}, {"active_lanes", 10}}), Verdict::kSlower);
  EXPECT_EQ(verdict({{"barriers", 1000}, {"votes", 0}, {"active_lanes", 20}}), Verdict::kSame);
  const CountedRun grown = run_of({{"barriers", 2000}, {"votes", 0}, {"active_lanes", 10}});
  const CountComparison comparison = compare_counts(base, grown, {});
  EXPECT_TRUE(comparison.has_regression());
  EXPECT_CONTAINS(text(comparison, base, grown), "barriers 1000 -> 2000");
  EXPECT_CONTAINS(markdown(comparison, base, grown), "| grown | harris/1");
  EXPECT_CONTAINS(junit(comparison), "failures=\"1\"");
}

TEST(CountComparisons, FailWhereAPointIsLostOrWrong) {
  const CountedRun base = run_of({{"barriers", 5}});
  CountedRun without = base;
  without.points[identity(8)] = without.points[identity(7)];
  EXPECT_EQ(compare_counts(without, base, {}).points.at(0).verdict, Verdict::kLost);
  EXPECT_EQ(compare_counts(without, base, {}, Missing::kAllowed).points.at(0).verdict,
            Verdict::kOnlyBase);
  EXPECT_EQ(compare_counts(base, without, {}).points.at(0).verdict, Verdict::kOnlyNew);
  CountedRun wrong = base;
  wrong.points[identity(7)].status = "wrong";
  EXPECT_EQ(compare_counts(base, wrong, {}).points.at(0).verdict, Verdict::kBroken);
  const CountedRun empty{.file = "y.json", .environment = {}, .points = {}};
  EXPECT_CONTAINS(message_of<UsageError>([&] { compare_counts(base, empty, {}); }),
                  "no counted point in common");
}

}  // namespace
}  // namespace reduce_bench
