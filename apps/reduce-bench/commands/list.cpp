// reduce-bench list: every variant, as a table or as JSON.

#include <fmt/format.h>

#include <algorithm>

#include "commands/commands.hpp"
#include "plan/config.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

/// The names of the types or operators that the variant provides in any combination.
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
Json provided_ops(const Variant& variant) {
  Json names = Json::array();
  for (std::size_t o = 0; o < kOpCount; ++o)
    if (std::any_of(variant.enqueue.begin(), variant.enqueue.end(),
                    [&](const auto& row) { return row[o] != nullptr; }))
      names.push_back(kOpNames[o]);
  return names;
}

}  // namespace

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
          {"params", params}};
}

namespace {

std::string joined(const Json& names) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : ",") + name.get<std::string>();
  return text;
}

int list(const std::vector<std::string>& filter, bool as_json) {
  const auto entries = select_variants(filter.empty() ? std::vector<std::string>{"*"} : filter);
  if (as_json) {
    Json all = Json::array();
    for (const CatalogEntry* entry : entries) all.push_back(to_json(*entry));
    fmt::print("{}\n", all.dump(2));
    return 0;
  }
  fmt::print("{:<30} {:<13} {:<9} {:<12} {:<40} {}\n", "variant", "operation", "backends",
             "fidelity", "operators", "source");
  for (const CatalogEntry* entry : entries) {
    const Json json = to_json(*entry);
    fmt::print("{:<30} {:<13} {:<9} {:<12} {:<40} {}\n", entry->variant.id,
               name_of(entry->variant.operation), joined(json["backends"]),
               name_of(entry->variant.fidelity), joined(json["ops"]), entry->variant.source);
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("list", "Every variant: id, backends, operators, source");
  auto filter = std::make_shared<std::vector<std::string>>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("--filter", *filter, "Globs of variant ids, such as 'harris/*'");
  command->add_flag("--json", *as_json, "An array of objects instead of a table");
  command->footer("Example: reduce-bench list --json --filter 'luitjens/*'");
  command->callback([=, &action] { action = [=] { return list(*filter, *as_json); }; });
}

}  // namespace reduce_bench
