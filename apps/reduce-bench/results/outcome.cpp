#include "results/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/fields.hpp"
#include "devices/counters.hpp"
#include "devices/gpu_counts.hpp"
#include "plan/identity.hpp"
#include "point/measure.hpp"
#include "results/measured.hpp"
#include "results/results.hpp"

namespace reduce_bench {
namespace {

/// Gives every optional member of a record a value, if it has none, and every string some text,
/// because those that are empty become null.
template <class T>
void engage(T& value) {
  if constexpr (std::same_as<T, Point>) {
    // the plan's, and the same in every record
  } else if constexpr (std::same_as<T, std::string>) {
    value = "why";
  } else if constexpr (requires { value.has_value(); }) {
    if (!value) value.emplace();
    engage(*value);
  } else if constexpr (requires { fields(value); }) {
    std::apply([](auto&... member) { (engage(member), ...); }, fields(value));
  }
}

/// What may be counted of a point; the schema says what must be there together.
std::vector<std::string> counter_names(Backend backend) {
  if (backend == Backend::kCuda) return gpu_counter_names();
  return {kCounterNames.begin(), kCounterNames.end()};
}

/// Entries of the point that show between them what its members may be: with all that a run can
/// find out, with as little as can stand in each part, and of a run that did not come to it.
std::vector<Json> possible_entries(const Point& point) {
  Record full{.point = point};
  engage(full);
  full.spread->devices = 2;
  full.traffic.read_bytes = 1;
  for (const std::string& name : counter_names(point.backend))
    full.counters.push_back({.name = name, .count = 1, .unavailable = "why"});
  Record bare{.point = point, .launch = Launches{}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  bare.verification = Verification{.bound_abs = nan};
  bare.verification->comparison.error_abs = nan;
  bare.spread = Spread{};
  bare.pages = GrantedPages{};
  bare.energy = Energy{};
  bare.code = MachineCode{};
  for (const Counter& counter : full.counters)
    if (counter.name != kAllCounters) bare.counters.push_back({.name = counter.name});
  // What every GPU counts is left to the schema: which stalls are among it differs.
  const Record uncounted{.point = point, .counters = {{.name = std::string(kAllCounters)}}};
  for (const Mode mode : point.measurement.modes) {
    full.timing[mode] = {.samples_ns = {1}, .sm_clocks_mhz = {1}, .round_trips_ns = {1}};
    bare.timing[mode] = {.samples_ns = {1}};
  }
  return {to_json(full, {1, 1, 1, 1, 1}, true), to_json(bare, {}, false),
          to_json(uncounted, {}, false), to_json(Record{.point = point}, {}, false)};
}

/// Refuses what is not of the kind of the first, or of null where any is.
void check_like(const Node& node, std::span<const Json> possible) {
  const Json &found = node.json(), &first = possible.front();
  const auto is_null = [](const Json& json) { return json.is_null(); };
  if (found.is_null() && std::any_of(possible.begin(), possible.end(), is_null)) return;
  if (first.is_string()) node.string();
  else if (first.is_boolean()) node.boolean();
  else if (first.is_number_integer()) node.integer(0, std::numeric_limits<std::uint64_t>::max());
  else if (first.is_number()) node.number(0, std::numeric_limits<double>::max(), false);
  else if (first.is_array()) node.elements(0);
  else {
    for (const auto& [name, member] : node.members()) {
      if (!first.contains(name)) node.fail(fmt::format("'{}' does not belong here", name));
      std::vector<Json> members;
      for (const Json& each : possible)
        if (each.is_object() && each.contains(name)) members.push_back(each.at(name));
      check_like(member, members);
    }
    for (const auto& [name, unused] : first.items())
      if (std::all_of(possible.begin(), possible.end(), [&, &key = name](const Json& each) {
            return !each.is_object() || each.contains(key);
          }))
        node.at(name);
  }
}

}  // namespace

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
  if (record.verification) outcome.error_ulp = record.verification->comparison.error_ulp;
  for (const Counter& counter : record.counters)
    if (counter.name == kAllCounters) outcome.uncounted = counter.unavailable;
  return {&point, std::move(outcome), to_json(record, rates, keep_samples)};
}

FinishedPoint read_finished(const Point& point, Json entry, const std::string& where) {
  const Node node{entry, "", where};
  const std::vector<Json> possible = possible_entries(point);
  bool is_the_point = read_identity(node) == identity_of(point);
  for (const char* key : {"index", "title", "paper", "plugin", "fidelity", "seed", "finish",
                          "synchronous", "primary_mode"})
    is_the_point = is_the_point && node.at(key).json() == possible.back().at(key);
  if (!is_the_point) node.fail("it is not of this plan");
  // The document is made of entries as they are.
  check_like(node, possible);
  for (const auto& [mode, summary] : node.at("timing").members())
    summary.at("stopped_by").name(kStoppedByNames);
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
  if (const Node verification = node.at("verification"); !verification.is_null())
    if (const Node error = verification.at("error_ulp"); !error.is_null())
      outcome.error_ulp = error.number(0, std::numeric_limits<double>::max(), false);
  if (const Node counters = node.at("counters"); counters.has(std::string(kAllCounters)))
    outcome.uncounted = counters.at(std::string(kAllCounters)).at("unavailable").string();
  if (const auto timing = node.at("timing").members(); !timing.empty())
    outcome.median_ns = measured.timing.at(timing.front().first).median_ns;
  return {&point, std::move(outcome), std::move(entry)};
}

}  // namespace reduce_bench
