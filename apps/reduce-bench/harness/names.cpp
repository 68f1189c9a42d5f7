#include "harness/names.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <numeric>

#include "harness/error.hpp"

namespace reduce_bench {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::vector<std::string_view> all_ids() {
  std::vector<std::string_view> ids;
  for (const CatalogEntry& entry : catalog()) ids.push_back(entry.variant.id);
  return ids;
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 2);
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= best_distance && (best.empty() || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return std::string(best);
}

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string best = nearest(name, candidates);
  return best.empty() ? "" : fmt::format(", did you mean '{}'?", best);
}

std::string one_of(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += fmt::format("'{}'", names[i]);
  }
  return text;
}

bool glob_matches(const std::string& glob, std::string_view id) {
  return fnmatch(glob.c_str(), std::string(id).c_str(), 0) == 0;
}

std::vector<const CatalogEntry*> select_variants(std::span<const std::string> globs) {
  std::vector<bool> chosen(catalog().size(), false);
  for (const std::string& glob : globs) {
    bool any = false;
    for (std::size_t i = 0; i < catalog().size(); ++i) {
      if (!glob_matches(glob, catalog()[i].variant.id)) continue;
      chosen[i] = true;
      any = true;
    }
    if (!any) {
      const std::string hint = suggestion(glob, all_ids());
      throw UsageError(fmt::format("no variant matches '{}'{}", glob,
                                   hint.empty() ? "; 'reduce-bench list' shows them all" : hint));
    }
  }
  std::vector<const CatalogEntry*> entries;
  for (std::size_t i = 0; i < catalog().size(); ++i)
    if (chosen[i]) entries.push_back(&catalog()[i]);
  return entries;
}

const CatalogEntry& find_variant(const std::string& id) {
  for (const CatalogEntry& entry : catalog())
    if (entry.variant.id == id) return entry;
  const std::string hint = suggestion(id, all_ids());
  throw UsageError(fmt::format("unknown variant '{}'{}", id,
                               hint.empty() ? "; 'reduce-bench list' shows them all" : hint));
}

std::optional<std::size_t> find_name(std::span<const std::string_view> names,
                                     std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace reduce_bench
