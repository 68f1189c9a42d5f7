// A tile ordered by partition in shared memory.
#pragma once

#include "kernels/histogram/partition/tile.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND::partition_histogram {

/// The shared memory of a block of the first kernel.
struct OrderMemory {
  Short* labels;    ///< [place]
  Count* counters;  ///< [partition][copy]
  Count* starts;    ///< of every partition, and the end of the last, in octets

  __device__ OrderMemory(const Partitioning& parts, unsigned log2_copies)
      : labels(dynamic_shared<Short>()),
        counters(reinterpret_cast<Count*>(labels + places_of(parts))),
        starts(counters + (parts.count << log2_copies)) {}
};

/// Orders a whole tile and stores it as tile blockIdx.x of `out`. The counters must be zero, behind
/// a barrier.
__device__ inline void order_tile(const Tile& tile, const OrderMemory& memory,
                                  const Partitioning& parts, unsigned log2_copies,
                                  const OrderedTiles& out) {
  const unsigned copies = 1u << log2_copies, copy = threadIdx.x & (copies - 1);
  const auto counter_of = [&](Label label) -> Count& {
    return memory.counters[(label >> parts.shift << log2_copies) + copy];
  };
  // The ranks of two items share a register, 16 bits each.
  unsigned ranks[Policy::kItems / 2];
#pragma unroll
  for (unsigned j = 0; j < Policy::kItems; j += 2) {
    const Count rank = atomicAdd(&counter_of(tile.label[j]), 1u);
    ranks[j / 2] = rank | atomicAdd(&counter_of(tile.label[j + 1]), 1u) << 16;
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    Count total = 0;
    for (unsigned c = 0; c < copies; ++c) {
      Count& counter = memory.counters[(p << log2_copies) + c];
      const Count own = counter;
      counter = total;
      total += own;
    }
    memory.starts[p] = static_cast<Count>(ceil_div(total, kOctet));
    if (total > 0) atomicAdd(&out.totals[p], total);
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const Count all = warp_exclusive_sums(memory.starts, parts.count);
    if (threadIdx.x == 0) memory.starts[parts.count] = all;
  }
  __syncthreads();
  // The last octet of every partition is filled, all but its first place, which a label always
  // takes. Labels then overwrite what they need.
  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) {
    const Count start = memory.starts[p];
    offsets[p] = static_cast<Short>(start);
    if (p == parts.count || start == memory.starts[p + 1]) continue;
    for (unsigned c = 0; c < copies; ++c) memory.counters[(p << log2_copies) + c] += start * kOctet;
    for (unsigned e = 1; e < kOctet; ++e)
      memory.labels[memory.starts[p + 1] * kOctet - e] = static_cast<Short>(parts.width() + e);
  }
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < Policy::kItems; ++j) {
    const unsigned rank = ranks[j / 2] >> (16 * (j % 2)) & 0xffff;
    memory.labels[counter_of(tile.label[j]) + rank] =
        static_cast<Short>(tile.label[j] & (parts.width() - 1));
  }
  __syncthreads();
  store_tile(memory.labels, out.labels + std::size_t{blockIdx.x} * places_of(parts),
             memory.starts[parts.count] * kOctet, blockDim.x);
}

}  // namespace reduce_bench::BACKEND::partition_histogram
