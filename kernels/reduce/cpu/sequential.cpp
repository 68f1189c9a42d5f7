// cpu/sequential: one loop
//
// Source: jradi Algorithm 1; the CPU baseline of report7 and amp.
// Idea: one accumulator, one loop, each element in turn.
// Fixes: nothing: it is what the parallel algorithms are measured against.
// Launch: the calling thread.
// Traffic: n elements read, one written.
// Preconditions: none. Order-preserving.
// Deviations: the compiler may use vector instructions where regrouping cannot change the result
//   (integers); float sums stay a chain of n additions, each waiting for the one before.

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_sequential {

struct CpuSequential {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.values();
    T accumulator = Op::template identity<T>();
    for (std::size_t i = 0; i < call.n(); ++i) accumulator = Op::combine(accumulator, values[i]);
    *call.results() = accumulator;
  }
};

Variant variant() {
  return {
      .id = "cpu/sequential",
      .title = "one loop",
      .source = "jradi Algorithm 1; report7; amp",
      .fidelity = Fidelity::kBaseline,
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .enqueue = instantiate<CpuSequential, AllAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_sequential
