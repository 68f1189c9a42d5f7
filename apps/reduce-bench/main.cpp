// reduce-bench: runs, verifies and explains GPU reduction variants.

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

#include "commands.hpp"
#include "harness/error.hpp"

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
      "Exit codes: 0 good, 1 a regression or wrong result, 2 bad usage or input, 3 runs of\n"
      "different environments, 4 some points failed or are inconclusive, 130 interrupted with\n"
      "partial results saved.");

  Action action;
  const std::vector<std::string> command_line(argv, argv + argc);
  add_run(app, action, command_line);
  add_list(app, action);
  add_show(app, action);
  add_verify(app, action);
  add_compare(app, action);
  add_info(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is success; everything else that CLI11 reports is bad usage.
    return app.exit(error) == 0 ? kExitGood : kExitUsage;
  }
  try {
    const int code = action();
    if (std::fflush(stdout) != 0) throw UsageError("cannot write to standard output");
    return code;
  } catch (const UsageError& error) {
    fmt::print(stderr, "reduce-bench: {}\n", error.what());
    return kExitUsage;
  } catch (const std::system_error& error) {
    // A path that cannot be used, or standard output is full or closed.
    fmt::print(stderr, "reduce-bench: {}; check where the output goes\n", error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "reduce-bench: {}\n", error.what());
    return kExitIncomplete;
  }
}
