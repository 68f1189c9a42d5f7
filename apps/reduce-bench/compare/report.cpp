#include "compare/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/text.hpp"

namespace reduce_bench {
namespace {

/// Points of one verdict in the formats for people; regressions are all listed.
constexpr std::size_t kMostListed = 10;

std::string provenance(const Side& side) {
  const MeasuredRun& first = side.rounds.front();
  const std::string revision = first.revision();
  return fmt::format("{} (revision {}, {}{}{})", side.name, first_bytes(revision, 10),
                     printable(first.environment.value("date_utc", "date unknown")),
                     side.rounds.size() > 1 ? fmt::format(", {} rounds", side.rounds.size()) : "",
                     first.interrupted ? ", interrupted" : "");
}

std::string mean_text(const GeometricMean& mean) {
  return fmt::format("{} on {}: new / base is {:.4f} in the geometric mean of {}", mean.operation,
                     mean.backend, mean.ratio, counted(mean.count, "point"));
}

/// `everything`, or where other backends were compared too, `everything on cuda`.
std::string everything_of(const CommonShift& shift, const RunComparison& comparison) {
  const bool alone = std::all_of(comparison.points.begin(), comparison.points.end(),
                                 [&](const ComparedPoint& point) {
                                   return !point.change || point.identity.backend == shift.backend;
                                 });
  return alone ? "everything" : "everything on " + printable(shift.backend);
}

std::string shift_text(const CommonShift& shift, const RunComparison& comparison) {
  const double times = shift.verdict == Verdict::kSlower ? shift.ratio : 1 / shift.ratio;
  return fmt::format("{} is {}: {:.4g} x in {} of {} points; build, machine or clocks",
                     everything_of(shift, comparison), name_of(shift.verdict), times, shift.count,
                     shift.of);
}

std::string headline(const RunComparison& comparison) {
  std::vector<std::string> parts;
  if (comparison.identical) parts.emplace_back("identical");
  for (const CommonShift& shift : comparison.shifts)
    parts.push_back(fmt::format("{} {}", everything_of(shift, comparison), name_of(shift.verdict)));
  for (std::size_t i = 0; i < kVerdictNames.size(); ++i)
    if (const std::size_t count = comparison.count(static_cast<Verdict>(i)); count > 0)
      parts.push_back(fmt::format("{} {}", count, kVerdictNames[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What is said of the comparison as a whole.
std::vector<std::string> findings(const RunComparison& comparison) {
  std::vector<std::string> lines;
  if (comparison.identical) lines.emplace_back("both sides are the same measurements");
  for (const CommonShift& shift : comparison.shifts) lines.push_back(shift_text(shift, comparison));
  if (comparison.one_build && comparison.count(Verdict::kSlower) > 0)
    lines.emplace_back("slower, and all runs are of one build: suspect the machine, not the code");
  if (const std::size_t lost = comparison.count(Verdict::kLost); lost > 0)
    lines.push_back(fmt::format(
        "{} point{} lost: measured in base, without a verified time in new; add --allow-missing "
        "(make compare: ALLOW_MISSING=1) where that is meant",
        lost, lost == 1 ? " is" : "s are"));
  return lines;
}

std::string evidence_text(const RunComparison& comparison) {
  static constexpr std::array kSources{"from the spread of the rounds", "from the samples",
                                       "from the summaries, as a run did not keep its samples"};
  std::array<std::size_t, kIntervalSourceNames.size()> counts{};
  double least_floor = INFINITY, largest_floor = 0;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.change) continue;
    ++counts[index_of(point.change->interval_source)];
    least_floor = std::min(least_floor, point.change->noise_floor);
    largest_floor = std::max(largest_floor, point.change->noise_floor);
  }
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      text +=
          fmt::format("{}{} {}", text.empty() ? "95 % intervals: " : ", ", counts[i], kSources[i]);
  if (text.empty()) return "No time was compared.";
  if (largest_floor == 0) return text + ". The noise between runs is unknown: expect false alarms.";
  const std::string least = fmt::format("{:.2f} %", 100 * least_floor);
  const std::string largest = fmt::format("{:.2f} %", 100 * largest_floor);
  return text + fmt::format(". Thresholds are widened by the noise between runs: {}{}.", least,
                            largest == least ? "" : " to " + largest);
}

/// What makes a comparison of one round find less than docs/adr/0006-comparison.md states.
std::string caution_text(const RunComparison& comparison) {
  std::map<std::string, std::size_t> counts;
  for (const ComparedPoint& point : comparison.points)
    if (point.change) ++counts[point.identity.backend];
  const bool few = std::any_of(counts.begin(), counts.end(), [](const auto& backend_and_count) {
    return backend_and_count.second < kLeastSweep;
  });
  if (comparison.rounds > 1 || !few) return {};
  return fmt::format(
      "few points and one round: under {} points of a backend do not tell its noise, so a "
      "change counts only if identical runs never differ by as much; compare several rounds (a "
      "folder of results on each side, or ROUNDS of make compare)",
      kLeastSweep);
}

std::string point_text(const ComparedPoint& point) {
  return point.identity.text() + (point.mode.empty() ? "" : ", " + point.mode);
}

/// What is said of a point besides its times.
std::string note_of(const ComparedPoint& point) {
  std::string note = point.note;
  const auto add = [&](std::string_view more) {
    if (!note.empty()) note += "; ";
    note += more;
  };
  if (point.change && point.change->trip_ratio)
    add(fmt::format("{}round trips took {:.3f} times as long",
                    point.change->at_one_speed ? "at one speed of the host, whose " : "the host's ",
                    *point.change->trip_ratio));
  const bool moved = point.verdict == Verdict::kSlower || point.verdict == Verdict::kFaster;
  if (moved && point.same_code)
    add(*point.same_code ? "same machine code: suspect the machine" : "code changed");
  return note;
}

/// The cells of one row: verdict, ratio, interval, threshold, base, new, point.
std::vector<std::string> cells(const ComparedPoint& point) {
  std::string what = point_text(point);
  if (const std::string note = note_of(point); !note.empty()) what += fmt::format(" ({})", note);
  if (!point.change) return {std::string(name_of(point.verdict)), "", "", "", "", "", what};
  const TimeChange& change = *point.change;
  return {std::string(name_of(point.verdict)),
          fmt::format("{:.4f}", change.ratio()),
          fmt::format("{:.4f} - {:.4f}", change.ratio_low(), change.ratio_high()),
          fmt::format("{:.1f} %", 100 * change.threshold),
          duration_text(change.base_ns),
          duration_text(change.new_ns),
          what};
}

struct Listing {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> left_out;
};

/// Everything of interest; what is the same is only counted.
Listing list_points(const RunComparison& comparison) {
  Listing listing{{{"verdict", "new / base", "95 % interval", "threshold", "base", "new", "point"}},
                  {}};
  for (std::size_t i = 0; i < kVerdictNames.size(); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (verdict == Verdict::kSame || verdict == Verdict::kNotCompared) continue;
    const std::size_t count = comparison.count(verdict);
    std::size_t listed = 0;
    for (const ComparedPoint& point : comparison.points)
      if (point.verdict == verdict && (is_regression(verdict) || listed < kMostListed)) {
        listing.rows.push_back(cells(point));
        ++listed;
      }
    if (listed < count)
      listing.left_out.push_back(fmt::format("{} more {}", count - listed, kVerdictNames[i]));
  }
  return listing;
}

std::string sentence(const ComparedPoint& point) {
  std::string text(name_of(point.verdict));
  if (point.change)
    text += fmt::format(": {:.4f} times base, 95 % interval {:.4f} to {:.4f}, threshold {:.1f} %",
                        point.change->ratio(), point.change->ratio_low(),
                        point.change->ratio_high(), 100 * point.change->threshold);
  if (point.verdict == Verdict::kLost) text += ": a verified time in base and none in new";
  if (const std::string note = note_of(point); !note.empty()) text += ": " + note;
  return text;
}

Json side_json(const Side& side) {
  Json files = Json::array();
  for (const MeasuredRun& run : side.rounds) files.push_back(run.file);
  return {{"name", side.name},
          {"files", files},
          {"git", side.rounds.front().environment.at("git")},
          {"interrupted", std::any_of(side.rounds.begin(), side.rounds.end(),
                                      [](const MeasuredRun& run) { return run.interrupted; })}};
}

}  // namespace

std::string ComparisonReport::text() const {
  std::string text = fmt::format("base  {}\nnew   {}\n", provenance(base), provenance(new_));
  for (const std::string& difference : environment_differences)
    text += fmt::format("environments differ: {}\n", difference);
  const Listing listing = list_points(comparison);
  if (listing.rows.size() > 1) {
    text += '\n';
    std::vector<std::size_t> widths;
    for (const auto& row : listing.rows) {
      widths.resize(row.size());
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : listing.rows) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i)
        text += i == 0 ? fmt::format("{:<{}}  ", row[i], widths[i])
                       : fmt::format("{:>{}}  ", row[i], widths[i]);
      text += row.back() + '\n';
    }
  }
  for (const std::string& more : listing.left_out)
    text += fmt::format("... and {} (--format json lists them)\n", more);
  text += '\n';
  for (const GeometricMean& mean : comparison.means) text += mean_text(mean) + '\n';
  text += evidence_text(comparison) + '\n';
  if (const std::string caution = caution_text(comparison); !caution.empty())
    text += caution + '\n';
  for (const std::string& finding : findings(comparison)) text += finding + '\n';
  return text + headline(comparison) + '\n';
}

std::string ComparisonReport::markdown() const {
  std::string text = fmt::format("### reduce-bench: {}\n\n", headline(comparison));
  for (const std::string& finding : findings(comparison))
    text += fmt::format("**{}**\n\n", finding);
  const Listing listing = list_points(comparison);
  if (listing.rows.size() > 1) {
    for (std::size_t i = 0; i < listing.rows.size(); ++i) {
      for (std::string cell : listing.rows[i]) {
        for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2)
          cell.replace(at, 1, "\\|");
        text += "| " + cell + " ";
      }
      text += "|\n";
      if (i == 0) text += "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
    }
    text += '\n';
  }
  for (const std::string& more : listing.left_out) text += fmt::format("* ... and {}\n", more);
  for (const GeometricMean& mean : comparison.means) text += fmt::format("* {}\n", mean_text(mean));
  if (const std::string caution = caution_text(comparison); !caution.empty())
    text += fmt::format("* {}\n", caution);
  text += fmt::format("* {}\n* Base: {}\n* New: {}\n", evidence_text(comparison), provenance(base),
                      provenance(new_));
  for (const std::string& difference : environment_differences)
    text += fmt::format("* Environments differ: {}\n", difference);
  return text;
}

