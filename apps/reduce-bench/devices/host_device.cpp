// The backends that run on the host: `cpu`, with real timings, and `emu`, for verification only.

#include <omp.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "common/inputs.hpp"
#include "common/pages.hpp"
#include "devices/clock_check.hpp"
#include "devices/device.hpp"
#include "devices/processor.hpp"
#include "kernels/platform/emu_device.hpp"

namespace reduce_bench {
namespace {

using Clock = std::chrono::steady_clock;

Memory allocate_aligned(std::size_t size_bytes) {
  // Exactly the size asked for, so that AddressSanitizer sees the byte after it.
  void* data = nullptr;
  if (posix_memalign(&data, 256, std::max<std::size_t>(size_bytes, 1)) != 0)
    throw OutOfMemory("the host refused " + std::to_string(size_bytes) +
                      " bytes: choose a smaller n");
  return {data, size_bytes, &std::free};
}

class HostDevice : public Device {
 public:
  HostDevice(Backend backend, const DeviceTraits& traits) : backend_(backend), traits_(traits) {}

  Backend backend() const override { return backend_; }
  bool shares_host_memory() const override { return true; }
  bool survives_errors() const override { return true; }
  const DeviceTraits& traits() const override { return traits_; }
  std::vector<Device*> gather(unsigned count) override {
    if (count > traits_.devices)
      throw DeviceLacks("asks for " + std::to_string(count) + " devices, " +
                        std::to_string(traits_.devices) + " can be used on " +
                        std::string(name_of(backend_)) +
                        (backend_ == Backend::kCpu ? "; mpirun -n starts more" : ""));
    std::vector<Device*> devices{this};
    while (others_.size() + 1 < count)
      others_.push_back(std::make_unique<HostDevice>(backend_, traits_));
    for (unsigned i = 1; i < count; ++i) devices.push_back(others_[i - 1].get());
    return devices;
  }
  std::size_t free_bytes() const override { return available_memory_bytes(); }
  Memory allocate(std::size_t size_bytes) override { return allocate_aligned(size_bytes); }
  Memory allocate_host(std::size_t size_bytes) override { return allocate_aligned(size_bytes); }
  void upload(void* to, const void* from, std::size_t size_bytes) override {
    if (size_bytes > 0) std::memcpy(to, from, size_bytes);
  }
  void download(void* to, const void* from, std::size_t size_bytes) override {
    if (size_bytes > 0) std::memcpy(to, from, size_bytes);
  }
  void fill(void* to, unsigned char byte, std::size_t size_bytes) override {
    if (size_bytes > 0) std::memset(to, byte, size_bytes);
  }
  std::uint64_t checksum(const void* data, std::size_t n, std::size_t element_bytes) override {
    return reduce_bench::checksum(static_cast<const std::byte*>(data), n, element_bytes);
  }
  Stream stream() override { return {}; }
  void synchronize() override {}
  bool has_mode(Mode mode, const Work&) const override {
    return backend_ == Backend::kCpu && mode != Mode::kGraph;
  }
  Sample sample(Mode, const Work&, unsigned) override {
    throw std::logic_error("the emu backend is never timed");
  }
  std::vector<StreamShape> read_shapes(const std::byte*, std::size_t) override { return {}; }
  std::function<void()> copy(std::byte*, const std::byte*, std::size_t) override { return {}; }
  std::function<void()> empty_launch() override { return {}; }

 private:
  Backend backend_;
  DeviceTraits traits_;
  std::vector<std::unique_ptr<HostDevice>> others_;
};

// The read streams that set the ceiling. This file has the compiler options of the CPU algorithms,
// which could beat the ceiling otherwise.
std::uint64_t sum_of(const std::uint64_t* from, std::size_t words) {
  std::uint64_t total = 0;
#pragma omp simd reduction(+ : total)
  for (std::size_t i = 0; i < words; ++i) total += from[i];
  return total;
}
std::uint64_t sum_of_in_parallel(const std::uint64_t* from, std::size_t words) {
  std::uint64_t total = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : total)
  for (std::size_t i = 0; i < words; ++i) total += from[i];
  return total;
}

class CpuDevice final : public HostDevice {
 public:
  CpuDevice()
      : HostDevice(Backend::kCpu, {.sm_count = logical_cores()}),
        flush_(2 * all_caches_bytes().value_or(std::size_t{64} << 20)) {
    pin_threads();
  }

  Sample sample(Mode mode, const Work& work, unsigned batch) override {
    if (work.guard) work.guard->before_sample();
    if (mode != Mode::kHot) flush_caches();
    if (work.guard) {
      work.guard->at_begin();
      clock_check_.begin();
    }
    if (work.together != nullptr) work.together->ready();
    const auto start = Clock::now();
    if (work.together != nullptr) work.together->begin([] {});
    for (unsigned i = 0; i < batch; ++i) work.enqueue();
    if (work.together != nullptr && work.together->ends_on_all()) work.together->end();
    const auto end = Clock::now();
    const double ns = std::chrono::duration<double, std::nano>(end - start).count();
    if (work.guard) {
      clock_check_.end(ns);
      work.guard->at_end();
      work.guard->after_sample();
    }
    return {.ns = std::max(ns, 1.0) / batch, .sm_clock_mhz = std::nullopt};
  }
  /// Forty times what the clock takes.
  double least_sample_ns() const override { return 1e3; }
  void end_of_work() override { clock_check_.conclude(); }

  std::vector<Counter> count(Mode mode, const Work& work,
                             const std::function<void()>& restore) override {
    const auto prepare = [&] {
      restore();
      if (mode != Mode::kHot) flush_caches();
      else work.enqueue();
    };
    return count_events(miss_events(), prepare, work.enqueue);
  }

  std::vector<StreamShape> read_shapes(const std::byte* data, std::size_t size_bytes) override {
    const auto words = size_bytes / sizeof(std::uint64_t);
    const auto* from = reinterpret_cast<const std::uint64_t*>(data);
    return {{"1 thread", [=, this] { sink_ = sum_of(from, words); }},
            {std::to_string(traits().sm_count) + " threads",
             [=, this] { sink_ = sum_of_in_parallel(from, words); }}};
  }
  std::function<void()> copy(std::byte* to, const std::byte* from,
                             std::size_t size_bytes) override {
    return [=] { std::memcpy(to, from, size_bytes); };
  }
  std::function<void()> empty_launch() override {
    return [] {};
  }

 private:
  /// Gives each thread a core of its own: sequential algorithms do not migrate, and no two threads
  /// of a parallel one share a core.
  static void pin_threads() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &allowed)) cores.push_back(core);
#pragma omp parallel
    {
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(cores[static_cast<std::size_t>(omp_get_thread_num()) % cores.size()], &own);
      // Where pinning is forbidden the timings are noisier, not wrong.
      (void)sched_setaffinity(0, sizeof(own), &own);
    }
  }

  void flush_caches() {
    // Reading and writing more lines than all caches hold leaves none of the input behind. Each core
    // does its share, which is more than the caches of its own and its part of the shared ones.
    // Not memset: for large blocks it may write around the caches.
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < flush_.size(); i += 64)
      flush_[i] = static_cast<std::byte>(static_cast<unsigned char>(flush_[i]) + 1);
    sink_ = static_cast<std::uint64_t>(flush_[flush_.size() / 2]);
  }

  std::vector<std::byte> flush_;
  volatile std::uint64_t sink_ = 0;
  ClockCheck clock_check_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

std::unique_ptr<Device> make_emu_device() {
  return std::make_unique<HostDevice>(Backend::kEmu, emu::settings().device);
}

}  // namespace reduce_bench
