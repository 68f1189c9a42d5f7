#include "devices/energy.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace reduce_bench {
namespace {

constexpr double kWindowMs = 1000;  ///< at least
constexpr double kBatchMs = 5;      ///< how late a step is noticed
/// A counter that does not move for so long is none.
constexpr double kPatienceMs = 3000;

/// NVML's functions, as its manual declares them; a build needs no header of it.
struct Nvml {
  int (*init)() = nullptr;
  const char* (*text_of)(int) = nullptr;
  int (*device_of)(const char* pci_bus_id, void** device) = nullptr;
  int (*energy_of)(void* device, unsigned long long* millijoules) = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw std::runtime_error(std::string("the NVML library has no ") + name +
                             ": install a newer driver");
}

Nvml load_nvml() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::runtime_error(
        "NVML is not there (libnvidia-ml.so.1): install the driver's libraries");
  Nvml nvml;
  find(library, "nvmlInit_v2", nvml.init);
  find(library, "nvmlErrorString", nvml.text_of);
  find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.device_of);
  find(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy_of);
  return nvml;
}

void check(const Nvml& nvml, int result, const char* what) {
  if (result != 0)
    throw std::runtime_error(std::string("NVML cannot ") + what + ": " + nvml.text_of(result));
}

}  // namespace

Energy measure_energy(const EnergyProbe& probe) {
  // As many calls at once as take a batch's time.
  std::uint64_t batch = 1;
  for (double ms = 0; ms < kBatchMs / 2 && batch < (std::uint64_t{1} << 20);) {
    const double begin_ms = probe.now_ms();
    probe.run(batch);
    ms = probe.now_ms() - begin_ms;
    if (ms < kBatchMs / 2) batch *= 2;
  }
  Energy energy;
  std::uint64_t calls = 0;
  // Runs until the counter moves after at least so long; nothing where it does not move.
  const auto run_to_a_step = [&](double least_ms) -> std::optional<std::uint64_t> {
    const double begin_ms = probe.now_ms();
    std::uint64_t last = probe.millijoules();
    for (;;) {
      probe.run(batch);
      calls += batch;
      const double ms = probe.now_ms() - begin_ms;
      const std::uint64_t now = probe.millijoules();
      if (now != last && ms >= least_ms) return now;
      if (ms > least_ms + kPatienceMs) return std::nullopt;
      last = now;
    }
  };
  const auto first = run_to_a_step(0);
  const double begin_ms = probe.now_ms();
  calls = 0;
  const auto last = first ? run_to_a_step(kWindowMs) : std::nullopt;
  if (!last) {
    energy.unavailable = "the GPU's energy counter does not move";
    return energy;
  }
  energy.calls = calls;
  energy.window_ms = probe.now_ms() - begin_ms;
  energy.joules_per_call = static_cast<double>(*last - *first) / 1e3 / static_cast<double>(calls);
  return energy;
}

std::function<std::uint64_t()> nvml_energy_counter(const std::string& pci_bus_id) {
  const Nvml nvml = load_nvml();
  check(nvml, nvml.init(), "be initialised");
  void* device = nullptr;
  check(nvml, nvml.device_of(pci_bus_id.c_str(), &device), "find the GPU");
  const auto read = [nvml, device] {
    unsigned long long millijoules = 0;
    check(nvml, nvml.energy_of(device, &millijoules), "read the energy of this GPU");
    return std::uint64_t{millijoules};
  };
  read();  // a GPU without the counter says so now
  return read;
}

}  // namespace reduce_bench
