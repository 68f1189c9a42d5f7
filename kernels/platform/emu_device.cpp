#include "kernels/platform/emu_device.hpp"

#include <algorithm>

namespace reduce_bench::emu {

Settings& settings() {
  static Settings instance;
  return instance;
}

std::set<std::string>& orderings_met() {
  static std::set<std::string> instance;
  return instance;
}

void add(Counts& to, const Counts& counts) {
  constexpr auto kMost = static_cast<std::size_t>(Metric::kMostAtomicsOnOneAddress);
  const std::uint64_t most = std::max(to[kMost], counts[kMost]);
  for (std::size_t i = 0; i < counts.size(); ++i) to[i] += counts[i];
  to[kMost] = most;
}

std::vector<CountedPlace>& counted() {
  static std::vector<CountedPlace> instance;
  return instance;
}

void reseed(std::uint64_t seed) {
  settings().seed = seed;
  ++settings().reseeds;
}

}  // namespace reduce_bench::emu
