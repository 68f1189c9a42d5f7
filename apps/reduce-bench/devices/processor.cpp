#include "devices/processor.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace reduce_bench {
namespace {

struct Cache {
  int level;
  std::size_t size_bytes;
  std::string shared_by;  ///< cores, as the system lists them: `0-7`
};

/// From the first level on, which has one for data and one for instructions, as far as the system
/// tells.
std::vector<Cache> caches_of(int core) {
  std::vector<Cache> caches;
  for (int index = 0; index < 8; ++index) {
    const auto folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}", core, index);
    std::ifstream level_file(folder + "/level"), size_file(folder + "/size"),
        cores_file(folder + "/shared_cpu_list");
    Cache cache{};
    char unit = ' ';
    if (!(level_file >> cache.level) || !(size_file >> cache.size_bytes)) break;
    size_file >> unit;
    cache.size_bytes *= unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1;
    std::getline(cores_file, cache.shared_by);
    caches.push_back(std::move(cache));
  }
  return caches;
}

}  // namespace

unsigned logical_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::optional<std::size_t> l2_cache_bytes() {
  for (const Cache& cache : caches_of(0))
    if (cache.level == 2) return cache.size_bytes;
  return std::nullopt;
}

std::optional<std::size_t> last_level_cache_bytes() {
  std::optional<std::size_t> largest;
  for (const Cache& cache : caches_of(0)) largest = std::max(largest, {cache.size_bytes});
  return largest;
}

std::optional<std::size_t> all_caches_bytes() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::nullopt;
  std::set<std::pair<std::size_t, std::string>> seen;  // level and cores
  std::size_t all_bytes = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &set)) continue;
    const std::vector<Cache> caches = caches_of(core);
    for (std::size_t level = 0; level < caches.size(); ++level)
      if (seen.emplace(level, caches[level].shared_by).second)
        all_bytes += caches[level].size_bytes;
  }
  return all_bytes > 0 ? std::optional(all_bytes) : std::nullopt;
}

}  // namespace reduce_bench
