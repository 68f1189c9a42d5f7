// The race detector: a kernel without one of its barriers or fences is reported, and with all of them
// is not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "kernels/platform/emu_device.hpp"
#include "plan/cases.hpp"
#include "plan/variants.hpp"
#include "point/check.hpp"
#include "point/execute.hpp"

namespace reduce_bench {
namespace {

/// What is wrong with the case, traced; empty where nothing is.
std::string fault_of(Session& session, const Case& c, std::uint64_t seed = 1) {
  const Record record = session.execute(c.point, {.timed = false,
                                                  .lead = c.lead,
                                                  .check_determinism = false,
                                                  .emu_seed = seed,
                                                  .emu_sm_count = c.sm_count,
                                                  .tracing = emu::Tracing::kRaces});
  return record.status == Status::kFailed || record.status == Status::kWrong ? record.reason : "";
}

/// Whether it is a race.
bool races(Session& session, const Case& c, std::uint64_t seed = 1) {
  return fault_of(session, c, seed).find("race in ") != std::string::npos;
}

/// A case of `verify --races`, and the barriers, __syncwarps and fences that its launches meet.
struct MetCase {
  Case inputs;
  std::set<std::string> places;
};

/// What ignoring a barrier, a __syncwarp or a fence led to.
enum class Removal {
  kFound,   ///< a race is reported, as `verify --races` runs its cases: under one schedule
  kMissed,  ///< only larger inputs or other schedules show that it orders accesses that conflict
  kIdle     ///< of no accesses that conflict the order changed, in any run
};

/// Ignores each barrier, __syncwarp and fence of a variant in turn.
class Orderings {
 public:
  explicit Orderings(const CatalogEntry& entry) : session_(make_emu_device()) {
    const Subject subject{entry, Backend::kEmu, session_.device().traits(), false, true};
    const Variant& variant = subject.variant();
    for (const Case& c : all_cases(subject)) {
      if (variant.defect != nullptr && variant.defect(c.problem(subject.traits))) continue;
      emu::orderings_met().clear();
      EXPECT_EQ(fault_of(session_, c), "") << describe(c.point);
      cases_.push_back({c, emu::orderings_met()});
      places_.merge(std::set(cases_.back().places));
    }
  }

  const std::set<std::string>& places() const { return places_; }

  Removal remove(const std::string& place) {
    emu::settings().ordering_ignored_at = place;
    const Removal removal = run_without(place);
    emu::settings().ordering_ignored_at.clear();
    return removal;
  }

 private:
  /// What the detector forgets of a run hides no race of it: where a write comes after an older access,
  /// whatever races with that access races with the write too. So inputs and schedules are what is left
  /// to vary.
  Removal run_without(const std::string& place) {
    constexpr std::uint64_t kSchedules = 3;
    for (const MetCase& met : cases_)
      if (met.places.contains(place) && races(session_, met.inputs)) return Removal::kFound;
    for (const MetCase& met : cases_)
      for (std::uint64_t seed = 2; seed <= kSchedules; ++seed)
        if (met.places.contains(place) && races(session_, met.inputs, seed))
          return Removal::kMissed;
    return races_when_larger(place) ? Removal::kMissed : Removal::kIdle;
  }

  /// Loops that ran one round run more: over the inputs of a block where there are few blocks, over
  /// what many blocks left, over many buckets. Once for each setting, on the first type.
  bool races_when_larger(const std::string& place) {
    const Point& first = cases_.front().inputs.point;
    std::vector<Params> settings;
    for (const MetCase& met : cases_) {
      Case larger = met.inputs;
      Point& point = larger.point;
      if (point.type != first.type || point.op != first.op || !met.places.contains(place)) continue;
      if (std::ranges::find(settings, point.params) != settings.end()) continue;
      settings.push_back(point.params);
      point.n = large_size(Backend::kEmu);
      bool found = false;
      for (const unsigned sm_count : {1u, 64u}) {
        larger.sm_count = sm_count;
        found = found || races(session_, larger);
      }
      larger.sm_count.reset();
      const bool keyed = std::exchange(point.buckets, point.buckets == 0 ? 0 : 65537) > 0;
      if (found || (keyed && races(session_, larger))) return true;
    }
    return false;
  }

