// epita/cascade-unrolled: cascading, tree completely unrolled
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Loop unrolling"
//   and summary table, "cascading, full unroll" (not shown).
// Idea: reduce5's loads; the block size is a template argument, so the compiler unrolls the whole
//   tree and drops the steps that the block does not have. One global atomic per block.
// Fixes: what reduce6 leaves of the tree's loop: its counter, its comparison and its branch.
// Launch: a kernel sets the accumulator to the neutral element, then come blocks_per_sm blocks of B
//   threads for each multiprocessor, at most ceil(n / B), B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; one atomic per block in the L2 cache.
// Preconditions: B one of the sizes compiled; a commutative operator.
// Deviations: the slides give a time but no listing; this is reduce6 corrected, with the tree
//   unrolled by template. Their third kind of unrolling, of the loads, needs the work per thread at
//   compile time and is left to the compiler. The number of blocks scales with the multiprocessors
//   of the device.

#include "kernels/reduce/epita/accumulator.hpp"
#include "kernels/reduce/epita/warp_tail.hpp"

namespace reduce_bench::BACKEND::epita_cascade_unrolled {

template <class T, class Op, unsigned kBlock>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t grid_size = std::size_t{gridDim.x} * kBlock;

  partial[t] = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * kBlock + t; i < n; i += grid_size)
    partial[t] = Op::combine(partial[t], values[i]);
  __syncthreads();

#pragma unroll
  for (unsigned stride = kBlock / 2; stride > kWarpSize; stride /= 2) {
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }
  if (t < kWarpSize) warp_tail<Op>(partial, t);

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaCascadeUnrolled {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    with_value<64, 128, 256, 512, 1024>(call.params().number("block"), [&]<unsigned kBlock>() {
      enqueue_accumulation<Op>(call, kernel<T, Op, kBlock>, cascading_blocks(call.problem), kBlock,
                               kBlock * sizeof(T));
    });
  }
};

Variant variant() {
  return {
      .id = "epita/cascade-unrolled",
      .title = "cascading, tree completely unrolled by template",
      .source = "epita, summary table, 'cascading, full unroll'",
      .fidelity = Fidelity::kAdapted,
      .params = cascading_params(),
      .depth = depth_of_cascading_tree,
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaCascadeUnrolled, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_cascade_unrolled
