#include "results/measured.hpp"

#include <fmt/format.h>

#include <cmath>

#include "common/error.hpp"
#include "common/text.hpp"

namespace reduce_bench {
namespace {

constexpr double kMostMhz = 1e6;
constexpr double kMostRatio = 1e9;
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 62;
constexpr std::string_view kKind = "reduce-bench-results";
constexpr const char* kAdvice = "name a file that 'reduce-bench run' wrote, or a folder of them";

/// The name of a distribution and its parameters.
std::string distribution_text(const Node& node) {
  std::string text = node.at("name").string();
  for (const auto& [name, value] : node.members())
    if (name != "name") text += fmt::format(" {}={}", name, value.json().dump());
  return text;
}

PointIdentity read_identity(const Node& node) {
  PointIdentity identity{
      .variant = node.at("variant").string(),
      .operation = node.at("operation").string(),
      .backend = node.at("backend").string(),
      .n = node.at("n").integer(0, kMostCount),
      .type = node.at("type").string(),
      .op = node.at("op").string(),
      .distribution = distribution_text(node.at("distribution")),
  };
  if (node.has("labels") && !node.at("labels").is_null())
    identity.labels = distribution_text(node.at("labels"));
  if (const Node buckets = node.at("buckets"); !buckets.is_null())
    identity.buckets = buckets.integer(1, kMostCount);
  // Revisions may list a variant's parameters in different order.
  std::map<std::string, std::string> params;
  for (const auto& [name, value] : node.at("params").members()) params[name] = value.string();
  for (const auto& [name, value] : params) identity.params += fmt::format(" {}={}", name, value);
  return identity;
}

MeasuredPoint read_point(const Node& node) {
  MeasuredPoint point{.status = static_cast<Status>(node.at("status").name(kStatusNames)),
                      .known_wrong = node.at("known_wrong").boolean()};
  if (const Node reason = node.at("reason"); !reason.is_null()) point.reason = reason.string();
  for (const auto& [mode, summary] : node.at("timing").members())
    point.timing[mode] = read_series(summary);
  return point;
}

}  // namespace

std::string PointIdentity::text() const {
  const std::string keyed =
      buckets ? fmt::format(" into {} by {}", size_text(*buckets), labels) : std::string{};
  return fmt::format("{}{}, {}{} {} {} {} on {}", variant, params, size_text(n), keyed, type, op,
                     distribution, backend);
}

Series read_series(const Node& node) {
  Series series{.median_ns = node.at("median_ns").positive_ns(),
                .ci_low_ns = node.at("ci_low_ns").positive_ns(),
                .ci_high_ns = node.at("ci_high_ns").positive_ns(),
                .count = node.at("samples").integer(1, kMostCount)};
  if (series.ci_low_ns > series.median_ns || series.median_ns > series.ci_high_ns)
    node.fail("the median is outside its own interval");
  if (node.has("samples_ns")) {
    series.samples_ns = node.at("samples_ns").positive_ns_list();
    if (series.samples_ns.size() != series.count)
      node.fail(fmt::format("'samples' is {}, but 'samples_ns' holds {}", series.count,
                            series.samples_ns.size()));
  }
  if (const Node clock = node.at("sm_clock_mhz"); !clock.is_null())
    series.sm_clock_mhz = clock.at("median").number(1, kMostMhz, false);
  return series;
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
    PointIdentity identity = read_identity(node);
    while (run.points.contains(identity)) ++identity.occurrence;
    MeasuredPoint point = read_point(node);
    point.position = run.points.size();
    run.points.emplace(std::move(identity), std::move(point));
  }
  return run;
}

}  // namespace reduce_bench
