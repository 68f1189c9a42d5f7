// harris/cg: cooperative-groups tiles
//
// Source: NVIDIA CUDA samples, reduction, kernel 8 (cg_reduce).
// Idea: the block is a group that splits into tiles of 32 lanes. Every thread strides over the
//   input, shared memory folds the block to 32 values, and the library's collective reduce folds
//   the first tile: which threads take part is said by a type, not by masks and lane arithmetic.
// Fixes: the hand-written warp stage of harris/6 and harris/7, where a wrong mask or a missing
//   barrier goes unnoticed. A thread takes one element per step, where theirs take two.
// Launch: at most blocks_per_sm blocks of B threads per SM, B * sizeof(T) bytes of shared memory;
//   then one block on their results.
// Traffic: n elements read; one element per block written and read again.
// Preconditions: a commutative operator; B a power of two, at least 32.
// Deviations: the operator goes in as a lambda, so the hardware reduction that the library has for
//   its own function objects is left to harris/7. The emulator has no cooperative groups: there a
//   tile is a warp and its reduce a butterfly of shuffles. The number of blocks, 64 in the sample,
//   is what the card holds.

#include "kernels/reduce/harris/cooperative_groups.hpp"
#include "kernels/reduce/persistent.hpp"

namespace reduce_bench::BACKEND::harris_cg {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<kWarpSize>(block);
  T* partial = dynamic_shared<T>();
  const unsigned t = block.thread_rank();
  const std::size_t stride = std::size_t{gridDim.x} * block.size();

  T sum = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * block.size() + t; i < n; i += stride)
    sum = Op::combine(sum, values[i]);
  partial[t] = sum;

  for (unsigned s = block.size() / 2; s >= kWarpSize; s /= 2) {
    block.sync();
    if (t < s) {
      sum = Op::combine(sum, partial[t + s]);
      partial[t] = sum;
    }
  }
  if (tile.meta_group_rank() == 0)
    sum = cg::reduce(tile, sum, [](T a, T b) { return Op::combine(a, b); });

  if (t == 0) results[blockIdx.x] = sum;
}

struct HarrisCg {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    reduce_in_two_passes(call, 1, [&](const T* values, std::size_t n, T* results, unsigned blocks) {
      launch(kernel<T, Op>, {blocks, block, block * sizeof(T), call.stream}, values, results, n);
    });
  }
};

Variant variant() {
  return {
      .id = "harris/cg",
      .title = "cooperative-groups tiles",
      .source = "NVIDIA CUDA samples, reduction, kernel 8",
      .fidelity = Fidelity::kAdapted,
      .params = {{"block", "256", {"64", "128", "256", "512", "1024"}, "threads (NVIDIA: 256)"},
                 blocks_per_sm_param("NVIDIA: 64 blocks in all")},
      .depth = [](const Problem& p) { return depth_of_two_passes(p, 1); },
      .traffic = [](const Problem& p) { return traffic_of_two_passes(p, 1); },
      .workspace = [](const Problem& p) { return workspace_of_two_passes(p, 1); },
      .enqueue = instantiate<HarrisCg, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_cg
