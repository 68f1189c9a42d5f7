// thrust/reduce-by-key: Thrust's reduction by key
//
// Source: no publication; what a CUDA programmer would call: thrust::reduce_by_key of CCCL; eilers
//   section 3.3 and Figure 3.6 measure it.
// Idea: one pass over tiles with look-back, behind an interface that returns the end of the results
//   to the host.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library; then a synchronisation, a copy of the number of results to the
//   host, and a kernel that stores it.
// Traffic: n labels and n values read; as many results and labels written as there are segments,
//   counted as n.
// Preconditions: none. Order-preserving: the library's operator need not commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   Temporary memory is allocated beforehand and handed out by the allocator that Thrust is given;
//   the bare call includes a cudaMalloc and a cudaFree each time. The call returns only when the
//   results are there, so its time includes the launch latency and the copy. Float sums may differ
//   from run to run.
// Choice: the call returns an iterator, so no policy makes it asynchronous: with par_nosync it
//   waits too, and takes as long (on one H200, 2^26 inputs in runs of 16: 272 us either way).
//   Called bare it takes 429 us for 304 (on one H100; 2^16 inputs: 103 for 32). Thrust itself takes
//   32-bit offsets where n allows.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/system/cuda/execution_policy.h>

#include <cuda/std/functional>
#endif

namespace reduce_bench::BACKEND::thrust_reduce_by_key {

#ifdef __CUDACC__
struct ThrustReduceByKey {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    WorkspaceAllocator allocator(call.workspace, thrust_keyed_temporary_bytes(call.n()));
    const auto end = thrust::reduce_by_key(thrust::cuda::par(allocator).on(native(call.stream)),
                                           call.labels(), call.labels() + call.n(), call.values(),
                                           call.result_labels(), call.results(),
                                           ::cuda::std::equal_to<Label>{}, library_operator<Op>());
    enqueue_fill(call.stream, call.result_count(), 1,
                 static_cast<Count>(end.second - call.results()));
  }
};
#else
struct ThrustReduceByKey;
#endif

Variant variant() {
  return {
      .id = "thrust/reduce-by-key",
      .title = "thrust::reduce_by_key",
      .source = "CCCL, Thrust",
      .operation = Operation::kReduceByKey,
      .fidelity = Fidelity::kBaseline,
      .synchronous = true,
      // Partial results of tiles are joined along a chain of tiles.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = thrust_keyed_temporary_bytes(p.n)};
          },
      .count_bits = library_count_bits,
      .enqueue = instantiate_ordered<ThrustReduceByKey>(),
  };
}

}  // namespace reduce_bench::BACKEND::thrust_reduce_by_key
