#include "devices/processor.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace reduce_bench {
namespace {

/// The value of the first line `key : value` of a /proc file.
std::optional<std::string> proc_value(const char* path, const std::string& key) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return std::nullopt;
}

}  // namespace

unsigned logical_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::optional<std::size_t> last_level_cache_bytes() {
  std::optional<std::size_t> largest;
  for (int level = 0; level < 8; ++level) {
    std::ifstream stream(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", level));
    std::size_t size = 0;
    char unit = ' ';
    if (!(stream >> size)) break;
    stream >> unit;
    size *= unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1;
    if (!largest || size > *largest) largest = size;
  }
  return largest;
}

std::string cpu_model() { return proc_value("/proc/cpuinfo", "model name").value_or("unknown"); }

}  // namespace reduce_bench
