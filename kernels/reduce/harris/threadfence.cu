// harris/threadfence: one launch, the last block finishes
//
// Source: NVIDIA CUDA samples, threadFenceReduction, single-pass kernel.
// Idea: every block publishes its result, then draws a ticket. The block that draws the last one
//   knows that all results are there and folds them, so no second launch is needed.
// Fixes: the second kernel of harris/6 and harris/7: its launch, and the drain of the grid before
//   it.
// Launch: at most blocks_per_sm blocks of B threads per SM, 32 elements and a flag in shared
//   memory; once.
// Traffic: n elements read; one element per block written and, by the last block, read again.
// Preconditions: a commutative operator; the ticket is zero before the first call.
// Deviations: the ticket wraps to zero by itself (atomicInc with the last ticket as limit) instead
//   of being reset by a store or from the host. A second fence, which the sample lacks, orders the
//   last block's reads after its ticket. Blocks fold by shuffles instead of a shared-memory tree,
//   and may have 1024 threads. The number of blocks, 64 in the sample, is what the card
//   holds.

#include "kernels/reduce/persistent.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND::harris_threadfence {

template <class T>
struct ThreadfenceStorage {
  T warp_results[kWarpSize];
  bool is_last;
};

template <class T, class Op>
__global__ void kernel(const T* values, T* results, T* block_results, unsigned* ticket,
                       std::size_t n) {
  auto& shared = *dynamic_shared<ThreadfenceStorage<T>>();
  const unsigned t = threadIdx.x, block = blockDim.x;
  const std::size_t stride = std::size_t{gridDim.x} * (2 * block);

  T sum = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * (2 * block) + t; i < n; i += stride)
    sum = Op::combine(sum, i + block < n ? Op::combine(values[i], values[i + block]) : values[i]);
  sum = fold_block<Op>(sum, shared.warp_results);

  if (t == 0) {
    block_results[blockIdx.x] = sum;
    __threadfence();  // the result is visible before the ticket that announces it
    shared.is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // what the other tickets announced is visible to what follows
  }
  __syncthreads();
  if (!shared.is_last) return;

  sum = Op::template identity<T>();
  for (unsigned i = t; i < gridDim.x; i += block) sum = Op::combine(sum, block_results[i]);
  sum = fold_block<Op>(sum, shared.warp_results);
  if (t == 0) *results = sum;
}

/// The ticket comes first, the blocks' results after it.
constexpr std::size_t kTicketBytes = 256;

struct HarrisThreadfence {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    launch(kernel<T, Op>,
           {persistent_blocks(call.problem, 2), block, sizeof(ThreadfenceStorage<T>), call.stream},
           call.values(), call.results(), call.scratch(kTicketBytes),
           call.template scratch<unsigned>(), call.n());
  }
};

std::uint64_t depth(const Problem& p) {
  const unsigned blocks = persistent_blocks(p, 2);
  return depth_of_grid_stride(p, p.n, blocks, 2) + depth_of_grid_stride(p, blocks, 1, 1);
}

Variant variant() {
  return {
      .id = "harris/threadfence",
      .title = "one launch, the last block finishes",
      .source = "NVIDIA CUDA samples, threadFenceReduction",
      .fidelity = Fidelity::kAdapted,
      .params = {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (NVIDIA: 128)"},
                 blocks_per_sm_param("NVIDIA: 64 blocks in all")},
      .depth = depth,
      .traffic =
          [](const Problem& p) {
            const std::size_t blocks = persistent_blocks(p, 2);
            return Traffic{.read_bytes = (p.n + blocks) * p.element_bytes(),
                           .written_bytes = (blocks + 1) * p.element_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{
                .device_bytes = kTicketBytes + persistent_blocks(p, 2) * p.element_bytes(),
                .zeroed_bytes = sizeof(unsigned)};
          },
      .enqueue = instantiate<HarrisThreadfence, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_threadfence
