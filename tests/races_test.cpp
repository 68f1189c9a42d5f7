// The race detector: what it reports, what it does not, and that a missing barrier of any kernel of
// the catalog shows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "kernels/platform/emu_device.hpp"
#include "plan/cases.hpp"
#include "point/check.hpp"
#include "point/execute.hpp"

namespace reduce_bench {
namespace {

/// What is wrong with the variant's points, traced; the first fault only.
std::string first_fault(Session& session, const Subject& subject) {
  for (const Case& c : all_cases(subject)) {
    const Record record = session.execute(c.point, {.timed = false,
                                                    .lead = c.lead,
                                                    .check_determinism = false,
                                                    .emu_seed = 1,
                                                    .races = true});
    const auto defect = subject.variant().defect;
    if (defect != nullptr && defect(record.point.problem(subject.traits))) continue;
    if (record.status == Status::kFailed || record.status == Status::kWrong) return record.reason;
  }
  return "";
}

TEST(Races, AlmostEveryMissingBarrierShows) {
  Session session(make_emu_device());
  unsigned shown = 0;
  std::vector<std::string> hidden;
  const char* filter = std::getenv("VARIANT");
  for (const CatalogEntry& entry : catalog()) {
    if (entry.traced == nullptr || (filter != nullptr && entry.variant.id != filter)) continue;
    const Subject subject{entry, Backend::kEmu, session.device().traits(), false, true};
    emu::orderings_met().clear();
    EXPECT_EQ(first_fault(session, subject), "") << entry.variant.id;
    for (const std::string& place : std::set<std::string>(emu::orderings_met())) {
      emu::settings().ordering_ignored_at = place;
      const std::string fault = first_fault(session, subject);
      emu::settings().ordering_ignored_at.clear();
      if (fault.find("race in ") != std::string::npos) ++shown;
      else hidden.push_back(fmt::format("{} without {}: '{}'", entry.variant.id, place, fault));
    }
  }
  for (const std::string& text : hidden) fmt::print("{}\n", text);
  fmt::print("{} missing barriers and fences show, {} do not\n", shown, hidden.size());
  EXPECT_GE(shown, 19 * hidden.size());
}

}  // namespace
}  // namespace reduce_bench
