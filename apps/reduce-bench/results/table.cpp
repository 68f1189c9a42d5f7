#include "results/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "common/text.hpp"
#include "plan/plan.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kMostColumns = 6;

std::string row_name(const Point& point) {
  std::string name(point.entry->variant.id);
  for (const Params::Entry& entry : point.params.entries())
    name += fmt::format(" {}={}", entry.name, entry.value);
  return name;
}

/// Noise does not make a variant faster than merely reading its input by more than this.
constexpr double kHighestShare = 1.05;

bool exceeds(const Outcome& outcome) { return outcome.ceiling_share.value_or(0) > kHighestShare; }

std::string cell(const FinishedPoint& finished) {
  const Outcome& outcome = finished.outcome;
  if (outcome.known_wrong) return "wrong (known)";
  if (outcome.status != Status::kOk) return std::string(name_of(outcome.status));
  if (!outcome.gb_per_s)
    return fmt::format("not {}", name_of(finished.point->measurement.modes.front()));
  std::string text = fmt::format("{:.4g}", *outcome.gb_per_s);
  if (outcome.ceiling_share)
    text += fmt::format(" ({:.0f}%{})", 100 * *outcome.ceiling_share, exceeds(outcome) ? "!" : "");
  return text;
}

/// The largest error of the row's points that are right; empty where none is.
std::string largest_error(const std::map<std::size_t, const FinishedPoint*>& cells) {
  std::optional<double> largest;
  for (const auto& [unused, finished] : cells) {
    const Outcome& outcome = finished->outcome;
    if (outcome.status == Status::kOk && outcome.error_ulp)
      largest = std::max(largest.value_or(0), *outcome.error_ulp);
  }
  return largest ? fmt::format("{:.3g}", *largest) : "";
}

/// Names a distribution of values or labels: `zipf exponent=1.5`, `image photo.pgm`.
std::string distribution_text(const Json& members) {
  std::string text;
  for (const auto& [key, value] : members.items())
    text += fmt::format(
        "{}{}", text.empty() ? "" : " ",
        value.is_string() ? value.get<std::string>() : fmt::format("{}={}", key, value.dump()));
  return text;
}

/// `multireduce: sum of i32 (uniform values, uniform labels, m=256) on cuda: GB/s (...)`.
std::string heading(const Point& point, bool columns_are_buckets) {
  const Operation operation = point.operation();
  std::string what(name_of(point.type)), inputs;
  if (has_operator(operation)) what = fmt::format("{} of {}", name_of(point.op), what);
  if (has_labels(operation)) what = fmt::format("{}: {}", name_of(operation), what);
  if (has_values(operation))
    inputs = fmt::format("{} values", distribution_text(to_json(point.distribution)));
  if (has_labels(operation)) {
    inputs += fmt::format("{}{} labels", inputs.empty() ? "" : ", ",
                          distribution_text(to_json(point.labels)));
    inputs += columns_are_buckets ? fmt::format(", n={}", size_text(point.n))
                                  : fmt::format(", m={}", size_text(point.buckets));
  }
  return fmt::format("\n{} ({}) on {}: GB/s (share of this run's read ceiling)\n", what, inputs,
                     name_of(point.backend));
}

/// The time by which rows are sorted; rows without one come last.
double rank(const Outcome& outcome) {
  return outcome.status == Status::kOk && outcome.median_ns ? *outcome.median_ns
                                                            : std::numeric_limits<double>::max();
}

/// At most kMostColumns sizes, evenly chosen, the first and the last among them.
std::vector<std::size_t> columns_of(const std::set<std::size_t>& sizes) {
  const std::vector<std::size_t> all(sizes.begin(), sizes.end());
  if (all.size() <= kMostColumns) return all;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < kMostColumns; ++i)
    chosen.push_back(all[i * (all.size() - 1) / (kMostColumns - 1)]);
  return chosen;
}

}  // namespace

