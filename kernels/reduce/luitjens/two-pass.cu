// luitjens/two-pass: shuffle reduction of the block, twice
//
// Source: Luitjens, Faster Parallel Reductions on Kepler; jradi section 2.2, Figure 2.
// Idea: every thread strides over the input; the lanes of a warp then read each other's registers
//   (shuffle down by 16, 8, 4, 2, 1), one value per warp passes through shared memory, and the
//   first warp folds those.
// Fixes: harris/6, where every step of the tree is a write, a barrier and a read of shared memory.
//   A shuffle is one instruction, synchronises its lanes itself, and needs no memory.
// Launch: at most blocks_per_sm blocks of B threads per SM, 32 * sizeof(T) bytes of shared memory;
//   then one block on their results.
// Traffic: n elements read; one element per block written and read again.
// Preconditions: a commutative operator; B a multiple of 32.
// Deviations: shuffles as published name no mask, a form that is gone since Volta; here all 32
//   lanes take part. B is a multiple of 32, since the published fold drops a partial last warp.
//   The second launch, 1024 threads in the publication, takes B like the first. The number of
//   blocks, at most 1024 in the publication, is what the card holds.

#include "kernels/reduce/luitjens/params.hpp"
#include "kernels/reduce/persistent.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND::luitjens_two_pass {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;

  T sum = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    sum = Op::combine(sum, values[i]);

  sum = fold_block<Op>(sum, dynamic_shared<T>());
  if (threadIdx.x == 0) results[blockIdx.x] = sum;
}

struct LuitjensTwoPass {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    reduce_in_two_passes(call, 1, [&](const T* values, std::size_t n, T* results, unsigned blocks) {
      launch(kernel<T, Op>, {blocks, block, kWarpSize * sizeof(T), call.stream}, values, results,
             n);
    });
  }
};

Variant variant() {
  return {
      .id = "luitjens/two-pass",
      .title = "shuffle reduction of the block, twice",
      .source = "Luitjens; jradi 2.2",
      .fidelity = Fidelity::kCorrected,
      .params = luitjens_params(),
      .depth = [](const Problem& p) { return depth_of_two_passes(p, 1); },
      .traffic = [](const Problem& p) { return traffic_of_two_passes(p, 1); },
      .workspace = [](const Problem& p) { return workspace_of_two_passes(p, 1); },
      .enqueue = instantiate<LuitjensTwoPass, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::luitjens_two_pass
