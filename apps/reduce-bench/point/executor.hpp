// What runs the points of one backend, wherever that is.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "point/ceilings.hpp"
#include "point/execute.hpp"

namespace reduce_bench {

class Executor {
 public:
  virtual ~Executor() = default;

  /// Runs one point; what goes wrong is recorded as the point's. Nothing where `patience`
  /// interrupts came first: the point was given up. Throws DeviceLost where no further point can
  /// run.
  virtual std::optional<Record> execute(const Point& point, const ExecuteOptions& options,
                                        int patience) = 0;

  /// Nothing where an interrupt came first. Throws DeviceLost where they cannot be measured.
  /// `between_devices` asks for those of two devices, too.
  virtual std::optional<Ceilings> measure_ceilings(const std::vector<std::size_t>& sizes_bytes,
                                                   bool between_devices,
                                                   const BeginSize& begin_size) = 0;

  /// Lets what follows run in a fresh process, with a context of its own.
  virtual void renew() = 0;
};

}  // namespace reduce_bench
