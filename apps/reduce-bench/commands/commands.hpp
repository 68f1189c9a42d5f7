// The subcommands: each adds its options to the application and says what to do when chosen.
#pragma once

#include <string>
#include <vector>

#include "common/command_line.hpp"

namespace reduce_bench {

/// Adds the option `--device`.
inline void add_device(CLI::App& command, std::optional<int>& device) {
  add_number(command, "--device",
             {.least = 0,
              .most = std::numeric_limits<int>::max(),
              .advice = "'reduce-bench info' lists the devices"},
             "Number of the device, of cuda or opencl",
             [&device](std::uint64_t number) { device = static_cast<int>(number); });
}

/// Adds the option `--plugin`, each with one file.
inline void add_plugin_option(CLI::App& command, std::vector<std::string>& files) {
  command
      .add_option(
          "--plugin", files,
          "A shared library or a file of Python whose variants stand beside the catalog's; may be "
          "repeated")
      ->allow_extra_args(false);
}

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& command_line);
void add_list(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_worker(CLI::App& app, Action& action);

}  // namespace reduce_bench
