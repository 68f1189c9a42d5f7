// The machine, build and run that results come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "plan/config.hpp"

namespace reduce_bench {

std::string host_name();
/// A checksum of this program's file, which tells builds of one revision apart.
std::string build_id();

/// The compiler of the CUDA backend and its architectures; nothing where it is not in this build.
std::optional<std::string> cuda_compiler();

/// The results document's `environment` block. `gpu` and `opencl` are the devices used, if any.
Json environment_json(const CudaStatus& cuda, const GpuInfo* gpu, const OpenclInfo* opencl,
                      const std::vector<std::string>& command_line, std::uint64_t seed,
                      const std::string& backend_choice);
Json to_json(const GpuInfo& gpu, const CudaStatus& cuda);
Json to_json(const OpenclInfo& device);

/// The part of the environment that a resumed run must share: build, host, device.
Json identity_json(const Json& environment);

}  // namespace reduce_bench
