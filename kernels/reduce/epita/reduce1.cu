// epita/reduce1: output privatisation
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Reduction Pattern
//   V2: Output privatization", reduce1.
// Idea: the threads of a block add their elements to an accumulator of the block in shared memory
//   by atomics; thread 0 adds that to the global one.
// Fixes: reduce0's contention on one global address: one global atomic per block, and the other
//   atomics in fast shared memory. Within a block they still queue up.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / B) blocks of B
//   threads, sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / B atomics in the L2 cache.
// Preconditions: a commutative operator; float sums differ from run to run.
// Deviations: more types and operators than int sums.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce1 {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* of_block = dynamic_shared<T>();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (threadIdx.x == 0) *of_block = Op::template identity<T>();
  __syncthreads();

  if (i < n) atomic_combine<Op>(of_block, values[i]);
  __syncthreads();

  if (threadIdx.x == 0) atomic_combine<Op>(results, *of_block);
}

struct EpitaReduce1 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    enqueue_accumulation<Op>(call, kernel<T, Op>, ceil_div(call.n(), block), block, sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "epita/reduce1",
      .title = "shared atomics, one global atomic per block",
      .source = "epita, reduce1; summary table",
      .fidelity = Fidelity::kAsPublished,
      .params = {block_param()},
      .depth = [](const Problem& p) -> std::uint64_t {
        const unsigned block = p.params.number("block");
        return block + ceil_div(p.n, block);
      },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce1, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce1
