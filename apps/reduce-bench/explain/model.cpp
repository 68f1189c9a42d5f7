#include "explain/model.hpp"

#include <algorithm>

#include "devices/gpu_counts.hpp"

namespace reduce_bench {
namespace {

/// Why a warp does not issue.
struct Stall {
  std::string_view reason, words;
  bool is_latency = false;  ///< it waits for something to end, not behind other warps
};
constexpr std::array kStalls{Stall{"barrier", "other warps at a barrier", true},
                             Stall{"branch_resolving", "the target of a branch", true},
                             Stall{"dispatch_stall", "the dispatch", false},
                             Stall{"drain", "the last stores", true},
                             Stall{"gmma", "a matrix unit", true},
                             Stall{"imc_miss", "constants that no cache had", true},
                             Stall{"lg_throttle", "a place in the queue of global memory", false},
                             Stall{"long_scoreboard", "data of caches and device memory", true},
                             Stall{"math_pipe_throttle", "an arithmetic unit", false},
                             Stall{"membar", "a fence", true},
                             Stall{"mio_throttle", "a place in the queue of shared memory", false},
                             Stall{"misc", "other hardware", false},
                             Stall{"no_instruction", "instructions that no cache had", true},
                             Stall{"not_selected", "another warp that issued", false},
                             Stall{"short_scoreboard", "data of shared memory", true},
                             Stall{"sleeping", "the end of a sleep", true},
                             Stall{"tex_throttle", "a place in the queue of textures", false},
                             Stall{"wait", "arithmetic results", true}};
static_assert(kStalls.size() == kStallReasons.size());

/// Passes of the same work take times that differ by less.
constexpr double kMostOfActive = 1.1;

std::optional<double> waited_cycles(const Evidence& evidence, const Stall& stall) {
  return evidence.sum({std::string(kStalledPrefix) + std::string(stall.reason)});
}

}  // namespace

std::vector<Need> needs(const Evidence& evidence, const Limits& limits) {
  std::vector<Need> all;
  if (!evidence.time_ns || evidence.counted_by != CountedBy::kGpu || limits.empty_launch_ns <= 0)
    return all;
  const double launch_ns =
      limits.empty_launch_ns + (evidence.kernels - 1) * limits.further_launch_ns;
  const auto add = [&](Resource resource, std::optional<double> ns) {
    if (ns) all.push_back({resource, launch_ns + *ns, (launch_ns + *ns) / *evidence.time_ns});
  };
  const auto over = [](std::optional<double> count, double per_ns) {
    return count && per_ns > 0 ? std::optional(*count / per_ns) : std::nullopt;
  };
  const double cycles_per_ns = evidence.sm_clock_mhz.value_or(0) / 1e3;
  add(Resource::kMemory,
      over(evidence.sum({"dram_read_bytes", "dram_written_bytes"}), limits.memory_gb_per_s));
  add(Resource::kL2, evidence.sum({kL2BusyNs}));
  // What a unit of an SM is busy is a share that one pass counts, of a time that another took. Where
  // the host waits in between, the two may differ: no unit is busy for longer than the busiest SM.
  const auto active_ns = over(evidence.sum({"busiest_sm_cycles"}), cycles_per_ns);
  const auto within_an_sm = [&](std::optional<double> busy_ns) {
    const bool too_long = busy_ns && active_ns && *busy_ns > kMostOfActive * *active_ns;
    return too_long ? std::nullopt : busy_ns;
  };
  add(Resource::kL1, within_an_sm(evidence.sum({kL1BusyNs})));
  add(Resource::kIssue, over(evidence.sum({"instructions_issued"}),
                             limits.sm_count * kSchedulersPerSm * cycles_per_ns));
  add(Resource::kArithmetic, within_an_sm(evidence.sum({kArithmeticBusyNs})));
  if (const auto warp_cycles = evidence.sum({"warp_cycles"});
      active_ns && warp_cycles && *warp_cycles > 0) {
    double queued = 0;
    for (const Stall& stall : kStalls)
      if (!stall.is_latency) queued += waited_cycles(evidence, stall).value_or(0);
    add(Resource::kLatency, *active_ns * std::max(1 - queued / *warp_cycles, 0.0));
  }
  add(Resource::kLaunch, 0);
  return all;
}

std::optional<Need> binding(const std::vector<Need>& needs) {
  if (needs.empty()) return std::nullopt;
  const auto needs_less = [](const Need& a, const Need& b) { return a.ns < b.ns; };
  std::vector<Need> saturated;
  for (const Need& need : needs)
    if (need.resource != Resource::kLatency && need.share >= kSaturated) saturated.push_back(need);
  const std::vector<Need>& candidates = saturated.empty() ? needs : saturated;
  const Need most = *std::max_element(candidates.begin(), candidates.end(), needs_less);
  const Need& launch = needs.back();
  return most.ns < 2 * launch.ns ? launch : most;
}

std::optional<Wait> longest_wait(const Evidence& evidence) {
  const auto warp_cycles = evidence.sum({"warp_cycles"});
  if (!warp_cycles || *warp_cycles <= 0) return std::nullopt;
  std::optional<Wait> longest;
  for (const Stall& stall : kStalls)
    if (const auto cycles = waited_cycles(evidence, stall);
        cycles && (!longest || *cycles / *warp_cycles > longest->share))
      longest = Wait{stall.words, *cycles / *warp_cycles};
  return longest;
}

}  // namespace reduce_bench
