#include "results/environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "common/cpu_model.hpp"
#include "common/inputs.hpp"
#include "common/revision.hpp"
#include "common/text.hpp"
#include "devices/processor.hpp"
#include "kernels/api/catalog.hpp"

namespace reduce_bench {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = "clang++ " CXX_COMPILER_VERSION;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

std::string host_name() {
  utsname name{};
  return uname(&name) == 0 ? name.nodename : "unknown";
}

std::string build_id() { return file_checksum("/proc/self/exe"); }

std::optional<std::string> cuda_compiler() {
  if (!cuda_is_built()) return std::nullopt;
  return CUDA_COMPILER_TEXT " for sm_" CUDA_ARCHS_TEXT;
}

Json to_json(const GpuInfo& gpu, const CudaStatus& cuda) {
  return {{"name", gpu.name},
          {"compute_capability", gpu.compute_capability},
          {"sm_count", gpu.sm_count},
          {"l2_bytes", gpu.l2_bytes},
          {"memory_bytes", gpu.memory_bytes},
          {"sm_clock_mhz_max", or_null(gpu.sm_clock_mhz_max)},
          {"memory_clock_mhz_max", or_null(gpu.memory_clock_mhz_max)},
          {"memory_bus_bits", or_null(gpu.memory_bus_bits)},
          {"peak_gb_per_s", or_null(gpu.peak_gb_per_s)},
          {"driver", or_null(cuda.driver_version)},
          {"index", gpu.ordinal}};
}

Json to_json(const OpenclInfo& device) {
  return {{"platform", device.platform},
          {"platform_version", device.platform_version},
          {"name", device.name},
          {"vendor", device.vendor},
          {"version", device.version},
          {"driver", device.driver_version},
          {"kind", device.kind},
          {"compute_units", device.compute_units},
          {"wavefront", or_null(device.wavefront)},
          {"max_work_group_size", device.most_work_items},
          {"local_memory_bytes", device.local_bytes},
          {"memory_bytes", device.memory_bytes},
          {"max_buffer_bytes", device.largest_buffer_bytes},
          {"cache_bytes", device.cache_bytes},
          {"clock_mhz_max", or_null(device.clock_mhz_max)},
          {"timer_resolution_ns", device.timer_resolution_ns},
          {"f64", device.has_f64},
          {"index", device.ordinal}};
}

Json environment_json(const CudaStatus& cuda, const GpuInfo* gpu, const OpenclInfo* opencl,
                      const std::vector<std::string>& command_line, std::uint64_t seed,
                      const std::string& backend_choice) {
  utsname system{};
  const bool named = uname(&system) == 0;
  return {{"host", host_name()},
          {"cpu",
           {{"model", cpu_model()},
            {"logical_cores", logical_cores()},
            {"l2_bytes", or_null(l2_cache_bytes())},
            {"llc_bytes", or_null(last_level_cache_bytes())}}},
          {"gpu", gpu == nullptr ? Json(nullptr) : to_json(*gpu, cuda)},
          {"opencl", opencl == nullptr ? Json(nullptr) : to_json(*opencl)},
          {"cuda_runtime", or_null(cuda.runtime_version)},
          {"cuda_driver", or_null(cuda.driver_api_version)},
          {"os", named ? fmt::format("{} {} {}", system.sysname, system.release, system.machine)
                       : "unknown"},
          {"compiler", kCompiler},
          {"cuda_compiler", or_null(cuda_compiler())},
          {"cccl", or_null(cuda.cccl_version)},
          {"flags", BUILD_FLAGS},
          {"build_type", BUILD_TYPE},
          {"git", git_json()},
          {"build_id", build_id()},
          {"date_utc", utc_now()},
          {"command_line", command_line},
          {"seed", seed},
          {"backend_choice", backend_choice}};
}

Json identity_json(const Json& environment) {
  Json identity;
  for (const char* key : {"host", "cpu", "gpu", "opencl", "cuda_driver", "compiler",
                          "cuda_compiler", "flags", "build_type", "build_id", "git", "seed"})
    identity[key] = environment.at(key);
  return identity;
}

}  // namespace reduce_bench
