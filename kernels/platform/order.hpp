// What a kernel's barriers, fences and flags order: for the race detector of the traced build.
//
// The model is that of vector clocks, with the structure of a grid in the place of one entry for
// each thread: whoever passed a block's barrier knows all that the block did before it, so a block
// counts its barriers (phases), and only what is known besides is listed by thread (epochs).
//   __syncthreads     orders the threads of a block
//   __syncwarp        orders the lanes of its mask
//   cluster_sync      orders the threads of a cluster
//   __threadfence     with a strong access behind it releases what the thread knows to whoever reads
//                     that word by a strong access with a fence behind it
// Shuffles and votes order no memory accesses (CUDA C++ Programming Guide, warp shuffle functions).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace reduce_bench::traced {

/// Where a thread stood when it did something.
struct Stamp {
  std::uint32_t block = 0;
  std::uint32_t thread = 0;  ///< in the grid: block * threads per block + index in the block
  std::uint32_t phase = 0;   ///< barriers that its block had passed
  std::uint32_t epoch = 0;   ///< things that the thread had released
};

/// What is known of others: the phases of blocks that are over, the epochs of threads. Sorted.
struct Known {
  using Entries = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  Entries phases, epochs;

  static std::uint32_t at(const Entries& entries, std::uint32_t key);
  static void join(Entries& into, const Entries& from);
  void join(const Known& other) {
    join(phases, other.phases);
    join(epochs, other.epochs);
  }
};
using Knowledge = std::shared_ptr<const Known>;
/// What either knows.
Knowledge joined(const Knowledge& a, const Knowledge& b);

struct ThreadOrder {
  std::uint32_t thread = 0, epoch = 1;
  Knowledge own;       ///< learnt since the block's last barrier
  Knowledge released;  ///< by the last fence, to readers of what the thread stores
  Knowledge pending;   ///< read from flags, and known from the next fence on
};

struct BlockOrder {
  std::uint32_t block = 0, phase = 1;
  Knowledge all;  ///< what every thread of the block knows of other blocks
  std::vector<ThreadOrder> threads;

  BlockOrder() = default;
  BlockOrder(std::uint32_t index, std::uint32_t thread_count);
  Stamp stamp(std::uint32_t t) const { return {block, threads[t].thread, phase, threads[t].epoch}; }
  /// Whether what happened at `earlier` comes before what thread `t` does now.
  bool is_before(const Stamp& earlier, std::uint32_t t) const;

  void barrier();
  /// Threads first .. first + 31, of which the mask's meet.
  void warp_barrier(std::uint32_t first, std::uint32_t mask);
  void fence(std::uint32_t t);
  /// A strong store or an atomic to a word, whose state is `flag`. An atomic adds to what earlier
  /// ones released, a store replaces it.
  void store(std::uint32_t t, Knowledge& flag, bool replaces);
  /// A strong load or an atomic from a word.
  void load(std::uint32_t t, const Knowledge& flag);
  /// All that thread `t` knows, itself included; what it does from now on is not in it.
  Knowledge release(std::uint32_t t);
  /// What another released is known to thread `t` from now on.
  void acquire(std::uint32_t t, const Knowledge& released);
};

}  // namespace reduce_bench::traced
