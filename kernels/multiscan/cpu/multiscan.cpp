// cpu/multiscan: one loop over the inputs
//
// Source: eilers Algorithm 2.3, section 2.1; the CPU baseline of its chapters 2 and 5.
// Idea: every bucket starts as the neutral element; what a bucket holds before an input is that
//   input's result; then the input is combined into it.
// Fixes: nothing: it is what the parallel algorithms are measured against. Beyond the caches every
//   input costs a miss in the buckets.
// Launch: the calling thread.
// Traffic: n labels and n values read, n results written.
// Preconditions: none. Order-preserving.
// Deviations: none; scan=inclusive stores after combining, as the text describes.

#include "kernels/multiscan/one_loop.hpp"

namespace reduce_bench::BACKEND::cpu_multiscan {

struct CpuMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    T* buckets = call.scratch();
    fill(buckets, call.buckets(), Op::template identity<T>());
    scan_in_order<Op, T>(buckets, call.labels(), call.values(), 0, call.n(), call.inclusive(),
                         call.results());
  }
};

Variant variant() {
  return {
      .id = "cpu/multiscan",
      .title = "one loop",
      .source = "eilers Algorithm 2.3",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBaseline,
      .params = {scan_axis()},
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = p.buckets * p.element_bytes()}; },
      .enqueue = instantiate<CpuMultiscan, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_multiscan
