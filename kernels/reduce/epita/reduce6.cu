// epita/reduce6: last warp unrolled
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Loop unrolling",
//   reduce6.
// Idea: as reduce5, but once a single warp is left the tree goes on without a loop and block
//   barriers.
// Fixes: reduce5's last six block barriers and the loop around them, at which all warps but one
//   wait for nothing.
// Launch: a kernel sets the accumulator to the neutral element, then come blocks_per_sm blocks of
//   B threads for each multiprocessor, at most ceil(n / B), B * sizeof(T) bytes of shared memory.
// Traffic: n elements read; one atomic per block in the L2 cache.
// Preconditions: B a power of two, at least 64; a commutative operator.
// Deviations: as published (form=as-published) the tail takes the lanes of a warp to run in
//   lockstep, which they do not since Volta; corrected, __syncwarp stands between reads and
//   writes. The slides call a warpReduce4 that they do not define: warpReduce, which they show, is
//   meant. Their "linear reduction" is taken to be reduce5's. The summary table has no row of it:
//   what it calls about reduce6 adds twice as it loads, as epita/add-twice-warp-unroll does. The
//   number of blocks scales with the multiprocessors of the device. More types and operators than
//   int sums; indices of 64 bits.

#include "kernels/reduce/epita/accumulator.hpp"
#include "kernels/reduce/epita/warp_tail.hpp"

namespace reduce_bench::BACKEND::epita_reduce6 {

template <class T, class Op, bool kLockstep>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t grid_size = std::size_t{gridDim.x} * blockDim.x;

  partial[t] = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += grid_size)
    partial[t] = Op::combine(partial[t], values[i]);
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > kWarpSize; stride /= 2) {
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
    __syncthreads();
  }
  if (t < kWarpSize) {
    if constexpr (kLockstep) warp_tail_in_lockstep<Op, T>(partial, t);
    else warp_tail<Op>(partial, t);
  }

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct EpitaReduce6 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto chosen =
        call.params().is("form", "corrected") ? kernel<T, Op, false> : kernel<T, Op, true>;
    enqueue_accumulation<Op>(call, chosen, cascading_blocks(call.problem), block,
                             block * sizeof(T));
  }
};

Variant variant() {
  std::vector<ParamSpec> params = cascading_params();
  params.push_back(
      {"form", "corrected", {"corrected", "as-published"}, "whether the last warp synchronises"});
  return {
      .id = "epita/reduce6",
      .title = "cascading, last warp of the tree unrolled",
      .source = "epita, reduce6",
      .fidelity = Fidelity::kCorrected,
      .params = std::move(params),
      .defect = [](const Problem& p) -> std::optional<Defect> {
        if (!p.params.is("form", "as-published") || p.n <= 2) return std::nullopt;
        return Defect{.reason =
                          "the last warp takes its lanes to run in lockstep, which they do "
                          "not since Volta: its reads and writes race",
                      .certain = false};
      },
      .depth = depth_of_cascading_tree,
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce6, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce6
