// epita/reduce4: double loading
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Double loading",
//   reduce4.
// Idea: each thread copies two elements, B apart, to shared memory, and the tree starts with stride
//   B. One global atomic per block.
// Fixes: reduce3's first step, in which half of the threads idle, and halves the number of blocks.
//   The slides call it stupid themselves: it takes twice the shared memory and only postpones the
//   idling by a step.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / 2B) blocks of B
//   threads, 2B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / 2B atomics in the L2 cache.
// Preconditions: B a power of two; a commutative operator.
// Deviations: more types and operators than int sums. The summary table has no time for it.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce4 {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * 2 * blockDim.x + t;
  const std::size_t second = first + blockDim.x;

  partial[t] = first < n ? values[first] : Op::template identity<T>();
  partial[t + blockDim.x] = second < n ? values[second] : Op::template identity<T>();
  __syncthreads();

  for (unsigned stride = blockDim.x; stride > 0; stride /= 2) {
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaReduce4 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    enqueue_accumulation<Op>(call, kernel<T, Op>, ceil_div(call.n(), 2 * block), block,
                             2 * block * sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "epita/reduce4",
      .title = "shared tree over two elements per thread",
      .source = "epita, reduce4; summary table",
      .fidelity = Fidelity::kAsPublished,
      .params = {block_param()},
      .depth = [](const Problem& p) { return depth_of_tree(p, 2 * p.params.number("block")); },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce4, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce4
