#include "results/measured.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/error.hpp"
#include "common/text.hpp"
#include "point/measure.hpp"
#include "results/run_document.hpp"
#include "results/schema_fault.hpp"

namespace reduce_bench {
namespace {

constexpr double kMostMhz = 1e6;
constexpr double kMostRatio = 1e9;
constexpr const char* kAltered = "the file was altered, so measure again";

/// The value at a key; null where there is none.
const Json& value_at(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? null : *found;
}

void check_summary(const Node& node) {
  const Json &low = value_at(node.json(), "ci_low_ns"),
             &median = value_at(node.json(), "median_ns"),
             &high = value_at(node.json(), "ci_high_ns"),
             &samples_ns = value_at(node.json(), "samples_ns"),
             &samples = value_at(node.json(), "samples");
  if (low.is_number() && median.is_number() && high.is_number() && (low > median || median > high))
    node.fail(fmt::format("the median is outside its own interval: {}", kAltered));
  if (samples_ns.is_array() && samples.is_number_integer() && samples != samples_ns.size())
    node.fail(fmt::format("'samples' is {}, but 'samples_ns' holds {}: {}", samples.dump(),
                          samples_ns.size(), kAltered));
}

/// Fails for two values that no run writes together. What is not of the schema's shape is passed
/// over: the schema says it better.
void check_contradictions(const Node& point) {
  const Json& json = point.json();
  if (value_at(json, "operation") == name_of(Operation::kReduce))
    for (const char* key : {"buckets", "labels"})
      if (!value_at(json, key).is_null())
        point.at(key).fail(fmt::format("'{}' has no labels, so this must be null: {}",
                                       name_of(Operation::kReduce), kAltered));
  const Json& verification = value_at(json, "verification");
  if (value_at(json, "status") == name_of(Status::kOk) && verification.is_object())
    for (const char* key : {"passed_before", "passed_after"})
      if (verification.contains(key) && verification.at(key) != true)
        point.at("verification")
            .at(key)
            .fail(fmt::format("the status is 'ok', so this must be true: {}", kAltered));
  if (value_at(json, "timing").is_object())
    for (const auto& [mode, summary] : point.at("timing").members()) check_summary(summary);
}

}  // namespace

Series read_series(const Node& node) {
  Series series{.median_ns = node.at("median_ns").positive_ns(),
                .p25_ns = node.at("p25_ns").positive_ns(),
                .p75_ns = node.at("p75_ns").positive_ns(),
                .ci_low_ns = node.at("ci_low_ns").positive_ns(),
                .ci_high_ns = node.at("ci_high_ns").positive_ns(),
                .count = node.at("samples").integer(1, kMostCount)};
  if (node.has("samples_ns")) series.samples_ns = node.at("samples_ns").positive_ns_list();
  if (const Node clock = node.at("sm_clock_mhz"); !clock.is_null())
    series.sm_clock_mhz = clock.at("median").number(1, kMostMhz, false);
  if (node.has("round_trip"))
    if (const Node trip = node.at("round_trip"); !trip.is_null())
      series.round_trip_ns =
          trimean(trip.at("p25_ns").positive_ns(), trip.at("median_ns").positive_ns(),
                  trip.at("p75_ns").positive_ns());
  return series;
}

namespace {

/// Reads a point that keeps to the schema and has no contradictions.
MeasuredPoint measured_point(const Node& node) {
  MeasuredPoint point{.status = static_cast<Status>(node.at("status").name(kStatusNames)),
                      .known_wrong = node.at("known_wrong").boolean()};
  if (const Node reason = node.at("reason"); !reason.is_null()) point.reason = reason.string();
  const bool on_host = node.at("finish").string() == "host";
  point.waits = node.at("synchronous").boolean() || on_host;
  for (const auto& [mode, summary] : node.at("timing").members())
    point.timing[mode] = read_series(summary);
  if (node.has("code") && !node.at("code").is_null())
    if (const Node hash = node.at("code").at("hash"); !hash.is_null()) point.code = hash.string();
  return point;
}

}  // namespace

MeasuredPoint read_point(const Node& node) {
  check_contradictions(node);
  check_point_schema(node);
  return measured_point(node);
}

bool MeasuredPoint::bad() const {
  return !known_wrong &&
         (status == Status::kWrong || status == Status::kFailed || status == Status::kTimeout);
}

std::string MeasuredRun::revision() const {
  const Json& git = environment.at("git");
  if (git.at("revision").is_null()) return "unknown";
  return printable(git.at("revision").get<std::string>()) +
         (git.at("dirty") == true ? " with changes" : "");
}

bool MeasuredRun::is_same_as(const MeasuredRun& other) const {
  return environment == other.environment && aa_log_ratios == other.aa_log_ratios &&
         points == other.points;
}

MeasuredRun parse_run(const Json& document, const std::string& name) {
  const Node root{document, "", name};
  if (!root.is_object() || !root.has("kind") || root.at("kind").json() != kResultsKind)
    throw UsageError(fmt::format("'{}' is not a results file (\"kind\" is not \"{}\"): {}", name,
                                 kResultsKind, kNameResults));
  if (root.has("points") && root.at("points").json().is_array())
    for (const Node& point : root.at("points").elements(0)) check_contradictions(point);
  check_results_schema(root);
  MeasuredRun run{.file = name, .environment = root.at("environment").json()};
  run.interrupted = root.at("interrupted").boolean();
  for (const Node& pair : root.at("noise_floor").at("aa").elements(0))
    run.aa_log_ratios[pair.at("backend").string()].push_back(
        std::log(pair.at("ratio").number(1 / kMostRatio, kMostRatio, false)));
  for (const Node& node : root.at("points").elements(0)) {
    MeasuredPoint point = measured_point(node);
    point.position = run.points.size();
    const bool is_new = run.points.emplace(read_identity(node), std::move(point)).second;
    if (!is_new) node.fail(fmt::format("the same point is listed twice: {}", kAltered));
  }
  return run;
}

std::optional<double> median_sm_clock_mhz(std::span<const MeasuredRun> runs) {
  std::vector<double> clocks_mhz;
  for (const MeasuredRun& run : runs)
    for (const auto& [identity, point] : run.points)
      for (const auto& [mode, series] : point.timing)
        if (series.sm_clock_mhz) clocks_mhz.push_back(*series.sm_clock_mhz);
  if (clocks_mhz.empty()) return std::nullopt;
  return median(clocks_mhz);
}

}  // namespace reduce_bench
