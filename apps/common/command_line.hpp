// What the programs' command lines have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

namespace reduce_bench {

/// Where a chosen subcommand leaves what to run; its value is the exit code.
using Action = std::function<int()>;

/// Reads the command line of a program with subcommands, which then have left their action. Where
/// the program is to end instead, that is told and the exit code returned: good after help, which a
/// command line without arguments gets too, and after a version; else bad usage.
std::optional<int> read_command_line(CLI::App& app, int argc, const char* const* argv);

/// Runs the action. Throws UsageError where standard output does not take what it printed.
int run_action(const Action& action);

}  // namespace reduce_bench
