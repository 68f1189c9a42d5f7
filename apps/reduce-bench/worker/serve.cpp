#include "worker/serve.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/error.hpp"
#include "common/pages.hpp"
#include "devices/machine.hpp"
#include "devices/rank_devices.hpp"
#include "kernels/platform/mpi.hpp"
#include "plugins/load.hpp"
#include "point/ceilings.hpp"
#include "point/execute.hpp"
#include "worker/channel.hpp"
#include "worker/ranks.hpp"
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

/// Serves the driver until it hangs up. `make` makes the device, and may add to the greeting.
int serve(Channel& driver, const std::function<std::unique_ptr<Device>(Json& greeting)>& make) {
  std::unique_ptr<Session> session;
  Json greeting;
  try {
    session = std::make_unique<Session>(make(greeting));
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

/// What mpirun tells the ranks that it starts on one machine.
unsigned told_by_mpirun(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr)
    throw UsageError("'worker' is started by the other commands and serves nobody else");
  return static_cast<unsigned>(std::atoi(value));
}

/// Leaves this process as many of its cores as the other ranks on the machine have, at least one.
void take_share_of_cores(unsigned rank, unsigned ranks) {
  cpu_set_t all, own;
  if (::sched_getaffinity(0, sizeof(all), &all) != 0) throw system_failure("cannot see the cores");
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &all)) cores.push_back(core);
  const std::size_t share = std::max<std::size_t>(1, cores.size() / ranks);
  CPU_ZERO(&own);
  for (std::size_t i = 0; i < share; ++i) CPU_SET(cores[(rank * share + i) % cores.size()], &own);
  if (::sched_setaffinity(0, sizeof(own), &own) != 0) throw system_failure("cannot choose cores");
  // OpenMP looked at the cores as the process began.
  if (std::getenv("OMP_NUM_THREADS") == nullptr) omp_set_num_threads(static_cast<int>(share));
}

}  // namespace

int serve_as_worker(Backend backend, int ordinal, int parent, const PluginFile& plugin) {
  // The second test is for a driver that ended before this process asked to die with it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) return kExitUsage;
  if (::fcntl(kWorkerDescriptor, F_SETFD, FD_CLOEXEC) != 0)
    throw UsageError("'worker' is started by the other commands and serves nobody else");
  Channel driver(kWorkerDescriptor);
  return serve(driver, [&](Json& greeting) {
    if (!plugin.path.empty()) greeting["plugin"] = to_wire(load(plugin));
    auto device = make_device(backend, ordinal);
    greeting["device"] = name_of_device(backend, ordinal);
    return device;
  });
}

int serve_as_rank(Backend backend, int ordinal, const std::string& socket) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) throw system_failure("cannot follow mpirun");
  const unsigned of_machine = told_by_mpirun("OMPI_COMM_WORLD_LOCAL_RANK");
  take_share_of_cores(of_machine, told_by_mpirun("OMPI_COMM_WORLD_LOCAL_SIZE"));
  mpi::start();
  tell_on_signal();
  const MakeDevice make = [&] {
    return make_device(backend, ordinal + static_cast<int>(of_machine));
  };
  if (mpi::rank() == 0) {
    Channel driver(connect_to(socket));
    serve(driver, [&](Json&) { return gather_ranks(make); });
  } else {
    serve_first_rank([&] {
      auto device = make();
      limit_memory();
      return device;
    });
  }
  mpi::finish();
  return kExitGood;
}

}  // namespace reduce_bench
