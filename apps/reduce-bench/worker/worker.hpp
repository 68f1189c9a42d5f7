// The driver's side of a worker process. Whatever a variant does in that process costs one point.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/document.hpp"
#include "plugins/declaration.hpp"
#include "point/executor.hpp"
#include "worker/ranks.hpp"

namespace reduce_bench {

class MeetingPlace;

inline constexpr std::string_view kWorkerCommand = "worker";

/// Seconds after which a point counts as hanging: the configured limit, else one derived from how
/// long its samples may take (`point_timeout_s` in configs/schema/config.schema.json).
double point_limit_s(const Point& point);

/// Lets a process load the plug-in and say what it declares. Throws UsageError where it cannot be
/// loaded, however the process ends.
DeclaredPlugin ask_plugin(const std::string& path);

/// Driver and worker share this process's program: the worker is its hidden subcommand `worker`.
/// The process starts at the first need, and anew after one that ended. It loads the plug-in, where
/// there is one. Where a run has several ranks, it is mpirun with as many processes, of which the
/// first is the one that is talked to.
class Worker final : public Executor {
 public:
  explicit Worker(Backend backend, int ordinal = 0,
                  std::filesystem::path program = "/proc/self/exe",
                  const PluginFile* plugin = nullptr, Ranks ranks = {});
  ~Worker() override;

  /// The device's. Throws DeviceLost where no process can be started.
  const DeviceTraits& traits();

  /// Runs one point. A crash, a hang, a flood of output or a lost device is recorded as the
  /// point's, by name. Nothing where `patience` interrupts came first: the point was given up.
  /// Throws DeviceLost where no process can be started.
  std::optional<Record> execute(const Point& point, const ExecuteOptions& options = {},
                                int patience = 2) override;

  /// Nothing where an interrupt came first. Throws DeviceLost where two processes died of it.
  std::optional<Ceilings> measure_ceilings(const std::vector<std::size_t>& sizes_bytes,
                                           bool between_devices,
                                           const BeginSize& begin_size) override;

  void renew() override;

  /// The process id, for tests; 0 while none runs.
  int process_id() const;

 private:
  friend DeclaredPlugin ask_plugin(const std::string& path);
  struct Process;
  enum class Wait { kAnswered, kGarbled, kDied, kTimedOut, kFlooded, kAbandoned };

  void start();
  /// The socket on which mpirun's first rank calls; a closed one where it ended before.
  int await_first_rank(const MeetingPlace& place);
  /// Starts a process unless one is there and alive.
  void need_process();
  /// Throws DeviceLost where the process took another device than the driver, which names it in
  /// results, has under that number.
  void check_device(const Json& greeting);
  /// Garbled is what no worker sends: a plug-in has the socket in its process, and may write to it.
  Wait wait_for_answer(Json& answer, double limit_s, int patience);
  /// Kills the process and says in a clause how it ended.
  std::string end_process();
  std::string ending(Wait wait, double limit_s);
  /// Ends a process that is mpirun: lets the ranks leave, or it end them and say which ended first.
  void let_mpirun_end();
  /// Which ranks the others wait for, in a clause.
  std::string ask_ranks();
  bool has_ranks() const { return ranks_.count > 1; }

  Backend backend_;
  int ordinal_;
  std::filesystem::path program_;
  const PluginFile* plugin_;
  Ranks ranks_;
  std::unique_ptr<Process> process_;
  DeviceTraits traits_;
};

}  // namespace reduce_bench
