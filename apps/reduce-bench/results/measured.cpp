#include "results/measured.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/error.hpp"
#include "common/text.hpp"
#include "point/measure.hpp"

namespace reduce_bench {
namespace {

constexpr double kMostMhz = 1e6;
constexpr double kMostRatio = 1e9;
constexpr std::string_view kKind = "reduce-bench-results";
constexpr const char* kAltered = "the file was altered, so measure again";
constexpr const char* kAdvice = "name a file that 'reduce-bench run' wrote, or a folder of them";

}  // namespace

Series read_series(const Node& node) {
  Series series{.median_ns = node.at("median_ns").positive_ns(),
                .ci_low_ns = node.at("ci_low_ns").positive_ns(),
                .ci_high_ns = node.at("ci_high_ns").positive_ns(),
                .count = node.at("samples").integer(1, kMostCount)};
  if (series.ci_low_ns > series.median_ns || series.median_ns > series.ci_high_ns)
    node.fail(fmt::format("the median is outside its own interval: {}", kAltered));
  if (node.has("samples_ns")) {
    series.samples_ns = node.at("samples_ns").positive_ns_list();
    if (series.samples_ns.size() != series.count)
      node.fail(fmt::format("'samples' is {}, but 'samples_ns' holds {}: {}", series.count,
                            series.samples_ns.size(), kAltered));
  }
  if (const Node clock = node.at("sm_clock_mhz"); !clock.is_null())
    series.sm_clock_mhz = clock.at("median").number(1, kMostMhz, false);
  return series;
}

MeasuredPoint read_point(const Node& node) {
  MeasuredPoint point{.status = static_cast<Status>(node.at("status").name(kStatusNames)),
                      .known_wrong = node.at("known_wrong").boolean()};
  if (const Node reason = node.at("reason"); !reason.is_null()) point.reason = reason.string();
  if (node.has("operation") && node.at("operation").json() == name_of(Operation::kReduce))
    for (const char* key : {"buckets", "labels"})
      if (node.has(key) && !node.at(key).is_null())
        node.at(key).fail(fmt::format("'{}' has no labels, so this must be null: {}",
                                      name_of(Operation::kReduce), kAltered));
  if (point.status == Status::kOk && node.has("verification"))
    for (const char* key : {"passed_before", "passed_after"})
      if (const Node verification = node.at("verification");
          verification.has(key) && verification.at(key).json() != true)
        verification.at(key).fail(
            fmt::format("the status is 'ok', so this must be true: {}", kAltered));
  const bool on_host = node.at("finish").string() == "host";
  point.waits = node.at("synchronous").boolean() || on_host;
  for (const auto& [mode, summary] : node.at("timing").members())
    point.timing[mode] = read_series(summary);
  return point;
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
  if (!root.is_object() || !root.has("kind") || root.at("kind").json() != kKind)
    throw UsageError(fmt::format("'{}' is not a results file (\"kind\" is not \"{}\"): {}", name,
                                 kKind, kAdvice));
  root.at("schema").integer(1, 1);
  MeasuredRun run{.file = name, .environment = root.at("environment").json()};
  run.interrupted = root.at("interrupted").boolean();
  const Node environment = root.at("environment");
  for (const char* key : {"cpu", "gpu", "cuda_runtime", "cuda_driver", "compiler", "cuda_compiler",
                          "flags", "build_type"})
    environment.at(key);
  const Node git = environment.at("git");
  if (const Node revision = git.at("revision"); !revision.is_null()) revision.string();
  git.at("dirty");
  if (environment.has("date_utc")) environment.at("date_utc").string();
  for (const Node& pair : root.at("noise_floor").at("aa").elements(0))
    run.aa_log_ratios[pair.at("backend").string()].push_back(
        std::log(pair.at("ratio").number(1 / kMostRatio, kMostRatio, false)));
  for (const Node& node : root.at("points").elements(0)) {
    MeasuredPoint point = read_point(node);
    point.position = run.points.size();
    const bool is_new = run.points.emplace(read_identity(node), std::move(point)).second;
    if (!is_new) node.fail("the same point is listed twice");
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
