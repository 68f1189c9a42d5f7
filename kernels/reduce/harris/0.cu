// harris/0: interleaved addressing with divergent branching
//
// Source: Harris, Optimizing Parallel Reduction in CUDA, kernel 1; jradi section 2.1, Table 1.
// Idea: each block copies B elements to shared memory, one per thread, and folds them in a tree: in
//   step s thread t adds the element s places to its right if t is a multiple of 2s.
// Fixes: nothing: it is the starting point. The modulo is slow, and half of every warp idles beside
//   the half that works, more in each later step (divergence).
// Launch: ceil(n / B) blocks of B threads, B * sizeof(T) bytes of shared memory; then again on the
//   partial results until one is left.
// Traffic: the first pass reads n elements and writes n / B; each further pass moves 1 / B of the
//   one before.
// Preconditions: none; threads beyond n hold the neutral element.
// Deviations: the first version reads every element unchecked, which needs n to be a multiple of B;
//   loads are bounds-checked here. Order-preserving, so it also runs operators that do not commute.

#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND::harris_0 {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  partial[t] = i < n ? values[i] : Op::template identity<T>();
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct Harris0 {
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
      .id = "harris/0",
      .title = "interleaved addressing, divergent",
      .source = "Harris kernel 1; jradi 2.1, Table 1",
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (Harris: 128)"}},
      .depth = [](const Problem& p) { return depth_of_passes(p, p.params.number("block")); },
      .traffic = [](const Problem& p) { return traffic_of_passes(p, p.params.number("block")); },
      .workspace =
          [](const Problem& p) { return workspace_of_passes(p, p.params.number("block")); },
      .enqueue = instantiate<Harris0, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_0
