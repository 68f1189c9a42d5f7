// What a launch plan must know of a CUDA device.
#pragma once

#include "kernels/platform/cuda.hpp"

namespace reduce_bench::cuda {

/// The largest cluster, in blocks, that every device with clusters can launch (CUDA Programming
/// Guide, thread block clusters).
inline constexpr unsigned kPortableClusterBlocks = 8;

template <class = void>  // a template because several translation units define it
__global__ void probed_kernel() {}

/// Of the device alone; it is made current for a moment.
inline DeviceTraits traits_of(int ordinal) {
  const CurrentDevice current(ordinal);
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    cuda::check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
    return static_cast<unsigned>(value);
  };
  // A kernel that was compiled for an architecture before clusters runs on a device with clusters, too,
  // but without them.
  cudaFuncAttributes compiled{};
  cuda::check(cudaFuncGetAttributes(&compiled, probed_kernel<>), "cudaFuncGetAttributes");
  const bool clusters =
      attribute(cudaDevAttrComputeCapabilityMajor) >= 9 && compiled.ptxVersion >= 90;
  return {.sm_count = attribute(cudaDevAttrMultiProcessorCount),
          .max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
          .max_blocks_per_sm = attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
          .max_shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .max_blocks_per_cluster = clusters ? kPortableClusterBlocks : 1};
}

}  // namespace reduce_bench::cuda
