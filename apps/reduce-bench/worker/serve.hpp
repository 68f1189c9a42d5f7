// The worker process's side: a backend that runs what the driver asks for.
#pragma once

#include "kernels/api/types.hpp"

namespace reduce_bench {

/// Serves the driver `parent` at kWorkerDescriptor until it hangs up. Returns the exit code.
int serve_as_worker(Backend backend, int ordinal, int parent);

}  // namespace reduce_bench