  Session session_;
  std::vector<MetCase> cases_;
  std::set<std::string> places_;
};

TEST(Races, AMissingBarrierOrFenceShows) {
  // Trees by block barriers and by __syncwarp, a ticket behind a fence, look-back, a cleared table.
  for (const char* const id : {"harris/3", "harris/6", "harris/threadfence", "onepass/multiscan"}) {
    Orderings orderings(find_variant(id));
    EXPECT_FALSE(orderings.places().empty()) << id;
    for (const std::string& place : orderings.places())
      EXPECT_EQ(orderings.remove(place), Removal::kFound) << id << " without " << place;
  }
}

/// The same of any variants, which takes minutes for all: a share of the removals that matter must be
/// found, and the others are listed.
TEST(Races, AreFoundOfNearlyEveryMissingOrdering) {
  const char* const globs = std::getenv("REDUCE_BENCH_ORDERINGS_OF");
  if (globs == nullptr)
    GTEST_SKIP()
        << "takes minutes; name variants, as REDUCE_BENCH_ORDERINGS_OF='harris/* onepass/*'";
  std::istringstream words(globs);
  const std::vector<std::string> names{std::istream_iterator<std::string>(words), {}};
  std::size_t found = 0, missed = 0, idle = 0;
  for (const CatalogEntry* const entry : select_variants(names)) {
    if (entry->traced == nullptr) continue;
    Orderings orderings(*entry);
    for (const std::string& place : orderings.places()) {
      const Removal removal = orderings.remove(place);
      ++(removal == Removal::kFound ? found : removal == Removal::kMissed ? missed : idle);
      if (removal != Removal::kFound)
        fmt::print("{} without {}: {}\n", entry->variant.id, place.substr(place.rfind("kernels/")),
                   removal == Removal::kMissed ? "missed" : "orders no accesses that conflict");
    }
    fmt::print("{}: {} barriers and fences; so far {} of {} found that matter, {} do not\n",
               entry->variant.id, orderings.places().size(), found, found + missed, idle);
    std::fflush(stdout);
  }
  ASSERT_GT(found + missed, 0u) << "no barrier or fence of these variants matters: " << globs;
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(found + missed));
}

/// The points of configs/racecheck.json for which compute-sanitizer's racecheck reported hazards, on an
/// H200 in November 2026, and the line of the source that it named.
const std::map<std::string, std::string> kHazards{
    {"harris/4 as-published", "kernels/reduce/harris/last_warp.hpp:31"},
    {"harris/5 as-published", "kernels/reduce/harris/last_warp.hpp:31"},
    {"harris/6 as-published", "kernels/reduce/harris/last_warp.hpp:31"},
    {"epita/reduce6 as-published", "kernels/reduce/epita/warp_tail.hpp:17"},
    {"jradi/unrolled barrier-free", "kernels/reduce/jradi/unrolled.cu:56"}};
/// In these a plain store races with atomics in shared memory, of which racecheck reports nothing.
const std::set<std::string> kOfAtomics{"epita/reduce1 as-published"};

TEST(Races, OfReductionsInSharedMemoryAreTheHazardsOfRacecheck) {
  Session session(make_emu_device());
  const Config config = read_config(SOURCE_DIR "/configs/racecheck.json", {});
  std::set<std::string> found;
  for (const Point& point : make_plan(config, {.automatic = {Backend::kEmu}}).points) {
    if (point.entry->traced == nullptr || point.operation() != Operation::kReduce) continue;
    const std::string fault = fault_of(session, {.point = point});
    if (fault.find("race in ") == std::string::npos ||
        fault.find("of shared memory: ") == std::string::npos)
      continue;
    std::string form = "corrected";
    for (const auto& [name, value, number] : point.params.entries())
      if (name == "form" || name == "tree") form = value;
    const std::string name = fmt::format("{} {}", point.entry->variant.id, form);
    if (kOfAtomics.contains(name)) continue;
    found.insert(name);
    const auto hazard = kHazards.find(name);
    EXPECT_TRUE(hazard != kHazards.end() && fault.find(hazard->second) != std::string::npos)
        << name << ": " << fault;
  }
  EXPECT_EQ(found.size(), kHazards.size());
}

}  // namespace
}  // namespace reduce_bench
