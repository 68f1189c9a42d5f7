// The `opencl` backend: memory, checked calls, and samples by the device's own clock.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "common/error.hpp"
#include "common/kept_variables.hpp"
#include "common/mix.hpp"
#include "common/pages.hpp"
#include "devices/device.hpp"
#include "devices/processor.hpp"
#include "kernels/platform/opencl_queue.hpp"

namespace reduce_bench {
namespace {

using opencl::ArgumentList;
using opencl::BuiltKernel;
using opencl::checked;
using opencl::KernelSource;
using opencl::OpenclError;
using opencl::Queue;
using Clock = std::chrono::steady_clock;

/// The kernels of the harness. WORD, GAMMA and LOADS come from the host.
constexpr std::string_view kKernels = R"~~(
ulong scramble(ulong x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
  return x ^ (x >> 31);
}

kernel void checksum(global const WORD* data, ulong data_begin, ulong n,
                     global ulong* sums, ulong sums_begin) {
  data += data_begin;
  ulong sum = 0;
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
    sum += scramble((ulong)data[i] + (i + 1) * GAMMA);
  sums[sums_begin + get_global_id(0)] = sum;
}

// Reads everything. The store keeps the compiler from dropping the loads, and is made only where what
// was read combines to one pattern of bits.
kernel void read_stream(global const uint4* data, ulong data_begin, ulong count,
                        global uint* never, ulong never_begin) {
  data += data_begin;
  const ulong stride = get_global_size(0);
  ulong i = get_global_id(0);
  uint4 seen = 0;
  for (; i + (LOADS - 1) * stride < count; i += LOADS * stride) {
    uint4 v[LOADS];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) v[k] = data[i + k * stride];
#pragma unroll
    for (uint k = 0; k < LOADS; ++k) seen ^= v[k];
  }
  for (; i < count; i += stride) seen ^= data[i];
  if ((seen.x | seen.y | seen.z | seen.w) == 0x9e3779b9u) never[never_begin] = seen.x;
}

// Reads and writes everything, so that nothing else stays in the caches.
kernel void touch(global uint* words, ulong words_begin, ulong count) {
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) words[words_begin + i] += 1;
}

kernel void nothing() {}
)~~";

KernelSource own_kernel(std::string_view name, std::string_view word = "uint", unsigned loads = 1) {
  return {.id = name,
          .text = kKernels,
          .options = fmt::format("-cl-std=CL1.2 -D WORD={} -D GAMMA={:#x}ul -D LOADS={}", word,
                                 kGoldenGamma, loads)};
}

/// Larger than the last-level cache of the GPUs there are (256 MB): what devices tell of their
/// caches is not all of them. NVIDIA's OpenCL tells of the first level.
constexpr std::size_t kLeastFlushBytes = std::size_t{256} << 20;

/// How much faster than the host's clock a device's may run before its times are not believed.
constexpr double kClockTolerance = 0.02;

std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  {
    // The loader of CUDA 13.0 cuts the list of drivers at its first colon where it stands in the
    // environment. A worker process, which gets that environment, would see other devices.
    const KeptVariables kept{"OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"};
    cl::Platform::get(&platforms);
  }
  std::vector<cl::Device> devices;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> of_platform;
    try {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &of_platform);
    } catch (const cl::Error&) {
      continue;  // it has none
    }
    devices.insert(devices.end(), of_platform.begin(), of_platform.end());
  }
  std::stable_partition(devices.begin(), devices.end(), [](const cl::Device& device) {
    return (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
  });
  return devices;
}

std::string kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? "cpu" : "accelerator";
}

/// The answer to a query that not every device understands.
template <class T>
std::optional<unsigned> number(const cl::Device& device, cl_device_info query) {
  T value = 0;
  if (clGetDeviceInfo(device(), query, sizeof(value), &value, nullptr) != CL_SUCCESS || value == 0)
    return std::nullopt;
  return static_cast<unsigned>(value);
}

std::optional<unsigned> wavefront_of(const cl::Device& device) {
  if (const auto width = number<std::size_t>(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE))
    return width;
  if (const auto width = number<cl_uint>(device, CL_DEVICE_WARP_SIZE_NV)) return width;
  return number<cl_uint>(device, CL_DEVICE_WAVEFRONT_WIDTH_AMD);
}

