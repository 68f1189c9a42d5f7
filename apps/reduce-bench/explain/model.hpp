// What binds a kernel: how much of its time each resource needs at its limit.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/evidence.hpp"

namespace reduce_bench {

enum class Resource { kMemory, kL2, kL1, kIssue, kArithmetic, kLatency, kLaunch };
inline constexpr std::array kResourceNames{
    std::string_view{"device memory"},      std::string_view{"L2"},
    std::string_view{"L1/shared memory"},   std::string_view{"instruction issue"},
    std::string_view{"an arithmetic unit"}, std::string_view{"latency"},
    std::string_view{"the launch"}};
constexpr std::string_view name_of(Resource r) {
  return kResourceNames[static_cast<std::size_t>(r)];
}

/// The time that a call takes if one resource alone bounds it: the launches, and what was counted at
/// the resource's limit. They add, because nothing of the call runs before its launch.
struct Need {
  Resource resource = Resource::kMemory;
  double ns = 0;
  double share = 0;  ///< of the measured time
};

/// The need of every resource whose counts and limits are known, in their order; the launch is the
/// last. Empty without a time, counts of a GPU or the time of a launch.
std::vector<Need> needs(const Evidence& evidence, const Limits& limits);

/// A throughput that reaches this share of its limit binds, since warps wait in its queue. Below it
/// the queue is short, and waiting is latency.
inline constexpr double kSaturated = 0.9;
/// What binds: the saturated throughput that needs longest, or else whatever needs longest; the
/// launch where it is most of that.
std::optional<Need> binding(const std::vector<Need>& needs);

/// What warps waited for longest, in words, with its share of their time.
struct Wait {
  std::string_view reason;
  double share = 0;
};
std::optional<Wait> longest_wait(const Evidence& evidence);

}  // namespace reduce_bench
