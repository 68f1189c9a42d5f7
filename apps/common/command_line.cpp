#include "common/command_line.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/standard_streams.hpp"

namespace reduce_bench {

std::optional<int> read_command_line(CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2) {
    fmt::print("{}", app.help());
    return kExitGood;
  }
  // Hidden subcommands are known, but not suggested.
  std::vector<std::string_view> known, shown;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
    if (!command->get_group().empty()) shown.push_back(command->get_name());
  }
  if (argv[1][0] != '-' && !find_name(known, argv[1])) {
    const std::string hint = suggestion(argv[1], shown);
    complain(fmt::format("{}: unknown command '{}'{}", app.get_name(), argv[1],
                         hint.empty() ? ", expected " + one_of(shown) : hint));
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are successes; everything else that CLI11 reports is bad usage.
    return app.exit(error) == 0 ? kExitGood : kExitUsage;
  }
  return std::nullopt;
}

int run_action(const Action& action) {
  occupy_closed_streams();
  const int code = action();
  if (std::fflush(stdout) != 0)
    throw UsageError(fmt::format("cannot write to standard output: {}; check where it goes",
                                 std::strerror(errno)));
  return code;
}

}  // namespace reduce_bench
