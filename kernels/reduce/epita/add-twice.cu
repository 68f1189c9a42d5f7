// epita/add-twice: first add while loading
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), summary table, "NO
//   thread div., add twice" (not shown).
// Idea: each thread reads two elements, B apart, and stores their sum in shared memory; then
//   reduce3's tree over B elements. One global atomic per block.
// Fixes: the second half of the shared memory and the extra tree step of reduce4, which reads as
//   much per block; half of reduce3's blocks.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / 2B) blocks of B
//   threads, B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / 2B atomics in the L2 cache.
// Preconditions: B a power of two; a commutative operator.
// Deviations: the slides give a time but no listing; this is the kernel that the name describes,
//   which is Harris's fourth with an atomic at the end.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_add_twice {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * 2 * blockDim.x + t;
  const std::size_t second = first + blockDim.x;

  T of_thread = Op::template identity<T>();
  if (first < n) of_thread = values[first];
  if (second < n) of_thread = Op::combine(of_thread, values[second]);
  partial[t] = of_thread;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaAddTwice {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    enqueue_accumulation<Op>(call, kernel<T, Op>, ceil_div(call.n(), 2 * block), block,
                             block * sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "epita/add-twice",
      .title = "shared tree, first add while loading",
      .source = "epita, summary table, 'add twice'",
      .fidelity = Fidelity::kAdapted,
      .params = {block_param()},
      .depth = [](const Problem& p) { return depth_of_tree(p, 2 * p.params.number("block")); },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaAddTwice, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_add_twice