OpenclInfo info_of(const cl::Device& device, int ordinal) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  OpenclInfo info;
  info.ordinal = ordinal;
  info.platform = platform.getInfo<CL_PLATFORM_NAME>();
  info.platform_version = platform.getInfo<CL_PLATFORM_VERSION>();
  info.name = device.getInfo<CL_DEVICE_NAME>();
  info.vendor = device.getInfo<CL_DEVICE_VENDOR>();
  info.version = device.getInfo<CL_DEVICE_VERSION>();
  info.driver_version = device.getInfo<CL_DRIVER_VERSION>();
  info.kind = kind_of(device.getInfo<CL_DEVICE_TYPE>());
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.wavefront = wavefront_of(device);
  info.most_work_items = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  info.local_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.largest_buffer_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.cache_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  if (const cl_uint mhz = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>(); mhz > 0)
    info.clock_mhz_max = mhz;
  info.timer_resolution_ns = device.getInfo<CL_DEVICE_PROFILING_TIMER_RESOLUTION>();
  info.has_f64 = device.getInfo<CL_DEVICE_EXTENSIONS>().find("cl_khr_fp64") != std::string::npos;
  return info;
}

class OpenclDevice final : public Device {
 public:
  OpenclDevice(const cl::Device& device, const OpenclInfo& info)
      : info_(info),
        queue_(device),
        nothing_(queue_.kernel(own_kernel("nothing"))),
        touch_(queue_.kernel(own_kernel("touch"))) {
    // How many work-items a compute unit holds at once is not told: at least one work-group.
    const auto most = static_cast<unsigned>(info.most_work_items);
    traits_ = {.sm_count = info.compute_units,
               .max_threads_per_sm = most,
               .max_blocks_per_sm = most,
               .max_shared_bytes_per_block = info.local_bytes};
    wavefront_ =
        nothing_.kernel.getWorkGroupInfo<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device);
    const std::size_t caches_bytes =
        info.kind == "cpu" ? last_level_cache_bytes().value_or(info.cache_bytes) : info.cache_bytes;
    flush_ = allocate(std::min(
        std::max(2 * caches_bytes, info.kind == "cpu" ? std::size_t{1} << 20 : kLeastFlushBytes),
        info.largest_buffer_bytes));
    queue_.fill(flush_.data(), cl_uint{0}, flush_.size_bytes() / sizeof(cl_uint));
    sums_ = allocate(checksum_items() * sizeof(cl_ulong));
  }

  Backend backend() const override { return Backend::kOpencl; }
  const DeviceTraits& traits() const override { return traits_; }
  std::size_t free_bytes() const override {
    // OpenCL tells how much memory there is, not how much others hold. Two buffers of the largest
    // size must do for an input and its copy.
    std::size_t free_bytes =
        info_.memory_bytes - std::min(info_.memory_bytes, queue_.allocated_bytes());
    if (info_.kind == "cpu") free_bytes = std::min(free_bytes, available_memory_bytes());
    return std::min(free_bytes, 2 * info_.largest_buffer_bytes);
  }

  Memory allocate(std::size_t size_bytes) override {
    try {
      return {queue_.allocate(size_bytes), size_bytes,
              [this](void* data) { queue_.release(static_cast<std::byte*>(data)); }};
    } catch (const OpenclError& error) {
      throw OutOfMemory(
          fmt::format("{}: choose a smaller n or free memory on the device", error.what()));
    }
  }
  Memory allocate_host(std::size_t size_bytes) override {
    void* data = nullptr;
    if (posix_memalign(&data, 256, std::max<std::size_t>(size_bytes, 1)) != 0)
      throw OutOfMemory(fmt::format("the host refused {} bytes: choose a smaller n", size_bytes));
    return {data, size_bytes, &std::free};
  }
  void upload(void* to, const void* from, std::size_t size_bytes) override {
    if (size_bytes == 0) return;
    const Queue::Place place = queue_.place_of(to);
    checked("upload", [&] {
      queue_.queue().enqueueWriteBuffer(place.buffer, CL_TRUE, place.offset_bytes, size_bytes,
                                        from);
    });
  }
  void download(void* to, const void* from, std::size_t size_bytes) override {
    if (size_bytes == 0) return;
    const auto place = queue_.find(from);
    if (!place) {  // memory of the host
      std::memcpy(to, from, size_bytes);
      return;
    }
    checked("download", [&] {
      queue_.queue().enqueueReadBuffer(place->buffer, CL_TRUE, place->offset_bytes, size_bytes, to);
    });
  }
  void fill(void* to, unsigned char byte, std::size_t size_bytes) override {
    if (!queue_.find(to)) {
      if (size_bytes > 0) std::memset(to, byte, size_bytes);
      return;
    }
    queue_.fill(to, cl_uchar{byte}, size_bytes);
    synchronize();
  }
  std::uint64_t checksum(const void* data, std::size_t n, std::size_t element_bytes) override {
    if (n == 0) return 0;
    const auto sum = [&]<class Word>(std::string_view word) {
      return checksum_of(static_cast<const Word*>(data), n, word);
    };
    if (element_bytes == 1) return sum.operator()<cl_uchar>("uchar");
    if (element_bytes == 2) return sum.operator()<cl_ushort>("ushort");
    if (element_bytes == 4) return sum.operator()<cl_uint>("uint");
    return sum.operator()<cl_ulong>("ulong");
  }

  Stream stream() override { return {.handle = &queue_, .log = nullptr}; }
  void synchronize() override { queue_.finish(); }

  bool has_mode(Mode mode, const Work&) const override {
    return mode == Mode::kCold || mode == Mode::kHot;
  }

  Sample sample(Mode mode, const Work& work, unsigned batch) override {
    if (mode == Mode::kCold) flush_caches();
    Gate gate(queue_);
    queue_.start_timing();
    for (unsigned i = 0; i < batch; ++i) work.enqueue();
    checked("submitting the commands", [&] { queue_.queue().flush(); });
    const auto before = Clock::now();
    gate.open();
    queue_.finish();
    const double host_ns = std::chrono::duration<double, std::nano>(Clock::now() - before).count();
    const double ns = queue_.elapsed_ns().value_or(0);
    // The host saw more than the device did: it waited for the first command to start, and for the
    // end of the last to be reported.
    if (ns > host_ns * (1 + kClockTolerance) + 2.0 * static_cast<double>(info_.timer_resolution_ns))
      throw std::runtime_error(fmt::format(
          "{} says that its commands took {:.0f} ns, and all was over for the host after "
          "{:.0f} ns: its times cannot be believed",
          info_.name, ns, host_ns));
    return {.ns = std::max(ns, 1.0) / batch, .sm_clock_mhz = std::nullopt};
  }

  std::vector<StreamShape> read_shapes(const std::byte* data, std::size_t size_bytes) override {
    std::vector<StreamShape> shapes;
    const auto* from = reinterpret_cast<const cl_uint4*>(data);
    const std::size_t count = size_bytes / sizeof(cl_uint4);
    auto* never = reinterpret_cast<cl_uint*>(sums_.data());
    // To flush a processor's caches takes longer than to read what is timed: few shapes there.
    const bool few = info_.kind == "cpu";
    std::vector<std::size_t> sizes{8 * wavefront_}, waves_of{1, 8};
    if (!few) {
      sizes.insert(sizes.end(), {16 * wavefront_, 32 * wavefront_});
      waves_of.insert(waves_of.end(), {2, 32});
    }
    for (const unsigned loads : {4u, 8u}) {
      BuiltKernel& kernel = queue_.kernel(own_kernel("read_stream", "uint", loads));
      for (const std::size_t items : sizes) {
        if (items > kernel.most_work_items) continue;
        for (const std::size_t waves : waves_of) {
          // No more work-groups than there is work for at four loads a work-item.
          const std::size_t useful = std::max<std::size_t>(1, ceil_div(count, items * 4));
          const std::size_t resident =
              traits_.sm_count * std::max<std::size_t>(1, traits_.max_threads_per_sm / items) *
              waves;
          const std::size_t groups = std::min(useful, resident);
          shapes.push_back(
              {fmt::format("{} x 16 B per work-item, {} work-items, {} work-groups", loads, items,
                           groups),
               [=, this, &kernel] { run(kernel, groups, items, from, count, never); }});
        }
      }
    }
    return shapes;
  }
  std::function<void()> copy(std::byte* to, const std::byte* from,
                             std::size_t size_bytes) override {
    return [=, this] { queue_.copy(to, from, size_bytes); };
  }
  std::function<void()> empty_launch() override {
    return [this] { queue_.launch(nothing_, {1, 1}); };
  }

 private:
  /// Keeps what follows in the queue until it is opened, at the latest when it is left.
  class Gate {
   public:
    explicit Gate(Queue& queue) {
      checked("holding the queue", [&] {
        event_ = cl::UserEvent(queue.context());
        const std::vector<cl::Event> awaited{event_};
        queue.queue().enqueueBarrierWithWaitList(&awaited);
      });
    }
    ~Gate() {
      if (!open_) clSetUserEventStatus(event_(), CL_COMPLETE);
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    void open() {
      open_ = true;
      checked("releasing the queue", [&] { event_.setStatus(CL_COMPLETE); });
    }

   private:
    cl::UserEvent event_;
    bool open_ = false;
  };

  template <class... Arguments>
  void run(BuiltKernel& kernel, std::size_t groups, std::size_t items, Arguments... arguments) {
    checked("passing arguments", [&] {
      ArgumentList list(queue_, kernel.kernel);
      (list.add(arguments), ...);
    });
    queue_.launch(kernel, {groups, items});
  }

  std::size_t checksum_items() const { return 64 * whole_group(); }
  std::size_t whole_group() const { return std::min(8 * wavefront_, touch_.most_work_items); }

  template <class Word>
  std::uint64_t checksum_of(const Word* data, std::size_t n, std::string_view word) {
    BuiltKernel& kernel = queue_.kernel(own_kernel("checksum", word));
    const std::size_t items = std::min(whole_group(), kernel.most_work_items);
    const std::size_t groups = checksum_items() / items;
    run(kernel, groups, items, data, n, reinterpret_cast<cl_ulong*>(sums_.data()));
    std::vector<cl_ulong> sums(groups * items);
    download(sums.data(), sums_.data(), sums.size() * sizeof(cl_ulong));
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  }

  void flush_caches() {
    const std::size_t items = whole_group();
    run(touch_, traits_.sm_count * std::max<std::size_t>(1, traits_.max_threads_per_sm / items) * 2,
        items, reinterpret_cast<cl_uint*>(flush_.data()), flush_.size_bytes() / sizeof(cl_uint));
  }

  OpenclInfo info_;
  DeviceTraits traits_;
  Queue queue_;
  BuiltKernel& nothing_;
  BuiltKernel& touch_;
  std::size_t wavefront_ = 1;
  Memory flush_, sums_;
};

}  // namespace

