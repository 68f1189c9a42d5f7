// Partitions of different numbers of inputs, divided among the blocks of a grid.
#pragma once

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/instantiate.hpp"
#include "kernels/shared/radix_sort.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// Chosen on an H200 (docs/kernels/partition-multireduce.md).
struct SharesPolicy90 {
  /// Rounds in which the blocks take shares of the partitions, at most.
  static constexpr unsigned kMostRounds = 8;
  /// Of partitions that are not alike a piece, the inputs in one tile, counts as so many inputs more.
  static constexpr std::size_t kPieceInputs = 16;
  /// Such partitions have shares of more than one round only where one costs as much as so many tables.
  static constexpr std::size_t kLeastTablesPerShare = 4;
};
using SharesPolicy = ByCapability<Row<90, SharesPolicy90>>;

/// How many shares a partition of `inputs` inputs has where a share should have `part`; none where
/// it has no inputs in ordered tiles.
__device__ inline Count shares_of(std::size_t inputs, std::size_t part) {
  const auto shares = static_cast<Count>((inputs + part / 2) / part);
  return shares > 0 ? shares : inputs > 0;
}
/// The inputs of a share, in each of `rounds` rounds in which every block takes one.
__device__ inline std::size_t part_of(std::size_t n, unsigned rounds) {
  return ceil_div(n, std::size_t{gridDim.x} * rounds);
}

/// What divide_into_shares leaves: the starts of the partitions' shares, and where they end. Behind
/// them it needs room for the costs of every number of rounds and a word more, which is free
/// afterwards.
__host__ __device__ inline std::size_t starts_bytes(unsigned partitions) {
  return (partitions + 2 + SharesPolicy::kMostRounds) * sizeof(Count);
}

/// Divides the partitions among the blocks: starts[p] is the first share of partition p, and
/// starts[count] how many shares there are. Where partitions are about alike, the last round may
/// leave most blocks idle: more rounds of shorter shares balance them then. Each share costs as much
/// as the inputs that are combined while its table is cleared and added up, `share_cost`. Where
/// partitions differ, are no more than blocks and have many inputs, there are `skewed_rounds`; else the
/// last round has the short ones, and more shares would cost more than they save. All threads must
/// call this.
__device__ inline void divide_into_shares(const Count* totals, std::size_t n, unsigned partitions,
                                          unsigned tiles, Count share_cost, unsigned skewed_rounds,
                                          Count* starts) {
  const unsigned warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  Count* costs = starts + partitions + 1;
  Count* const present = costs + SharesPolicy::kMostRounds;  // partitions with inputs
  for (unsigned k = warp; k < SharesPolicy::kMostRounds; k += blockDim.x / kWarpSize) {
    const std::size_t part = part_of(n, k + 1);
    Count all = 0, longest = 0, largest = 0, some = 0;
    for (unsigned p = lane; p < partitions; p += kWarpSize) {
      const Count inputs = totals[p], shares = shares_of(inputs, part);
      if (shares == 0) continue;
      all += shares;
      longest = Max::combine(longest, static_cast<Count>(ceil_div(inputs, shares)));
      largest = Max::combine(largest, inputs);
      ++some;
    }
    all = fold_warp<Sum>(all);
    longest = fold_warp<Max>(longest);
    largest = fold_warp<Max>(largest);
    some = fold_warp<Sum>(some);
    const bool alike = std::size_t{largest} * partitions <= 2 * n;
    if (lane == 0)
      costs[k] = k > 0 && !alike
                     ? ~Count{0}
                     : static_cast<Count>(ceil_div(all, gridDim.x)) * (longest + share_cost);
    if (lane == 0 && k == 0) *present = some;
  }
  __syncthreads();
  unsigned rounds = 1;
  for (unsigned k = 1; k < SharesPolicy::kMostRounds; ++k)
    if (costs[k] < costs[rounds - 1]) rounds = k + 1;
  std::size_t part = part_of(n, rounds), more = 0;
  if (const bool alike = costs[1] != ~Count{0};
      !alike && skewed_rounds > 1 && partitions <= gridDim.x &&
      part_of(n, skewed_rounds) >= SharesPolicy::kLeastTablesPerShare * share_cost) {
    more = tiles * SharesPolicy::kPieceInputs;
    part = part_of(n + *present * more, skewed_rounds);
  }
  for (unsigned p = threadIdx.x; p < partitions; p += blockDim.x)
    starts[p] = totals[p] == 0 ? 0 : shares_of(totals[p] + more, part);
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const Count all = warp_exclusive_sums(starts, partitions);
    if (threadIdx.x == 0) starts[partitions] = all;
  }
  __syncthreads();
}

/// A block's shares: the first by its number, then whichever nobody has taken when it is nearly done
/// with one. With skewed labels some blocks have a long share, and others take the short ones
/// meanwhile.
struct ShareQueue {
  /// Shared memory for `next` where it lies before all else: its address is known when compiled then,
  /// and takes no register. What follows is aligned to 16 bytes.
  static constexpr std::size_t kBytes = 16;

  Count* taken;  ///< shares that blocks took beyond their first; zero before the launch
  Count* next;   ///< this block's next share, in shared memory

  /// One thread calls this when it is done with the block's share, and before the barrier behind which
  /// the block reads what it took.
  __device__ void take() const { *next = gridDim.x + atomicAdd(taken, 1u); }
  /// By a shuffle, from which the compiler learns that a warp's lanes have one share: what follows
  /// from it takes no registers of each lane then.
  __device__ Count taken_share() const { return __shfl_sync(kAllLanes, *next, 0); }
};

/// The partition of a share: the last that starts there or before, which is the one with shares.
__device__ inline unsigned partition_of(Count share, const Count* starts, unsigned count) {
  unsigned p = 0;
  for (unsigned after = count; after - p > 1;) {
    const unsigned middle = (p + after) / 2;
    (starts[middle] <= share ? p : after) = middle;
  }
  return p;
}

}  // namespace reduce_bench::BACKEND
