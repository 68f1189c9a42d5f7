#include "common/command_line.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/standard_streams.hpp"
#include "common/text.hpp"

namespace reduce_bench {

namespace {

/// The first option on the command line that the command does not have, as a complaint; nothing
/// where there is none.
std::optional<std::string> unknown_option(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* command = &app;
  for (const CLI::App* chosen : app.get_subcommands([](const CLI::App*) { return true; }))
    if (chosen->get_name() == argv[1]) command = chosen;
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (int i = command == &app ? 1 : 2; i < argc; ++i) {
    const std::string_view argument = argv[i], name = argument.substr(0, argument.find('='));
    if (name == "--") break;
    if (name.starts_with("--") && !find_name(known, name))
      return fmt::format("unknown option '{}'{}", name, suggestion(name, known));
  }
  return std::nullopt;
}

/// What CLI11 found. Of an option without its value it says "--config: 1 required TEXT missing".
std::string sentence_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with(" missing"))
    return text.substr(0, text.find(':')) + " needs a value";
  return text;
}

}  // namespace

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
  // A closed pipe or a file grown to its limit is an error to report, not a reason to die.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
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
      throw UsageError(fmt::format("{}; --help shows what is allowed",
                                   unknown_option(app, argc, argv).value_or(sentence_of(error))));
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
