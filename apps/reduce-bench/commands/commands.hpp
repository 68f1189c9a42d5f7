// The subcommands: each adds its options to the application and says what to do when chosen.
#pragma once

#include <string>
#include <vector>

#include "common/command_line.hpp"

namespace reduce_bench {

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& command_line);
void add_list(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_worker(CLI::App& app, Action& action);

}  // namespace reduce_bench
