// The emulator's side of the trace: what it tells of a launch while it runs it. In the plain build
// all of it is nothing.
#pragma once

#include "kernels/platform/platform.hpp"
#ifdef REDUCE_BENCH_TRACED
#include <vector>

#include "kernels/platform/order.hpp"
#endif

namespace reduce_bench::BACKEND::trace {

/// What the lanes of a warp meet in.
enum class Meeting { kBarrier, kShuffle, kVote };

/// A block of the launch and its shared memory.
#ifdef REDUCE_BENCH_TRACED
struct Block {
  BlockOrder order;
  std::uintptr_t shared = 0;
  std::size_t shared_bytes = 0;
  std::vector<bool> waited;  ///< threads that have waited for the launch before
};

/// `overlapping`: on a device it might run beside the launches before, up to the last that is not.
void begin_launch(const void* kernel, bool overlapping);
/// Throws EmuError where the launch raced.
void end_launch();
/// Ends a launch that failed: nothing is reported.
void drop_launch();

void begin_block(Block& block, std::uint32_t index, std::size_t threads, const void* shared,
                 std::size_t shared_bytes);
void end_block(Block& block);
/// From now on thread `t` of the block runs, on a stack that begins at `stack`.
void enter(Block& block, std::size_t t, const void* stack, std::size_t stack_bytes);
/// Nothing of a kernel runs.
void leave();

/// All threads of the block have met.
void barrier(Block& block, const Where& where);
/// The lanes of the mask have met, of the warp whose first thread is `first`.
void warp_met(Block& block, std::size_t first, unsigned mask, Meeting meeting, const Where& where);
/// The block of the running thread arrives at a barrier of its cluster, whose `number`th it is.
void arrive_at_cluster_barrier(std::size_t cluster, unsigned number, const Where& where);
/// All blocks of the cluster have arrived.
void leave_cluster_barrier(std::size_t cluster, unsigned number);
#else
struct Block {};
inline void begin_launch(const void*, bool) {}
inline void end_launch() {}
inline void drop_launch() {}
inline void begin_block(Block&, std::uint32_t, std::size_t, const void*, std::size_t) {}
inline void end_block(Block&) {}
inline void enter(Block&, std::size_t, const void*, std::size_t) {}
inline void leave() {}
inline void barrier(Block&, const Where&) {}
inline void warp_met(Block&, std::size_t, unsigned, Meeting, const Where&) {}
inline void arrive_at_cluster_barrier(std::size_t, unsigned, const Where&) {}
inline void leave_cluster_barrier(std::size_t, unsigned) {}
#endif

}  // namespace reduce_bench::BACKEND::trace
