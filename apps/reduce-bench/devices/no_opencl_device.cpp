// Stands in for opencl_device.cpp in a build without OpenCL.

#include "common/error.hpp"
#include "devices/device.hpp"

namespace reduce_bench {

OpenclStatus opencl_status() {
  return {.devices = {},
          .unavailable =
              "this build has no OpenCL backend: CL/opencl.hpp or libOpenCL was not found when it "
              "was configured"};
}

std::unique_ptr<Device> make_opencl_device(int) { throw UsageError(opencl_status().unavailable); }

}  // namespace reduce_bench
