// Stands in for cuda_device.cu in a build without nvcc.

#include "common/error.hpp"
#include "devices/device.hpp"

namespace reduce_bench {

CudaStatus cuda_status() {
  CudaStatus status;
  status.unavailable = "this build has no CUDA backend: nvcc was not found when it was configured";
  return status;
}

std::unique_ptr<Device> make_cuda_device(int) { throw UsageError(cuda_status().unavailable); }

}  // namespace reduce_bench
