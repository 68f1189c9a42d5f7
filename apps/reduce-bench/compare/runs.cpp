#include "compare/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/error.hpp"
#include "common/text.hpp"
#include "results/table.hpp"

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

/// Median over all points of the SM clock that was seen.
std::optional<double> sm_clock_mhz(const Side& side) {
  std::vector<double> clocks;
  for (const MeasuredRun& run : side.rounds)
    for (const auto& [identity, point] : run.points)
      for (const auto& [mode, series] : point.timing)
        if (series.sm_clock_mhz) clocks.push_back(*series.sm_clock_mhz);
  if (clocks.empty()) return std::nullopt;
  return summarise(clocks).median_ns;
}

constexpr double kClockTolerance = 0.03;  // the change of a time that counts

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

Side read_side(const std::filesystem::path& file_or_folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  if (std::filesystem::is_directory(file_or_folder, error)) {
    auto entry = std::filesystem::directory_iterator(file_or_folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      if (entry->path().extension() == ".json") files.push_back(entry->path());
    if (error)
      throw UsageError(fmt::format("cannot read the folder '{}': {}; {}", file_or_folder.string(),
                                   error.message(), kAdvice));
    std::sort(files.begin(), files.end());
    if (files.empty())
      throw UsageError(fmt::format("the folder '{}' holds no results (*.json): {}",
                                   file_or_folder.string(), kAdvice));
  } else {
    files.push_back(file_or_folder);
  }
  Side side{.name = file_or_folder.string()};
  for (const std::filesystem::path& file : files) {
    side.rounds.push_back(parse_run(read_document(file, "the results", kAdvice), file.string()));
    const MeasuredRun &first = side.rounds.front(), &last = side.rounds.back();
    if (first.revision() != last.revision())
      throw UsageError(fmt::format(
          "'{}' is of revision {} and '{}' of {}: rounds of one side are runs of one build",
          first.file, first.revision(), last.file, last.revision()));
  }
  return side;
}

std::vector<std::string> environment_differences(const Json& base, const Json& new_) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& name, const Json& a, const Json& b) {
    if (a != b) differences.push_back(fmt::format("{} {} against {}", name, a.dump(), b.dump()));
  };
  const auto compare_members = [&](const std::string& key) {
    const Json &a = base.at(key), &b = new_.at(key);
    if (!a.is_object() || !b.is_object()) {
      const auto name = [](const Json& whole) { return whole.value("name", Json(nullptr)); };
      compare(key, a.is_object() ? name(a) : a, b.is_object() ? name(b) : b);
      return;
    }
    std::set<std::string> names;
    for (const Json* side : {&a, &b})
      for (const auto& [name, unused] : side->items()) names.insert(name);
    for (const char* of_the_slot : {"index", "uuid"}) names.erase(of_the_slot);
    for (const std::string& name : names)
      compare(key + " " + printable(name), a.value(name, Json(nullptr)),
              b.value(name, Json(nullptr)));
  };
  compare_members("gpu");
  compare_members("cpu");
  for (const std::string key :
       {"cuda_runtime", "cuda_driver", "compiler", "cuda_compiler", "flags", "build_type"})
    compare(key, base.at(key), new_.at(key));
  return differences;
}

std::string clock_difference(const Side& base, const Side& new_) {
  const auto a = sm_clock_mhz(base), b = sm_clock_mhz(new_);
  if (!a || !b || std::abs(*b / *a - 1) <= kClockTolerance) return {};
  return fmt::format("SM clock {:.0f} MHz against {:.0f} MHz", *a, *b);
}

}  // namespace reduce_bench
