// epita/add-twice-warp-unroll: first add while loading, last warp unrolled
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), summary table, "NO
//   thread div., add twice, warp unroll" (about reduce6).
// Idea: each thread reads two elements, B apart, and stores their sum in shared memory; once a
//   single warp is left, the tree goes on without a loop and block barriers. One global atomic per
//   block.
// Fixes: the last six block barriers of epita/add-twice and the loop around them.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / 2B) blocks of B
//   threads, B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / 2B atomics in the L2 cache.
// Preconditions: B a power of two, at least 64; a commutative operator.
// Deviations: the slides give a time but no listing ("about reduce6"); this is epita/add-twice with
//   the corrected tail of reduce6.

#include "kernels/reduce/epita/accumulator.hpp"
#include "kernels/reduce/epita/warp_tail.hpp"

namespace reduce_bench::BACKEND::epita_add_twice_warp_unroll {

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

  for (unsigned stride = blockDim.x / 2; stride > kWarpSize; stride /= 2) {
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }
  if (t < kWarpSize) warp_tail<Op>(partial, t);

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaAddTwiceWarpUnroll {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    enqueue_accumulation<Op>(call, kernel<T, Op>, ceil_div(call.n(), 2 * block), block,
                             block * sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "epita/add-twice-warp-unroll",
      .title = "first add while loading, last warp of the tree unrolled",
      .source = "epita, summary table, 'add twice, warp unroll'",
      .fidelity = Fidelity::kAdapted,
      .params = {block_param()},
      .depth = [](const Problem& p) { return depth_of_tree(p, 2 * p.params.number("block")); },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaAddTwiceWarpUnroll, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_add_twice_warp_unroll
