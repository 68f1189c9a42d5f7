// epita/reduce3: tree in shared memory, active threads together
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Efficient
//   Reduction Trees", reduce3.
// Idea: the stride starts at B / 2 and halves; in each step the threads t < stride add the element
//   `stride` places to their right. One global atomic per block.
// Fixes: reduce2's divergence: the active threads are neighbours, so whole warps drop out until one
//   is left, and the modulo is gone.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / B) blocks of B
//   threads, B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / B atomics in the L2 cache.
// Preconditions: B a power of two; a commutative operator.
// Deviations: as published (form=as-published) the loads are not bounds-checked; corrected, threads
//   beyond n hold the neutral element. More types and operators than int sums. The slides analyse
//   blocks of 1024 threads and do not say which they timed; the default here is 256.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce3 {

template <class T, class Op, bool kBounded>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  partial[t] = !kBounded || i < n ? values[i] : Op::template identity<T>();
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaReduce3 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto chosen =
        call.params().is("form", "corrected") ? kernel<T, Op, true> : kernel<T, Op, false>;
    enqueue_accumulation<Op>(call, chosen, ceil_div(call.n(), block), block, block * sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "epita/reduce3",
      .title = "shared tree, halving stride, one global atomic per block",
      .source = "epita, reduce3; summary table",
      .fidelity = Fidelity::kCorrected,
      .params = {block_param(),
                 {"form", "corrected", {"corrected", "as-published"}, "whether loads are bounded"}},
      .defect = unbounded_loads,
      .overread = [](const Problem& p) -> std::size_t {
        return p.params.is("form", "as-published") ? elements_past_the_end(p) : 0;
      },
      .depth = [](const Problem& p) { return depth_of_tree(p, p.params.number("block")); },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce3, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce3
