// The values of partition/multireduce that were chosen by measuring on an H200
// (docs/kernels/partition-multireduce.md).
#pragma once

#include <cstddef>

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

struct Policy {
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
  /// fewer sectors are read in part. A prototype of the second kernel, which took inputs one by
  /// one, needed 133 us for 2^26 inputs with 2^6 partitions, 168 us with 2^7, 188 us with 2^8.
  static constexpr unsigned kLog2WantedPartitions = 6;
  /// Beyond, their counters leave too little of the first kernel's shared memory.
  static constexpr unsigned kMostPartitions = 2048;
  /// A partition of fewer buckets than 2^kLeastBits would cost more to begin than to fill.
  static constexpr unsigned kLeastBits = 6;

  /// A tile is combined in a table of its own where its labels lie within two reaches, of one label
  /// for so many inputs each.
  static constexpr unsigned kInputsPerReach = 4;
  /// Quarters of the threads whose quads must have one label each for a tile to count as runs.
  static constexpr unsigned kQuartersInRuns = 3;

  /// Threads of the second kernel's block, at most.
  static constexpr unsigned kFoldBlock = 1024;
  /// Lanes of the second kernel that walk through a piece together, a quad each.
  static constexpr unsigned kWalkers = 8;
  /// Mean inputs of a piece from which on a lane has one piece in flight by as many quads as
  /// registers hold (kMostSteps), one by three quads, and two by two; below, three by one.
  static constexpr unsigned kLongPiece = 80, kMediumPiece = 40, kShortPiece = 20;
  static constexpr unsigned most_steps(std::size_t value_bytes) { return value_bytes == 8 ? 3 : 5; }
};

}  // namespace reduce_bench::BACKEND::partition_multireduce
