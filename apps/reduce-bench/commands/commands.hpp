// The subcommands: each adds its options to the application and says what to do when chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "kernels/api/catalog.hpp"
#include "plan/config.hpp"

namespace reduce_bench {

/// A variant as `list --json` shows it; `show --json` adds the description.
Json to_json(const CatalogEntry& entry);

/// Where a chosen command leaves what to run; its value is the exit code.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& command_line);
void add_list(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_worker(CLI::App& app, Action& action);

}  // namespace reduce_bench
