// luitjens/thread-atomic: one global atomic per thread
//
// Source: the code of Luitjens, Faster Parallel Reductions on Kepler (device_reduce_atomic), an
//   article that jradi section 2.2 cites.
// Idea: every thread strides over the input and combines its sum with the output by a global
//   atomic.
// Fixes: the second launch of luitjens/two-pass, and all cooperation within the block. The price:
//   every thread of the grid queues for the same address.
// Launch: one thread stores the neutral element, then come at most blocks_per_sm blocks of B
//   threads per SM.
// Traffic: n elements read, one written; the atomics stay in the L2 cache.
// Preconditions: a commutative operator; floating-point sums differ from run to run.
// Deviations: the publication clears the result by a memset, which no minimum can start from; here
//   a kernel does, within the measured time. The number of blocks, at most 2048 in the
//   publication, is what the card holds. Min and max of floating-point types loop on
//   compare-and-swap.

#include "kernels/reduce/luitjens/atomic.hpp"

namespace reduce_bench::BACKEND::luitjens_thread_atomic {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  atomic_combine<Op>(results, fold_strided<Op>(values, n));
}

struct LuitjensThreadAtomic {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    reduce_by_atomics<T, Op>(call, kernel<T, Op>);
  }
};

Variant variant() {
  return {
      .id = "luitjens/thread-atomic",
      .title = "one global atomic per thread",
      .source = "Luitjens, code of the article",
      .fidelity = Fidelity::kAdapted,
      .params = luitjens_atomic_params(),
      .depth = [](const Problem& p) { return depth_of_atomics(p, 1); },
      .enqueue = instantiate<LuitjensThreadAtomic, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::luitjens_thread_atomic
