// What the harness needs of a backend: memory, a stream, and samples of elapsed time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "devices/counters.hpp"
#include "devices/energy.hpp"
#include "devices/machine_code.hpp"
#include "kernels/api/variant.hpp"
#include "plan/mode.hpp"

namespace reduce_bench {

/// Memory of a backend, released with this object.
class Memory {
 public:
  Memory() = default;
  Memory(void* data, std::size_t size_bytes, std::function<void(void*)> release)
      : data_(data, std::move(release)), size_bytes_(size_bytes) {}
  std::byte* data() const { return static_cast<std::byte*>(data_.get()); }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::unique_ptr<void, std::function<void(void*)>> data_{nullptr, [](void*) {}};
  std::size_t size_bytes_ = 0;
};

/// An allocation was refused: the point is recorded as failed, and the run goes on.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The backend cannot go on: every later call would fail too (a CUDA fault poisons the context).
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Device;

/// Around each sample of work that is not trusted to do what it did when it was verified.
class Guard {
 public:
  virtual ~Guard() = default;
  /// Called while the device is idle.
  virtual void before_sample() = 0;
  /// Queues the guard's last work before the clock starts. Nothing that was queued earlier, on any
  /// stream, can see what it does.
  virtual void at_begin() = 0;
  /// Queues what comes first when the time has ended.
  virtual void at_end() = 0;
  /// When all streams are done.
  virtual void after_sample() = 0;
};

/// What several processes do that take a sample together, each with work of its own. One of them
/// times it, and its clock begins before the others' work and ends after it.
class Together {
 public:
  virtual ~Together() = default;

  /// Waits until all are prepared; its time does not count.
  virtual void ready() = 0;
  /// The one that times begins its work by `release`, then lets the others begin theirs.
  virtual void begin(const std::function<void()>& release) = 0;
  /// Whether the results are on all, so that the sample ends with the last.
  virtual bool ends_on_all() const = 0;
  /// Then waits until the work of all is done.
  virtual void end() = 0;
};

/// The operation to time.
struct Work {
  std::function<void()> enqueue;
  bool synchronous = false;  ///< cannot be queued behind a blocked stream (see Variant)
  unsigned kernels = 1;      ///< launches per call, so that a batch fits the launch queue
  std::vector<Device*>
      devices;               ///< that the work is spread over; empty: it is the one's that times it
  bool ends_on_all = false;  ///< it ends when all of these have its results, not the first alone
  /// Set for plug-ins alone, whose batches are then as short as the clock allows.
  Guard* guard = nullptr;
  Together* together = nullptr;  ///< with other processes, which have devices of their own
};

struct Sample {
  double ns = 0;                       ///< per call
  std::optional<double> sm_clock_mhz;  ///< of a GPU, measured right after the work
};

/// One way of reading memory, for the ceiling of read bandwidth.
struct StreamShape {
  std::string name;  ///< loads, threads and blocks, in a clause
  std::function<void()> enqueue;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual Backend backend() const = 0;
  /// Whether variants read the host's memory as it is, without a copy.
  virtual bool shares_host_memory() const { return false; }
  /// Whether the device is as before after a call that threw. A kernel's fault may be reported by
  /// any later call and leave nothing behind that can be used.
  virtual bool survives_errors() const { return false; }
  virtual const DeviceTraits& traits() const = 0;
  /// So many devices, this one first, for a point that is spread over them; they live as long as
  /// this one. Throws DeviceLacks where there are fewer that are alike and reach each other's
  /// memory.
  virtual std::vector<Device*> gather(unsigned count);
  /// Whether the others are of other processes. Then a call here has the share of this device
  /// alone, and the others do their part of the call that they were told of with `share`.
  virtual bool gathers_processes() const { return false; }
  /// Comes before the first call, and where its arrays are others than before.
  virtual void share(const Variant&, const Problem&, std::span<const DeviceShare>) {}
  /// Puts one call on the streams of all devices that it is spread over.
  virtual void call(const Work& work) { work.enqueue(); }
  virtual std::size_t free_bytes() const = 0;

  /// Device memory, aligned to 256 bytes. Throws OutOfMemory.
  virtual Memory allocate(std::size_t size_bytes) = 0;
  /// Host memory that the device can copy to. Throws OutOfMemory.
  virtual Memory allocate_host(std::size_t size_bytes) = 0;
  virtual void upload(void* to, const void* from, std::size_t size_bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t size_bytes) = 0;
  virtual void fill(void* to, unsigned char byte, std::size_t size_bytes) = 0;
  /// What the host's `checksum` (inputs.hpp) gives, computed where the data is.
  virtual std::uint64_t checksum(const void* data, std::size_t n, std::size_t element_bytes) = 0;

  virtual Stream stream() = 0;
  /// Waits for the stream. Throws DeviceLost where a kernel failed.
  virtual void synchronize() = 0;

