#include "devices/machine.hpp"

#include <fmt/format.h>

#include "common/error.hpp"

namespace reduce_bench {

const OpenclStatus& Machine::opencl() const {
  if (!opencl_) opencl_ = opencl_status();
  return *opencl_;
}

std::string Machine::unavailable(Backend backend) const {
  switch (backend) {
    case Backend::kCuda: return cuda().unavailable;
    case Backend::kOpencl: return opencl().unavailable;
    case Backend::kCpu:
    case Backend::kEmu: break;
  }
  return {};
}

std::size_t Machine::device_count(Backend backend) const {
  switch (backend) {
    case Backend::kCuda: return cuda().devices.size();
    case Backend::kOpencl: return opencl().devices.size();
    case Backend::kCpu:
    case Backend::kEmu: break;
  }
  return 0;
}

void Machine::check_ordinal(int ordinal, const std::vector<Backend>& backends) const {
  std::string why_not = "nothing runs on a backend that has numbered devices";
  bool chooses = false;
  for (const Backend backend : backends) {
    if (const std::string reason = unavailable(backend); !reason.empty()) why_not = reason;
    const std::size_t visible = device_count(backend);
    if (visible == 0) continue;
    chooses = true;
    if (static_cast<std::size_t>(ordinal) >= visible)
      throw UsageError(fmt::format(
          "--device {}: no such device of {}, {} visible; 'reduce-bench info' lists them", ordinal,
          name_of(backend), visible));
  }
  if (!chooses)
    throw UsageError(fmt::format("--device {}: {}; leave --device out", ordinal, why_not));
}

std::string name_of_device(Backend backend, int ordinal) {
  const auto name_in = [&](const auto& devices) -> std::string {
    const auto index = static_cast<std::size_t>(ordinal);
    return index < devices.size() ? devices[index].name : "";
  };
  switch (backend) {
    case Backend::kCuda: return name_in(cuda_status().devices);
    case Backend::kOpencl: return name_in(opencl_status().devices);
    case Backend::kCpu:
    case Backend::kEmu: break;
  }
  return {};
}

std::vector<Device*> Device::gather(unsigned count) {
  if (count > 1)
    throw DeviceLacks(
        fmt::format("asks for {} devices, 1 can be used on {}", count, name_of(backend())));
  return {this};
}

std::unique_ptr<Device> make_device(Backend backend, int ordinal) {
  switch (backend) {
    case Backend::kCuda: return make_cuda_device(ordinal);
    case Backend::kOpencl: return make_opencl_device(ordinal);
    case Backend::kCpu: return make_cpu_device();
    case Backend::kEmu: break;
  }
  return make_emu_device();
}

}  // namespace reduce_bench