std::string results_table(const std::vector<std::optional<FinishedPoint>>& points) {
  // What the points of one block have in common, and the heading that says so.
  using Block = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Block, std::vector<const FinishedPoint*>> problems;
  std::map<Block, std::set<std::size_t>> sizes_of, buckets_of;
  const auto problem_of = [](const Point& p) -> Block {
    return {std::string(name_of(p.backend)),
            fmt::format("{}{}", name_of(p.operation()), name_of(p.op)),
            std::string(name_of(p.type)), to_json(p.distribution).dump(),
            has_labels(p.operation()) ? to_json(p.labels).dump() : std::string{}};
  };
  for (const auto& finished : points) {
    if (!finished || !has_labels(finished->point->operation())) continue;
    const Point& p = *finished->point;
    sizes_of[problem_of(p)].insert(p.n);
    buckets_of[problem_of(p)].insert(p.buckets);
  }
  // Columns are sizes; buckets where they vary at one size. Where both vary, a block for each m.
  const auto by_buckets = [&](const Point& p) {
    return has_labels(p.operation()) && sizes_of[problem_of(p)].size() == 1 &&
           buckets_of[problem_of(p)].size() > 1;
  };
  for (const auto& finished : points) {
    if (!finished) continue;
    const Point& p = *finished->point;
    Block problem = problem_of(p);
    if (has_labels(p.operation()) && !by_buckets(p))
      std::get<4>(problem) += fmt::format("{:020}", p.buckets);
    problems[problem].push_back(&*finished);
  }

  std::string text;
  for (const auto& [problem, members] : problems) {
    std::set<std::size_t> sizes;
    std::map<std::string, std::map<std::size_t, const FinishedPoint*>> rows;
    std::size_t width = 7;
    const bool columns_are_buckets = by_buckets(*members.front()->point);
    for (const FinishedPoint* p : members) {
      const std::size_t column = columns_are_buckets ? p->point->buckets : p->point->n;
      sizes.insert(column);
      const std::string name = row_name(*p->point);
      rows[name][column] = p;
      width = std::max(width, name.size());
    }
    const std::vector<std::size_t> columns = columns_of(sizes);
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, cells] : rows) {
      const auto last = cells.find(columns.back());
      order.emplace_back(
          last == cells.end() ? std::numeric_limits<double>::max() : rank(last->second->outcome),
          name);
    }
    std::sort(order.begin(), order.end());

    text += heading(*members.front()->point, columns_are_buckets);
    const bool has_errors = is_float(members.front()->point->type);
    text += fmt::format("{:<{}}", "variant", width);
    for (const std::size_t n : columns)
      text += fmt::format("  {:>14}", (columns_are_buckets ? "m=" : "") + size_text(n));
    if (has_errors) text += fmt::format("  {:>11}", "error (ulp)");
    text += '\n';
    for (const auto& [unused, name] : order) {
      text += fmt::format("{:<{}}", name, width);
      for (const std::size_t n : columns) {
        const auto found = rows[name].find(n);
        text += fmt::format("  {:>14}", found == rows[name].end() ? "" : cell(*found->second));
      }
      if (has_errors) text += fmt::format("  {:>11}", largest_error(rows[name]));
      text += '\n';
    }
  }
  const auto exceeding = std::count_if(points.begin(), points.end(), [](const auto& finished) {
    return finished && exceeds(finished->outcome);
  });
  if (exceeding > 0)
    text += fmt::format(
        "\n! of {} the share is above {:.0f} %: the read ceiling was measured too low\n",
        counted(exceeding, "point"), 100 * kHighestShare);
  return text;
}

std::string problems_text(const std::vector<std::optional<FinishedPoint>>& points) {
  struct Kind {
    std::size_t count = 0;
    std::string example;
  };
  std::map<std::pair<std::string, std::string>, Kind> kinds;
  for (const auto& finished : points) {
    if (!finished || finished->outcome.status == Status::kOk) continue;
    const Point& p = *finished->point;
    const Outcome& outcome = finished->outcome;
    const std::string status(outcome.known_wrong ? "wrong (known)" : name_of(outcome.status));
    // Reasons that differ in their numbers alone are one kind.
    std::string key(p.entry->variant.id);
    for (const char c : outcome.reason)
      if (c < '0' || c > '9') key += c;
    Kind& kind = kinds[{status, key}];
    if (kind.count++ == 0)
      kind.example = fmt::format("{} n={}{} {} {}: {}", row_name(p), p.n,
                                 has_labels(p.operation()) ? fmt::format(" m={}", p.buckets) : "",
                                 name_of(p.type), name_of(p.op), printable(outcome.reason));
  }
  std::string text;
  for (const auto& [key, kind] : kinds)
    text += fmt::format("{} ({}): {}\n", key.first, counted(kind.count, "point"), kind.example);
  return text;
}

}  // namespace reduce_bench
