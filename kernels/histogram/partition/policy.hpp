// The tuning of partition/histogram.
#pragma once

#include "kernels/platform/platform.hpp"
#include "kernels/shared/by_capability.hpp"

namespace reduce_bench::BACKEND::partition_histogram {

/// Why: docs/kernels/partition-histogram.md
struct Policy90 {
  /// Labels of a tile that a thread holds: longer pieces against registers.
  static constexpr unsigned kItems = 32;
  /// Blocks of the first kernel have at most kOrderBlock threads, and kOrderBlocksPerSm are on an
  /// SM at once: the registers of a thread follow.
  static constexpr unsigned kOrderBlock = 512;
  static constexpr unsigned kOrderBlocksPerSm = 2;
  /// Threads of a block where SMs would have fewer than kLeastTilesPerSm tiles of larger ones.
  static constexpr unsigned kSmallBlock = 256;
  static constexpr unsigned kLeastTilesPerSm = 1;

  /// Partitions are wanted as few as have room: the fewer, the longer the pieces of a tile.
  static constexpr unsigned kLog2WantedPartitions = 6;
  static constexpr unsigned kMostPartitions = 512;
  /// A partition of fewer bins than 2^kLeastBits would cost more to begin than to fill; labels of
  /// 2^kMostBits bins and what fills the pieces up take 16 bits.
  static constexpr unsigned kLeastBits = 6, kMostBits = 15;
  /// Copies of a partition's counter in an ordered tile, and counters in all, at most.
  static constexpr unsigned kLog2MostCopies = 3, kMostCounters = 2048;

  /// Near labels: the table that a tile is counted in has two bins for every kInputsPerReach
  /// labels, and lies where the ordered tile would.
  static constexpr unsigned kInputsPerReach = 4;
  /// One thread in kThreadsPerStray, at most, may have labels beyond the table, which go to the results
  /// by atomics. These queue where it is one label; how many are best was not measured.
  static constexpr unsigned kThreadsPerStray = 64;
  /// The table of a sorted tile has only the bins between its ends, in 2^kLog2LeastNearCopies to
  /// one copy for each lane, where these fit into that room.
  static constexpr unsigned kLog2LeastNearCopies = 4;
  /// Runs: quads of four neighbours, of a thread's kItems / kQuad, that must have one label each,
  /// and quarters of a block's threads that must have as many.
  static constexpr unsigned kQuadsInRuns = 6, kQuartersInRuns = 3;

  /// Rounds of shares of partitions that are not alike: more gained 2 % with normal labels and lost 8
  /// with Zipf ones.
  static constexpr unsigned kSkewedRounds = 1;
  /// Threads of the second kernel's block, at most.
  static constexpr unsigned kFoldBlock = 1024;
  /// 2^kLog2MostWalkers lanes of the second kernel, at most, walk through a piece together, an octet each.
  static constexpr unsigned kLog2MostWalkers = 3;
  /// Octets that a lane of the second kernel has in flight, by the mean labels of a piece: 4 of one
  /// piece from kLongPiece on, 2 of each of two from kMediumPiece on, else 1 of each of four.
  static constexpr unsigned kLongPiece = 224, kMediumPiece = 96;
};
using Policy = ByCapability<Row<90, Policy90>>;

}  // namespace reduce_bench::BACKEND::partition_histogram
