// cache-sim: predicts how long the CPU algorithms take on a machine's memory hierarchy.

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>

#include "commands.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "common/standard_streams.hpp"

namespace reduce_bench {

void write_document(const Json& document, const std::string& file) {
  const std::string text = document.dump(2) + "\n";
  if (file == "-") {
    fmt::print("{}", text);
    return;
  }
  const std::filesystem::path unfinished = file + ".part";
  std::ofstream stream(unfinished);
  stream << text;
  stream.close();
  std::error_code problem;
  if (stream) std::filesystem::rename(unfinished, file, problem);
  if (stream && !problem) return;
  const std::string why = problem ? problem.message() : std::strerror(errno);
  std::filesystem::remove(unfinished, problem);
  throw UsageError(fmt::format("cannot write '{}': {}; choose another place with -o", file, why));
}

}  // namespace reduce_bench

int main(int argc, char** argv) {
  using namespace reduce_bench;
  CLI::App app{
      "Simulates memory hierarchies under the CPU algorithms, and measures this machine's."};
  app.name("cache-sim");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  cache-sim probe -o here.json\n"
      "  cache-sim simulate --hierarchy here.json --algorithm cpu/multireduce --n 67108864 \\\n"
      "      --buckets 1048576\n"
      "Exit codes: 0 good, 2 bad usage or input, 4 the simulation or probe failed.");
  Action action;
  add_simulate(app, action);
  add_probe(app, action);

  std::vector<std::string_view> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' && !find_name(commands, argv[1])) {
    const std::string hint = suggestion(argv[1], commands);
    complain(fmt::format("cache-sim: unknown command '{}'{}", argv[1],
                         hint.empty() ? ", expected " + one_of(commands) : hint));
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is success; everything else that CLI11 reports is bad usage.
    return app.exit(error) == 0 ? kExitGood : kExitUsage;
  }
  try {
    occupy_closed_streams();
    const int code = action();
    if (std::fflush(stdout) != 0)
      throw UsageError(fmt::format("cannot write to standard output: {}; check where it goes",
                                   std::strerror(errno)));
    return code;
  } catch (const UsageError& error) {
    complain(fmt::format("cache-sim: {}", error.what()));
    return kExitUsage;
  } catch (const std::bad_alloc&) {
    complain(
        "cache-sim: the memory of this machine does not hold it: choose a smaller n or fewer "
        "buckets");
    return kExitIncomplete;
  } catch (const std::exception& error) {
    complain(fmt::format("cache-sim: {}", error.what()));
    return kExitIncomplete;
  }
}
