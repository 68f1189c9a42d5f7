// luitjens/warp-atomic: one global atomic per warp
//
// Source: Luitjens, Faster Parallel Reductions on Kepler; jradi section 2.2.
// Idea: the lanes of a warp fold their sums by shuffles, and lane 0 combines the warp's result
//   with the output by a global atomic: no shared memory and no block barrier.
// Fixes: the contention of luitjens/thread-atomic, by 32 times fewer atomics on the one address.
// Launch: one thread stores the neutral element, then come at most blocks_per_sm blocks of B
//   threads per SM.
// Traffic: n elements read, one written; the atomics stay in the L2 cache.
// Preconditions: a commutative operator; floating-point sums differ from run to run.
// Deviations: shuffles name all 32 lanes (as published they name none, which is gone since Volta).
//   The publication clears the result by a memset, which no minimum can start from; here a kernel
//   does, within the measured time. The number of blocks, at most 2048 in the publication, is what
//   the card holds. Min and max of floating-point types loop on compare-and-swap.

#include "kernels/reduce/luitjens/atomic.hpp"

namespace reduce_bench::BACKEND::luitjens_warp_atomic {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  const T sum = fold_warp<Op>(fold_strided<Op>(values, n));
  if (threadIdx.x % kWarpSize == 0) atomic_combine<Op>(results, sum);
}

struct LuitjensWarpAtomic {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    reduce_by_atomics<T, Op>(call, kernel<T, Op>);
  }
};

Variant variant() {
  return {
      .id = "luitjens/warp-atomic",
      .title = "one global atomic per warp",
      .source = "Luitjens; jradi 2.2",
      .fidelity = Fidelity::kCorrected,
      .params = luitjens_atomic_params(),
      .depth = [](const Problem& p) { return depth_of_atomics(p, kWarpSize); },
      .enqueue = instantiate<LuitjensWarpAtomic, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::luitjens_warp_atomic
