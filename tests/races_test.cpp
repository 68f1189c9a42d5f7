// The race detector: a kernel without one of its barriers or fences is reported, and with all of them
// is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

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
                                                    .tracing = emu::Tracing::kRaces});
    const auto defect = subject.variant().defect;
    if (defect != nullptr && defect(record.point.problem(subject.traits))) continue;
    if (record.status == Status::kFailed || record.status == Status::kWrong) return record.reason;
  }
  return "";
}

/// Each barrier, __syncwarp and fence that the variant's launches meet, and no variant's before it
/// has met, is ignored in turn.
void expect_that_each_missing_ordering_shows(std::string_view id) {
  SCOPED_TRACE(id);
  Session session(make_emu_device());
  const auto entry =
      std::ranges::find(catalog(), id, [](const CatalogEntry& e) { return e.variant.id; });
  ASSERT_NE(entry, catalog().end());
  const Subject subject{*entry, Backend::kEmu, session.device().traits(), false, true};
  emu::orderings_met().clear();
  EXPECT_EQ(first_fault(session, subject), "");
  const std::set<std::string> places = emu::orderings_met();
  EXPECT_FALSE(places.empty());
  for (const std::string& place : places) {
    emu::settings().ordering_ignored_at = place;
    const std::string fault = first_fault(session, subject);
    emu::settings().ordering_ignored_at.clear();
    EXPECT_NE(fault.find("race in "), std::string::npos) << "without " << place << ": " << fault;
  }
}

TEST(Races, AMissingBarrierOrFenceShows) {
  // Trees by block barriers and by __syncwarp, a ticket behind a fence, look-back, a cleared table.
  for (const std::string_view id :
       {"harris/3", "harris/6", "harris/threadfence", "onepass/multiscan"})
    expect_that_each_missing_ordering_shows(id);
}

}  // namespace
}  // namespace reduce_bench
