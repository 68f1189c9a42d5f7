// reduce-bench list: every variant, as a table or as JSON.

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "plan/variants.hpp"
#include "worker/workers.hpp"

namespace reduce_bench {
namespace {

std::string joined(const Json& names) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : ",") + name.get<std::string>();
  return text;
}

int list(const std::vector<std::string>& filter, const std::vector<std::string>& plugins,
         bool as_json) {
  add_plugins(plugins);
  const auto entries = select_variants(filter.empty() ? std::vector<std::string>{"*"} : filter);
  if (as_json) {
    Json all = Json::array();
    for (const CatalogEntry* entry : entries) all.push_back(to_json(*entry));
    fmt::print("{}\n", json_text(all, 2));
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
  auto plugins = std::make_shared<std::vector<std::string>>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("--filter", *filter, "Globs of variant ids, such as 'harris/*'");
  add_plugin_option(*command, *plugins);
  command->add_flag("--json", *as_json, "An array of objects instead of a table");
  command->footer("Example: reduce-bench list --json --filter 'luitjens/*'");
  command->callback([=, &action] { action = [=] { return list(*filter, *plugins, *as_json); }; });
}

}  // namespace reduce_bench
