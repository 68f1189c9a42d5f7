// The input arrays of a point on its devices, and what its outputs must be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/inputs.hpp"
#include "common/labels.hpp"
#include "devices/device.hpp"
#include "kernels/api/pages_axis.hpp"
#include "plan/plan.hpp"
#include "point/oracle.hpp"

namespace reduce_bench {

struct Setup;

/// Memory of the device, or of the host on pages of the size that the variant chooses.
Memory allocate_on(Device& device, std::optional<PageSize> pages, std::size_t size_bytes);

/// One input array, where the variants read it. Only the harness writes to it.
struct InputArray {
  /// What one device has of it: all, or an equal share.
  struct Part {
    Memory on_device;  ///< empty where the backend reads the host's array as it is
    std::byte* data = nullptr;
    std::size_t count = 0;
    std::uint64_t sum = 0;  ///< checksum
  };
  HostArray host;
  std::vector<Part> parts;  ///< of the devices in their order; none where there is no such array
  std::uint64_t sum = 0;    ///< checksum of the whole

  void upload(const std::vector<Device*>& devices, std::optional<PageSize> pages, HostArray array,
              Extent extent);
  /// Where the device of that rank has its part; null where there is no such array.
  std::byte* data(unsigned rank = 0) const { return parts.empty() ? nullptr : parts[rank].data; }
  std::size_t device_bytes(unsigned rank) const {
    return rank < parts.size() ? parts[rank].on_device.size_bytes() : 0;
  }
  std::size_t host_bytes() const { return host.bytes ? host.size_bytes : 0; }
  bool is_unharmed(const std::vector<Device*>& devices, Extent extent) const;
  /// Once the reference is computed the host needs no copy of what the device has, but of values that
  /// the next input may have with other labels.
  void release_copy();
};

/// The inputs of a point, and what its outputs must be. The next point often has the same.
struct Input {
  Operation operation;
  InputKey values_key;
  std::optional<LabelKey> labels_key;
  Lead lead;
  std::size_t overread;
  bool inclusive, any_wins, correctly_rounded;
  std::optional<PageSize> pages;
  std::vector<Device*> devices;  ///< that have it
  Arrays arrays;
  InputArray values, labels;
  Expected expected;
  /// Values in the place of the others whose sums no order rounds, once a point needed them.
  struct Twin {
    InputArray values;
    Expected expected;
  };
  std::optional<Twin> twin;

  /// Makes and uploads the inputs, and computes what is expected of them. `same_values` are those of
  /// an input that has the values of this one; none where there is no such.
  explicit Input(const Setup& setup, InputArray same_values = {});
  /// Whether the point of this setup has the same.
  bool is_of(const Setup& setup) const;
  /// Whether it has the same values, of which the host kept its copy.
  bool has_values_of(const Setup& setup) const;
  /// Gives a point's input its twin (`generate_twin`).
  void make_twin(const Point& point);

  std::size_t device_bytes(unsigned rank) const;
  std::size_t host_bytes() const;
  std::uint64_t sum() const { return values.sum + labels.sum; }
  bool is_unharmed() const {
    return values.is_unharmed(devices, arrays.values) && labels.is_unharmed(devices, arrays.labels);
  }

 private:
  /// Whether its arrays lie where and as those of the setup would.
  bool has_arrays_like(const Setup& setup) const;
};

/// What the reference of the point is computed from.
OperationInput operation_input(const Point& point, const std::byte* values,
                               const std::byte* labels);

}  // namespace reduce_bench
