#include "results/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "common/names.hpp"
#include "common/text.hpp"
#include "kernels/api/operation.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kMostColumns = 6;

std::string row_name(const Json& point) {
  std::string name = point.at("variant").get<std::string>();
  for (const auto& [key, value] : point.at("params").items())
    name += fmt::format(" {}={}", key, value.get<std::string>());
  return name;
}

std::string cell(const Json& point) {
  const std::string status = point.at("status").get<std::string>();
  if (point.at("known_wrong").get<bool>()) return "wrong (known)";
  if (status != "ok") return status;
  if (point.at("gb_per_s").is_null())
    return fmt::format("not {}", point.at("primary_mode").get<std::string>());
  std::string text = fmt::format("{:.4g}", point.at("gb_per_s").get<double>());
  if (!point.at("ceiling_share").is_null())
    text += fmt::format(" ({:.0f}%)", 100 * point.at("ceiling_share").get<double>());
  return text;
}

/// `multireduce: sum of i32 (uniform values, uniform labels, m=256) on cuda: GB/s (...)`.
std::string heading(const Json& point, bool columns_are_buckets) {
  const auto operation =
      static_cast<Operation>(*find_name(kOperationNames, point.at("operation").get<std::string>()));
  std::string what = point.at("type").get<std::string>(), inputs;
  if (has_operator(operation))
    what = fmt::format("{} of {}", point.at("op").get<std::string>(), what);
  if (has_labels(operation)) what = fmt::format("{}: {}", name_of(operation), what);
  if (has_values(operation))
    inputs = fmt::format("{} values", point.at("distribution").at("name").get<std::string>());
  if (has_labels(operation)) {
    std::string labels;
    for (const auto& [key, value] : point.at("labels").items())
      labels += fmt::format(
          "{}{}", labels.empty() ? "" : " ",
          value.is_string() ? value.get<std::string>() : fmt::format("{}={}", key, value.dump()));
    inputs += fmt::format("{}{} labels", inputs.empty() ? "" : ", ", labels);
    inputs += columns_are_buckets
                  ? fmt::format(", n={}", size_text(point.at("n").get<std::size_t>()))
                  : fmt::format(", m={}", size_text(point.at("buckets").get<std::size_t>()));
  }
  return fmt::format("\n{} ({}) on {}: GB/s (share of this run's read ceiling)\n", what, inputs,
                     point.at("backend").get<std::string>());
}

/// Sorts after every ranked time where there is none.
double rank(const Json& point) {
  if (point.at("status") != "ok") return std::numeric_limits<double>::max();
  return point.at("timing").begin()->at("median_ns").get<double>();
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

std::string results_table(const std::vector<Json>& points) {
  // What the points of one block have in common, and the heading that says so.
  using Block = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Block, std::vector<const Json*>> problems;
  std::map<Block, std::set<std::size_t>> sizes_of, buckets_of;
  const auto problem_of = [](const Json& p) -> Block {
    return {p.at("backend"), p.at("operation").get<std::string>() + p.at("op").get<std::string>(),
            p.at("type"), p.at("distribution").dump(), p.at("labels").dump()};
  };
  for (const Json& p : points) {
    if (p.at("buckets").is_null()) continue;
    sizes_of[problem_of(p)].insert(p.at("n").get<std::size_t>());
    buckets_of[problem_of(p)].insert(p.at("buckets").get<std::size_t>());
  }
  // Columns are sizes; buckets where they vary at one size. Where both vary, a block for each m.
  const auto by_buckets = [&](const Json& p) {
    return !p.at("buckets").is_null() && sizes_of[problem_of(p)].size() == 1 &&
           buckets_of[problem_of(p)].size() > 1;
  };
  for (const Json& p : points) {
    Block problem = problem_of(p);
    if (!p.at("buckets").is_null() && !by_buckets(p))
      std::get<4>(problem) += fmt::format("{:020}", p.at("buckets").get<std::size_t>());
    problems[problem].push_back(&p);
  }

  std::string text;
  for (const auto& [problem, members] : problems) {
    std::set<std::size_t> sizes;
    std::map<std::string, std::map<std::size_t, const Json*>> rows;
    std::size_t width = 7;
    const bool columns_are_buckets = by_buckets(*members.front());
    for (const Json* p : members) {
      const auto column = p->at(columns_are_buckets ? "buckets" : "n").get<std::size_t>();
      sizes.insert(column);
      const std::string name = row_name(*p);
      rows[name][column] = p;
      width = std::max(width, name.size());
    }
    const std::vector<std::size_t> columns = columns_of(sizes);
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, cells] : rows) {
      const auto last = cells.find(columns.back());
      order.emplace_back(
          last == cells.end() ? std::numeric_limits<double>::max() : rank(*last->second), name);
    }
    std::sort(order.begin(), order.end());

    text += heading(*members.front(), columns_are_buckets);
    text += fmt::format("{:<{}}", "variant", width);
    for (const std::size_t n : columns)
      text += fmt::format("  {:>14}", (columns_are_buckets ? "m=" : "") + size_text(n));
    text += '\n';
    for (const auto& [unused, name] : order) {
      text += fmt::format("{:<{}}", name, width);
      for (const std::size_t n : columns) {
        const auto found = rows[name].find(n);
        text += fmt::format("  {:>14}", found == rows[name].end() ? "" : cell(*found->second));
      }
      text += '\n';
    }
  }
  return text;
}

std::string problems_text(const std::vector<Json>& points) {
  struct Kind {
    std::size_t count = 0;
    std::string example;
  };
  std::map<std::pair<std::string, std::string>, Kind> kinds;
  for (const Json& p : points) {
    if (p.at("status") == "ok") continue;
    const std::string status =
        p.at("known_wrong").get<bool>() ? "wrong (known)" : p.at("status").get<std::string>();
    const std::string reason = p.at("reason").is_null() ? "" : p.at("reason").get<std::string>();
    // Reasons that differ in their numbers alone are one kind.
    std::string key;
    for (const char c : reason)
      if (c < '0' || c > '9') key += c;
    Kind& kind = kinds[{status, p.at("variant").get<std::string>() + key}];
    if (kind.count++ == 0)
      kind.example = fmt::format(
          "{} n={}{} {} {}: {}", row_name(p), p.at("n").get<std::size_t>(),
          p.at("buckets").is_null() ? "" : fmt::format(" m={}", p.at("buckets").get<std::size_t>()),
          p.at("type").get<std::string>(), p.at("op").get<std::string>(), printable(reason));
  }
  std::string text;
  for (const auto& [key, kind] : kinds)
    text += fmt::format("{} ({} point{}): {}\n", key.first, kind.count, kind.count == 1 ? "" : "s",
                        kind.example);
  return text;
}

}  // namespace reduce_bench
