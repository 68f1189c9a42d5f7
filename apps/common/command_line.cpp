#include "common/command_line.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/standard_streams.hpp"
#include "common/text.hpp"

namespace reduce_bench {

void check_standard_output() {
  if (std::fflush(stdout) != 0)
    throw UsageError(fmt::format("cannot write to standard output: {}; check where it goes",
                                 std::strerror(errno)));
}

CLI::Option* add_number(CLI::App& command, const std::string& name, const Numbers& numbers,
                        const std::string& description,
                        const std::function<void(std::uint64_t)>& take) {
  const auto read = [=](const std::string& text) {
    const auto number = whole_number(text);
    if (!number || *number < numbers.least || *number > numbers.most)
      throw UsageError(fmt::format("{} {}: expected a whole number {}{}", name, text,
                                   numbers.most == std::numeric_limits<std::uint64_t>::max()
                                       ? fmt::format("from {}, below 2^64", numbers.least)
                                       : fmt::format("from {} to {}", numbers.least, numbers.most),
                                   numbers.advice.empty() ? "" : "; " + numbers.advice));
    take(*number);
  };
  return command.add_option_function<std::string>(name, read, description)->type_name("NUMBER");
}

std::optional<int> read_command_line(CLI::App& app, int argc, const char* const* argv) {
  occupy_closed_streams();
  if (argc < 2) {
    fmt::print("{}", app.help());
    check_standard_output();
    return kExitGood;
  }
  // Hidden subcommands are known, but not suggested.
  std::vector<std::string_view> known, shown;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
    if (!command->get_group().empty()) shown.push_back(command->get_name());
  }
  if (argv[1][0] != '-' && !find_name(known, argv[1])) {
    throw UsageError(fmt::format("unknown command '{}'{}, expected {}", argv[1],
                                 suggestion(argv[1], shown), one_of(shown)));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are successes; everything else that CLI11 reports is bad usage.
    if (error.get_exit_code() != 0)
      throw UsageError(fmt::format("{}; --help shows what is allowed", error.what()));
    std::ostringstream text;
    app.exit(error, text);
    fmt::print("{}", text.str());
    check_standard_output();
    return kExitGood;
  }
  return std::nullopt;
}

int run_action(const Action& action) {
  const int code = action();
  check_standard_output();
  return code;
}

}  // namespace reduce_bench
