#include "worker/workers.hpp"

#include "plugins/slots.hpp"
#include "worker/interrupt.hpp"

namespace reduce_bench {

std::optional<Record> Workers::execute(const Point& point, const ExecuteOptions& options,
                                       int patience) {
  const PluginFile* const plugin = point.entry->plugin;
  if (plugin == nullptr) return of(nullptr).execute(point, options, patience);
  auto why = unloadable_.find(plugin);
  if (why == unloadable_.end()) {
    try {
      return of(plugin).execute(point, options, patience);
    } catch (const DeviceLost& error) {
      if (interrupts() > 0) throw;
      // Where the device itself is lost, a process without the plug-in does not come up either,
      // and throws: then it is not the plug-in's fault.
      (void)Worker(backend_, ordinal_).traits();
      why = unloadable_.emplace(plugin, error.what()).first;
    }
  }
  Record record{.point = point, .status = Status::kFailed, .reason = why->second};
  return record;
}

void add_plugins(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) add_to_catalog(ask_plugin(path), nullptr);
}

}  // namespace reduce_bench
