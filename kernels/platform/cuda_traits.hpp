// What a launch plan must know of a CUDA device.
#pragma once

#include "kernels/platform/cuda.hpp"

namespace reduce_bench::cuda {

/// The largest cluster, in blocks, that every device with clusters can launch (CUDA Programming
/// Guide, thread block clusters).
inline constexpr unsigned kPortableClusterBlocks = 8;

template <class = void>  // a template because several translation units define it
__global__ void probed_kernel() {}

/// Asks the device alone; it is made current for a moment.
inline DeviceTraits traits_of(int ordinal) {
  const CurrentDevice current(ordinal);
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    cuda::check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
    return static_cast<unsigned>(value);
  };
  // A kernel that was compiled for an architecture before sm_90 runs on a device with clusters and
  // overlapping launches, too, but without them.
  cudaFuncAttributes compiled{};
  cuda::check(cudaFuncGetAttributes(&compiled, probed_kernel<>), "cudaFuncGetAttributes");
  const bool hopper =
      attribute(cudaDevAttrComputeCapabilityMajor) >= 9 && compiled.ptxVersion >= 90;
  return {.sm_count = attribute(cudaDevAttrMultiProcessorCount),
          .max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
          .max_blocks_per_sm = attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
          .max_shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .max_blocks_per_cluster = hopper ? kPortableClusterBlocks : 1,
          .overlapping_launches = hopper};
}

}  // namespace reduce_bench::cuda
