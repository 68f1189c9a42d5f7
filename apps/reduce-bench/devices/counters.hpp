// What the processor counts while the host works: TLB and cache misses, by perf events.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reduce_bench {

/// The names of what is counted of the CPU variants.
inline constexpr std::array kCounterNames{
    std::string_view{"dtlb_loads"}, std::string_view{"dtlb_load_misses"},
    std::string_view{"l1d_load_misses"}, std::string_view{"llc_load_misses"}};

/// What one counter counted of a call.
struct Counter {
  std::string name;
  std::optional<std::uint64_t> count;
  std::string unavailable;  ///< why there is no count
};

/// Stands for every counter where one reason keeps all from counting.
inline constexpr std::string_view kAllCounters = "all";

/// An event as perf_event_open takes it.
struct Event {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};
/// The events of `kCounterNames`.
std::span<const Event> miss_events();

/// How often each event happened in `work`, in user mode, on all threads of the OpenMP team.
/// `prepare` is called before it and is not counted. Where no event can be counted, neither is
/// called.
std::vector<Counter> count_events(std::span<const Event> events,
                                  const std::function<void()>& prepare,
                                  const std::function<void()>& work);

}  // namespace reduce_bench
