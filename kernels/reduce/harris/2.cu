// harris/2: sequential addressing
//
// Source: Harris, Optimizing Parallel Reduction in CUDA, kernel 3; jradi section 2.1, Table 1.
// Idea: the tree folds the upper half of the array onto the lower half: in step s = B/2 ... 1
//   thread t < s adds the element s places above its own, so a warp reads 32 neighbours.
// Fixes: the bank conflicts of harris/1. Half of the threads never add anything: they only load.
// Launch: ceil(n / B) blocks of B threads, B * sizeof(T) bytes of shared memory; then again on the
//   partial results until one is left.
// Traffic: the first pass reads n elements and writes n / B; each further pass moves 1 / B of the
//   one before.
// Preconditions: a commutative operator, since element t is combined with element t + B/2 first.
// Deviations: loads are bounds-checked here (the first version needs n to be a multiple of B).

#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND::harris_2 {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  partial[t] = i < n ? values[i] : Op::template identity<T>();
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct Harris2 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    reduce_in_passes(call, block, [&](const T* values, std::size_t n, T* results, unsigned blocks) {
      launch(kernel<T, Op>, {blocks, block, block * sizeof(T), call.stream}, values, results, n);
    });
  }
};

Variant variant() {
  return {
      .id = "harris/2",
      .title = "sequential addressing",
      .source = "Harris kernel 3; jradi 2.1, Table 1",
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (Harris: 128)"}},
      .depth = [](const Problem& p) { return depth_of_passes(p, p.params.number("block")); },
      .traffic = [](const Problem& p) { return traffic_of_passes(p, p.params.number("block")); },
      .workspace =
          [](const Problem& p) { return workspace_of_passes(p, p.params.number("block")); },
      .enqueue = instantiate<Harris2, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_2
