// The emulator as the harness sees it, without the CUDA vocabulary that kernels get.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernels/api/variant.hpp"

namespace reduce_bench::emu {

/// A fault of the emulated kernel: divergent barrier, deadlock, collective with an absent lane,
/// launch beyond a limit. The message names kernel location, block and threads.
struct EmuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How the emulator behaves; one per process, changed between launches only.
struct Settings {
  std::uint64_t seed = 1;
  unsigned resident_blocks = 4;        ///< blocks that run interleaved before more are admitted
  std::uint64_t spin_limit = 2000000;  ///< yields without progress before a livelock is reported
};
Settings& settings();

/// Sets the seed and starts its sequence anew: every launch interleaves differently, the launches
/// after equal calls alike.
void reseed(std::uint64_t seed);

/// The traits of the emulated device: small and odd, so that grid strides and tails are exercised.
DeviceTraits device_traits();

}  // namespace reduce_bench::emu
