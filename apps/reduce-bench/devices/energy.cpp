#include "devices/energy.hpp"

#include <stdexcept>

#include "devices/nvml.hpp"

namespace reduce_bench {
namespace {

constexpr double kWindowMs = 1000;  ///< at least
constexpr double kBatchMs = 5;      ///< how late a step is noticed
/// A counter that does not move for so long is none.
constexpr double kPatienceMs = 3000;

}  // namespace

Energy measure_energy(const EnergyProbe& probe) {
  // Doubles the calls of a batch until they take half of a batch's time.
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
  const NvmlDevice device(pci_bus_id);
  device.millijoules();  // a GPU without the counter says so now
  return [device] { return device.millijoules(); };
}

}  // namespace reduce_bench
