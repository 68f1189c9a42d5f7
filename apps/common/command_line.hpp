// What the programs' command lines have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace reduce_bench {

/// Where a chosen subcommand leaves what to run; its value is the exit code.
using Action = std::function<int()>;

/// The numbers that an option takes, and what they are of.
struct Numbers {
  std::uint64_t least = 0, most = std::numeric_limits<std::uint64_t>::max();
  std::string advice;  ///< what to do about another
};

/// Adds an option that takes a whole number, as `1024`, `2^20` or `1e6`. Reading another throws
/// UsageError.
CLI::Option* add_number(CLI::App& command, const std::string& name, const Numbers& numbers,
                        const std::string& description,
                        const std::function<void(std::uint64_t)>& take);

/// Reads the command line; the chosen subcommand then has left its action. Returns an exit code
/// where the program is to end instead: after help (also given for no arguments) and version. Throws
/// UsageError for bad usage, and where standard output does not take the help or the version. Opens
/// standard streams that are closed; from here on, one that nobody reads gives an error.
std::optional<int> read_command_line(CLI::App& app, int argc, const char* const* argv);

/// Throws UsageError where standard output does not take what was printed since the last check.
void check_standard_output();

/// Runs the action. Throws UsageError where standard output does not take what it printed.
int run_action(const Action& action);

}  // namespace reduce_bench
