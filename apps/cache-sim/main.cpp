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
#include "common/revision.hpp"
#include "common/standard_streams.hpp"

namespace reduce_bench {

void check_output(const std::string& file) {
  if (file == "-") return;
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    throw UsageError(
        fmt::format("cannot write '{}': it is a directory; name a file with -o", file));
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (!folder.empty() && !std::filesystem::is_directory(folder, unknown))
    throw UsageError(fmt::format(
        "cannot write '{}': there is no folder '{}'; make it, or choose another place with -o",
        file, folder));
}

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
  app.set_version_flag(
      "--version", [] { return version_line("cache-sim"); }, "Version and revision of this build");
  app.footer(
      "Examples:\n"
      "  cache-sim probe -o here.json\n"
      "  cache-sim simulate --hierarchy here.json --algorithm cpu/multireduce --n 67108864 \\\n"
      "      --buckets 1048576\n"
      "Exit codes: 0 good (also after this help, which 'cache-sim' alone prints too), 2 bad\n"
      "usage or input, 4 the simulation or probe failed.");
  Action action;
  add_simulate(app, action);
  add_probe(app, action);

  try {
    if (const std::optional<int> ended = read_command_line(app, argc, argv)) return *ended;
    return run_action(action);
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
