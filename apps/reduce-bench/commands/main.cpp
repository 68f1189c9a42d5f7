// reduce-bench: runs, verifies and explains GPU reduction variants.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include "commands/commands.hpp"
#include "common/error.hpp"
#include "common/revision.hpp"
#include "common/standard_streams.hpp"
#include "results/environment.hpp"
#include "worker/worker.hpp"

namespace {

/// Called where memory runs out, instead of throwing: freeing a parsed document needs memory too. A
/// point that runs out of memory does so in its worker, which reports it.
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
  app.set_version_flag(
      "--version",
      [] {
        return fmt::format("{}\nCUDA: {}", version_line("reduce-bench"),
                           cuda_compiler().value_or("not in this build"));
      },
      "Version, revision and GPU architectures of this build");
  app.footer(
      "Examples:\n"
      "  reduce-bench run --config configs/quick.json\n"
      "  reduce-bench list --filter 'harris/*'\n"
      "  reduce-bench show harris/3\n"
      "  reduce-bench compare base.json new.json\n"
      "  reduce-bench explain 'harris/[0-7]' --backend emu\n"
      "Exit codes: 0 good (also after this help, which 'reduce-bench' alone prints too), 1 a\n"
      "regression or wrong result, 2 bad usage or input, or nothing to compare, 3 runs of\n"
      "different environments, 4 some points failed or are inconclusive, 130 interrupted with\n"
      "partial results saved.");

  Action action;
  add_run(app, action, {argv, argv + argc});
  add_list(app, action);
  add_show(app, action);
  add_verify(app, action);
  add_compare(app, action);
  add_explain(app, action);
  add_info(app, action);
  add_worker(app, action);
  try {
    if (const std::optional<int> ended = read_command_line(app, argc, argv)) return *ended;
    if (argv[1] != kWorkerCommand) std::set_new_handler(&end_without_memory);
    return run_action(action);
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
