// The emulator as the harness sees it, without the CUDA vocabulary that kernels get.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/api/variant.hpp"

namespace reduce_bench::emu {

/// A fault of the emulated kernel: divergent barrier, deadlock, collective with an absent lane,
/// launch beyond a limit. The message names kernel location, block and threads.
struct EmuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Device memory by name, so that a race is reported on an array and not on an address.
struct NamedArray {
  std::string_view name;
  const std::byte* data = nullptr;
  std::size_t size_bytes = 0;
  std::size_t element_bytes = 1;
  bool any_store_wins = false;  ///< any of several unordered stores to an element is right
};

/// What the traced build counts of a launch. A request is one instruction of a warp that touches
/// memory; atomics have counts of their own among neither loads nor stores.
enum class Metric {
  kGlobalLoadRequests,
  kGlobalLoadSectors,  ///< of 32 bytes
  kGlobalStoreRequests,
  kGlobalStoreSectors,
  kSharedLoadRequests,
  kSharedLoadWavefronts,  ///< rounds in which 32 banks of 4 bytes serve a request
  kSharedStoreRequests,
  kSharedStoreWavefronts,
  kBankConflicts,            ///< wavefronts beyond the fewest in which as many lanes can be served
  kGlobalAtomics,            ///< of each lane
  kSharedAtomics,            ///< likewise
  kMostAtomicsOnOneAddress,  ///< in one launch
  kRequests,                 ///< of loads, stores and atomics
  kActiveLanes,              ///< of all requests
  kBarriers,                 ///< warps that met at a barrier of their block
  kWarpBarriers,             ///< __syncwarp
  kShuffles,                 ///< instructions of a warp
  kVotes                     ///< ballot, any and all, and match and reductions of a warp
};
inline constexpr std::array kMetricNames{std::string_view{"global_load_requests"},
                                         std::string_view{"global_load_sectors"},
                                         std::string_view{"global_store_requests"},
                                         std::string_view{"global_store_sectors"},
                                         std::string_view{"shared_load_requests"},
                                         std::string_view{"shared_load_wavefronts"},
                                         std::string_view{"shared_store_requests"},
                                         std::string_view{"shared_store_wavefronts"},
                                         std::string_view{"bank_conflicts"},
                                         std::string_view{"global_atomics"},
                                         std::string_view{"shared_atomics"},
                                         std::string_view{"most_atomics_on_one_address"},
                                         std::string_view{"requests"},
                                         std::string_view{"active_lanes"},
                                         std::string_view{"barriers"},
                                         std::string_view{"warp_barriers"},
                                         std::string_view{"shuffles"},
                                         std::string_view{"votes"}};
using Counts = std::array<std::uint64_t, kMetricNames.size()>;
/// Adds what another place or launch did.
void add(Counts& to, const Counts& counts);

/// What was counted at one place of the source.
struct CountedPlace {
  std::string kernel;  ///< namespace and function
  std::string where;   ///< file and line
  Counts counts{};
};

/// What the traced build does with what it sees.
enum class Tracing { kRaces, kCounts, kCountsByPlace };

/// How the emulator behaves; one per process, changed between launches only.
struct Settings {
  std::uint64_t seed = 1;
  std::uint64_t reseeds = 0;     ///< calls of `reseed`, each of which starts the sequence anew
  unsigned resident_blocks = 4;  ///< blocks that run interleaved before more are admitted
  std::uint64_t spin_limit = 2000000;  ///< yields without progress before a livelock is reported
  std::vector<NamedArray>
      arrays;  ///< of the point that runs; the traced build's messages name them
  /// The barrier, __syncwarp or fence, as file:line:column, that orders nothing in the traced build:
  /// as if it were missing. Tests use it.
  std::string ordering_ignored_at;
  Tracing tracing = Tracing::kRaces;
  /// What is emulated: small and odd, so that grid strides and tails are exercised. 16 blocks of 64
  /// threads on each of five SMs are more partial results than a block has threads.
  DeviceTraits device{.sm_count = 5,
                      .max_threads_per_sm = 1024,
                      .max_blocks_per_sm = 16,
                      .max_shared_bytes_per_block = 227 * 1024,
                      .max_blocks_per_cluster = 2,
                      .overlapping_launches = true,
                      .devices = 3};
};
Settings& settings();

/// The barriers, __syncwarp and fences that traced launches met since this was cleared last, each as
/// file:line:column.
std::set<std::string>& orderings_met();

/// What traced launches did since this was cleared last: by place, or all of it as one place without
/// a name, as the settings ask.
std::vector<CountedPlace>& counted();

/// Sets the seed and starts its sequence anew: every launch interleaves differently, the launches
/// after equal calls alike.
void reseed(std::uint64_t seed);

}  // namespace reduce_bench::emu
