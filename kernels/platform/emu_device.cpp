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

DeviceTraits device_traits() {
  // 16 blocks of 64 threads on each of five: more partial results than a block has threads.
  return {.sm_count = 5,
          .max_threads_per_sm = 1024,
          .max_blocks_per_sm = 16,
          .max_shared_bytes_per_block = 227 * 1024,
          .max_blocks_per_cluster = 2,
          .devices = 3};
}

}  // namespace reduce_bench::emu
