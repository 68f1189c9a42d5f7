// harris/3: first add during global load
//
// Source: Harris, Optimizing Parallel Reduction in CUDA, kernel 4; jradi section 2.1, Table 1.
// Idea: a block takes 2B elements; every thread adds two of them, i and i + B, before anything goes
//   to shared memory, then the tree of harris/2 follows.
// Fixes: the threads of harris/2 that only load: half the blocks do the same work. The publication
//   calls what is left bound by instructions, of address arithmetic and the loop; on an H200
//   latency binds.
// Launch: ceil(n / 2B) blocks of B threads, B * sizeof(T) bytes of shared memory; then again on the
//   partial results until one is left.
// Traffic: the first pass reads n elements and writes n / 2B; each further pass moves 1 / 2B of the
//   one before.
// Preconditions: a commutative operator.
// Deviations: both loads are bounds-checked here (the first version needs n to be a multiple of
//   2B).

#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND::harris_3 {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + t;

  T sum = i < n ? values[i] : Op::template identity<T>();
  if (i + blockDim.x < n) sum = Op::combine(sum, values[i + blockDim.x]);
  partial[t] = sum;
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct Harris3 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    reduce_in_passes(call, two_per_thread(call.problem),
                     [&](const T* values, std::size_t n, T* results, unsigned blocks) {
                       launch(kernel<T, Op>, {blocks, block, block * sizeof(T), call.stream},
                              values, results, n);
                     });
  }
};

Variant variant() {
  return {
      .id = "harris/3",
      .title = "first add during global load",
      .source = "Harris kernel 4; jradi 2.1, Table 1",
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (Harris: 128)"}},
      .depth = [](const Problem& p) { return depth_of_passes(p, two_per_thread(p)); },
      .traffic = [](const Problem& p) { return traffic_of_passes(p, two_per_thread(p)); },
      .workspace = [](const Problem& p) { return workspace_of_passes(p, two_per_thread(p)); },
      .enqueue = instantiate<Harris3, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_3
