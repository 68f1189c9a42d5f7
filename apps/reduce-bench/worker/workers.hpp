// The worker processes of one backend. A plug-in has one of its own, so that nothing of the catalog
// runs in a process that foreign code could change.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/worker.hpp"

namespace reduce_bench {

class Workers final : public Executor {
 public:
  /// `ranks`: of the catalog's worker, where mpirun started the run.
  explicit Workers(Backend backend, int ordinal = 0, Ranks ranks = {})
      : backend_(backend), ordinal_(ordinal), ranks_(std::move(ranks)) {}

  /// The device's. Throws DeviceLost where no process can be started.
  const DeviceTraits& traits() { return of(nullptr).traits(); }

  /// Executes it in the worker of the point's plug-in, if it is of one. A plug-in that does not
  /// load, as it did when it was asked what it declares, costs its points. Throws DeviceLost where
  /// processes without the plug-in do not come up either.
  std::optional<Record> execute(const Point& point, const ExecuteOptions& options = {},
                                int patience = 2) override;
  std::optional<Ceilings> measure_ceilings(const std::vector<std::size_t>& sizes_bytes,
                                           bool between_devices,
                                           const BeginSize& begin_size) override {
    return of(nullptr).measure_ceilings(sizes_bytes, between_devices, begin_size);
  }
  void renew() override {
    for (auto& [plugin, worker] : workers_) worker.renew();
  }

 private:
  Worker& of(const PluginFile* plugin) {
    const bool alone =
        plugin != nullptr || (backend_ != Backend::kCpu && backend_ != Backend::kCuda);
    return workers_
        .try_emplace(plugin, backend_, ordinal_, "/proc/self/exe", plugin, alone ? Ranks{} : ranks_)
        .first->second;
  }

  Backend backend_;
  int ordinal_;
  Ranks ranks_;
  std::map<const PluginFile*, Worker> workers_;          ///< that of the catalog at null
  std::map<const PluginFile*, std::string> unloadable_;  ///< and why
};

/// Adds the variants of the plug-ins to the catalog, before anything refers to an entry. Throws
/// UsageError for one that cannot be loaded.
void add_plugins(const std::vector<std::string>& paths);

}  // namespace reduce_bench
