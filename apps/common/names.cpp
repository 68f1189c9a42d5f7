#include "common/names.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace reduce_bench {
namespace {

/// Fewer letters begin too many names.
constexpr std::size_t kLeastStart = 4;

/// How many characters must be put in, left out, replaced or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

/// One edit for every four characters: of a short name, each letter makes another.
std::size_t most_edits(std::string_view a, std::string_view b) {
  return std::max(a.size(), b.size()) / 4;
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const bool is_cut_short = name.size() >= kLeastStart && candidate.starts_with(name);
    const std::size_t distance = edit_distance(name, candidate);
    if (!is_cut_short && distance > most_edits(name, candidate)) continue;
    if (!best.empty() && distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return std::string(best);
}

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string best = nearest(name, candidates);
  return best.empty() ? "" : fmt::format(" (did you mean '{}'?)", best);
}

std::string one_of(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += fmt::format("'{}'", names[i]);
  }
  return text;
}

std::string some_of(std::span<const std::string> names) {
  constexpr std::size_t kMost = 4;
  const auto first = names.first(std::min(names.size(), kMost));
  return fmt::format(
      "{}{}", fmt::join(first, ", "),
      first.size() < names.size() ? fmt::format(" and {} more", names.size() - first.size()) : "");
}

bool glob_matches(const std::string& glob, std::string_view id) {
  return fnmatch(glob.c_str(), std::string(id).c_str(), 0) == 0;
}

std::optional<std::size_t> find_name(std::span<const std::string_view> names,
                                     std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace reduce_bench
