// harris/1: interleaved addressing with strided index
//
// Source: Harris, Optimizing Parallel Reduction in CUDA, kernel 2; jradi section 2.1, Table 1.
// Idea: the same tree as harris/0, but in each step the first threads of the block do the work:
//   thread t takes element 2s * t, so whole warps are either busy or idle.
// Fixes: the modulo and the divergence of harris/0. The stride 2s * t sends the lanes of a warp to
//   the same shared-memory bank: 2-way conflicts in the first step, up to B / 32-way later.
// Launch: ceil(n / B) blocks of B threads, B * sizeof(T) bytes of shared memory; then again on the
//   partial results until one is left.
// Traffic: the first pass reads n elements and writes n / B; each further pass moves 1 / B of the
//   one before.
// Preconditions: none; threads beyond n hold the neutral element.
// Deviations: loads are bounds-checked here (the first version needs n to be a multiple of B).
//   Order-preserving, so it also runs operators that do not commute.

#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND::harris_1 {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  partial[t] = i < n ? values[i] : Op::template identity<T>();
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned left = 2 * s * t;
    if (left < blockDim.x) partial[left] = Op::combine(partial[left], partial[left + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct Harris1 {
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
      .id = "harris/1",
      .title = "interleaved addressing, strided index",
      .source = "Harris kernel 2; jradi 2.1, Table 1",
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (Harris: 128)"}},
      .depth = [](const Problem& p) { return depth_of_passes(p, p.params.number("block")); },
      .traffic = [](const Problem& p) { return traffic_of_passes(p, p.params.number("block")); },
      .workspace =
          [](const Problem& p) { return workspace_of_passes(p, p.params.number("block")); },
      .enqueue = instantiate<Harris1, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_1
