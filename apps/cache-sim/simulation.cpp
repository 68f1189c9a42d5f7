#include "simulation.hpp"

#include "common/pages.hpp"
#include "common/revision.hpp"
#include "memory.hpp"

namespace reduce_bench {
namespace {

Json counts_json(Memory& memory, const Hierarchy& hierarchy) {
  Json caches = Json::array(), tlb = Json::array();
  const std::vector<LevelCounts> levels = memory.caches();
  for (std::size_t i = 0; i < levels.size(); ++i)
    caches.push_back({{"name", hierarchy.caches[i].name},
                      {"hits", levels[i].hits},
                      {"misses", levels[i].misses},
                      {"prefetches", levels[i].prefetches},
                      {"write_backs", levels[i].write_backs}});
  for (const TlbCounts& level : memory.tlb())
    tlb.push_back({{"hits", level.hits}, {"misses", level.misses}});
  return {{"accesses", memory.accesses()},
          {"caches", caches},
          {"memory", {{"reads", memory.memory_reads()}, {"writes", memory.memory_writes()}}},
          {"tlb", tlb}};
}

}  // namespace

Json simulate(const Hierarchy& hierarchy, const Pages& pages, const Algorithm& algorithm,
              const Workload& workload) {
  Memory memory(hierarchy, pages);
  algorithm.trace(workload, memory, pages.bytes);
  const auto time = [&](double ns) -> Json {
    return {{"ns", ns}, {"ns_per_input", ns / static_cast<double>(workload.n)}};
  };
  Json params = Json::object();
  if (!algorithm.default_sort_bits.empty()) params["sort_bits"] = workload.sort_bits;
  if (algorithm.axes.fetch) params["fetch"] = workload.sequential_fetch ? "sequential" : "free";
  if (algorithm.axes.pages) params["pages"] = pages.bytes < kHugePageBytes ? "small" : "huge";
  if (algorithm.axes.scan) params["scan"] = "exclusive";
  Json result{{"schema", 1},
              {"kind", "cache-sim-simulation"},
              {"git", git_json()},
              {"hierarchy", to_json(hierarchy)},
              {"page_bytes", pages.bytes},
              {"algorithm", algorithm.id},
              {"params", params},
              {"n", workload.n},
              {"buckets", workload.buckets},
              {"labels", workload.labels.name()},
              {"seed", workload.seed}};
  result.update(counts_json(memory, hierarchy));
  result["sequential"] = time(memory.sequential_ns());
  const std::optional<double> pipelined_ns = memory.pipelined_ns();
  result["pipelined"] = pipelined_ns ? time(*pipelined_ns) : Json(nullptr);
  return result;
}

}  // namespace reduce_bench
