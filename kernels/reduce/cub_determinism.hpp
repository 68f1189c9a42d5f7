// CUB's reduction at a level of determinism that the caller asks for: what its variants at the
// levels other than the default share. CCCL 3.5 has them; built with the headers of 3.0 or 3.2, which
// lack <cuda/execution.determinism.h>, the variants refuse every point.
#pragma once

#include <string>

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_reduce.cuh>
#include <cuda/version>
#if CCCL_VERSION >= 3005000
#define CUB_REDUCE_HAS_LEVELS
#include <cuda/execution.determinism.h>
#include <cuda/execution.require.h>
#include <cuda/memory_resource>
#include <cuda/stream_ref>
#endif
#endif

namespace reduce_bench::BACKEND {

inline std::string cub_determinism_restriction([[maybe_unused]] const Problem& p) {
#if defined(__CUDACC__) && !defined(CUB_REDUCE_HAS_LEVELS)
  return "the CUB of this build has no levels of determinism: CCCL 3.5 has (scripts/setup.sh "
         "build, "
         "or -DREDUCE_BENCH_CCCL)";
#else
  return {};
#endif
}

#ifdef __CUDACC__
#ifdef CUB_REDUCE_HAS_LEVELS
/// The workspace as the memory resource that CUB takes its temporaries from, one allocation per call.
class WorkspaceResource {
 public:
  WorkspaceResource(std::byte* workspace, std::size_t bytes)
      : workspace_(workspace), bytes_(bytes) {}
  void* allocate(::cuda::stream_ref, std::size_t bytes, std::size_t alignment) {
    return allocate_sync(bytes, alignment);
  }
  void deallocate(::cuda::stream_ref, void*, std::size_t, std::size_t) noexcept {}
  void* allocate_sync(std::size_t bytes, std::size_t) {
    if (bytes > bytes_) throw std::bad_alloc();
    return workspace_;
  }
  void deallocate_sync(void*, std::size_t, std::size_t) noexcept {}
  bool operator==(const WorkspaceResource&) const = default;

 private:
  std::byte* workspace_;
  std::size_t bytes_;
};

struct NotGuaranteed {
  static constexpr auto kLevel = ::cuda::execution::determinism::not_guaranteed;
};
struct GpuToGpu {
  static constexpr auto kLevel = ::cuda::execution::determinism::gpu_to_gpu;
};
#else
struct NotGuaranteed;
struct GpuToGpu;
#endif

template <class Level>
struct CubReduceAt {
  template <class T, class Op>
  static void enqueue([[maybe_unused]] const TypedCall<T>& call) {
#ifdef CUB_REDUCE_HAS_LEVELS
    namespace execution = ::cuda::std::execution;
    const execution::env environment{
        ::cuda::execution::require(Level::kLevel), ::cuda::stream_ref{native(call.stream)},
        execution::prop{::cuda::mr::get_memory_resource,
                        WorkspaceResource(call.workspace, kLibraryTemporaryBytes)}};
    with_library_count(call.n(), [&](auto count) {
      check(cub::DeviceReduce::Reduce(call.values(), call.results(), count, LibraryOperator<Op>{},
                                      Op::template identity<T>(), environment),
            "cub::DeviceReduce::Reduce");
    });
#else
    std::abort();  // the restriction admits no point
#endif
  }
};
#else
struct NotGuaranteed;
struct GpuToGpu;
template <class Level>
struct CubReduceAt;
#endif

}  // namespace reduce_bench::BACKEND
