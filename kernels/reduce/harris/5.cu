// harris/5: completely unrolled
//
// Source: Harris, Optimizing Parallel Reduction in CUDA, kernel 6; jradi section 2.1, Table 1.
// Idea: the block size is a template parameter, so the compiler unrolls every step of the tree and
//   drops the ones that the size does not need; the host picks the instance.
// Fixes: what harris/4 still spends on the loop over s in the steps before the last warp.
// Launch: ceil(n / 2B) blocks of B >= 64 threads, B * sizeof(T) bytes of shared memory; then again
//   on the partial results until one is left.
// Traffic: the first pass reads n elements and writes n / 2B; each further pass moves 1 / 2B of the
//   one before.
// Preconditions: a commutative operator.
// Deviations: the steps are an unrolled loop over a compile-time bound instead of a written-out
//   chain of tests. 1024 threads were beyond the hardware of the time, and the published selection
//   launches nothing for them; they work here. `form` as in harris/4. Loads are bounds-checked in
//   both forms.

#include "kernels/reduce/harris/last_warp.hpp"
#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND::harris_5 {

template <class T, class Op, unsigned kBlock, bool kAsPublished>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * (2 * kBlock) + t;

  T sum = i < n ? values[i] : Op::template identity<T>();
  if (i + kBlock < n) sum = Op::combine(sum, values[i + kBlock]);
  partial[t] = sum;
  __syncthreads();

#pragma unroll
  for (unsigned s = kBlock / 2; s > kWarpSize; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }
  if (t < kWarpSize) {
    if constexpr (kAsPublished) fold_last_warp_as_published<T, Op>(partial, t);
    else fold_last_warp<T, Op>(partial, t);
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct Harris5 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    with_value<64, 128, 256, 512, 1024>(call.params().number("block"), [&]<unsigned kBlock>() {
      const auto chosen = call.params().is("form", "as-published") ? kernel<T, Op, kBlock, true>
                                                                   : kernel<T, Op, kBlock, false>;
      reduce_in_passes(call, two_per_thread(call.problem),
                       [&](const T* values, std::size_t n, T* results, unsigned blocks) {
                         launch(chosen, {blocks, kBlock, kBlock * sizeof(T), call.stream}, values,
                                results, n);
                       });
    });
  }
};

Variant variant() {
  return {
      .id = "harris/5",
      .title = "completely unrolled",
      .source = "Harris kernel 6; jradi 2.1, Table 1",
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (Harris: 128)"},
                 {"form", "corrected", {"corrected", "as-published"}, "the last warp's steps"}},
      .defect = last_warp_defect,
      .depth = [](const Problem& p) { return depth_of_passes(p, two_per_thread(p)); },
      .traffic = [](const Problem& p) { return traffic_of_passes(p, two_per_thread(p)); },
      .workspace = [](const Problem& p) { return workspace_of_passes(p, two_per_thread(p)); },
      .enqueue = instantiate<Harris5, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_5
