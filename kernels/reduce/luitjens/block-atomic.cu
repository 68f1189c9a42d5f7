// luitjens/block-atomic: one global atomic per block
//
// Source: Luitjens, Faster Parallel Reductions on Kepler; jradi section 2.2.
// Idea: the block folds its sums by shuffles as in luitjens/two-pass, and thread 0 combines the
//   block's result with the output by a global atomic.
// Fixes: the contention of luitjens/warp-atomic, by B / 32 times fewer atomics for one more block
//   barrier; and the second launch of luitjens/two-pass.
// Launch: one thread stores the neutral element, then come at most blocks_per_sm blocks of B
//   threads per SM, 32 * sizeof(T) bytes of shared memory.
// Traffic: n elements read, one written; the atomics stay in the L2 cache.
// Preconditions: a commutative operator; floating-point sums differ from run to run.
// Deviations: shuffles name all 32 lanes (as published they name none, which is gone since Volta).
//   The publication clears the result by a memset, which no minimum can start from; here a kernel
//   does, within the measured time. The number of blocks, at most 2048 in the publication, is what
//   the card holds. Min and max of floating-point types loop on compare-and-swap.

#include "kernels/reduce/luitjens/atomic.hpp"

namespace reduce_bench::BACKEND::luitjens_block_atomic {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  const T sum = fold_block<Op>(fold_strided<Op>(values, n), dynamic_shared<T>());
  if (threadIdx.x == 0) atomic_combine<Op>(results, sum);
}

struct LuitjensBlockAtomic {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    reduce_by_atomics<T, Op>(call, kernel<T, Op>, kWarpSize * sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "luitjens/block-atomic",
      .title = "one global atomic per block",
      .source = "Luitjens; jradi 2.2",
      .fidelity = Fidelity::kCorrected,
      .params = luitjens_atomic_params(),
      .depth = [](const Problem& p) { return depth_of_atomics(p, p.params.number("block")); },
      .enqueue = instantiate<LuitjensBlockAtomic, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::luitjens_block_atomic
