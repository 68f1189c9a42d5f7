#include "plan/variants.hpp"

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/names.hpp"

namespace reduce_bench {
namespace {

std::vector<std::string_view> all_ids() {
  std::vector<std::string_view> ids;
  for (const CatalogEntry& entry : catalog()) ids.push_back(entry.variant.id);
  return ids;
}

}  // namespace

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

}  // namespace reduce_bench
