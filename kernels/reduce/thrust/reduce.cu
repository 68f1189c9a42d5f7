// thrust/reduce: Thrust's reduction
//
// Source: no publication; what a CUDA programmer would call: thrust::reduce of CCCL.
// Idea: CUB's reduction behind an interface that returns the result to the host.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: one or two kernels of CUB; then a synchronisation and a copy of the result to the host.
// Traffic: n elements read, one written; the partial results, one per block, are not counted.
// Preconditions: a commutative operator.
// Deviations: temporary memory is allocated beforehand and handed out by the allocator that Thrust
//   is given; the bare call includes a cudaMalloc and a cudaFree each time. The call returns only
//   when the result is there, so its time includes the launch latency and the copy.
// Choice: the call returns a value, so no policy makes it asynchronous: with par_nosync it waits
//   too, and takes as long (on one H200, 2^26 i32: 89 us either way). Called bare it takes 213 us
//   for 121 (on one H100; 2^16: 97 for 27). Thrust itself takes 32-bit offsets where n allows.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/system/cuda/execution_policy.h>
#endif

namespace reduce_bench::BACKEND::thrust_reduce {

#ifdef __CUDACC__
struct ThrustReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    WorkspaceAllocator allocator(call.workspace, kLibraryTemporaryBytes);
    *call.results() =
        thrust::reduce(thrust::cuda::par(allocator).on(native(call.stream)), call.values(),
                       call.values() + call.n(), Op::template identity<T>(), LibraryOperator<Op>{});
  }
};
#else
struct ThrustReduce;
#endif

Variant variant() {
  return {
      .id = "thrust/reduce",
      .title = "thrust::reduce, result on the host",
      .source = "CCCL, Thrust",
      .fidelity = Fidelity::kBaseline,
      .finish = Finish::kHost,
      .synchronous = true,
      .depth = depth_of_library_reduce,
      .workspace = [](const Problem&) { return Workspace{.device_bytes = kLibraryTemporaryBytes}; },
      .count_bits = library_count_bits,
      .enqueue = instantiate<ThrustReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::thrust_reduce
