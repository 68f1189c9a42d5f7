#include "results/outcome.hpp"

#include <utility>

#include "plan/identity.hpp"
#include "point/measure.hpp"
#include "results/measured.hpp"
#include "results/results.hpp"

namespace reduce_bench {

FinishedPoint finish(const Point& point, const Record& record, const Ceilings& ceilings,
                     std::optional<double> peak_gb_per_s, bool keep_samples) {
  const Rates rates = rates_of(record, ceilings, peak_gb_per_s);
  Outcome outcome{.status = record.status,
                  .known_wrong = record.known_wrong,
                  .reason = record.reason,
                  .gb_per_s = rates.gb_per_s,
                  .ceiling_share = rates.ceiling_share};
  for (const Mode mode : point.measurement.modes) {
    const auto timed = record.timing.find(mode);
    if (timed == record.timing.end()) continue;
    outcome.median_ns = median(timed->second.samples_ns);
    break;
  }
  return {&point, std::move(outcome), to_json(record, rates, keep_samples)};
}

FinishedPoint read_finished(const Point& point, Json entry, const std::string& where) {
  const Node node{entry, "", where};
  const bool is_the_point =
      read_identity(node) == identity_of(point) && node.at("seed").json() == point.seed &&
      node.at("primary_mode").json() == name_of(point.measurement.modes.front());
  if (!is_the_point) node.fail("it is not of this plan");
  // The document is made of entries as they are, so none may lack a field.
  const Json complete = to_json(Record{.point = point}, {}, false);
  for (const auto& [key, unused] : complete.items()) node.at(key);
  const MeasuredPoint measured = read_point(node);
  if (measured.status == Status::kOk && measured.timing.empty()) node.fail("'ok' without a time");
  const auto rate = [&](const char* key) {
    const Node value = node.at(key);
    return value.is_null() ? std::nullopt : std::optional(value.number(0, 1e18, false));
  };
  Outcome outcome{.status = measured.status,
                  .known_wrong = measured.known_wrong,
                  .reason = measured.reason,
                  .gb_per_s = rate("gb_per_s"),
                  .ceiling_share = rate("ceiling_share")};
  if (const auto timing = node.at("timing").members(); !timing.empty())
    outcome.median_ns = measured.timing.at(timing.front().first).median_ns;
  return {&point, std::move(outcome), std::move(entry)};
}

}  // namespace reduce_bench
