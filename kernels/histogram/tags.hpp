// Counting in a histogram that a warp shares, without atomics: a lane writes the new count with its
// own number in the upper five bits, and reads it back to see whether its own write lasted.
#pragma once

#include <optional>

#include "kernels/api/variant.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kCountBits = 27;  // the rest tells 32 lanes apart
inline constexpr unsigned kCountMask = (1u << kCountBits) - 1;

__device__ inline unsigned tag_of_lane() { return threadIdx.x % kWarpSize << kCountBits; }

/// All 32 lanes must call; those that are `pending` count.
__device__ inline void count_by_tag(volatile unsigned* bin, unsigned tag, bool pending) {
  while (__any_sync(kAllLanes, pending)) {
    const unsigned tagged = tag | ((*bin & kCountMask) + 1);
    __syncwarp();  // all have read before anyone writes
    if (pending) *bin = tagged;
    __syncwarp();  // all have written before anyone reads
    pending = pending && *bin != tagged;
  }
}

/// The published form is right while all lanes read, write and read back in step, which nothing
/// ensures since Volta. Out of step, a lane can overwrite another's count by one that it read
/// before.
__device__ inline void count_by_tag_as_published(volatile unsigned* bin, unsigned tag) {
  unsigned tagged;
  do {
    const unsigned seen = *bin & kCountMask;
    wait_hint();  // no instruction on a GPU: lets emulated lanes leave the step
    tagged = tag | (seen + 1);
    *bin = tagged;
    wait_hint();
  } while (*bin != tagged);
}

inline Defect tag_defect() {
  return {"the lanes of a warp race between reading, writing and reading back since Volta", false};
}

}  // namespace reduce_bench::BACKEND
