// A backend in host memory whose clock is a script: the work really runs, and how long it took is
// what the test says.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "common/inputs.hpp"
#include "devices/device.hpp"

namespace reduce_bench {

class FakeDevice : public Device {
 public:
  /// What sample number k (from 0, warm-ups among them) shows.
  std::function<Sample(std::size_t)> script = [](std::size_t) { return Sample{.ns = 1000}; };
  std::optional<double> max_clock_mhz;
  std::optional<double> trip_ns;  ///< of `round_trip_ns`
  std::size_t available_bytes = std::size_t{1} << 30;
  std::set<Mode> modes{Mode::kCold, Mode::kHot, Mode::kGraph};
  std::vector<std::pair<Mode, unsigned>> taken;  ///< mode and batch of every sample
  std::vector<Counter> counters;                 ///< what `count` finds
  std::vector<Mode> counted;
  unsigned ended_works = 0;
  unsigned host_allocations = 0;
  /// Whether inputs are uploaded. What is allocated since then faults where the host accesses it.
  bool has_own_memory = false;
  unsigned uploads = 0;

  Backend backend() const override { return Backend::kCpu; }
  bool shares_host_memory() const override { return !has_own_memory; }
  bool survives_errors() const override { return true; }
  const DeviceTraits& traits() const override { return traits_; }
  std::size_t free_bytes() const override { return available_bytes; }
  Memory allocate(std::size_t size_bytes) override {
    if (!has_own_memory) return allocate_shared(size_bytes);
    const std::size_t mapped_bytes = std::max<std::size_t>(size_bytes, 1);
    void* const data = ::mmap(nullptr, mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw OutOfMemory("no memory for the fake device");
    own_->emplace(data, mapped_bytes);
    return {data, size_bytes, [own = own_](void* mapped) {
              ::munmap(mapped, own->at(mapped));
              own->erase(mapped);
            }};
  }
  Memory allocate_host(std::size_t size_bytes) override {
    ++host_allocations;
    return allocate_shared(size_bytes);
  }
  void call(const Work& work) override {
    const Reach reach(*own_);
    work.enqueue();
  }
  void upload(void* to, const void* from, std::size_t size_bytes) override {
    ++uploads;
    const Reach reach(*own_);
    if (size_bytes != 0) std::memcpy(to, from, size_bytes);  // of nothing, `from` may be null
  }
  void download(void* to, const void* from, std::size_t size_bytes) override {
    const Reach reach(*own_);
    if (size_bytes != 0) std::memcpy(to, from, size_bytes);
  }
  void fill(void* to, unsigned char byte, std::size_t size_bytes) override {
    const Reach reach(*own_);
    std::memset(to, byte, size_bytes);
  }
  std::uint64_t checksum(const void* data, std::size_t n, std::size_t element_bytes) override {
    const Reach reach(*own_);
    return reduce_bench::checksum(static_cast<const std::byte*>(data), n, element_bytes);
  }
  Stream stream() override { return {}; }
  void synchronize() override {}
  bool has_mode(Mode mode, const Work&) const override { return modes.contains(mode); }
  Sample sample(Mode mode, const Work& work, unsigned batch) override {
    if (work.guard != nullptr) {
      work.guard->before_sample();
      work.guard->at_begin();
    }
    for (unsigned i = 0; i < batch; ++i) call(work);
    if (work.guard != nullptr) {
      work.guard->at_end();
      work.guard->after_sample();
    }
    taken.emplace_back(mode, batch);
    return script(taken.size() - 1);
  }
  std::vector<Counter> count(Mode mode, const Work& work,
                             const std::function<void()>& restore) override {
    restore();
    call(work);
    counted.push_back(mode);
    return counters;
  }
  std::optional<double> round_trip_ns() override { return trip_ns; }
  void end_of_work() override { ++ended_works; }
  std::optional<double> max_sm_clock_mhz() const override { return max_clock_mhz; }
  std::vector<StreamShape> read_shapes(const std::byte*, std::size_t) override {
    return {{"slow", [] {}}, {"fast", [] {}}};
  }
  std::function<void()> copy(std::byte* to, const std::byte* from,
                             std::size_t size_bytes) override {
    return [=, this] {
      const Reach reach(*own_);
      std::memcpy(to, from, size_bytes);
    };
  }
  std::function<void()> empty_launch() override {
    return [] {};
  }

 private:
  using Mappings = std::map<void*, std::size_t>;  ///< address -> bytes

  /// While it lives the host may access the device's memory.
  class Reach {
   public:
    explicit Reach(const Mappings& mappings) : mappings_(mappings) {
      protect(PROT_READ | PROT_WRITE);
    }
    ~Reach() { protect(PROT_NONE); }
    Reach(const Reach&) = delete;
    Reach& operator=(const Reach&) = delete;

   private:
    void protect(int access) const {
      for (const auto& [data, bytes] : mappings_) ::mprotect(data, bytes, access);
    }
    const Mappings& mappings_;
  };

  static Memory allocate_shared(std::size_t size_bytes) {
    void* data = nullptr;
    if (posix_memalign(&data, 256, std::max<std::size_t>(size_bytes, 1)) != 0)
      throw OutOfMemory("no memory for the fake device");
    return {data, size_bytes, &std::free};
  }

  std::shared_ptr<Mappings> own_ = std::make_shared<Mappings>();
  DeviceTraits traits_;
};

}  // namespace reduce_bench
