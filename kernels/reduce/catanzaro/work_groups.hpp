// What Catanzaro's reductions and jradi's share: the tree of one work-group (a block) and the
// number of work-groups that fill the card.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

#ifndef REDUCE_BENCH_OPENCL  // there it stands in kernels/platform/opencl.cl
/// Folds the upper half of the active elements onto the lower half until partial[0] holds the
/// result; blockDim.x is a power of two. The active threads stay packed in the first warps, but
/// elements far apart are combined: the operator must commute.
template <class Op, class T>
__device__ void fold_halves(T* partial) {
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
    __syncthreads();
    if (threadIdx.x < offset)
      partial[threadIdx.x] = Op::combine(partial[threadIdx.x], partial[threadIdx.x + offset]);
  }
}
#endif

inline ParamSpec work_group_size() {
  return {"block",
          "256",
          {"64", "128", "256", "512", "1024"},
          "threads, the work-group (AMD GPUs take at most 256)"};
}

inline ParamSpec work_groups_per_sm() {
  return {"blocks_per_sm",
          "auto",
          {"auto", "1"},
          "work-groups per SM (auto: as many as it holds at once, Catanzaro's GS; 1: jradi 2.3, a "
          "partial result for each SM)"};
}

/// GS / B, the blocks of the first stage.
inline unsigned persistent_work_groups(const DeviceTraits& device, const Params& params) {
  if (params.is("blocks_per_sm", "1")) return device.sm_count;
  return device.sm_count * std::clamp(device.max_threads_per_sm / params.number("block"), 1u,
                                      device.max_blocks_per_sm);
}

// What the variants of two stages declare: a persistent grid leaves one partial result per block,
// and one block folds those.
inline std::size_t partials_of_two_stages(const Problem& problem) {
  return persistent_work_groups(problem.device, problem.params);
}
inline Workspace workspace_of_two_stages(const Problem& problem) {
  return {.device_bytes = partials_of_two_stages(problem) * problem.element_bytes()};
}
inline Traffic traffic_of_two_stages(const Problem& problem) {
  const std::size_t partial_bytes = partials_of_two_stages(problem) * problem.element_bytes();
  return {.read_bytes = problem.input_bytes() + partial_bytes,
          .written_bytes = partial_bytes + problem.element_bytes()};
}
/// `elements_per_step` is what a thread folds before it adds to its accumulator.
inline std::uint64_t depth_of_two_stages(const Problem& problem, unsigned elements_per_step) {
  const std::size_t block = problem.params.number("block");
  const std::size_t partials = partials_of_two_stages(problem);
  const std::size_t steps = ceil_div(problem.n, partials * block * elements_per_step);
  return (elements_per_step - 1) + steps + log2_ceil(block) + ceil_div(partials, block) +
         log2_ceil(block);
}

}  // namespace reduce_bench::BACKEND
