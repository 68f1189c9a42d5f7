// epita/reduce0: one global atomic per element
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Reduction Pattern
//   Corrected", reduce0.
// Idea: every thread adds its element to one accumulator in global memory by an atomic.
// Fixes: the data race of threads that read, add and write the accumulator unprotected. Atomics on
//   one address queue up, so contention sets the time.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / B) blocks of B
//   threads.
// Traffic: n elements read; n atomics in the L2 cache.
// Preconditions: a commutative operator; float sums differ from run to run.
// Deviations: form=as-published is the kernel that the slides show first and reject themselves as a
//   data race: threads read, add and write the accumulator unprotected, so that of those that read
//   the same all but one are lost. form=corrected is their reduce0. More types and operators than
//   int sums. The slides call this sequential, which their own 7.02 ms for 132 M ints (75 GB/s) do
//   not bear out: the atomics of a warp are merged.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce0 {

template <class T, class Op, bool kAtomic>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if constexpr (kAtomic) {
    atomic_combine<Op>(results, values[i]);
  } else {
    const T before = *results;
    wait_hint();  // no instruction on a GPU: lets other emulated threads read the same
    *results = Op::combine(before, values[i]);
  }
}

struct EpitaReduce0 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto chosen =
        call.params().is("form", "corrected") ? kernel<T, Op, true> : kernel<T, Op, false>;
    enqueue_accumulation<Op>(call, chosen, ceil_div(call.n(), block), block, 0);
  }
};

Variant variant() {
  return {
      .id = "epita/reduce0",
      .title = "global atomic per element",
      .source = "epita, reduce0; summary table",
      .fidelity = Fidelity::kAsPublished,
      .params = {block_param(),
                 {"form",
                  "corrected",
                  {"corrected", "as-published"},
                  "whether updates are atomic (corrected: the slides' own correction)"}},
      .defect = [](const Problem& p) -> std::optional<Defect> {
        if (!p.params.is("form", "as-published") || p.n <= 1) return std::nullopt;
        return Defect{.reason =
                          "threads read, add and write the accumulator unprotected: of those that "
                          "read the same, all but one are lost",
                      .certain = false};
      },
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce0, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce0
