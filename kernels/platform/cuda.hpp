// The CUDA platform: thin wrappers that check every call and record what was launched.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "kernels/platform/cuda_check.hpp"

namespace reduce_bench::cuda {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  Stream stream;
  bool cooperative = false;  ///< all blocks resident at once, grid barriers allowed
};

/// The block's dynamic shared memory as an array of T. All calls in a kernel see the same bytes.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char block_memory[];
  return reinterpret_cast<T*>(block_memory);
}

/// Inside a spin loop: nothing here, a place to switch threads where threads are emulated.
__device__ inline void wait_hint() {}

inline constexpr std::size_t kDefaultSharedLimitBytes = 48 * 1024;

/// Launches `kernel` on the stream; throws CudaError where the launch is refused.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments... arguments) {
  if (shape.shared_bytes > kDefaultSharedLimitBytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          "raising a kernel's shared memory limit");
  }
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = native(shape.stream);
  config.attrs = &cooperative;
  config.numAttrs = shape.cooperative ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
        "kernel launch");
  if (LaunchLog* log = shape.stream.log;
      log != nullptr && log->add(shape.grid.x, shape.block.x, shape.shared_bytes)) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    log->shared_bytes += attributes.sharedSizeBytes;
    log->registers = attributes.numRegs;
  }
}

inline void copy_to_host(void* destination, const void* source, std::size_t bytes,
                         const Stream& stream) {
  check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToHost, native(stream)),
        "copy to host");
}

/// Runs `function(argument)` on the host when the stream gets there.
inline void enqueue_host_function(const Stream& stream, void (*function)(void*), void* argument) {
  check(cudaLaunchHostFunc(native(stream), function, argument), "cudaLaunchHostFunc");
}

}  // namespace reduce_bench::cuda