OpenclStatus opencl_status() {
  OpenclStatus status;
  try {
    for (const cl::Device& device : all_devices())
      status.devices.push_back(info_of(device, static_cast<int>(status.devices.size())));
    if (status.devices.empty()) status.unavailable = "no OpenCL device is visible";
  } catch (const cl::Error& error) {
    status.devices.clear();
    status.unavailable =
        error.err() == CL_PLATFORM_NOT_FOUND_KHR
            ? "no OpenCL platform is installed: install the GPU's driver, or PoCL for the processor"
            : OpenclError(error.err(), std::string("looking for devices: ") + error.what()).what();
  }
  return status;
}

std::unique_ptr<Device> make_opencl_device(int ordinal) {
  const OpenclStatus status = opencl_status();
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= status.devices.size())
    throw UsageError(fmt::format("OpenCL device {} does not exist ({})", ordinal,
                                 status.unavailable.empty()
                                     ? fmt::format("{} visible", status.devices.size())
                                     : status.unavailable));
  const auto index = static_cast<std::size_t>(ordinal);
  try {
    return checked("opening it", [&] {
      return std::make_unique<OpenclDevice>(all_devices()[index], status.devices[index]);
    });
  } catch (const std::runtime_error& error) {
    throw DeviceLost(fmt::format("OpenCL device {} cannot be used: {}", ordinal, error.what()));
  }
}

}  // namespace reduce_bench
