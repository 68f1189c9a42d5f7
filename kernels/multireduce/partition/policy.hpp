// The tuning of partition/multireduce.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/platform/platform.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/ops.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Chosen on an H200 (docs/kernels/partition-multireduce.md).
struct Policy90 {
  /// Values of a tile that a thread holds, in bytes. Longer pieces against registers: 16 values of
  /// 8 bytes do not fit into these.
  static constexpr std::size_t kValueBytesPerThread = 64;
  static constexpr unsigned items(std::size_t value_bytes) {
    return static_cast<unsigned>(kValueBytesPerThread / value_bytes);
  }
  /// Blocks of the first kernel have at most kOrderBlock threads, and kOrderBlocksPerSm are on an
  /// SM at once: the registers of a thread follow.
  static constexpr unsigned kOrderBlock = 512;
  static constexpr unsigned kOrderBlocksPerSm = 2;

  /// Partitions are wanted as few as have room: the fewer, the longer the pieces of a tile, and the
  /// fewer sectors are read in part.
  static constexpr unsigned kLog2WantedPartitions = 6;
  /// Partitions, at most: a block of either kernel has a counter for each in shared memory.
  static constexpr unsigned kMostPartitions = 2048;
  /// A partition of fewer buckets than 2^kLeastBits would cost more to begin than to fill.
  static constexpr unsigned kLeastBits = 6;
  /// 2^log2_rank_copies counters of every partition give a tile's inputs their places. With more
  /// partitions uniform labels seldom meet at a counter, and gain less from copies than these cost.
  static constexpr unsigned log2_rank_copies(unsigned partitions) {
    return partitions <= 256 ? 2 : partitions <= 512 ? 1 : 0;
  }

  /// Near labels: the table that a tile is combined in has two labels for every kInputsPerReach
  /// inputs, and lies where the ordered tile would.
  static constexpr unsigned kInputsPerReach = 4;
  /// One thread in kThreadsPerStray, at most, may have labels beyond the table, which go to the results
  /// by atomics. These queue where it is one label; how many are best was not measured.
  static constexpr unsigned kThreadsPerStray = 64;
  /// 2^kLog2MostNearCopies copies of the table, at most, where updates take many steps.
  static constexpr unsigned kLog2MostNearCopies = 7;
  /// Runs: quarters of a block's threads whose quads must have one label each. It also bounds how
  /// many runs can be left.
  static constexpr unsigned kQuartersInRuns = 3;

  /// Rounds of shares of partitions that are not alike. With twice as many shares f32 sums of normal
  /// labels take less time, but of Zipf labels up to 1.2 times as long.
  template <class T, class Op>
  static constexpr unsigned skewed_rounds() {
    return std::is_same_v<T, float> && std::is_same_v<Op, Sum> ? 1 : 2;
  }
  /// Threads of the second kernel's block, at most.
  static constexpr unsigned kFoldBlock = 1024;
  /// 2^kLog2MostWalkers lanes of the second kernel, at most, walk through a piece together, a quad each:
  /// more read longer stretches at once, fewer are idle at the end of short pieces.
  static constexpr unsigned kLog2MostWalkers = 3;
  /// Quads that a lane of the second kernel has in flight, by the mean inputs of a piece and as far
  /// as registers hold them: most_steps of one piece from kLongPiece on, 3 of one from kMediumPiece
  /// on, 2 of each of two pieces from kShortPiece on, else 1 of each of three.
  static constexpr unsigned kLongPiece = 80, kMediumPiece = 40, kShortPiece = 20;
  static constexpr unsigned most_steps(std::size_t value_bytes, bool hot) {
    return value_bytes == 8 ? 3 : hot ? 4 : 5;
  }

  /// Float sums are in fixed point where a table would have 2^kLeastLog2FloatCopies to
  /// 2^kMostLog2FloatCopies copies of its buckets: one copy leaves no room for two words each, and
  /// with more than those the updates of a bucket seldom meet.
  static constexpr unsigned kLeastLog2FloatCopies = 1, kMostLog2FloatCopies = 4;
  /// Float sums that are not in fixed point have hot labels apart where a table has at most
  /// 2^kMostLog2HotCopies copies.
  static constexpr unsigned kMostLog2HotCopies = 3;
  /// Of a share's sampled labels one in kMetShare must be another's of its warp for hot ones to be
  /// looked for. Labels of 2^15 buckets meet by chance in one of a thousand.
  static constexpr unsigned kMetShare = 64;
  /// Exponents of the window of fixed point above the largest of a sample.
  static constexpr unsigned kAbove = 2;
};
using Policy = ByCapability<Row<90, Policy90>>;

}  // namespace reduce_bench::BACKEND::partition_multireduce
