// Checked CUDA calls, for host code that nvcc need not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "kernels/api/variant.hpp"

namespace reduce_bench::cuda {

/// A failed CUDA call: what was called, on what, and the runtime's reason.
struct CudaError : std::runtime_error {
  CudaError(cudaError_t status, const std::string& what)
      : std::runtime_error(what + ": " + cudaGetErrorName(status) + ": " +
                           cudaGetErrorString(status)),
        code(status) {}
  cudaError_t code;
};

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next check of an unrelated launch would report it again
  throw CudaError(status, what);
}

/// The device is current as long as this object lives; then the one before is again.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (ordinal != before_) check(cudaSetDevice(ordinal), "cudaSetDevice");
  }
  ~CurrentDevice() { cudaSetDevice(before_); }  // a library may have made another one current
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

inline cudaStream_t native(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle);
}

}  // namespace reduce_bench::cuda
