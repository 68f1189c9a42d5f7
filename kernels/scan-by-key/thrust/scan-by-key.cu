// thrust/scan-by-key: Thrust's scan by key
//
// Source: no publication; what a CUDA programmer would call: thrust::exclusive_scan_by_key and
//   inclusive_scan_by_key of CCCL; eilers section 3.3 and Figure 3.6 measure one of the two without
//   stating which.
// Idea: one pass over tiles with look-back, behind an interface of iterators.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library; then a synchronisation.
// Traffic: n labels and n values read, n results written.
// Preconditions: none. Order-preserving: the library's operator need not commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   Temporary memory is allocated beforehand and handed out by the allocator that Thrust is given;
//   the bare call includes a cudaMalloc and a cudaFree each time. The call returns only when the
//   results are there, so its time includes the launch latency. Float sums may differ from run to
//   run.
// Choice: the policy is par, the default, which waits for the result; par_nosync would not, and
//   would be cub/scan-by-key (on one H200, 2^26 inputs: 282 us, with par_nosync 277). The default
//   stays, as the call that eilers Figure 3.6 can have measured. Called bare it takes 426 us for
//   325 (on one H100; 2^16 inputs: 90 for 22). Thrust itself takes 32-bit offsets where n allows.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/system/cuda/execution_policy.h>

#include <cuda/std/functional>
#endif

namespace reduce_bench::BACKEND::thrust_scan_by_key {

#ifdef __CUDACC__
struct ThrustScanByKey {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    WorkspaceAllocator allocator(call.workspace, thrust_keyed_temporary_bytes(call.n()));
    const auto policy = thrust::cuda::par(allocator).on(native(call.stream));
    const Label* end = call.labels() + call.n();
    if (call.inclusive())
      thrust::inclusive_scan_by_key(policy, call.labels(), end, call.values(), call.results(),
                                    ::cuda::std::equal_to<Label>{}, library_operator<Op>());
    else
      thrust::exclusive_scan_by_key(policy, call.labels(), end, call.values(), call.results(),
                                    Op::template identity<T>(), ::cuda::std::equal_to<Label>{},
                                    library_operator<Op>());
  }
};
#else
struct ThrustScanByKey;
#endif

Variant variant() {
  return {
      .id = "thrust/scan-by-key",
      .title = "thrust scans by key",
      .source = "CCCL, Thrust",
      .operation = Operation::kScanByKey,
      .fidelity = Fidelity::kBaseline,
      .synchronous = true,
      .params = {scan_axis()},
      // Partial results of tiles are joined along a chain of tiles.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = thrust_keyed_temporary_bytes(p.n)};
          },
      .count_bits = library_count_bits,
      .enqueue = instantiate_ordered<ThrustScanByKey>(),
  };
}

}  // namespace reduce_bench::BACKEND::thrust_scan_by_key
