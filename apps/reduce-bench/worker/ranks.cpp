#include "worker/ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "common/error.hpp"
#include "kernels/platform/mpi.hpp"
#include "worker/system_failure.hpp"

namespace reduce_bench {
namespace {

/// Set by Open MPI's mpirun for what it starts.
const char* ranks_started() { return std::getenv("OMPI_COMM_WORLD_SIZE"); }

constexpr std::string_view kTold = "reduce-bench: rank ";
constexpr std::string_view kWaits = " waits for other ranks";
constexpr std::string_view kWorks = " is at work";

std::string signal_name(int number) {
  const char* const name = sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{} ({})", name, strsignal(number))
                         : fmt::format("signal {}", number);
}

/// The number that follows these words and any blanks; empty where none does.
std::string number_after(std::string_view words, std::string_view line) {
  const std::size_t found = line.find(words);
  if (found == std::string_view::npos) return {};
  const std::size_t begin = line.find_first_not_of(' ', found + words.size());
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, line.find_first_not_of("0123456789", begin) - begin));
}

/// The last line that this program printed, without its name.
std::string last_complaint(std::string_view printed) {
  constexpr std::string_view kStart = "\nreduce-bench: ";
  const std::string text = "\n" + std::string(printed);
  for (std::size_t end = std::string::npos;;) {
    const std::size_t start = text.rfind(kStart, end);
    if (start == std::string::npos) return {};
    const std::size_t from = start + kStart.size();
    const std::string line = text.substr(from, text.find('\n', from) - from);
    if (!line.starts_with("rank ")) return line.substr(0, 200);
    if (start == 0) return {};
    end = start - 1;
  }
}

char told_waiting[64], told_working[64];

void tell(int) {
  const char* const line = mpi::is_waiting() ? told_waiting : told_working;
  // Nobody to tell is no reason to stop.
  [[maybe_unused]] const ssize_t wrote = ::write(STDERR_FILENO, line, std::strlen(line));
}

}  // namespace

bool are_ranks_started() {
  const char* const count = ranks_started();
  return count != nullptr && std::atoi(count) > 1;
}

Meeting meet_ranks() {
  try {
    mpi::start();
  } catch (const std::exception& error) {
    throw UsageError(fmt::format("mpirun started this program, but {}", error.what()));
  }
  using Name = std::array<char, 256>;
  Name own{};
  if (::gethostname(own.data(), own.size() - 1) != 0)
    throw system_failure("cannot read the name of this machine");
  Meeting meeting{.is_driver = mpi::rank() == 0, .ranks = {.count = mpi::count()}};
  std::vector<Name> names(mpi::count());
  mpi::gather_all(own.data(), own.size(), names.data());
  mpi::finish();
  // Ranks are numbered through the machines, the driver's first.
  std::vector<std::pair<std::string, unsigned>> hosts;
  for (const Name& name : names) {
    const auto known = std::find_if(hosts.begin(), hosts.end(),
                                    [&](const auto& host) { return host.first == name.data(); });
    if (known == hosts.end()) hosts.emplace_back(name.data(), 1);
    else ++known->second;
  }
  if (hosts.size() > 1)
    for (const auto& [name, count] : hosts)
      meeting.ranks.hosts +=
          fmt::format("{}{}:{}", meeting.ranks.hosts.empty() ? "" : ",", name, count);
  if (meeting.is_driver) {
    // mpirun may have bound this process to a core, which its workers would inherit.
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof(all));
    (void)::sched_setaffinity(0, sizeof(all), &all);
    // Where mpirun is killed the driver writes what it has.
    if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) throw system_failure("cannot follow mpirun");
  }
  return meeting;
}

