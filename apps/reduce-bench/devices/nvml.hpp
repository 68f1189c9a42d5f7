// What NVML tells of a GPU. Its library comes with the driver and is loaded when first asked; a build
// needs no header of it.
#pragma once

#include <cstdint>
#include <string>

namespace reduce_bench {

/// Throws std::runtime_error where NVML or what is asked for is not there: why, and what to change.
class NvmlDevice {
 public:
  explicit NvmlDevice(const std::string& pci_bus_id);

  /// The energy that the board has taken so far; grows in steps.
  std::uint64_t millijoules() const;
  /// The NVLinks that are up.
  unsigned active_links() const;

 private:
  void* device_ = nullptr;
};

}  // namespace reduce_bench
