// What this machine has for each backend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"

namespace reduce_bench {

class Machine {
 public:
  const CudaStatus& cuda() const { return cuda_; }
  /// Looked for when first asked: drivers of OpenCL bring compilers, which take time to load.
  const OpenclStatus& opencl() const;

  /// Why the backend cannot be used; empty where it can.
  std::string unavailable(Backend backend) const;
  /// The devices that `--device` chooses among; 0 where the backend is the host itself.
  std::size_t device_count(Backend backend) const;
  /// Throws UsageError where `--device ordinal` chooses nothing for the backends.
  void check_ordinal(int ordinal, const std::vector<Backend>& backends) const;

 private:
  CudaStatus cuda_ = cuda_status();
  mutable std::optional<OpenclStatus> opencl_;
};

/// The name of the device that has this number where this process looks; empty where there is none
/// or the backend is the host itself.
std::string name_of_device(Backend backend, int ordinal);

}  // namespace reduce_bench
