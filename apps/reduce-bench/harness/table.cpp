#include "harness/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "harness/text.hpp"

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

std::string size_text(std::size_t n) {
  if (n >= 1024 && (n & (n - 1)) == 0) {
    unsigned exponent = 0;
    while ((std::size_t{1} << exponent) < n) ++exponent;
    return fmt::format("2^{}", exponent);
  }
  return fmt::format("{}", n);
}

std::string results_table(const std::vector<Json>& points) {
  using Problem = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Problem, std::vector<const Json*>> problems;
  for (const Json& p : points)
    problems[{p.at("backend"), p.at("op"), p.at("type"), p.at("distribution").dump()}].push_back(
        &p);

  std::string text;
  for (const auto& [problem, members] : problems) {
    std::set<std::size_t> sizes;
    std::map<std::string, std::map<std::size_t, const Json*>> rows;
    std::size_t width = 7;
    for (const Json* p : members) {
      sizes.insert(p->at("n").get<std::size_t>());
      const std::string name = row_name(*p);
      rows[name][p->at("n").get<std::size_t>()] = p;
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

    const Json& first = *members.front();
    text +=
        fmt::format("\n{} of {} ({} values) on {}: GB/s (share of this run's read ceiling)\n",
                    std::get<1>(problem), std::get<2>(problem),
                    first.at("distribution").at("name").get<std::string>(), std::get<0>(problem));
    text += fmt::format("{:<{}}", "variant", width);
    for (const std::size_t n : columns) text += fmt::format("  {:>14}", size_text(n));
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
      kind.example = fmt::format("{} n={} {} {}: {}", row_name(p), p.at("n").get<std::size_t>(),
                                 p.at("type").get<std::string>(), p.at("op").get<std::string>(),
                                 printable(reason));
  }
  std::string text;
  for (const auto& [key, kind] : kinds)
    text += fmt::format("{} ({} point{}): {}\n", key.first, kind.count, kind.count == 1 ? "" : "s",
                        kind.example);
  return text;
}

}  // namespace reduce_bench
