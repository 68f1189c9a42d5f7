// The worker process's side: a backend that runs what the driver asks for.
#pragma once

#include <string>

#include "kernels/api/catalog.hpp"

namespace reduce_bench {

/// Serves the driver `parent` at kWorkerDescriptor until it hangs up. Loads the plug-in at the path
/// first, unless it is empty; if a checksum is given, the file must have it. Returns the exit code.
int serve_as_worker(Backend backend, int ordinal, int parent, const PluginFile& plugin);

/// The same as one of the ranks that mpirun started. The first one serves the driver at the socket
/// of that name; each has the device of its number on its machine, from `ordinal` on.
int serve_as_rank(Backend backend, int ordinal, const std::string& socket);

}  // namespace reduce_bench
