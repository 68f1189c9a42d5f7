// Counts what a GPU does, by CUPTI's range profiler, which is loaded when it is needed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "devices/counters.hpp"
#include "devices/machine_code.hpp"

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

  /// Sees from now on which machine code is loaded: before the first kernel whose code is asked for.
  void watch_code();

  /// What the device counts in `work`, which ends with a synchronised stream. The hardware counts
  /// little at a time, so `work` runs several times, each time after `prepare`, which is not
  /// counted. Where nothing can be counted, one counter named `all` says why and what to change.
  std::vector<Counter> count(const std::function<void()>& prepare,
                             const std::function<void()>& work);

  /// The code of the kernels that `work` launches, which is called once.
  MachineCode code(const std::function<void()>& work);

 private:
  class Session;
  class CodeWatch;
  int ordinal_;
  unsigned warp_slots_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<CodeWatch> watch_;
  std::string unwatched_;  ///< why no code can be seen
};

}  // namespace reduce_bench