Json ComparisonReport::json() const {
  Json counts = Json::object(), means = Json::array(), points = Json::array(),
       shifts = Json::array();
  for (const CommonShift& shift : comparison.shifts)
    shifts.push_back({{"backend", shift.backend},
                      {"verdict", name_of(shift.verdict)},
                      {"ratio", shift.ratio},
                      {"points", shift.count},
                      {"of", shift.of}});
  for (std::size_t i = 0; i < kVerdictNames.size(); ++i)
    counts[std::string(kVerdictNames[i])] = comparison.count(static_cast<Verdict>(i));
  for (const GeometricMean& mean : comparison.means)
    means.push_back({{"operation", mean.operation},
                     {"backend", mean.backend},
                     {"ratio", mean.ratio},
                     {"points", mean.count}});
  for (const ComparedPoint& point : comparison.points) {
    const PointIdentity& id = point.identity;
    Json json{{"verdict", name_of(point.verdict)},
              {"point", id.text()},
              {"variant", id.variant},
              {"operation", id.operation},
              {"backend", id.backend},
              {"n", id.n},
              {"buckets", id.buckets ? Json(*id.buckets) : Json(nullptr)},
              {"type", id.type},
              {"op", id.op},
              {"mode", point.mode.empty() ? Json(nullptr) : Json(point.mode)},
              {"note", point.note.empty() ? Json(nullptr) : Json(point.note)},
              {"same_code", point.same_code ? Json(*point.same_code) : Json(nullptr)}};
    if (point.change) {
      const TimeChange& change = *point.change;
      json["base_median_ns"] = change.base_ns;
      json["new_median_ns"] = change.new_ns;
      json["ratio"] = change.ratio();
      json["ratio_low"] = change.ratio_low();
      json["ratio_high"] = change.ratio_high();
      json["p_value"] = change.p_value;
      json["noise_floor"] = change.noise_floor;
      json["threshold"] = change.threshold;
      json["trip_ratio"] = change.trip_ratio ? Json(*change.trip_ratio) : Json(nullptr);
      json["at_one_speed"] = change.at_one_speed;
      json["from"] = kIntervalSourceNames[index_of(change.interval_source)];
    }
    points.push_back(std::move(json));
  }
  return {{"schema", 1},
          {"kind", "reduce-bench-comparison"},
          {"base", side_json(base)},
          {"new", side_json(new_)},
          {"rounds", comparison.rounds},
          {"environment_differences", environment_differences},
          {"identical", comparison.identical},
          {"one_build", comparison.one_build},
          {"common_shifts", shifts},
          {"verdicts", counts},
          {"geometric_means", means},
          {"points", points}};
}

