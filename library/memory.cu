// Workspaces, whose memory a pointer leads to, and what a code means.

#include <cstdlib>
#include <cstring>

#include "library/calls.hpp"

using namespace onepass;
using namespace onepass::numbers;

#ifdef __CUDACC__

ONEPASS_EXPORT int onepass_create_workspace(int device, size_t bytes, void** workspace) {
  return on_device(device, [&] {
    *workspace = nullptr;
    if (bytes < kZeroedBytes) return cudaErrorInvalidValue;
    reduce_bench::cuda::check(cudaMalloc(workspace, bytes), "cudaMalloc");
    // Streams that do not wait for the default one must find it done.
    cudaError_t status = cudaMemset(*workspace, 0, kZeroedBytes);
    if (status == cudaSuccess) status = cudaStreamSynchronize(nullptr);
    if (status == cudaSuccess) return status;
    cudaFree(*workspace);
    *workspace = nullptr;
    return status;
  });
}
ONEPASS_EXPORT int onepass_destroy_workspace(int device, void* workspace) {
  return on_device(device, [&] { return cudaFree(workspace); });
}

ONEPASS_EXPORT int onepass_device_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    cudaGetLastError();
    return -2;
  }
  const bool of_device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return of_device ? attributes.device : -1;
}
ONEPASS_EXPORT const char* onepass_error_text(int code) {
  return cudaGetErrorString(static_cast<cudaError_t>(code));
}

#else  // the emulator, whose device has the memory of the host

ONEPASS_EXPORT int onepass_create_workspace(int, size_t bytes, void** workspace) {
  constexpr size_t kAlignment = 256;
  if (bytes < kZeroedBytes) return cudaErrorInvalidValue;
  *workspace = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*workspace == nullptr) return cudaErrorUnknown;
  // What need not be zero holds garbage, as on a device.
  std::memset(*workspace, 0xa5, bytes);
  std::memset(*workspace, 0, kZeroedBytes);
  return cudaSuccess;
}
ONEPASS_EXPORT int onepass_destroy_workspace(int, void* workspace) {
  std::free(workspace);
  return cudaSuccess;
}
ONEPASS_EXPORT int onepass_device_of(const void*) { return 0; }
ONEPASS_EXPORT const char* onepass_error_text(int code) {
  switch (code) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorNotSupported: return "operation not supported";
    default: return "unknown error";
  }
}

#endif