void start_ranks(const Ranks& ranks, int parent, const std::vector<std::string>& arguments) {
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || ::getppid() != parent)
    throw system_failure("cannot follow the driver");
  // This process's own file, which stays open, so that a rebuild during the run does not mix
  // builds. Other machines know it by its name alone.
  const int file = ::open("/proc/self/exe", O_RDONLY);
  if (file < 0) throw system_failure("cannot open this program's file");
  const std::string program = ranks.hosts.empty()
                                  ? fmt::format("/proc/{}/fd/{}", ::getpid(), file)
                                  : std::filesystem::read_symlink("/proc/self/exe").string();
  // A job of its own: nothing of the one that started the driver. What the user set stays.
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    for (const std::string_view of_job :
         {"PMIX_", "PRTE_", "OMPI_COMM_WORLD_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix",
          "OMPI_MCA_initial_wdir", "OMPI_MCA_mpi_oversubscribe", "OMPI_UNIVERSE_SIZE",
          "OMPI_APP_CTX_NUM_PROCS", "OMPI_NUM_APP_CTX", "OMPI_FIRST_RANKS", "OMPI_FILE_LOCATION",
          "OMPI_COMMAND", "OMPI_ARGV"})
      if (name.starts_with(of_job)) names.push_back(name);
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
  // Root was allowed to run the job that this one goes on with.
  if (::geteuid() == 0)
    for (const char* const name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      ::setenv(name, "1", 1);
  // Each rank takes its share of the cores itself (serve.cpp).
  std::vector<std::string> words{"mpirun",          "-n",        std::to_string(ranks.count),
                                 "--oversubscribe", "--bind-to", "none"};
  if (!ranks.hosts.empty()) words.insert(words.end(), {"--host", ranks.hosts});
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  throw UsageError(fmt::format("mpirun cannot be started: {}",
                               reason_and_advice(errno, "name its folder in PATH")));
}

std::string how_ranks_ended(std::string_view printed, const std::string& ended) {
  // mpirun says it in one line of a signal, and of a status in two, the first of which has the rank.
  std::string clause = "of mpirun " + ended;
  std::istringstream lines{std::string(printed)};
  for (std::string line, before; std::getline(lines, line); before = line) {
    const std::string killed = number_after("process rank ", line);
    const std::string signal = number_after(" exited on signal ", line);
    const std::string exited =
        before.find("Process name: ") != std::string::npos ? number_after("],", before) : "";
    const std::string status = number_after("Exit code: ", line);
    if (!killed.empty() && !signal.empty())
      clause = fmt::format("of rank {} was killed by {}", killed, signal_name(std::stoi(signal)));
    else if (!exited.empty() && !status.empty())
      clause = fmt::format("of rank {} exited with status {}", exited, status);
    else continue;
    break;
  }
  if (const std::string words = last_complaint(printed); !words.empty())
    clause += fmt::format("; it said \"{}\"", words);
  return clause;
}

void tell_on_signal() {
  const auto write_line = [](auto& line, std::string_view what) {
    *fmt::format_to_n(line, sizeof(line) - 1, "{}{}{}\n", kTold, mpi::rank(), what).out = '\0';
  };
  write_line(told_waiting, kWaits);
  write_line(told_working, kWorks);
  struct sigaction action{};
  action.sa_handler = &tell;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (::sigaction(SIGUSR1, &action, nullptr) != 0) throw system_failure("cannot catch a signal");
}

bool all_ranks_told(std::string_view printed, unsigned count) {
  for (unsigned rank = 0; rank < count; ++rank)
    if (printed.find(fmt::format("{}{}{}", kTold, rank, kWaits)) == std::string_view::npos &&
        printed.find(fmt::format("{}{}{}", kTold, rank, kWorks)) == std::string_view::npos)
      return false;
  return true;
}

std::string ranks_at_work(std::string_view printed, unsigned count) {
  std::vector<unsigned> at_work;
  for (unsigned rank = 0; rank < count; ++rank)
    if (printed.find(fmt::format("{}{}{}", kTold, rank, kWaits)) == std::string_view::npos)
      at_work.push_back(rank);
  if (at_work.empty()) return "all ranks wait for each other";
  if (at_work.size() == count) return "no rank came to an end";
  return fmt::format("the others wait for rank{} {}", at_work.size() == 1 ? "" : "s",
                     fmt::join(at_work, ", "));
}

}  // namespace reduce_bench
