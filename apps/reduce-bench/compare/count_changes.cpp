#include "compare/count_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "common/error.hpp"
#include "common/text.hpp"

namespace reduce_bench {
namespace {

/// More of it is no worse: the lanes that take part in the requests.
constexpr std::string_view kNoCost = "active_lanes";

std::string change_text(const CountChange& change) {
  return fmt::format("{} {} -> {}", printable(change.metric), change.base, change.new_);
}

std::string sentence(const ChangedPoint& point) {
  std::vector<std::string> parts;
  for (const CountChange& change : point.changes) parts.push_back(change_text(change));
  if (!point.note.empty()) parts.push_back(point.note);
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What is said of a point; growth of a count is the worst of it.
std::string_view word(const ChangedPoint& point) {
  if (point.verdict == Verdict::kSlower) return "grown";
  if (point.verdict == Verdict::kSame) return "changed";
  return name_of(point.verdict);
}

std::string headline(const CountComparison& comparison) {
  if (comparison.identical())
    return fmt::format("the counts of {} are identical", counted(comparison.compared, "point"));
  std::map<std::string_view, std::size_t> words;
  for (const ChangedPoint& point : comparison.points) ++words[word(point)];
  std::string line = fmt::format("of {}", counted(comparison.compared, "compared point"));
  for (const auto& [name, count] : words) line += fmt::format(", {} {}", count, name);
  return line;
}

std::string provenance(const CountedRun& run) {
  const Json git = run.environment.value("git", Json::object());
  const std::string revision = git.is_object() ? git.value("revision", "unknown") : "unknown";
  return fmt::format("{} (revision {})", run.file, first_bytes(revision, 10));
}

}  // namespace

double CountChange::ratio() const {
  if (base == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(new_) / static_cast<double>(base);
}

bool CountComparison::has_regression() const {
  return std::any_of(points.begin(), points.end(),
                     [](const auto& point) { return is_regression(point.verdict); });
}

CountComparison compare_counts(const CountedRun& base, const CountedRun& new_,
                               const Thresholds& thresholds, Missing missing) {
  CountComparison result;
  const Verdict lost = missing == Missing::kAllowed ? Verdict::kOnlyBase : Verdict::kLost;
  for (const auto& [identity, before] : base.points) {
    ChangedPoint point{.identity = identity};
    const auto found = new_.points.find(identity);
    if (found == new_.points.end()) {
      if (before.counts.empty()) continue;
      point.verdict = lost;
      result.points.push_back(std::move(point));
      continue;
    }
    const CountedPoint& after = found->second;
    if (before.counts.empty() && after.counts.empty()) continue;
    if (before.counts.empty() || after.counts.empty()) {
      point.verdict = before.counts.empty() ? Verdict::kOnlyNew : lost;
      point.note = fmt::format("{} -> {}", before.status, after.status);
      const std::string& reason = after.reason.empty() ? before.reason : after.reason;
      if (!reason.empty()) point.note += ": " + reason;
      result.points.push_back(std::move(point));
      continue;
    }
    ++result.compared;
    const double most = 1 + thresholds.of(identity.variant);
    std::set<std::string> metrics;
    for (const auto* counts : {&before.counts, &after.counts})
      for (const auto& [metric, unused] : *counts) metrics.insert(metric);
    for (const std::string& metric : metrics) {
      const auto of = [&](const CountedPoint& side) {
        const auto count = side.counts.find(metric);
        return count == side.counts.end() ? std::uint64_t{0} : count->second;
      };
      const CountChange change{metric, of(before), of(after)};
      if (change.base == change.new_) continue;
      if (metric != kNoCost && change.ratio() > most) point.verdict = Verdict::kSlower;
      point.changes.push_back(change);
    }
    if (before.status != after.status) {
      if (before.status == name_of(Status::kOk)) point.verdict = Verdict::kBroken;
      point.note = fmt::format("{} -> {}", before.status, after.status);
    }
    if (!point.changes.empty() || !point.note.empty()) result.points.push_back(std::move(point));
  }
  for (const auto& [identity, after] : new_.points)
    if (!after.counts.empty() && !base.points.contains(identity))
      result.points.push_back({.identity = identity, .verdict = Verdict::kOnlyNew});
  if (result.compared == 0)
    throw UsageError(
        fmt::format("'{}' and '{}' have no counted point in common: compare runs of one "
                    "configuration",
                    base.file, new_.file));
  std::stable_sort(result.points.begin(), result.points.end(),
                   [](const ChangedPoint& a, const ChangedPoint& b) {
                     return std::tuple(a.verdict, a.identity) < std::tuple(b.verdict, b.identity);
                   });
  return result;
}

std::string text(const CountComparison& comparison, const CountedRun& base,
                 const CountedRun& new_) {
  std::string all = fmt::format("base  {}\nnew   {}\n\n", provenance(base), provenance(new_));
  for (const ChangedPoint& point : comparison.points)
    all += fmt::format("{:<12}  {}{}{}\n", word(point), point.identity.text(),
                       sentence(point).empty() ? "" : ": ", sentence(point));
  return all + headline(comparison) + '\n';
}

std::string markdown(const CountComparison& comparison, const CountedRun& base,
                     const CountedRun& new_) {
  std::string all = fmt::format("**{}**\n\nbase {}, new {}\n", headline(comparison),
                                provenance(base), provenance(new_));
  if (comparison.identical()) return all;
  all += "\n| verdict | point | counts |\n| --- | --- | --- |\n";
  for (const ChangedPoint& point : comparison.points)
    all += fmt::format("| {} | {} | {} |\n", word(point), point.identity.text(), sentence(point));
  return all;
}

Json json(const CountComparison& comparison) {
  Json points = Json::array();
  for (const ChangedPoint& point : comparison.points) {
    Json changes = Json::object();
    for (const CountChange& change : point.changes)
      changes[change.metric] = {{"base", change.base}, {"new", change.new_}};
    Json entry{{"verdict", word(point)}};
    entry.update(to_json(point.identity));
    entry.update({{"changes", std::move(changes)},
                  {"note", point.note.empty() ? Json(nullptr) : Json(point.note)}});
    points.push_back(std::move(entry));
  }
  return {{"schema", 1},
          {"kind", "reduce-bench-count-comparison"},
          {"identical", comparison.identical()},
          {"compared", comparison.compared},
          {"points", std::move(points)}};
}

std::string junit(const CountComparison& comparison) {
  std::string cases;
  std::size_t failures = 0;
  for (const ChangedPoint& point : comparison.points) {
    cases += fmt::format("  <testcase classname=\"{}.{}.{}\" name=\"{}\"",
                         xml(point.identity.operation), xml(point.identity.backend),
                         xml(point.identity.variant), xml(point.identity.text()));
    failures += is_regression(point.verdict);
    cases += is_regression(point.verdict)
                 ? fmt::format("><failure message=\"{}\"/></testcase>\n", xml(sentence(point)))
                 : std::string("/>\n");
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"reduce-bench compare\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"0\">\n  <testcase classname=\"counts\" name=\"all\"/>\n{}"
      "  <system-out>{}</system-out>\n</testsuite>\n",
      comparison.points.size() + 1, failures, cases, xml(headline(comparison)));
}

}  // namespace reduce_bench
