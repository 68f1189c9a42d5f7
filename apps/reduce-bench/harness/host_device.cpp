// The backends that run on the host: `cpu`, with real timings, and `emu`, for verification only.

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/inputs.hpp"
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
  const DeviceTraits& traits() const override { return traits_; }
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
};

class CpuDevice final : public HostDevice {
 public:
  CpuDevice()
      : HostDevice(Backend::kCpu, {.sm_count = logical_cores()}),
        flush_(2 * last_level_cache_bytes().value_or(std::size_t{64} << 20)) {
    pin_this_thread();
  }

  Sample sample(Mode mode, const Work& work, unsigned batch) override {
    if (mode == Mode::kCold) flush_caches();
    const auto start = Clock::now();
    for (unsigned i = 0; i < batch; ++i) work.enqueue();
    const auto end = Clock::now();
    const double ns = std::chrono::duration<double, std::nano>(end - start).count();
    return {.ns = std::max(ns, 1.0) / batch, .sm_clock_mhz = std::nullopt};
  }

  std::vector<StreamShape> read_shapes(const std::byte* data, std::size_t size_bytes) override {
    const auto words = size_bytes / sizeof(std::uint64_t);
    const auto* from = reinterpret_cast<const std::uint64_t*>(data);
    const auto sum = [=, this](auto... parallel) {
      std::uint64_t total = 0;
      if constexpr (sizeof...(parallel) > 0) {
#pragma omp parallel for simd schedule(static) reduction(+ : total)
        for (std::size_t i = 0; i < words; ++i) total += from[i];
      } else {
#pragma omp simd reduction(+ : total)
        for (std::size_t i = 0; i < words; ++i) total += from[i];
      }
      sink_ = total;
    };
    return {{"1 thread", [=] { sum(); }},
            {std::to_string(traits().sm_count) + " threads", [=] { sum(true); }}};
  }
  std::function<void()> copy(std::byte* to, const std::byte* from,
                             std::size_t size_bytes) override {
    return [=] { std::memcpy(to, from, size_bytes); };
  }
  std::function<void()> empty_launch() override {
    return [] {};
  }

 private:
  /// The sequential algorithms stay on one core. The parallel ones' threads are started first, so
  /// that they do not inherit the pinning.
  static void pin_this_thread() {
#pragma omp parallel
    {
    }
    const int core = sched_getcpu();
    if (core < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    // Where pinning is forbidden the timings are noisier, not wrong.
    (void)sched_setaffinity(0, sizeof(set), &set);
  }

  void flush_caches() {
    // Writing more than the last level holds leaves none of the input behind.
    const auto value = static_cast<unsigned char>(++flushes_);
    std::memset(flush_.data(), value, flush_.size());
    sink_ = static_cast<std::uint64_t>(flush_[flush_.size() / 2]);
  }

  std::vector<std::byte> flush_;
  unsigned flushes_ = 0;
  volatile std::uint64_t sink_ = 0;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

std::unique_ptr<Device> make_emu_device() {
  return std::make_unique<HostDevice>(Backend::kEmu, emu::device_traits());
}

}  // namespace reduce_bench
