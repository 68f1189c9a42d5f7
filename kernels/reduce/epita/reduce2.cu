// epita/reduce2: tree in shared memory, divergent
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Reduction Pattern:
//   tree reduction without atomics", reduce2.
// Idea: each thread copies one element to shared memory; in the step with stride s thread t adds
//   the element s places to its right if t is a multiple of 2s. One global atomic per block.
// Fixes: reduce1's atomics within a block, which queue up: the tree takes log2(B) steps. But after
//   the first step half of every warp idles (divergence), and the slides find it slower.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / B) blocks of B
//   threads, B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / B atomics in the L2 cache.
// Preconditions: B a power of two; a commutative operator.
// Deviations: as published (form=as-published) the loads are not bounds-checked; corrected, threads
//   beyond n hold the neutral element. More types and operators than int sums. The slides analyse
//   blocks of 1024 threads and do not say which they timed; the default here is 256.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce2 {

template <class T, class Op, bool kBounded>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  partial[t] = !kBounded || i < n ? values[i] : Op::template identity<T>();
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaReduce2 {
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
      .id = "epita/reduce2",
      .title = "shared tree, divergent, one global atomic per block",
      .source = "epita, reduce2; summary table",
      .fidelity = Fidelity::kCorrected,
      .params = {block_param(),
                 {"form", "corrected", {"corrected", "as-published"}, "whether loads are bounded"}},
      .defect = unbounded_loads,
      .overread = [](const Problem& p) -> std::size_t {
        return p.params.is("form", "as-published") ? elements_past_the_end(p) : 0;
      },
      .depth = [](const Problem& p) { return depth_of_tree(p, p.params.number("block")); },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce2, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce2
