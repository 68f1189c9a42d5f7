// reduce-bench: runs, verifies and explains GPU reduction variants.

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "commands/commands.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "common/standard_streams.hpp"
#include "worker/worker.hpp"

namespace {

/// Instead of an exception: a parsed document needs memory even to go away. A worker's points are
/// another matter.
[[noreturn]] void end_without_memory() {
  std::fputs(
      "reduce-bench: the memory that it may use does not hold what was asked for: ask for fewer "
      "points, or raise the limit (ulimit -a)\n",
      stderr);
  std::_Exit(reduce_bench::kExitUsage);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace reduce_bench;
  CLI::App app{"Reproduces, verifies and compares the published GPU reduction algorithms."};
  app.name("reduce-bench");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  reduce-bench run --config configs/quick.json\n"
      "  reduce-bench list --filter 'harris/*'\n"
      "  reduce-bench show harris/3\n"
      "  reduce-bench compare base.json new.json\n"
      "Exit codes: 0 good, 1 a regression or wrong result, 2 bad usage or input, or nothing\n"
      "to compare, 3 runs of different environments, 4 some points failed or are inconclusive, "
      "130\n"
      "interrupted with partial results saved.");

  Action action;
  const std::vector<std::string> command_line(argv, argv + argc);
  add_run(app, action, command_line);
  add_list(app, action);
  add_show(app, action);
  add_verify(app, action);
  add_compare(app, action);
  add_info(app, action);
  add_worker(app, action);

  std::vector<std::string_view> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) commands.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' && argv[1] != kWorkerCommand && !find_name(commands, argv[1])) {
    const std::string hint = suggestion(argv[1], commands);
    complain(fmt::format("reduce-bench: unknown command '{}'{}", argv[1],
                         hint.empty() ? ", expected " + one_of(commands) : hint));
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is success; everything else that CLI11 reports is bad usage.
    return app.exit(error) == 0 ? kExitGood : kExitUsage;
  }
  if (argc > 1 && argv[1] != kWorkerCommand) std::set_new_handler(&end_without_memory);
  try {
    occupy_closed_streams();
    const int code = action();
    if (std::fflush(stdout) != 0)
      throw UsageError(fmt::format("cannot write to standard output: {}; check where it goes",
                                   std::strerror(errno)));
    return code;
  } catch (const UsageError& error) {
    complain(fmt::format("reduce-bench: {}", error.what()));
    return kExitUsage;
  } catch (const std::system_error& error) {
    // A path that cannot be used, or standard output or error is full or closed.
    complain(fmt::format("reduce-bench: {}; check where the output goes", error.what()));
    return kExitUsage;
  } catch (const std::exception& error) {
    complain(fmt::format("reduce-bench: {}", error.what()));
    return kExitUsage;
  }
}
