#include "worker/serve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include "common/error.hpp"
#include "common/pages.hpp"
#include "plugins/load.hpp"
#include "point/ceilings.hpp"
#include "point/execute.hpp"
#include "worker/channel.hpp"
#include "worker/system_failure.hpp"
#include "worker/wire.hpp"

namespace reduce_bench {
namespace {

/// Limits this process to the memory that is available, so that a variant that takes all of it fails
/// before the system ends another process. The limit is on top of what the process holds now,
/// because sanitizers and CUDA reserve address space.
void limit_memory() {
  // Should the system still run out, it ends this process first. It may refuse to note that.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  std::ifstream status("/proc/self/status");
  std::size_t held_kib = 0;
  for (std::string word; status >> word;)
    if (word == "VmData:") status >> held_kib;
  const rlim_t most = held_kib * 1024 + available_memory_bytes();
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) throw system_failure("cannot read the memory limit");
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most) return;
  limit.rlim_cur = std::min(most, limit.rlim_max);
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) throw system_failure("cannot limit the memory");
}

DeclaredPlugin load(const PluginFile& plugin) {
  DeclaredPlugin loaded = load_plugin(plugin.path);
  // What was planned may not be what the file declares now, and results name one checksum.
  if (!plugin.checksum.empty() && loaded.file.checksum != plugin.checksum)
    throw UsageError(
        plugin_fault(plugin.path, "the file changed while it was in use; start the run anew"));
  return loaded;
}

}  // namespace

int serve_as_worker(Backend backend, int ordinal, int parent, const PluginFile& plugin) {
  // The second test is for a driver that ended before this process asked to die with it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) return kExitUsage;
  if (::fcntl(kWorkerDescriptor, F_SETFD, FD_CLOEXEC) != 0)
    throw UsageError("'worker' is started by the other commands and serves nobody else");
  Channel driver(kWorkerDescriptor);
  std::unique_ptr<Session> session;
  Json greeting;
  try {
    if (!plugin.path.empty()) greeting["plugin"] = to_wire(load(plugin));
    session = std::make_unique<Session>(make_device(backend, ordinal));
    limit_memory();
  } catch (const std::exception& error) {
    driver.send({{"unavailable", error.what()}});
    return kExitGood;
  }
  greeting["traits"] = to_wire(session->device().traits());
  driver.send(greeting);
  for (;;) {
    std::optional<Json> request;
    while (!(request = driver.next()))
      if (!driver.receive_some()) return kExitGood;
    Json answer;
    if (request->contains("ceilings")) {
      try {
        // A driver that is gone is noticed at the answer.
        answer["ceilings"] = to_wire(measure_ceilings(
            session->device(), request->at("ceilings"),
            [&](std::size_t k) { (void)driver.send({{"begins", k}}); },
            request->at("between_devices")));
      } catch (const std::exception& error) {
        answer["failed"] = error.what();
      }
    } else {
      const Record record = session->execute(point_from_wire(request->at("execute")),
                                             options_from_wire(request->at("options")));
      answer = {{"record", to_wire(record)}, {"lost", session->lost()}};
    }
    std::fflush(stdout);  // before the answer, so that the driver knows whose output it was
    if (!driver.send(answer)) return kExitGood;
  }
}

}  // namespace reduce_bench
