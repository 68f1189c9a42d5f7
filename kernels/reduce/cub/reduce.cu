// cub/reduce: CUB's device-wide reduction
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceReduce::Reduce of CCCL.
// Idea: a grid of persistent blocks reads vectors of 16 bytes; each block reduces an even share of
//   the tiles to one partial result; a second kernel of one block reduces those. An input of one
//   tile needs the second kernel alone.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device, type and operator; one or two kernels.
// Traffic: n elements read, one written; the partial results, one per block, are not counted.
// Preconditions: a commutative operator.
// Deviations: Reduce is called with CUB's own operator objects and our neutral elements instead of
//   Sum, Min and Max, which differ from it by their initial values only. The temporary storage has
//   a fixed size and is allocated beforehand. Halves are those of CUDA and go to TransformReduce,
//   which makes them f32: Reduce by the same operators would add some of them as halves.
// Choice: counts have 32 bits where n allows, as of any user who passes an int. No level of
//   determinism is asked for, which is run to run: the others are cub/reduce-not-guaranteed and
//   cub/reduce-gpu-to-gpu. Sum, Min and Max would be the same kernels. On one H200, sum of i32,
//   with a 32-bit count 4.1 us (2^10), 8.0 (2^20) and 73.8 (2^26), with a 64-bit count 4.3, 8.3 and
//   74.0: no more than medians of one form differ by.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_reduce.cuh>
#endif

namespace reduce_bench::BACKEND::cub_reduce {

#ifdef __CUDACC__
struct ToFloat {
  template <class Half>
  __host__ __device__ float operator()(Half half) const {
    return static_cast<float>(half);
  }
};

struct CubReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    std::size_t temporary_bytes = kLibraryTemporaryBytes;
    with_library_count(call.n(), [&](auto count) {
      if constexpr (kIsHalf<T>) {
        using Half = std::conditional_t<std::is_same_v<T, F16>, __half, __nv_bfloat16>;
        check(cub::DeviceReduce::TransformReduce(
                  call.workspace, temporary_bytes, static_cast<const Half*>(call.Call::values),
                  call.results(), count, LibraryOperator<Op>{}, ToFloat{},
                  Op::template identity<float>(), native(call.stream)),
              "cub::DeviceReduce::TransformReduce");
      } else {
        check(cub::DeviceReduce::Reduce(call.workspace, temporary_bytes, call.values(),
                                        call.results(), count, LibraryOperator<Op>{},
                                        Op::template identity<T>(), native(call.stream)),
              "cub::DeviceReduce::Reduce");
      }
    });
  }
};
#else
struct CubReduce;
#endif

Variant variant() {
  return {
      .id = "cub/reduce",
      .title = "CUB DeviceReduce",
      .source = "CCCL, CUB",
      .fidelity = Fidelity::kBaseline,
      .depth = depth_of_library_reduce,
      .workspace = [](const Problem&) { return Workspace{.device_bytes = kLibraryTemporaryBytes}; },
      .count_bits = library_count_bits,
      .enqueue = instantiate_with_halves<CubReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_reduce
