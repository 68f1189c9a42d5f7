// report7/naive-atomic: one global atomic per element
//
// Source: report7 section 1.1; Table 1 and Figures 1 to 3, column "Naive".
// Idea: every thread adds its element to the one result atomically.
// Fixes: nothing: it is the starting point. All n updates of one word happen one after the other.
// Launch: a fill of the result, then ceil(n / B) blocks of B threads.
// Traffic: n elements read, the result written; the atomics stay in the L2 cache.
// Preconditions: the operator commutes.
// Deviations: the source sums doubles, since float rounding errors were too large for it; all four
//   types here. It does not say B, nor who clears the result: a kernel does, within the measured
//   time. For integers, compilers may fold the atomics of a warp into one first. Min and max of
//   floats loop on compare-and-swap. The order of the atomics varies, so float sums differ from run
//   to run.

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::report7_naive_atomic {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_combine<Op>(results, values[i]);
}

struct Report7NaiveAtomic {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    enqueue_fill(call.stream, call.results(), 1, Op::template identity<T>());
    if (call.n() == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(call.n(), block));
    launch(kernel<T, Op>, {blocks, block, 0, call.stream}, call.values(), call.n(), call.results());
  }
};

Variant variant() {
  return {
      .id = "report7/naive-atomic",
      .title = "one global atomic per element",
      .source = "report7 1.1, Table 1",
      .fidelity = Fidelity::kAsPublished,
      .params = {{"block",
                  "256",
                  {"64", "128", "256", "512", "1024"},
                  "threads (not stated in the report)"}},
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .enqueue = instantiate<Report7NaiveAtomic, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::report7_naive_atomic