std::string ComparisonReport::junit() const {
  std::size_t failures = 0, skipped = 0;
  std::string cases, summary = headline(comparison);
  for (const std::string& finding : findings(comparison)) summary += "; " + finding;
  for (const CommonShift& shift : comparison.shifts) {
    cases += fmt::format("  <testcase classname=\"everything.{}\" name=\"everything on {}\"",
                         xml(shift.backend), xml(shift.backend));
    if (is_regression(shift.verdict)) {
      ++failures;
      cases += fmt::format("><failure message=\"{}\"/></testcase>\n",
                           xml(shift_text(shift, comparison)));
    } else {
      cases += "/>\n";
    }
  }
  for (const ComparedPoint& point : comparison.points) {
    const bool decided = point.verdict == Verdict::kSame || point.verdict == Verdict::kFaster ||
                         point.verdict == Verdict::kFixed;
    cases += fmt::format("  <testcase classname=\"{}.{}.{}\" name=\"{}\"",
                         xml(point.identity.operation), xml(point.identity.backend),
                         xml(point.identity.variant), xml(point_text(point)));
    if (is_regression(point.verdict)) {
      ++failures;
      cases += fmt::format("><failure message=\"{}\"/></testcase>\n", xml(sentence(point)));
    } else if (!decided) {
      ++skipped;
      cases += fmt::format("><skipped message=\"{}\"/></testcase>\n", xml(sentence(point)));
    } else {
      cases += "/>\n";
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"reduce-bench compare\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\">\n{}  <system-out>{}</system-out>\n</testsuite>\n",
      comparison.shifts.size() + comparison.points.size(), failures, skipped, cases, xml(summary));
}

}  // namespace reduce_bench
