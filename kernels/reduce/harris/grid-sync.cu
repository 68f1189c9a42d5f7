// harris/grid-sync: one cooperative launch with a grid barrier
//
// Source: NVIDIA CUDA samples, reductionMultiBlockCG.
// Idea: a cooperative launch promises that all blocks are resident, so the grid can have a
//   barrier: every block publishes its result, all wait, and one block folds the results.
// Fixes: the second launch of harris/6 and harris/7, without the ticket of harris/threadfence: the
//   program text reads like the two passes that it replaces.
// Launch: 1024 / B blocks of B threads on every SM, at most as many as cover n, 32 * sizeof(T)
//   bytes of shared memory; once, cooperatively.
// Traffic: n elements read; one element per block written and read again.
// Preconditions: a commutative operator; a device with cooperative launch; the whole grid
//   resident.
// Deviations: the sample sums floats in doubles, which it keeps in shared memory; here every type
//   is summed in itself, in a register. The sample asks the occupancy calculator for the block and
//   has as many as an SM's threads make; here it is 1024 threads per SM, which the launch bounds
//   make every card hold, so that the grid follows from the declared properties of the device
//   alone. The sample's last step is a loop of one thread; here block 0 folds. Blocks fold by
//   shuffles. The emulator has no cooperative launch.

#include "kernels/reduce/persistent.hpp"

#ifdef __CUDACC__
#include <cooperative_groups.h>

#include "kernels/shared/shuffle.hpp"
#endif

namespace reduce_bench::BACKEND::harris_grid_sync {

unsigned grid_blocks(const Problem& p) {
  const std::size_t block = p.params.number("block");
  return static_cast<unsigned>(
      std::min(blocks_of_pass(p.n, block), p.device.sm_count * (1024 / block)));
}

#ifdef __CUDACC__
template <class T, class Op>
__global__ void __launch_bounds__(1024)
    kernel(const T* input, T* output, T* block_results, std::size_t n) {
  T* warp_results = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;

  T sum = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride)
    sum = Op::combine(sum, input[i]);
  sum = fold_block<Op>(sum, warp_results);
  if (t == 0) block_results[blockIdx.x] = sum;

  cooperative_groups::this_grid().sync();
  if (blockIdx.x > 0) return;

  sum = Op::template identity<T>();
  for (unsigned i = t; i < gridDim.x; i += blockDim.x) sum = Op::combine(sum, block_results[i]);
  sum = fold_block<Op>(sum, warp_results);
  if (t == 0) *output = sum;
}

struct HarrisGridSync {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    launch(kernel<T, Op>,
           {.grid = grid_blocks(call.problem),
            .block = block,
            .shared_bytes = kWarpSize * sizeof(T),
            .stream = call.stream,
            .cooperative = true},
           call.values(), call.results(), call.scratch(), call.n());
  }
};
#else
struct HarrisGridSync;
#endif

Variant variant() {
  return {
      .id = "harris/grid-sync",
      .title = "one cooperative launch with a grid barrier",
      .source = "NVIDIA CUDA samples, reductionMultiBlockCG",
      .fidelity = Fidelity::kAdapted,
      .params = {{"block", "512", {"64", "128", "256", "512", "1024"}, "threads"}},
      .depth =
          [](const Problem& p) {
            const unsigned blocks = grid_blocks(p);
            return depth_of_grid_stride(p, p.n, blocks, 1) + depth_of_grid_stride(p, blocks, 1, 1);
          },
      .traffic =
          [](const Problem& p) {
            const std::size_t blocks = grid_blocks(p);
            return Traffic{.read_bytes = (p.n + blocks) * p.element_bytes(),
                           .written_bytes = (blocks + 1) * p.element_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = grid_blocks(p) * p.element_bytes()};
          },
      .enqueue = instantiate<HarrisGridSync, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_grid_sync
