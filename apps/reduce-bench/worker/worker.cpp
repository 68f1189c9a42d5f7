#include "worker/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/error.hpp"
#include "devices/machine.hpp"
#include "plugins/load_python.hpp"
#include "worker/channel.hpp"
#include "worker/interrupt.hpp"
#include "worker/system_failure.hpp"
#include "worker/wire.hpp"

namespace reduce_bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kStartLimitS = 120;  // creating a context on a machine of many GPUs takes seconds
constexpr double kLoadLimitS = 20;    // of a plug-in, without a context
constexpr double kPythonLoadLimitS = 120;  // likewise: a framework may be gigabytes on a slow disk
constexpr int kStartAttempts = 3;
/// What a variant may print in one point before it counts as flooding.
constexpr std::size_t kOutputLimitBytes = std::size_t{1} << 20;
constexpr std::size_t kLastWordsBytes = std::size_t{1} << 14;
/// How long ranks may take to leave, mpirun to end them, and ranks to say what they do.
constexpr double kRanksEndLimitS = 5, kMpirunEndLimitS = 5, kTellLimitS = 2;
constexpr std::chrono::milliseconds kBetweenLooks{5};

double elapsed_s(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

/// The last line that is not empty, without control characters.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  text = text.substr(text.rfind('\n') + 1).substr(0, 200);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* name = sigabbrev_np(number);
    return fmt::format(
        "was killed by {}{} ({})", name != nullptr ? "SIG" : "signal ",
        name != nullptr ? name : std::to_string(number),
        number == SIGKILL ? "the system was out of memory, or somebody's kill" : strsignal(number));
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

/// The variables of a worker. Nothing that is timed on a GPU reads the arrays that the worker makes on
/// the host, so they lie on huge pages: making and freeing 4 GiB takes 0.23 s instead of 0.45.
/// Whoever sets the variable decides.
std::vector<char*> environment_of(Backend backend) {
  static char huge_pages[] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  if (backend == Backend::kCuda && std::getenv("GLIBC_TUNABLES") == nullptr)
    variables.push_back(huge_pages);
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

double point_limit_s(const Point& point) {
  const MeasurementSettings& m = point.measurement;
  if (m.point_timeout_s) return *m.point_timeout_s;
  const auto n = static_cast<double>(point.n);
  // The slowest chains of additions take some 5 ns per element, cold samples flush caches for up to
  // 0.1 s, and machines are busy: a few times that, and a minute for inputs and references.
  const double mode_s = 10 * m.max_time_ms / 1e3 + m.min_samples * (0.2 + 30e-9 * n);
  const double emulated_s = point.backend == Backend::kEmu ? 1e-3 * n : 0;
  return 60 + static_cast<double>(m.modes.size()) * mode_s + emulated_s;
}

struct Worker::Process {
  pid_t id;
  Channel channel;
  Descriptor output;  ///< standard output and error of the worker
  bool output_ended = false;
  std::size_t output_bytes = 0;
  std::string last_words;

  /// Whether it has ended; the system keeps how.
  bool has_ended();
  /// Passes on what the worker printed so far.
  void drain_output() {
    std::array<char, 1 << 16> bytes;
    for (;;) {
      const ssize_t got = ::read(output.number(), bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      output_ended = got == 0;
      if (got <= 0) return;
      const auto size = static_cast<std::size_t>(got);
      if (output_bytes <= kOutputLimitBytes) std::fwrite(bytes.data(), 1, size, stderr);
      output_bytes += size;
      last_words.append(bytes.data(), size);
      if (last_words.size() > kLastWordsBytes)
        last_words.erase(0, last_words.size() - kLastWordsBytes);
      if (output_bytes > kOutputLimitBytes) return;  // a flood has no end
    }
  }
};

Worker::Worker(Backend backend, int ordinal, std::filesystem::path program,
               const PluginFile* plugin, Ranks ranks)
    : backend_(backend),
      ordinal_(ordinal),
      program_(std::move(program)),
      plugin_(plugin),
      ranks_(std::move(ranks)) {}

Worker::~Worker() { renew(); }

void Worker::renew() {
  if (process_) end_process();
}

int Worker::process_id() const { return process_ ? process_->id : 0; }

void Worker::start() {
  int pair[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw system_failure("cannot make a socket for the worker process");
  Descriptor own(pair[0]), other(pair[1]);
  std::optional<MeetingPlace> place;
  if (has_ranks()) place.emplace();
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    throw system_failure("cannot make a pipe for the worker process");
  Descriptor output(pipe[0]), printed(pipe[1]);
  if (::fcntl(output.number(), F_SETFL, O_NONBLOCK) != 0)
    throw system_failure("cannot make a pipe for the worker process");

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  const auto check = [](int error) {
    if (error != 0) throw system_failure("cannot prepare the worker process", error);
  };
  check(posix_spawn_file_actions_init(&files));
  check(posix_spawnattr_init(&attributes));
  check(posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
  check(posix_spawn_file_actions_adddup2(&files, printed.number(), STDOUT_FILENO));
  check(posix_spawn_file_actions_adddup2(&files, printed.number(), STDERR_FILENO));
  check(posix_spawn_file_actions_adddup2(&files, other.number(), kWorkerDescriptor));
  // A process group of its own, so that Ctrl-C reaches the driver alone.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) sigaddset(&defaults, signal);
  check(posix_spawnattr_setsigmask(&attributes, &none));
  check(posix_spawnattr_setsigdefault(&attributes, &defaults));
  check(posix_spawnattr_setpgroup(&attributes, 0));
  check(posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  std::vector<std::string> words{
      "reduce-bench", std::string(kWorkerCommand), "--backend", std::string(name_of(backend_)),
      "--device",     std::to_string(ordinal_),    "--parent",  std::to_string(::getpid())};
  if (plugin_ != nullptr) {
    words.push_back("--plugin=" + plugin_->path);
    if (!plugin_->checksum.empty()) words.push_back("--checksum=" + plugin_->checksum);
  }
  if (place)
    words.insert(words.end(), {"--socket", place->name(), "--ranks", std::to_string(ranks_.count)});
  if (place && !ranks_.hosts.empty()) words.insert(words.end(), {"--hosts", ranks_.hosts});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> variables = environment_of(backend_);
  pid_t id = 0;
  const int failed =
      ::posix_spawn(&id, program_.c_str(), &files, &attributes, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw DeviceLost(fmt::format("the worker process cannot be started from '{}': {}",
                                 program_.string(), reason_and_advice(failed, kSystemAdvice)));
  process_.reset(new Process{.id = id,
                             .channel = Channel(place ? -1 : own.release()),
                             .output = Descriptor(output.release())});
  if (place) process_->channel.reset(await_first_rank(*place));
}

int Worker::await_first_rank(const MeetingPlace& place) {
  const auto start = Clock::now();
  constexpr int kLookMs = 20;
  for (;;) {
    pollfd waits{.fd = place.descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, kLookMs) > 0)
      if (const auto came = place.accept()) return *came;
    if (process_->has_ended() || interrupts() > 0 || elapsed_s(start) > kStartLimitS) break;
  }
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw system_failure("cannot make a socket for the worker process");
  ::close(pair[1]);
  return pair[0];
}

void Worker::need_process() {
  if (process_) {
    // A process that was killed while it was idle is no point's fault.
    pollfd socket{.fd = process_->channel.descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&socket, 1, 0) == 0) return;
    end_process();
  }
  std::string how;
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    start();
    Json answer;
    Wait wait = wait_for_answer(answer, kStartLimitS, 1);
    try {
      if (wait == Wait::kAnswered && answer.contains("traits")) {
        check_device(answer);
        traits_ = traits_from_wire(answer["traits"]);
        return;
      }
      if (wait == Wait::kAnswered) {
        const auto why = answer.at("unavailable").get<std::string>();
        end_process();
        throw DeviceLost(why);
      }
    } catch (const Json::exception&) {
      wait = Wait::kGarbled;
    }
    how = ending(wait, kStartLimitS);
    if (wait == Wait::kAbandoned) throw DeviceLost("interrupted while its worker started");
  }
  throw DeviceLost(fmt::format("no worker process for {} came up in {} attempts: the last {}",
                               name_of(backend_), kStartAttempts, how));
}

void Worker::check_device(const Json& greeting) {
  if (!greeting.contains("device")) return;  // of ranks, which may be on other machines
  const auto taken = greeting["device"].get<std::string>();
  const std::string expected = name_of_device(backend_, ordinal_);
  if (taken == expected) return;
  end_process();
  throw DeviceLost(fmt::format(
      "device {} of {} is '{}' for the worker process and '{}' for the driver, whose name results "
      "would have: see which drivers are installed, and what 'reduce-bench info' lists",
      ordinal_, name_of(backend_), taken, expected));
}

DeclaredPlugin ask_plugin(const std::string& path) {
  // Loaded in a process of the emulator, which takes no device.
  const PluginFile file{.path = path};
  Worker worker(Backend::kEmu, 0, "/proc/self/exe", &file);
  worker.start();
  Json answer;
  const double limit_s = is_python(path) ? kPythonLoadLimitS : kLoadLimitS;
  auto wait = worker.wait_for_answer(answer, limit_s, 1);
  try {
    if (wait == Worker::Wait::kAnswered && answer.contains("plugin"))
      return plugin_from_wire(answer["plugin"]);
    if (wait == Worker::Wait::kAnswered)
      throw UsageError(answer.at("unavailable").get<std::string>());
  } catch (const Json::exception&) {
    wait = Worker::Wait::kGarbled;
  }
  throw UsageError(plugin_fault(
      path, fmt::format("it cannot be loaded: the process that did so {}; mend what it does then",
                        worker.ending(wait, limit_s))));
}

const DeviceTraits& Worker::traits() {
  need_process();
  return traits_;
}

Worker::Wait Worker::wait_for_answer(Json& answer, double limit_s, int patience) {
  process_->output_bytes = 0;
  process_->last_words.clear();
  const auto start = Clock::now();
  for (;;) {
    // One may have come together with the one before.
    std::optional<Json> message;
    try {
      message = process_->channel.next();
    } catch (const std::exception&) {
      return Wait::kGarbled;
    }
    if (message) {
      process_->drain_output();
      if (process_->output_bytes > kOutputLimitBytes) return Wait::kFlooded;
      answer = std::move(*message);
      return Wait::kAnswered;
    }
    if (interrupts() >= patience) return Wait::kAbandoned;
    const double left_s = limit_s - elapsed_s(start);
    if (left_s <= 0) return Wait::kTimedOut;
    std::array<pollfd, 3> watched{
        pollfd{.fd = process_->channel.descriptor(), .events = POLLIN, .revents = 0},
        pollfd{.fd = process_->output_ended ? -1 : process_->output.number(),
               .events = POLLIN,
               .revents = 0},
        pollfd{.fd = interrupt_descriptor(), .events = POLLIN, .revents = 0}};
    const int wait_ms = static_cast<int>(std::min(left_s * 1e3 + 1, 1e9));
    if (::poll(watched.data(), watched.size(), wait_ms) < 0 && errno != EINTR)
      throw system_failure("cannot wait for the worker process");
    if (watched[1].revents != 0) process_->drain_output();
    if (process_->output_bytes > kOutputLimitBytes) return Wait::kFlooded;
    if (watched[0].revents == 0) continue;
    if (!process_->channel.receive_some()) return Wait::kDied;
  }
}

bool Worker::Process::has_ended() {
  drain_output();
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(id), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         ended.si_pid != 0;
}

void Worker::let_mpirun_end() {
  process_->channel.reset(-1);
  for (const double limit_s : {kRanksEndLimitS, kMpirunEndLimitS}) {
    const auto start = Clock::now();
    while (elapsed_s(start) < limit_s) {
      if (process_->has_ended()) return;
      std::this_thread::sleep_for(kBetweenLooks);
    }
    ::kill(process_->id, SIGTERM);
  }
}

std::string Worker::ask_ranks() {
  ::kill(process_->id, SIGUSR1);  // mpirun passes it on
  const auto start = Clock::now();
  while (!all_ranks_told(process_->last_words, ranks_.count) && elapsed_s(start) < kTellLimitS) {
    std::this_thread::sleep_for(kBetweenLooks);
    process_->drain_output();
  }
  return ranks_at_work(process_->last_words, ranks_.count);
}

std::string Worker::end_process() {
  if (has_ranks()) let_mpirun_end();
  // A process that is already ending keeps its own status.
  ::kill(process_->id, SIGKILL);
  int status = 0;
  while (::waitpid(process_->id, &status, 0) < 0 && errno == EINTR) {
  }
  process_->drain_output();
  if (has_ranks()) {
    const std::string how = how_ranks_ended(process_->last_words, describe_status(status));
    process_.reset();
    return how;
  }
  std::string text = describe_status(status);
  if (const std::string words = last_line(process_->last_words); !words.empty())
    text += fmt::format("; its last output was \"{}\"", words);
  process_.reset();
  return text;
}

std::string Worker::ending(Wait wait, double limit_s) {
  if (has_ranks() && wait != Wait::kDied) ::kill(process_->id, SIGTERM);
  const std::string how = end_process();
  switch (wait) {
    case Wait::kTimedOut: return fmt::format("did not answer within {:g} s", limit_s);
    case Wait::kFlooded:
      return fmt::format("printed more than {} bytes to standard output or error",
                         kOutputLimitBytes);
    case Wait::kGarbled: return "sent what is no answer";
    case Wait::kAbandoned: return "was interrupted";
    case Wait::kAnswered:
    case Wait::kDied: break;
  }
  return how;
}

std::optional<Record> Worker::execute(const Point& point, const ExecuteOptions& options,
                                      int patience) {
  need_process();
  const double limit_s = point_limit_s(point);
  Json answer;
  const bool sent =
      process_->channel.send({{"execute", to_wire(point)}, {"options", to_wire(options)}});
  Wait wait = sent ? wait_for_answer(answer, limit_s, patience) : Wait::kDied;
  Record record{.point = point};
  if (wait == Wait::kAnswered) {
    try {
      Record answered = record_from_wire(answer.at("record"), point);
      if (answer.at("lost").get<bool>()) end_process();
      return answered;
    } catch (const Json::exception&) {
      wait = Wait::kGarbled;
    }
  }
  const std::string late =
      has_ranks() && wait == Wait::kTimedOut ? "; " + ask_ranks() : std::string();
  const std::string how = ending(wait, limit_s);
  if (wait == Wait::kAbandoned) return std::nullopt;
  record.status = wait == Wait::kTimedOut ? Status::kTimeout : Status::kFailed;
  record.reason =
      wait == Wait::kTimedOut
          ? fmt::format("did not end within {:g} s (measurement.point_timeout_s sets the limit){}",
                        limit_s, late)
          : "the worker process " + how;
  // A variant with a documented defect may crash because of it.
  const Variant* variant = point.entry->on(point.backend);
  const Problem problem = point.problem(traits_);
  if (record.status == Status::kFailed && variant->defect != nullptr) {
    if (const auto defect = variant->defect(problem)) {
      record.known_wrong = true;
      record.reason = fmt::format("{}: {}", defect->reason, record.reason);
    }
  }
  return record;
}

std::optional<Ceilings> Worker::measure_ceilings(const std::vector<std::size_t>& sizes_bytes,
                                                 bool between_devices,
                                                 const BeginSize& begin_size) {
  double limit_s = 60;
  for (const std::size_t size : sizes_bytes) limit_s += 30 + 30e-9 * static_cast<double>(size);
  std::string how;
  for (int attempt = 0; attempt < 2; ++attempt) {
    need_process();
    Json answer;
    const bool sent =
        process_->channel.send({{"ceilings", sizes_bytes}, {"between_devices", between_devices}});
    Wait wait = sent ? wait_for_answer(answer, limit_s, 1) : Wait::kDied;
    while (wait == Wait::kAnswered && answer.contains("begins")) {
      begin_size(answer["begins"].get<std::size_t>());
      wait = wait_for_answer(answer, limit_s, 1);
    }
    if (wait == Wait::kAnswered && answer.contains("ceilings"))
      return ceilings_from_wire(answer["ceilings"]);
    if (wait == Wait::kAnswered) {
      end_process();
      how = answer.at("failed").get<std::string>();
      continue;
    }
    how = "the worker process " + ending(wait, limit_s);
    if (wait == Wait::kAbandoned) return std::nullopt;
  }
  throw DeviceLost(how);
}

}  // namespace reduce_bench
