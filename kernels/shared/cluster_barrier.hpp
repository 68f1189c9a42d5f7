// A barrier of a cluster for what its blocks have in shared memory.
#pragma once

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// A barrier of all threads of a cluster's blocks: what they have written to their own shared memory is
/// seen by all, and what they have read of the others' has been read. Of device memory it orders
/// nothing: cluster_sync waits until all that a thread has written there is visible to the device, and
/// for the memory of another device that takes a way over the link and back.
__device__ inline void cluster_sync_shared() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "fence.release.sync_restrict::shared::cta.cluster;\n\t"
      "barrier.cluster.arrive.relaxed;\n\t"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
#else
  cluster_sync();
#endif
}

}  // namespace reduce_bench::BACKEND
