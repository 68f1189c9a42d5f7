// The worker process's side: a backend that runs what the driver asks for.
#pragma once

#include "kernels/api/catalog.hpp"

namespace reduce_bench {

/// Serves the driver `parent` at kWorkerDescriptor until it hangs up. Loads the plug-in at the path
/// first, unless it is empty; if a checksum is given, the file must have it. Returns the exit code.
int serve_as_worker(Backend backend, int ordinal, int parent, const PluginFile& plugin);

}  // namespace reduce_bench
