// Cooperative groups: CUDA's header for the GPU; for the emulator, the names that harris/cg uses.
#pragma once

#include "kernels/platform/platform.hpp"

#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace reduce_bench::cuda {
namespace cg = cooperative_groups;
}
#else
namespace reduce_bench::BACKEND::cg {

struct thread_block {
  static unsigned thread_rank() { return threadIdx.x; }
  static unsigned size() { return blockDim.x; }
  static void sync() { __syncthreads(); }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned kSize>
struct thread_block_tile {
  static_assert(kSize == kWarpSize, "only tiles of a whole warp are emulated");
  static unsigned meta_group_rank() { return threadIdx.x / kSize; }
};
template <unsigned kSize>
thread_block_tile<kSize> tiled_partition(thread_block) {
  return {};
}

/// Every lane gets the result.
template <unsigned kSize, class T, class F>
T reduce(thread_block_tile<kSize>, T value, F&& combine) {
  for (unsigned mask = kSize / 2; mask > 0; mask /= 2)
    value = combine(value, __shfl_xor_sync(kAllLanes, value, static_cast<int>(mask)));
  return value;
}

}  // namespace reduce_bench::BACKEND::cg
#endif
