// What the programs' command lines have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

namespace reduce_bench {

/// Where a chosen subcommand leaves what to run; its value is the exit code.
using Action = std::function<int()>;

/// Reads the command line; the chosen subcommand then has left its action. Returns an exit code
/// where the program is to end instead, after printing why: success after help (also given for no
/// arguments) and version, else bad usage.
std::optional<int> read_command_line(CLI::App& app, int argc, const char* const* argv);

/// Runs the action. Throws UsageError where standard output does not take what it printed.
int run_action(const Action& action);

}  // namespace reduce_bench
