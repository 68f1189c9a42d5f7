// What a point asks for, before anything is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "kernels/api/devices.hpp"
#include "kernels/api/pages_axis.hpp"
#include "plan/plan.hpp"
#include "point/execute.hpp"
#include "point/input.hpp"

namespace reduce_bench {

/// Why the combination cannot run at all; empty where it can.
std::string unsupported(const Variant& variant, const Problem& problem, const Point& point);

/// What a supported combination needs to run. The first five members say which; the others are
/// derived from them.
struct Setup {
  const Point& point;
  const Variant& variant;
  const Problem& problem;
  const ExecuteOptions& options;
  Device& device;  ///< the first of the devices
  std::optional<Defect> defect = variant.defect != nullptr ? variant.defect(problem) : std::nullopt;
  Workspace workspace = variant.workspace != nullptr ? variant.workspace(problem) : Workspace{};
  std::size_t overread = variant.overread != nullptr ? variant.overread(problem) : 0;
  Arrays arrays = problem.arrays();
  /// That the point is spread over. `gather` throws DeviceLacks where there are too few.
  std::vector<Device*> devices = device.gather(devices_of(problem));
  std::optional<PageSize> pages = pages_of(point.params);

  /// A plug-in: nothing that it calls is this project's.
  bool is_foreign() const { return point.entry->plugin != nullptr; }
  /// Whether each device is of a process of its own, and has a call of its own.
  bool is_of_processes() const { return devices.size() > 1 && device.gathers_processes(); }
  Traffic traffic(const Expected& expected) const;
  /// Most operator applications between an input and a result.
  std::uint64_t depth() const;

  /// Why the devices that were gathered are of no use; empty where they are.
  std::string missing_reach() const;
  /// Why there is too little memory; empty where there is enough. What is carried from the last point
  /// counts as available: it is freed first.
  std::string missing_memory(const Carried& carried) const;
  /// The same for a second input (`Input::make_twin`) beside the first.
  std::string missing_memory_of_twin(const Expected& expected) const;

 private:
  std::size_t around_bytes() const;
  std::size_t host_bytes_needed() const;
};

/// `1.5 MB`.
std::string megabytes(std::size_t bytes);

}  // namespace reduce_bench
