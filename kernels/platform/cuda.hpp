// The CUDA platform: thin wrappers that check every call and record what was launched.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <tuple>

#include "kernels/platform/cuda_check.hpp"
#include "kernels/platform/cuda_shuffles.hpp"

namespace reduce_bench::cuda {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  Stream stream;
  bool cooperative = false;  ///< all blocks resident at once, grid barriers allowed
  unsigned cluster = 1;      ///< blocks along x that see each other's shared memory
  bool overlapping =
      false;  ///< it may begin while the launch before runs; see wait_for_launch_before
  /// Of the memory that shared memory and L1 divide, how much is shared; 0: as the driver chooses.
  unsigned shared_percent = 0;
};

/// The block's dynamic shared memory as an array of T. All calls in a kernel see the same bytes.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char block_memory[];
  return reinterpret_cast<T*>(block_memory);
}

/// The same array in shared memory by an address in a register. Of the original the compiler works
/// out anew where it begins, for each access that a branch leads to: three instructions, of which
/// one is slow.
template <class T>
__device__ T* held_shared(T* array) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(array));
  asm volatile("mov.u32 %0, %0;" : "+r"(address));
  return static_cast<T*>(__cvta_shared_to_generic(address));
}

/// Inside a spin loop: nothing here, a place to switch threads where threads are emulated.
__device__ inline void wait_hint() {}

/// Reads 16 aligned bytes that nothing writes during the kernel, past L1, and has L2 fetch the 256
/// bytes around them: on an H200, reads of 16 to 64 MB with a cold cache take 3 to 8 % less time,
/// reads of gigabytes do not gain.
template <class Vector>
__device__ Vector load_ahead(const Vector* from) {
  static_assert(sizeof(Vector) == 16 && alignof(Vector) == 16);
  uint4 bits;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from));
#else  // which cannot ask the L2 cache
  bits = __ldg(reinterpret_cast<const uint4*>(from));
#endif
  Vector value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// One access of 8 or 16 aligned bytes that the compiler keeps as it stands. Each aligned 8 bytes
/// become visible together.
template <class T>
__device__ T load_volatile(const T* from) {
  static_assert(sizeof(T) == alignof(T) && (sizeof(T) == 8 || sizeof(T) == 16));
  unsigned long long bits[sizeof(T) / 8];
  if constexpr (sizeof(T) == 8)
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(bits[0]) : "l"(from) : "memory");
  else
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(bits[0]), "=l"(bits[1])
                 : "l"(from)
                 : "memory");
  T value;
  memcpy(&value, bits, sizeof(value));
  return value;
}
template <class T>
__device__ void store_volatile(T* to, const T& value) {
  static_assert(sizeof(T) == alignof(T) && (sizeof(T) == 8 || sizeof(T) == 16));
  unsigned long long bits[sizeof(T) / 8];
  memcpy(bits, &value, sizeof(value));
  if constexpr (sizeof(T) == 8)
    asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(to), "l"(bits[0]) : "memory");
  else
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(bits[0]), "l"(bits[1])
                 : "memory");
}

// Clusters and overlapping launches came with sm_90; before, every block and every launch is alone.
// PTX, since <cooperative_groups.h> takes nvcc four seconds to read, two thirds of what most
// variants take.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// A barrier of all threads of a cluster's blocks.
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}
/// Where the block of that rank has what this block has at `own`, in its shared memory. It may be
/// used between two barriers: the block must have begun, and must not have ended.
template <class T>
__device__ T* cluster_shared(T* own, unsigned rank) {
  T* other;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(own), "r"(rank));
  return other;
}
/// Lets an overlapping launch behind this one begin once all blocks have called this or ended.
__device__ inline void let_next_launch_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// In an overlapping launch, of which each thread must call it: waits until the launch before has
/// ended, and so have those before that one, which waited for them. Until then a thread must touch
/// nothing that they write, and write nothing that they touch.
__device__ inline void wait_for_launch_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
#else
__device__ inline void let_next_launch_begin() {}
__device__ inline void wait_for_launch_before() {}
__device__ inline unsigned cluster_rank() { return 0; }
__device__ inline void cluster_sync() { __syncthreads(); }
template <class T>
__device__ T* cluster_shared(T* own, unsigned) {
  return own;
}
#endif

inline constexpr std::size_t kDefaultSharedLimitBytes = 48 * 1024;
/// Held from setting a kernel's limit to its launch: another thread may launch the same kernel with
/// less shared memory, and would lower the limit between the two.
inline std::mutex shared_limit_mutex;

/// Launches `kernel` on the stream; throws CudaError where the launch is refused. (`check` is qualified
/// because many a program has one of the same arguments, which would be found as well.)
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments... arguments) {
  std::unique_lock limit(shared_limit_mutex, std::defer_lock);
  if (shape.shared_bytes > kDefaultSharedLimitBytes) {
    limit.lock();
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shape.shared_bytes)),
                "raising a kernel's shared memory limit");
  }
  cudaLaunchAttribute attributes[4]{};
  unsigned count = 0;
  if (shape.cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = 1;
  }
  if (shape.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {shape.cluster, 1, 1};
  }
  if (shape.overlapping) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (shape.shared_percent > 0) {
    attributes[count].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    attributes[count++].val.sharedMemCarveout = shape.shared_percent;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = native(shape.stream);
  config.attrs = attributes;
  config.numAttrs = count;
  cuda::check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
              "kernel launch");
  if (limit.owns_lock()) limit.unlock();
  if (LaunchLog* log = shape.stream.log;
      log != nullptr &&
      log->add(shape.grid.x, shape.block.x, shape.shared_bytes, shape.stream.is_aside)) {
    cudaFuncAttributes compiled{};
    cuda::check(cudaFuncGetAttributes(&compiled, kernel), "cudaFuncGetAttributes");
    log->shared_bytes += compiled.sharedSizeBytes;
    log->registers = compiled.numRegs;
  }
}

/// Launches `kernel` on the device of each share, with the tuple of arguments that `arguments_of` gives
/// for its rank. The grids run beside each other and may wait for each other.
template <class... Parameters, class Arguments>
void launch_on_devices(void (*kernel)(Parameters...), LaunchShape shape,
                       std::span<const DeviceShare> shares, const Arguments& arguments_of) {
  for (unsigned rank = 0; rank < shares.size(); ++rank) {
    shape.stream = shares[rank].stream;
    const CurrentDevice current(shape.stream.device);
    std::apply([&](auto... arguments) { launch(kernel, shape, arguments...); }, arguments_of(rank));
  }
}

/// Copies when the stream gets there, and returns when the copy is done.
inline void copy_to_host(void* destination, const void* source, std::size_t bytes,
                         const Stream& stream) {
  check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToHost, native(stream)),
        "copy to host");
  check(cudaStreamSynchronize(native(stream)), "waiting for a copy to the host");
}

}  // namespace reduce_bench::cuda
