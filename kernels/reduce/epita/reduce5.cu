// epita/reduce5: algorithm cascading
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Algorithm
//   Cascading", reduce5.
// Idea: a fixed number of blocks; each thread adds elements one grid size apart in its own cell of
//   shared memory, then the block folds the cells in a tree. One global atomic per block.
// Fixes: reduce4's number of blocks and of global atomics, which grow with n, and the idle threads:
//   all of them add, one element each time, until the input ends.
// Launch: a kernel sets the accumulator to the neutral element, then come blocks_per_sm blocks of B
//   threads for each multiprocessor, at most ceil(n / B), B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; one atomic per block in the L2 cache.
// Preconditions: B a power of two; a commutative operator.
// Deviations: the slides leave the number of blocks open; here it scales with the multiprocessors
//   of the device. More types and operators than int sums; indices of 64 bits.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce5 {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t grid_size = std::size_t{gridDim.x} * blockDim.x;

  // The cell belongs to this thread alone until the barrier.
  partial[t] = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += grid_size)
    partial[t] = Op::combine(partial[t], values[i]);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaReduce5 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    enqueue_accumulation<Op>(call, kernel<T, Op>, cascading_blocks(call.problem), block,
                             block * sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "epita/reduce5",
      .title = "cascading: sequential per thread, then a shared tree",
      .source = "epita, reduce5; summary table",
      .fidelity = Fidelity::kAsPublished,
      .params = cascading_params(),
      .depth = depth_of_cascading_tree,
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce5, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce5
