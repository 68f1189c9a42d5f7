// Counts what a GPU does, by CUPTI's range profiler, which is loaded when it is needed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "devices/counters.hpp"

namespace reduce_bench {

/// The counters of one CUDA device in this process. Whoever counted in a process does not time in it:
/// CUPTI stays in the way of its launches.
class GpuProfiler {
 public:
  /// `warp_slots` is how many warps a scheduler can hold.
  GpuProfiler(int ordinal, unsigned warp_slots);
  ~GpuProfiler();
  GpuProfiler(const GpuProfiler&) = delete;
  GpuProfiler& operator=(const GpuProfiler&) = delete;

  /// What the device counts in `work`, which ends with a synchronised stream. The hardware counts
  /// little at a time, so `work` runs several times, each time after `prepare`, which is not
  /// counted. Where nothing can be counted, one counter named `all` says why and what to change.
  std::vector<Counter> count(const std::function<void()>& prepare,
                             const std::function<void()>& work);

 private:
  class Session;
  int ordinal_;
  unsigned warp_slots_;
  std::unique_ptr<Session> session_;
};

}  // namespace reduce_bench
