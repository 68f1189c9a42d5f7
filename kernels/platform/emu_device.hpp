// The emulator as the harness sees it, without the CUDA vocabulary that kernels get.
#pragma once

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
};
Settings& settings();

/// The barriers, __syncwarp and fences that traced launches have met, each as file:line:column.
std::set<std::string>& orderings_met();

/// Sets the seed and starts its sequence anew: every launch interleaves differently, the launches
/// after equal calls alike.
void reseed(std::uint64_t seed);

/// The traits of the emulated device: small and odd, so that grid strides and tails are exercised.
DeviceTraits device_traits();

}  // namespace reduce_bench::emu
