// A device of OpenCL as kernels and the harness share it: one queue, its memory and its programs.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300  // for the names of queries
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/api/variant.hpp"

namespace reduce_bench::opencl {

/// A failed call: what failed, on what, and the error by its name in OpenCL.
struct OpenclError : std::runtime_error {
  OpenclError(cl_int status, const std::string& what);
  cl_int code;
};

/// Runs f, whose calls are of the C++ bindings; what they throw becomes an OpenclError.
template <class F>
decltype(auto) checked(const std::string& what, F&& f) {
  try {
    return f();
  } catch (const cl::Error& error) {
    throw OpenclError(error.err(), what + ": " + error.what());
  }
}

/// OpenCL C: the file kernels/<operation>/<id>.cl, embedded at build time (cmake/embed_opencl.py), and
/// the prelude kernels/platform/opencl.cl that stands before each. Throws std::logic_error for an id
/// without a file.
std::string_view source_of(std::string_view id);
std::string_view prelude();

/// A kernel and its program: how messages name it, its source, and what it needs.
struct KernelSource {
  std::string_view id;    ///< also of the kernel's function, with `/` and `-` as `_`
  std::string_view text;  ///< OpenCL C
  std::string options;    ///< of the compiler
  std::vector<std::string_view> extensions;
  std::string_view prelude;  ///< before the text
};

/// A kernel of a program that was built, and the most work-items of a work-group of it.
struct BuiltKernel {
  cl::Kernel kernel;
  std::size_t most_work_items = 0;
};

struct NDRange {
  std::size_t work_groups;
  std::size_t work_items;  ///< of a work-group
  std::size_t local_bytes = 0;
};

/// A device, a context of it alone, and an in-order queue that profiles.
///
/// The harness and the variants count in addresses (margins around arrays, parts of a workspace),
/// which OpenCL 1.2 does not have for device memory. Each buffer therefore gets a range of addresses
/// in which no memory lies: an address names a buffer and an offset, and the host cannot read there
/// by mistake.
class Queue {
 public:
  explicit Queue(cl::Device device);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  const cl::Device& device() const { return device_; }
  const std::string& name() const { return name_; }
  cl::CommandQueue& queue() { return queue_; }
  cl::Context& context() { return context_; }

  std::byte* allocate(std::size_t size_bytes);
  void release(std::byte* address) noexcept;
  std::size_t allocated_bytes() const { return allocated_bytes_; }

  struct Place {
    cl::Buffer buffer;
    std::size_t offset_bytes;
  };
  /// The buffer in which the address lies; nothing for an address of the host.
  std::optional<Place> find(const void* address) const;
  /// The same for an address that must be of the device.
  Place place_of(const void* address) const;

  /// Builds the program with its options, once for each, and keeps it. Throws DeviceLacks where the
  /// device has not the extensions, OpenclError with the compiler's log where the build fails.
  BuiltKernel& kernel(const KernelSource& source);

  void launch(BuiltKernel& kernel, const NDRange& range);
  /// Stores `value` as often as `count` says.
  template <class T>
  void fill(void* to, T value, std::size_t count) {
    if (count == 0) return;
    const Place place = place_of(to);
    checked("filling memory of " + name_, [&] {
      queue_.enqueueFillBuffer(place.buffer, value, place.offset_bytes, count * sizeof(T), nullptr,
                               event());
    });
    keep_first();
  }
  void copy(void* to, const void* from, std::size_t size_bytes);
  void finish();

  /// Forgets the commands so far. Those that follow are timed until `elapsed_ns` is asked for.
  void start_timing();
  /// The time from the start of the first command to the end of the last, by the device's clock,
  /// after `finish`; nothing where there was none. Ends the timing.
  std::optional<double> elapsed_ns();

 private:
  struct Allocation {
    cl::Buffer buffer;
    std::size_t size_bytes = 0, reserved_bytes = 0;
  };
  /// Where the next command's event goes; null unless commands are timed.
  cl::Event* event() { return timing_ ? &last_ : nullptr; }
  void keep_first();

  cl::Device device_;
  std::string name_, extensions_;
  std::size_t local_bytes_, most_work_items_, largest_buffer_bytes_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<std::string, BuiltKernel> kernels_;
  std::map<const std::byte*, Allocation> memory_;
  std::size_t allocated_bytes_ = 0;
  bool timing_ = false;
  cl::Event first_, last_;
};

/// Sets a kernel's arguments in their order. An array is two: the buffer, and where in it the array
/// begins, in elements. std::size_t is passed as ulong.
class ArgumentList {
 public:
  ArgumentList(const Queue& queue, cl::Kernel& kernel) : queue_(queue), kernel_(kernel) {}

  template <class T>
  void add(T* array) {
    const Queue::Place place = queue_.place_of(array);
    if (place.offset_bytes % sizeof(T) != 0)
      throw std::logic_error("an array begins within an element");
    kernel_.setArg(next_++, place.buffer);
    kernel_.setArg(next_++, static_cast<cl_ulong>(place.offset_bytes / sizeof(T)));
  }
  void add(std::size_t number) { kernel_.setArg(next_++, static_cast<cl_ulong>(number)); }
  void add(unsigned number) { kernel_.setArg(next_++, static_cast<cl_uint>(number)); }
  template <class T>
    requires(std::is_enum_v<T>)
  void add(T value) {
    add(static_cast<unsigned>(value));
  }
  void add_local(std::size_t size_bytes) { kernel_.setArg(next_++, cl::Local(size_bytes)); }

 private:
  const Queue& queue_;
  cl::Kernel& kernel_;
  cl_uint next_ = 0;
};

}  // namespace reduce_bench::opencl
