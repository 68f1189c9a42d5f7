// The axes of the variants that spread one problem over several devices.
#pragma once

#include <cstddef>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

inline constexpr unsigned kMostDevices = 16;

/// How many devices have a share of the inputs.
inline ParamSpec devices_axis() {
  return {"devices",
          "1",
          {"1", "2", "3", "4", "6", "8", "16", "all"},
          "that have an equal share of the inputs each; all: those here that reach each other"};
}
/// It changes where results must be.
inline ParamSpec result_axis() {
  return {"result", "one", {"one", "all"}, "whether the first device or each one has the results"};
}

/// 1 for variants without the axis.
inline unsigned devices_of(const Params& params, const DeviceTraits& device) {
  if (!params.has("devices")) return 1;
  return params.is("devices", "all") ? device.devices : params.number("devices");
}
inline unsigned devices_of(const Problem& problem) {
  return devices_of(problem.params, problem.device);
}
inline bool results_on_all(const Params& params) {
  return params.has("result") && params.is("result", "all");
}

/// How many of n inputs the device of that rank has: the first ones have one more where n leaves a rest.
constexpr std::size_t share_of(std::size_t n, unsigned devices, unsigned rank) {
  return n / devices + (rank < n % devices ? 1 : 0);
}
/// The problem of the first device, which has the most inputs.
inline Problem largest_share(Problem problem) {
  problem.n = share_of(problem.n, devices_of(problem), 0);
  return problem;
}

}  // namespace reduce_bench
