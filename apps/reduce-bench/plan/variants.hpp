// The catalog as the commands see it: finding variants by name, and telling what they are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/document.hpp"
#include "kernels/api/catalog.hpp"

namespace reduce_bench {

/// The catalog entries that match any of the globs, in catalog order. Throws UsageError for a glob
/// that matches nothing.
std::vector<const CatalogEntry*> select_variants(std::span<const std::string> globs);

/// The entry of an id. Throws UsageError, suggesting the nearest id.
const CatalogEntry& find_variant(const std::string& id);

/// A plug-in as results name it.
Json to_json(const PluginFile& plugin);

/// A variant as `list --json` and `show --json` print it.
Json to_json(const CatalogEntry& entry);

}  // namespace reduce_bench
