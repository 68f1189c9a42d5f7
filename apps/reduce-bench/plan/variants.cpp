#include "plan/variants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.hpp"
#include "common/names.hpp"

namespace reduce_bench {
namespace {

std::vector<std::string_view> all_ids() {
  std::vector<std::string_view> ids;
  for (const CatalogEntry& entry : catalog()) ids.push_back(entry.variant.id);
  return ids;
}

/// The names of the types that the variant provides with any operator.
Json provided_types(const Variant& variant) {
  Json names = Json::array();
  for (std::size_t t = 0; t < kTypeCount; ++t)
    for (std::size_t o = 0; o < kOpCount; ++o)
      if (variant.enqueue[t][o] != nullptr) {
        names.push_back(kTypeNames[t]);
        break;
      }
  return names;
}

/// The names of the operators that it provides on any type.
Json provided_ops(const Variant& variant) {
  Json names = Json::array();
  for (std::size_t o = 0; o < kOpCount; ++o)
    if (std::any_of(variant.enqueue.begin(), variant.enqueue.end(),
                    [&](const auto& row) { return row[o] != nullptr; }))
      names.push_back(kOpNames[o]);
  return names;
}

/// A glob that matches, of which `glob` may be a slip of the keyboard: `harris/*` of `harri/*`.
std::string near_glob(const std::string& glob) {
  std::vector<std::string> globs;
  const std::string rest = glob.substr(std::min(glob.find('/'), glob.size()));
  for (const std::string_view id : all_ids())
    if (std::string near = std::string(id.substr(0, id.find('/'))) + rest; glob_matches(near, id))
      globs.push_back(std::move(near));
  std::vector<std::string_view> candidates = all_ids();
  candidates.insert(candidates.end(), globs.begin(), globs.end());
  return suggestion(glob, candidates);
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
      throw UsageError(fmt::format("no variant matches '{}'{}; 'reduce-bench list' shows them all",
                                   glob, near_glob(glob)));
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
  throw UsageError(fmt::format("unknown variant '{}'{}; 'reduce-bench list' shows them all", id,
                               suggestion(id, all_ids())));
}

Json to_json(const PluginFile& plugin) {
  return {{"file", plugin.name}, {"checksum", plugin.checksum}, {"version", plugin.version}};
}

Json to_json(const CatalogEntry& entry) {
  const Variant& variant = entry.variant;
  Json backends = Json::array(), built = Json::array(), params = Json::array();
  for (std::size_t b = 0; b < kBackendCount; ++b) {
    if (entry.declared[b]) backends.push_back(kBackendNames[b]);
    if (entry.built[b] != nullptr) built.push_back(kBackendNames[b]);
  }
  for (const ParamSpec& spec : variant.params)
    params.push_back({{"name", spec.name},
                      {"default", spec.default_value},
                      {"allowed", spec.allowed},
                      {"meaning", spec.meaning}});
  return {{"id", variant.id},
          {"title", variant.title},
          {"operation", name_of(variant.operation)},
          {"backends", backends},
          {"built", built},
          {"types", provided_types(variant)},
          {"ops", provided_ops(variant)},
          {"fidelity", name_of(variant.fidelity)},
          {"source", variant.source},
          {"description", entry.description},
          {"order", !has_operator(variant.operation) ? Json(nullptr)
                    : variant.preserves_order()      ? Json("preserving")
                                                     : Json("commutative")},
          {"finish", variant.finish == Finish::kHost ? "host" : "device"},
          {"params", params},
          {"plugin", entry.plugin == nullptr ? Json(nullptr) : to_json(*entry.plugin)}};
}

}  // namespace reduce_bench
