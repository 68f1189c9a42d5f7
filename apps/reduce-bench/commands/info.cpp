// reduce-bench info: the machine, the build and the measured ceilings.

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "devices/machine.hpp"
#include "results/environment.hpp"
#include "results/results.hpp"

namespace reduce_bench {
namespace {

int info(bool as_json) {
  const Machine machine;
  const CudaStatus& cuda = machine.cuda();
  const bool has_gpu = cuda.unavailable.empty();
  Json document{
      {"environment",
       environment_json(
           cuda, has_gpu ? &cuda.devices[0] : nullptr, nullptr, {"reduce-bench", "info"}, 0,
           has_gpu ? "cuda: a device is present" : fmt::format("cpu: {}", cuda.unavailable))}};
  Json devices = Json::array();
  for (const GpuInfo& gpu : cuda.devices) devices.push_back(to_json(gpu, cuda));
  document["cuda_devices"] = devices;
  Json opencl_devices = Json::array();
  for (const OpenclInfo& device : machine.opencl().devices)
    opencl_devices.push_back(to_json(device));
  document["opencl_devices"] = opencl_devices;
  const auto device = make_device(has_gpu ? Backend::kCuda : Backend::kCpu, 0);
  const std::size_t bytes = has_gpu ? std::size_t{1} << 30 : std::size_t{1} << 28;
  const Ceilings ceilings = measure_ceilings(*device, {std::size_t{1} << 16, bytes});
  document["ceilings"] = {{std::string(name_of(device->backend())), to_json(ceilings)}};
  if (as_json) {
    fmt::print("{}\n", json_text(document, 2));
    return 0;
  }
  const Json& env = document["environment"];
  const auto text = [](const Json& value) {
    return value.is_null()     ? std::string("none")
           : value.is_string() ? value.get<std::string>()
                               : value.dump();
  };
  fmt::print("Backend:       {}\n", text(env["backend_choice"]));
  for (const Json& gpu : devices)
    fmt::print(
        "GPU {}:         {}, compute capability {}, {} SMs, {:.1f} GB, L2 {:.0f} MB, "
        "datasheet {} GB/s, driver {}\n",
        text(gpu["index"]), text(gpu["name"]), text(gpu["compute_capability"]),
        text(gpu["sm_count"]), gpu["memory_bytes"].get<double>() / 1e9,
        gpu["l2_bytes"].get<double>() / 1e6, text(gpu["peak_gb_per_s"]), text(gpu["driver"]));
  fmt::print("CPU:           {}, {} logical cores, L2 {} bytes, last-level cache {} bytes\n",
             text(env["cpu"]["model"]), text(env["cpu"]["logical_cores"]),
             text(env["cpu"]["l2_bytes"]), text(env["cpu"]["llc_bytes"]));
  fmt::print("CUDA:          runtime {}, driver supports {}\n", text(env["cuda_runtime"]),
             text(env["cuda_driver"]));
  if (opencl_devices.empty()) fmt::print("OpenCL:        {}\n", machine.opencl().unavailable);
  for (const Json& each : opencl_devices)
    fmt::print(
        "OpenCL {}:      {} ({}), {}, {} compute units, wavefront {}, work-groups of at most {}, "
        "{} bytes of local memory, f64 {}, driver {}\n",
        text(each["index"]), text(each["name"]), text(each["platform"]), text(each["version"]),
        text(each["compute_units"]), text(each["wavefront"]), text(each["max_work_group_size"]),
        text(each["local_memory_bytes"]), each["f64"] == true ? "yes" : "no", text(each["driver"]));
  fmt::print("Build:         {}, {} ({}), CUDA compiler {}, CUB and Thrust {}\n",
             text(env["compiler"]), text(env["build_type"]), text(env["flags"]),
             text(env["cuda_compiler"]), text(env["cccl"]));
  fmt::print("Revision:      {}{}\n", text(env["git"]["revision"]),
             env["git"]["dirty"] == true ? " with uncommitted changes" : "");
  for (const Ceilings::Read& read : ceilings.reads)
    fmt::print("Read ceiling:  {:.4g} GB/s over {} bytes on {} ({})\n", read.gb_per_s(),
               read.size_bytes, name_of(device->backend()), read.shape);
  if (!ceilings.reads.empty())  // else memory was short of them all
    fmt::print("Copy ceiling:  {:.4g} GB/s\nEmpty launch:  {:.4g} us\n", ceilings.copy_gb_per_s(),
               ceilings.empty_launch_ns / 1e3);
  return 0;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("info", "Devices, build and measured ceilings");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "JSON on standard output instead of text");
  command->footer("Example: reduce-bench info --json");
  command->callback([=, &action] { action = [=] { return info(*as_json); }; });
}

}  // namespace reduce_bench
