// harris/4: unroll the last warp
//
// Source: Harris, Optimizing Parallel Reduction in CUDA, kernel 5; jradi section 2.1, Table 1.
// Idea: once at most 32 threads have work left, all of them are in one warp: the last six steps of
//   the tree need neither the loop nor a barrier of the whole block, nor the test t < s (lanes
//   beyond s compute values that nobody reads).
// Fixes: the last six rounds of harris/3's loop and their block barriers, at which most warps only
//   wait.
// Launch: ceil(n / 2B) blocks of B >= 64 threads, B * sizeof(T) bytes of shared memory; then again
//   on the partial results until one is left.
// Traffic: the first pass reads n elements and writes n / 2B; each further pass moves 1 / 2B of the
//   one before.
// Preconditions: a commutative operator.
// Deviations: as first published the six steps rely on a warp running in lockstep and have no
//   barrier at all; since Volta that is a race, which `form=as-published` keeps. The corrected form
//   synchronises the warp between reading and writing (last_warp.hpp has both). Loads are
//   bounds-checked in both forms.

#include "kernels/reduce/harris/last_warp.hpp"
#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND::harris_4 {

template <class T, class Op, bool kAsPublished>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * (2 * blockDim.x) + t;

  T sum = i < n ? values[i] : Op::template identity<T>();
  if (i + blockDim.x < n) sum = Op::combine(sum, values[i + blockDim.x]);
  partial[t] = sum;
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > kWarpSize; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }
  if (t < kWarpSize) {
    if constexpr (kAsPublished) fold_last_warp_as_published<T, Op>(partial, t);
    else fold_last_warp<T, Op>(partial, t);
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct Harris4 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto chosen =
        call.params().is("form", "as-published") ? kernel<T, Op, true> : kernel<T, Op, false>;
    reduce_in_passes(call, two_per_thread(call.problem),
                     [&](const T* values, std::size_t n, T* results, unsigned blocks) {
                       launch(chosen, {blocks, block, block * sizeof(T), call.stream}, values,
                              results, n);
                     });
  }
};

Variant variant() {
  return {
      .id = "harris/4",
      .title = "unroll the last warp",
      .source = "Harris kernel 5; jradi 2.1, Table 1",
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (Harris: 128)"},
                 {"form", "corrected", {"corrected", "as-published"}, "the last warp's steps"}},
      .defect = last_warp_defect,
      .depth = [](const Problem& p) { return depth_of_passes(p, two_per_thread(p)); },
      .traffic = [](const Problem& p) { return traffic_of_passes(p, two_per_thread(p)); },
      .workspace = [](const Problem& p) { return workspace_of_passes(p, two_per_thread(p)); },
      .enqueue = instantiate<Harris4, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_4
