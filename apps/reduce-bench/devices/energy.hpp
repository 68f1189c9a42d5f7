// The energy that a GPU takes for a call, by NVML's counter of the whole board.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace reduce_bench {

/// The energy of back-to-back calls, which includes what the board takes at rest while they run.
struct Energy {
  std::optional<double> joules_per_call;
  std::uint64_t calls = 0;
  double window_ms = 0;     ///< that the calls took
  std::string unavailable;  ///< why nothing was measured
};

/// What the measurement needs of the world.
struct EnergyProbe {
  std::function<std::uint64_t()> millijoules;  ///< so far; grows in steps
  std::function<double()> now_ms;
  std::function<void(std::uint64_t calls)> run;  ///< so many calls, until they have ended
};

/// Runs calls for a second or longer, between two steps of the counter: NVML's moved every 100 ms
/// on an H200, so that a shorter window would be of the counter's making.
Energy measure_energy(const EnergyProbe& probe);

/// Reads the counter of the GPU at a PCI bus id through NVML, which is loaded here. Throws
/// std::runtime_error where it cannot be read: why, and what to change.
std::function<std::uint64_t()> nvml_energy_counter(const std::string& pci_bus_id);

}  // namespace reduce_bench
