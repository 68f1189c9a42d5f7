#include "devices/processor.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

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

struct Cache {
  std::size_t size_bytes;
  std::string shared_by;  ///< cores, as the system lists them: `0-7`
};

/// The largest cache level of a core, where the system tells.
std::optional<Cache> last_level_cache_of(int core) {
  std::optional<Cache> largest;
  for (int level = 0; level < 8; ++level) {
    const auto folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}", core, level);
    std::ifstream size_file(folder + "/size"), cores_file(folder + "/shared_cpu_list");
    Cache cache{};
    char unit = ' ';
    if (!(size_file >> cache.size_bytes)) break;
    size_file >> unit;
    cache.size_bytes *= unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1;
    std::getline(cores_file, cache.shared_by);
    if (!largest || cache.size_bytes > largest->size_bytes) largest = std::move(cache);
  }
  return largest;
}

}  // namespace

unsigned logical_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::optional<std::size_t> last_level_cache_bytes() {
  const auto cache = last_level_cache_of(0);
  return cache ? std::optional(cache->size_bytes) : std::nullopt;
}

std::optional<std::size_t> last_level_caches_bytes() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::nullopt;
  std::map<std::string, std::size_t> by_cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set))
      if (const auto cache = last_level_cache_of(core))
        by_cores.emplace(cache->shared_by, cache->size_bytes);
  if (by_cores.empty()) return std::nullopt;
  std::size_t all_bytes = 0;
  for (const auto& [cores, size_bytes] : by_cores) all_bytes += size_bytes;
  return all_bytes;
}

std::string cpu_model() { return proc_value("/proc/cpuinfo", "model name").value_or("unknown"); }

}  // namespace reduce_bench
