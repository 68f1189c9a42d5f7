// How a tile's inputs find their places among those of their partition.
#pragma once

#include "kernels/multireduce/partition/policy.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// A counter in shared memory for every partition, several copies of each: lanes that count inputs
/// of one partition would queue for a single one, most of all with skewed labels.
struct RankCounters {
  Count* counters;  ///< [partition][copy]
  unsigned log2_copies;

  /// Counters of all partitions.
  __host__ __device__ static unsigned size(unsigned partitions) {
    return partitions << Policy::log2_rank_copies(partitions);
  }

  __device__ RankCounters(Count* counters_, unsigned partitions)
      : counters(counters_), log2_copies(Policy::log2_rank_copies(partitions)) {}

  __device__ void clear(unsigned partitions) const {
    for (unsigned i = threadIdx.x; i < partitions << log2_copies; i += blockDim.x) counters[i] = 0;
  }
  /// The counter of this thread's inputs of a partition.
  __device__ Count& of(unsigned partition) const {
    return counters[(partition << log2_copies) + (threadIdx.x & ((1u << log2_copies) - 1))];
  }
  /// Replaces the copies of a counter by what those before hold; returns what all do.
  __device__ Count scan_copies(unsigned partition) const {
    Count total = 0;
    for (unsigned c = 0; c < 1u << log2_copies; ++c) {
      Count& copy = counters[(partition << log2_copies) + c];
      const Count own = copy;
      copy = total;
      total += own;
    }
    return total;
  }
  /// Adds to all copies of a counter.
  __device__ void move(unsigned partition, Count by) const {
    for (unsigned c = 0; c < 1u << log2_copies; ++c) counters[(partition << log2_copies) + c] += by;
  }
};

}  // namespace reduce_bench::BACKEND::partition_multireduce
