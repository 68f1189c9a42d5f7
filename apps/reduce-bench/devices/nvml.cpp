#include "devices/nvml.hpp"

#include <stdexcept>

#include "kernels/platform/loaded_library.hpp"

namespace reduce_bench {
namespace {

constexpr unsigned kMostLinks = 18;  // NVML_NVLINK_MAX_LINKS

/// NVML's functions, as its manual declares them.
struct Nvml {
  int (*init)() = nullptr;
  const char* (*text_of)(int) = nullptr;
  int (*device_of)(const char* pci_bus_id, void** device) = nullptr;
  int (*energy_of)(void* device, unsigned long long* millijoules) = nullptr;
  int (*link_of)(void* device, unsigned link, int* is_active) = nullptr;

  void check(int result, const char* what) const {
    if (result != 0)
      throw std::runtime_error(std::string("NVML cannot ") + what + ": " + text_of(result));
  }
};

Nvml load() {
  const LoadedLibrary library{"libnvidia-ml.so.1"};
  if (!library.is_there())
    throw std::runtime_error(
        "NVML is not there (libnvidia-ml.so.1): install the driver's libraries");
  const auto find = [&](const char* name, auto& function) {
    if (!library.find(name, function))
      throw std::runtime_error(std::string("the NVML library has no ") + name +
                               ": install a newer driver");
  };
  Nvml nvml;
  find("nvmlInit_v2", nvml.init);
  find("nvmlErrorString", nvml.text_of);
  find("nvmlDeviceGetHandleByPciBusId_v2", nvml.device_of);
  find("nvmlDeviceGetTotalEnergyConsumption", nvml.energy_of);
  find("nvmlDeviceGetNvLinkState", nvml.link_of);
  nvml.check(nvml.init(), "be initialised");
  return nvml;
}

const Nvml& nvml() {
  static const Nvml loaded = load();
  return loaded;
}

}  // namespace

NvmlDevice::NvmlDevice(const std::string& pci_bus_id) {
  nvml().check(nvml().device_of(pci_bus_id.c_str(), &device_), "find the GPU");
}

std::uint64_t NvmlDevice::millijoules() const {
  unsigned long long millijoules = 0;
  nvml().check(nvml().energy_of(device_, &millijoules), "read the energy of this GPU");
  return millijoules;
}

unsigned NvmlDevice::active_links() const {
  unsigned active = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    int is_active = 0;
    // A link that the GPU does not have is an error to NVML.
    if (nvml().link_of(device_, link, &is_active) == 0 && is_active != 0) ++active;
  }
  return active;
}

}  // namespace reduce_bench