  /// Whether work can be timed in the mode. Graphs are CUDA's, and never of synchronous work.
  /// OpenCL has no wall time: its queues have clocks of their own.
  virtual bool has_mode(Mode mode, const Work& work) const = 0;
  /// Times `batch` calls together: in the modes cold and wall caches are flushed before the first
  /// alone, so there the batch is 1.
  virtual Sample sample(Mode mode, const Work& work, unsigned batch) = 0;
  /// What the hardware counts of a call, in the state of the caches that a sample of the mode
  /// begins with. It may take several calls, before each of which `restore` puts the outputs back.
  /// Empty where the backend counts nothing.
  virtual std::vector<Counter> count(Mode, const Work&, const std::function<void()>& /*restore*/) {
    return {};
  }
  /// Sees the machine code that is loaded from now on; comes before the first call whose `code` is
  /// asked for.
  virtual void watch_code() {}
  /// The machine code of the kernels of a call. Nothing where the backend has no machine code of
  /// its own.
  virtual std::optional<MachineCode> code(const Work&) { return std::nullopt; }
  /// The energy of a call among many. Nothing where the backend has no counter of energy.
  virtual std::optional<Energy> energy(const Work&) { return std::nullopt; }
  /// By the host's clock, an empty launch, a copy of four bytes to the host and the wait for it, on an
  /// idle device. Nothing where the host waits for no device.
  virtual std::optional<double> round_trip_ns() { return std::nullopt; }
  /// How long a sample must take for the clock's own time not to count in it.
  virtual double least_sample_ns() const { return 1e6; }
  /// Frees what `sample` keeps for the work timed last (a captured graph). Throws where it was
  /// timed by a clock that did not run as the system's does.
  virtual void end_of_work() {}
  /// The largest SM clock, where the backend knows it.
  virtual std::optional<double> max_sm_clock_mhz() const { return std::nullopt; }

  /// Read-only streams over `size_bytes` of existing memory.
  virtual std::vector<StreamShape> read_shapes(const std::byte* data, std::size_t size_bytes) = 0;
  virtual std::function<void()> copy(std::byte* to, const std::byte* from,
                                     std::size_t size_bytes) = 0;
  /// A kernel, or on the host a function, that does nothing.
  virtual std::function<void()> empty_launch() = 0;

  /// How long a word takes from this device to another of `gather`, one way.
  virtual double word_ns(Device&) { throw std::logic_error("a device without others"); }
  /// The links of this device to others that are up; nothing where nobody tells.
  virtual std::optional<unsigned> link_count() { return std::nullopt; }
};

std::unique_ptr<Device> make_cpu_device();
std::unique_ptr<Device> make_emu_device();
/// Throws UsageError where the ordinal does not exist, DeviceLost where the device cannot be used.
std::unique_ptr<Device> make_cuda_device(int ordinal);
std::unique_ptr<Device> make_opencl_device(int ordinal);
/// The device of a backend; `ordinal` where the backend has several.
std::unique_ptr<Device> make_device(Backend backend, int ordinal);

/// What `info` tells about a CUDA device, and results files record.
struct GpuInfo {
  int ordinal = 0;
  std::string name, compute_capability;
  unsigned sm_count = 0;
  std::size_t l2_bytes = 0, memory_bytes = 0;
  std::optional<double> sm_clock_mhz_max, memory_clock_mhz_max;
  std::optional<unsigned> memory_bus_bits;
  std::optional<double> peak_gb_per_s;  ///< two transfers per clock over the bus, as in datasheets
};
struct CudaStatus {
  std::vector<GpuInfo> devices;
  std::string unavailable;  ///< why no device can be used; empty where one can
  std::string runtime_version, driver_api_version, driver_version;
  std::string cccl_version;  ///< of the CUB and Thrust that this build compiled
};
/// Looks for CUDA devices; never throws.
CudaStatus cuda_status();

/// The same for an OpenCL device. They are numbered through all platforms, GPUs first.
struct OpenclInfo {
  int ordinal = 0;
  std::string platform, platform_version, name, vendor, version, driver_version;
  std::string kind;  ///< gpu, cpu or accelerator
  unsigned compute_units = 0;
  std::optional<unsigned> wavefront;  ///< work-items that run together
  std::size_t most_work_items = 0;    ///< of a work-group
  std::size_t local_bytes = 0, memory_bytes = 0, largest_buffer_bytes = 0, cache_bytes = 0;
  std::optional<double> clock_mhz_max;
  std::size_t timer_resolution_ns = 0;
  bool has_f64 = false;
};
struct OpenclStatus {
  std::vector<OpenclInfo> devices;
  std::string unavailable;  ///< why no device can be used; empty where one can
};
/// Looks for OpenCL devices; never throws.
OpenclStatus opencl_status();

}  // namespace reduce_bench
