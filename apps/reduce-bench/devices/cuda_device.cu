// The `cuda` backend: memory, checked calls, and the samples of all timing modes.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cuda/version>
#include <fstream>
#include <optional>
#include <utility>

#include "common/error.hpp"
#include "common/mix.hpp"
#include "common/pages.hpp"
#include "devices/clock_check.hpp"
#include "devices/device.hpp"
#include "devices/gpu_counts.hpp"
#include "devices/gpu_profiler.hpp"
#include "devices/nvml.hpp"
#include "kernels/api/devices.hpp"
#include "kernels/platform/cuda_traits.hpp"
#include "kernels/platform/warp.hpp"

static_assert(__cplusplus >= 202002L, "nvcc must compile C++20: pass -std=c++20");

namespace reduce_bench {
namespace {

using cuda::check;
using cuda::CudaError;
using cuda::CurrentDevice;
using cuda::traits_of;

/// Spins until *flag is set. Gives up after ten seconds: a library that waits for the stream while it
/// is blocked must not hang the run.
__device__ void await(volatile const unsigned* flag, unsigned awaited) {
  unsigned long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  while (*flag != awaited) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (now - start > 10'000'000'000ull) return;
  }
}

/// Spins until the host sets *flag, so that what follows on the stream is queued before it starts
/// and launch overhead stays outside the timed span.
__global__ void block_stream_kernel(volatile const unsigned* flag, unsigned awaited) {
  await(flag, awaited);
}

/// The words by which several devices begin together and end, in the memory of each.
struct Signals {
  unsigned begin;
  unsigned ended[kMostDevices];  ///< by rank; the first device's count
};
/// Those of all devices, by rank.
struct AllSignals {
  Signals* of[kMostDevices];
};

/// On the first device: once the host sets *flag, a thread for each device lets it begin. This one
/// begins when it reads its own word, which takes it as long as the others theirs, but for the way.
__global__ void begin_together_kernel(volatile const unsigned* flag, unsigned awaited,
                                      AllSignals signals) {
  if (threadIdx.x == 0) await(flag, awaited);
  __syncthreads();
  *const_cast<volatile unsigned*>(&signals.of[threadIdx.x]->begin) = awaited;
  if (threadIdx.x == 0) await(&signals.of[0]->begin, awaited);
}
/// Runs on another device after its work, and tells the first device that this has ended.
__global__ void tell_end_kernel(volatile unsigned* ended, unsigned number) {
  __threadfence_system();
  *ended = number;
}
/// Runs on the first device, with a thread for each other one, and waits for their ends.
__global__ void await_ends_kernel(const Signals* signals, unsigned number) {
  await(&signals->ended[1 + threadIdx.x], number);
}

/// A word goes to and fro between two devices. Either writes to the other's memory and reads its own.
__global__ void pass_word_kernel(volatile const unsigned* own, volatile unsigned* other,
                                 unsigned rounds, bool begins) {
  for (unsigned round = 1; round <= rounds; ++round) {
    if (begins) *other = round;
    await(own, round);
    if (!begins) *other = round;
  }
}

/// Counts SM cycles against the global timer for about 10 microseconds.
__global__ void sm_clock_kernel(float* mhz) {
  unsigned long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {  // start on a tick of the timer
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now == start);
  start = now;
  const long long first = clock64();
  while (now - start < 10'000) asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  const long long last = clock64();
  *mhz = static_cast<float>(last - first) / static_cast<float>(now - start) * 1e3f;
}

template <class Word>
__global__ void checksum_kernel(const Word* data, std::size_t n, unsigned long long* total) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    sum += mix(static_cast<std::uint64_t>(data[i]) + (i + 1) * kGoldenGamma);
  atomicAdd(total, sum);
}

/// Reads everything. The store keeps the compiler from dropping the loads, and is made only where
/// what was read combines to one pattern of bits.
template <int kLoads, bool kAhead>
__global__ void read_stream_kernel(const uint4* data, std::size_t count, unsigned* never) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned seen = 0;
  for (; i + (kLoads - 1) * stride < count; i += kLoads * stride) {
    uint4 v[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k)
      v[k] = kAhead ? cuda::load_ahead(data + i + k * stride) : data[i + k * stride];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) seen |= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  for (; i < count; i += stride) seen |= data[i].x ^ data[i].y ^ data[i].z ^ data[i].w;
  if (seen == 0x9e3779b9u) *never = seen;
}

__global__ void empty_kernel() {}

constexpr unsigned kMostElementBytes = 8;
__global__ void copy_element_kernel(std::byte* to, const std::byte* from, unsigned size_bytes) {
  if (threadIdx.x < size_bytes) to[threadIdx.x] = from[threadIdx.x];
}

std::optional<double> attribute_mhz(cudaDeviceAttr attribute, int ordinal) {
  int khz = 0;
  if (cudaDeviceGetAttribute(&khz, attribute, ordinal) != cudaSuccess || khz <= 0)
    return std::nullopt;
  return khz / 1e3;
}

GpuInfo gpu_info(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  GpuInfo info;
  info.ordinal = ordinal;
  info.name = properties.name;
  info.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.sm_count = static_cast<unsigned>(properties.multiProcessorCount);
  info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  info.memory_bytes = properties.totalGlobalMem;
  info.sm_clock_mhz_max = attribute_mhz(cudaDevAttrClockRate, ordinal);
  info.memory_clock_mhz_max = attribute_mhz(cudaDevAttrMemoryClockRate, ordinal);
  if (properties.memoryBusWidth > 0)
    info.memory_bus_bits = static_cast<unsigned>(properties.memoryBusWidth);
  if (info.memory_clock_mhz_max && info.memory_bus_bits)
    info.peak_gb_per_s = 2 * *info.memory_clock_mhz_max * *info.memory_bus_bits / 8 / 1e3;
  return info;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The kernel driver's version, such as 580.65.06; empty where /proc does not tell.
std::string driver_version() {
  std::ifstream stream("/proc/driver/nvidia/version");
  std::string word;
  while (stream >> word)
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return {};
}

constexpr std::size_t kStagedBytes = std::size_t{32} << 20;

void free_device(void* data) { cudaFree(data); }
void free_host(void* data) { cudaFreeHost(data); }

/// What makes two devices alike, as far as times go.
bool are_alike(int a, int b) {
  for (const cudaDeviceAttr attribute :
       {cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
        cudaDevAttrMultiProcessorCount, cudaDevAttrL2CacheSize, cudaDevAttrGlobalMemoryBusWidth}) {
    int of_a = 0, of_b = 0;
    check(cudaDeviceGetAttribute(&of_a, attribute, a), "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&of_b, attribute, b), "cudaDeviceGetAttribute");
    if (of_a != of_b) return false;
  }
  return true;
}
bool reaches(int from, int to) {
  int reached = 0;
  check(cudaDeviceCanAccessPeer(&reached, from, to), "cudaDeviceCanAccessPeer");
  return reached != 0;
}

/// The devices that work can be spread over from one on.
struct Gathered {
  std::vector<int> ordinals;
  std::string why_not_more;  ///< why the first that is left out is
};
Gathered gather_around(int first) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  Gathered gathered{.ordinals = {first}, .why_not_more = std::to_string(count) + " visible"};
  bool all = true;
  const auto leave_out = [&](int other, const std::string& why) {
    if (all) gathered.why_not_more = "CUDA device " + std::to_string(other) + " " + why;
    all = false;
  };
  for (int other = 0; other < count && gathered.ordinals.size() < kMostDevices; ++other) {
    if (other == first) continue;
    if (!are_alike(first, other)) {
      leave_out(other, "is unlike device " + std::to_string(first));
      continue;
    }
    const auto apart =
        std::find_if(gathered.ordinals.begin(), gathered.ordinals.end(),
                     [&](int known) { return !reaches(known, other) || !reaches(other, known); });
    if (apart == gathered.ordinals.end()) gathered.ordinals.push_back(other);
    else leave_out(other, "does not reach the memory of device " + std::to_string(*apart));
  }
  return gathered;
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal), gathered_(gather_around(ordinal)) {
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    traits_ = traits_of(ordinal);
    traits_.devices = static_cast<unsigned>(gathered_.ordinals.size());
    max_sm_clock_mhz_ = attribute_mhz(cudaDevAttrClockRate, ordinal);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    check(cudaEventCreateWithFlags(&order_, cudaEventDisableTiming), "cudaEventCreate");
    flush_bytes_ = std::max<std::size_t>(2 * static_cast<std::size_t>(properties.l2CacheSize),
                                         std::size_t{1} << 20);
    flush_ = allocate(flush_bytes_);
    scalars_ = allocate(256);
    fill(scalars_.data(), 0, scalars_.size_bytes());
    signals_ = allocate(sizeof(Signals));
    fill(signals_.data(), 0, sizeof(Signals));
    mapped_ = allocate_host(sizeof(Mapped));
    *mapped() = Mapped{};
    // What another program set aside of the L2 for persisting accesses would be missing from it.
    reset_persisting_l2();
  }
  ~CudaDevice() override {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaEventDestroy(order_);
    cudaStreamDestroy(stream_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  Backend backend() const override { return Backend::kCuda; }
  const DeviceTraits& traits() const override { return traits_; }
  std::vector<Device*> gather(unsigned count) override {
    if (count > gathered_.ordinals.size())
      throw DeviceLacks("asks for " + std::to_string(count) + " devices, " +
                        std::to_string(gathered_.ordinals.size()) + " can be used together (" +
                        gathered_.why_not_more + ")");
    const CurrentDevice current(ordinal_);  // making a device makes it the current one
    std::vector<Device*> devices{this};
    while (others_.size() + 1 < count) {
      others_.push_back(std::make_unique<CudaDevice>(gathered_.ordinals[others_.size() + 1]));
      others_.back()->reach(*this);
      reach(*others_.back());
      for (std::size_t i = 0; i + 1 < others_.size(); ++i) {
        others_.back()->reach(*others_[i]);
        others_[i]->reach(*others_.back());
      }
    }
    for (unsigned i = 0; i + 1 < count; ++i) devices.push_back(others_[i].get());
    return devices;
  }
  std::size_t free_bytes() const override {
    const CurrentDevice current(ordinal_);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }

  Memory allocate(std::size_t size_bytes) override {
    const CurrentDevice current(ordinal_);
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, std::max<std::size_t>(size_bytes, 1));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw OutOfMemory("the GPU refused " + std::to_string(size_bytes) +
                        " bytes: choose a smaller n or free memory on the device");
    }
    check(status, "cudaMalloc");
    return {data, size_bytes, &free_device};
  }
  Memory allocate_host(std::size_t size_bytes) override {
    void* data = nullptr;
    const cudaError_t status = cudaMallocHost(&data, std::max<std::size_t>(size_bytes, 1));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw OutOfMemory("the host refused " + std::to_string(size_bytes) + " page-locked bytes");
    }
    check(status, "cudaMallocHost");
    return {data, size_bytes, &free_host};
  }
  /// Where memory is not page-locked, one core of the driver's copies it at 7 GB/s. So all cores copy
  /// what is large to where it is, a part while the one before is on its way: 4 GiB take 0.11 s
  /// instead of 0.55 (H200, 16 cores).
  void upload(void* to, const void* from, std::size_t size_bytes) override {
    if (size_bytes <= kStagedBytes) {
      start_upload(to, from, size_bytes);
      return synchronize();
    }
    if (staging_.size_bytes() == 0) staging_ = allocate_host(2 * kStagedBytes);
    std::byte* staged = staging_.data();
    std::byte* other = staged + kStagedBytes;
    for (std::size_t at = 0; at < size_bytes; at += kStagedBytes) {
      const std::size_t part_bytes = std::min(kStagedBytes, size_bytes - at);
      copy_by_all_cores(staged, static_cast<const std::byte*>(from) + at, part_bytes);
      synchronize();  // the part before has left the other half, which is filled next
      start_upload(static_cast<std::byte*>(to) + at, staged, part_bytes);
      std::swap(staged, other);
    }
    synchronize();
  }
  void download(void* to, const void* from, std::size_t size_bytes) override {
    // `from` may be page-locked host memory: the result of a variant that finishes there.
    lost_on_error([&] {
      check(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, stream_), "download");
    });
    synchronize();
  }
  void fill(void* to, unsigned char byte, std::size_t size_bytes) override {
    const CurrentDevice current(ordinal_);
    lost_on_error([&] { check(cudaMemsetAsync(to, byte, size_bytes, stream_), "fill"); });
    synchronize();
  }
  std::uint64_t checksum(const void* data, std::size_t n, std::size_t element_bytes) override {
    const CurrentDevice current(ordinal_);
    auto* total = reinterpret_cast<unsigned long long*>(scalars_.data());
    fill(total, 0, sizeof(*total));
    const unsigned blocks = static_cast<unsigned>(std::clamp<std::size_t>(n / 4096, 1, 4096));
    if (element_bytes == 1)
      checksum_kernel<<<blocks, 256, 0, stream_>>>(static_cast<const std::uint8_t*>(data), n,
                                                   total);
    else if (element_bytes == 2)
      checksum_kernel<<<blocks, 256, 0, stream_>>>(static_cast<const std::uint16_t*>(data), n,
                                                   total);
    else if (element_bytes == 4)
      checksum_kernel<<<blocks, 256, 0, stream_>>>(static_cast<const std::uint32_t*>(data), n,
                                                   total);
    else
      checksum_kernel<<<blocks, 256, 0, stream_>>>(static_cast<const std::uint64_t*>(data), n,
                                                   total);
    check(cudaGetLastError(), "checksum kernel");
    std::uint64_t result = 0;
    download(&result, total, sizeof(result));
    return result;
  }

  Stream stream() override { return {.handle = stream_, .log = nullptr, .device = ordinal_}; }
  void synchronize() override {
    lost_on_error([&] { check(cudaStreamSynchronize(stream_), "waiting for the stream"); });
  }

  bool has_mode(Mode mode, const Work& work) const override {
    return mode != Mode::kGraph || !work.synchronous;
  }

  Sample sample(Mode mode, const Work& work, unsigned batch) override {
    try {
      if (work.guard != nullptr) {
        work.guard->before_sample();
        release_l2();
      }
      Sample result;
      lost_on_error([&] {
        result.ns = mode == Mode::kWall ? wall_ns(work) : queued_ns(mode, work, batch);
        result.sm_clock_mhz = mapped()->sm_clock_mhz;
      });
      if (work.guard != nullptr) work.guard->after_sample();
      return result;
    } catch (...) {
      // Lets the blocking kernel end: what was queued behind it must not wait for ever.
      std::atomic_ref<unsigned>(mapped()->flag).store(blocks_, std::memory_order_seq_cst);
      throw;
    }
  }

  void end_of_work() override {
    if (graph_ != nullptr) check(cudaGraphExecDestroy(graph_), "cudaGraphExecDestroy");
    graph_ = nullptr;
    clock_check_.conclude();
  }

  /// The first call of a batch takes 1 to 3 us longer than those that follow it: of 100 us, a
  /// fiftieth.
  double least_sample_ns() const override { return 1e5; }

  std::vector<Counter> count(Mode mode, const Work& work,
                             const std::function<void()>& restore) override {
    // The stream is never blocked here: the profiler waits for it.
    const auto prepare = [&] {
      restore();
      if (mode == Mode::kCold) flush_l2();
      else work.enqueue();
      synchronize();
    };
    std::vector<Counter> counters = profiler().count(prepare, [&] {
      work.enqueue();
      synchronize();
    });
    if (mode == Mode::kCold && counters.size() > 1) counters.push_back(flush_written());
    return counters;
  }

  void watch_code() override { profiler().watch_code(); }

  std::optional<MachineCode> code(const Work& work) override {
    return profiler().code([&] {
      work.enqueue();
      synchronize();
    });
  }

  std::optional<Energy> energy(const Work& work) override {
    EnergyProbe probe;
    try {
      char bus_id[32] = {};
      check(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), ordinal_), "cudaDeviceGetPCIBusId");
      probe.millijoules = nvml_energy_counter(bus_id);
    } catch (const std::runtime_error& why) {
      return Energy{.unavailable = why.what()};
    }
    probe.now_ms = [] {
      return std::chrono::duration<double, std::milli>(
                 std::chrono::steady_clock::now().time_since_epoch())
          .count();
    };
    probe.run = [&](std::uint64_t calls) {
      for (std::uint64_t i = 0; i < calls; ++i) work.enqueue();
      synchronize();
    };
    return measure_energy(probe);
  }

  std::optional<double> max_sm_clock_mhz() const override { return max_sm_clock_mhz_; }

  std::vector<StreamShape> read_shapes(const std::byte* data, std::size_t size_bytes) override {
    std::vector<StreamShape> shapes;
    const auto* from = reinterpret_cast<const uint4*>(data);
    const std::size_t count = size_bytes / sizeof(uint4);
    auto* never = reinterpret_cast<unsigned*>(scalars_.data());
    for (const unsigned threads : {256u, 512u, 1024u}) {
      for (const unsigned waves : {1u, 2u, 8u, 32u}) {
        // No more blocks than there is work for at four loads a thread.
        const std::size_t useful =
            std::max<std::size_t>(1, ceil_div(count, std::size_t{threads} * 4));
        const std::size_t resident =
            std::size_t{traits_.sm_count} * (traits_.max_threads_per_sm / threads) * waves;
        const auto blocks = static_cast<unsigned>(std::min(useful, resident));
        const auto add = [&](const char* loads, auto kernel) {
          shapes.push_back({std::string(loads) + " per thread, " + std::to_string(threads) +
                                " threads, " + std::to_string(blocks) + " blocks",
                            [=, this] {
                              kernel<<<blocks, threads, 0, stream_>>>(from, count, never);
                              check(cudaGetLastError(), "read stream kernel");
                            }});
        };
        add("4 x 16 B", &read_stream_kernel<4, false>);
        add("8 x 16 B", &read_stream_kernel<8, false>);
        add("4 x 16 B (256 B ahead)", &read_stream_kernel<4, true>);
        add("8 x 16 B (256 B ahead)", &read_stream_kernel<8, true>);
      }
    }
    return shapes;
  }
  std::function<void()> copy(std::byte* to, const std::byte* from,
                             std::size_t size_bytes) override {
    return [=, this] {
      // A copy may run on an engine of its own, for which the kernel behind it would have to wait.
      if (size_bytes <= kMostElementBytes) {
        copy_element_kernel<<<1, kMostElementBytes, 0, stream_>>>(
            to, from, static_cast<unsigned>(size_bytes));
        return check(cudaGetLastError(), "copy of an element");
      }
      check(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDeviceToDevice, stream_),
            "device copy");
    };
  }
  std::function<void()> empty_launch() override {
    return [this] {
      empty_kernel<<<1, 1, 0, stream_>>>();
      check(cudaGetLastError(), "empty kernel");
    };
  }

  std::optional<double> round_trip_ns() override {
    using Clock = std::chrono::steady_clock;
    double ns = 0;
    lost_on_error([&] {
      const CurrentDevice current(ordinal_);
      const auto begun = Clock::now();
      empty_kernel<<<1, 1, 0, stream_>>>();
      check(cudaGetLastError(), "empty kernel");
      check(cudaMemcpyAsync(&mapped()->copied, scalars_.data(), sizeof(mapped()->copied),
                            cudaMemcpyDeviceToHost, stream_),
            "copying four bytes");
      check(cudaStreamSynchronize(stream_), "waiting for four bytes");
      ns = std::chrono::duration<double, std::nano>(Clock::now() - begun).count();
    });
    return ns;
  }

  double word_ns(Device& other) override {
    auto& second = dynamic_cast<CudaDevice&>(other);
    constexpr unsigned kRounds = 1000;
    double least_ns = 0;
    for (unsigned repetition = 0; repetition < 5; ++repetition) {
      for (CudaDevice* device : {this, &second})
        device->fill(device->signals_.data(), 0, sizeof(Signals));
      {
        const CurrentDevice current(second.ordinal_);
        pass_word_kernel<<<1, 1, 0, second.stream_>>>(&second.signals()->begin, &signals()->begin,
                                                      kRounds, false);
        check(cudaGetLastError(), "word kernel");
      }
      check(cudaEventRecord(start_, stream_), "cudaEventRecord");
      pass_word_kernel<<<1, 1, 0, stream_>>>(&signals()->begin, &second.signals()->begin, kRounds,
                                             true);
      check(cudaGetLastError(), "word kernel");
      check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
      synchronize();
      second.synchronize();
      float ms = 0;
      check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
      const double ns = static_cast<double>(ms) * 1e6 / (2.0 * kRounds);
      if (repetition == 0 || ns < least_ns) least_ns = ns;
    }
    for (CudaDevice* device : {this, &second})
      device->fill(device->signals_.data(), 0, sizeof(Signals));
    return least_ns;
  }
  std::optional<unsigned> link_count() override {
    char bus_id[32] = {};
    check(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), ordinal_), "cudaDeviceGetPCIBusId");
    try {
      return NvmlDevice(bus_id).active_links();
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  }

 private:
  struct Mapped {
    unsigned flag = 0;
    float sm_clock_mhz = 0;
    unsigned copied = 0;  ///< by round_trip_ns
  };
  void start_upload(void* to, const void* from, std::size_t size_bytes) {
    lost_on_error([&] {
      check(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyHostToDevice, stream_), "upload");
    });
  }

  Mapped* mapped() const { return reinterpret_cast<Mapped*>(mapped_.data()); }

  Signals* signals() const { return reinterpret_cast<Signals*>(signals_.data()); }

  /// Lets kernels of this device use the memory of the other.
  void reach(const CudaDevice& other) {
    const CurrentDevice current(ordinal_);
    const cudaError_t status = cudaDeviceEnablePeerAccess(other.ordinal_, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
    else check(status, "cudaDeviceEnablePeerAccess");
  }

  /// The other devices that the work is spread over.
  static std::vector<CudaDevice*> others_of(const Work& work) {
    std::vector<CudaDevice*> others;
    for (std::size_t i = 1; i < work.devices.size(); ++i)
      others.push_back(dynamic_cast<CudaDevice*>(work.devices[i]));
    return others;
  }

  /// Queues what holds this device and the others until the host sets the flag, and then lets all begin
  /// (docs/adr/0017-several-devices.md).
  void begin_together(const std::vector<CudaDevice*>& others, unsigned awaited) {
    AllSignals signals{.of = {this->signals()}};
    for (std::size_t i = 0; i < others.size(); ++i) signals.of[1 + i] = others[i]->signals();
    begin_together_kernel<<<1, static_cast<unsigned>(1 + others.size()), 0, stream_>>>(
        &mapped()->flag, awaited, signals);
    check(cudaGetLastError(), "kernel to begin together");
    for (CudaDevice* const other : others) {
      const CurrentDevice current(other->ordinal_);
      block_stream_kernel<<<1, 1, 0, other->stream_>>>(&other->signals()->begin, awaited);
      check(cudaGetLastError(), "blocking kernel");
    }
  }
  /// Queues what makes this device wait for the ends of the others' work.
  void end_together(const std::vector<CudaDevice*>& others, unsigned number) {
    for (std::size_t i = 0; i < others.size(); ++i) {
      const CurrentDevice current(others[i]->ordinal_);
      tell_end_kernel<<<1, 1, 0, others[i]->stream_>>>(&signals()->ended[1 + i], number);
      check(cudaGetLastError(), "kernel that tells of an end");
    }
    await_ends_kernel<<<1, static_cast<unsigned>(others.size()), 0, stream_>>>(signals(), number);
    check(cudaGetLastError(), "kernel that waits for ends");
  }

  static void reset_persisting_l2() {
    const cudaError_t reset = cudaCtxResetPersistingL2Cache();
    if (reset == cudaErrorNotSupported) cudaGetLastError();
    else check(reset, "cudaCtxResetPersistingL2Cache");
  }
  /// How much of the L2 is set aside for accesses that no flush evicts.
  static std::size_t set_aside_l2_bytes() {
    std::size_t bytes = 0;
    const cudaError_t asked = cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize);
    if (asked != cudaErrorUnsupportedLimit) check(asked, "cudaDeviceGetLimit");
    else cudaGetLastError();
    return bytes;
  }
  /// Gives back what a plug-in has set aside.
  static void release_l2() {
    if (set_aside_l2_bytes() == 0) return;
    check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0), "cudaDeviceSetLimit");
    reset_persisting_l2();
  }

  void flush_l2() {
    const CurrentDevice current(ordinal_);
    check(cudaMemsetAsync(flush_.data(), 0xff, flush_bytes_, stream_), "flushing L2");
  }

  GpuProfiler& profiler() {
    if (!profiler_)
      profiler_.emplace(ordinal_, traits_.max_threads_per_sm / kWarpSize / kSchedulersPerSm);
    return *profiler_;
  }

  /// What a stream that reads twice the L2 and writes nothing leaves to be written. Counted once.
  const Counter& flush_written() {
    if (flush_written_) return *flush_written_;
    Counter& written = flush_written_.emplace(
        Counter{.name = std::string(kFlushWrittenBytes), .unavailable = "it could not be counted"});
    const Memory data = allocate(flush_bytes_);
    check(cudaMemsetAsync(data.data(), 0, flush_bytes_, stream_), "filling memory");
    const auto prepare = [&] {
      flush_l2();
      synchronize();
    };
    const auto read = [&] {
      read_stream_kernel<4, false><<<traits_.sm_count, 1024, 0, stream_>>>(
          reinterpret_cast<const uint4*>(data.data()), flush_bytes_ / sizeof(uint4),
          reinterpret_cast<unsigned*>(scalars_.data()));
      check(cudaGetLastError(), "read stream kernel");
      synchronize();
    };
    for (const Counter& counter : profiler().count(prepare, read))
      if (counter.name == "dram_written_bytes") {
        written.count = counter.count;
        written.unavailable = counter.unavailable;
      }
    return written;
  }

  /// The time between events around calls, all of which are queued before the first begins.
  double queued_ns(Mode mode, const Work& work, unsigned batch) {
    if (mode == Mode::kGraph && graph_ == nullptr) capture(work, batch);
    const bool guarded = work.guard != nullptr;
    // What a plug-in does on other streams while this one is held comes before the flush.
    const bool flushes_late = guarded && !work.synchronous;
    if (mode == Mode::kCold && !flushes_late) flush_l2();
    // A graph begins on this device and ends there; it has the way to the others in it.
    const auto others = mode == Mode::kGraph ? std::vector<CudaDevice*>{} : others_of(work);
    if (mode == Mode::kCold)
      for (CudaDevice* const other : others) other->flush_l2();
    unsigned awaited = 0;
    if (!others.empty()) {
      awaited = ++blocks_;
      // Once in vain, so that the code of what ends the time is in caches that were flushed.
      if (work.ends_on_all) end_together(others, awaited - 1);
      begin_together(others, awaited);
    } else if (!work.synchronous) {
      awaited = ++blocks_;
      block_stream_kernel<<<1, 1, 0, stream_>>>(&mapped()->flag, awaited);
      check(cudaGetLastError(), "blocking kernel");
    }
    if (mode == Mode::kCold && flushes_late) flush_l2();
    if (guarded) work.guard->at_begin();
    if (others.empty() && work.synchronous)
      check(cudaStreamSynchronize(stream_), "waiting before a synchronous call");
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    if (mode == Mode::kGraph) {
      check(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch");
    } else {
      for (unsigned i = 0; i < batch; ++i) work.enqueue();
    }
    if (!others.empty() && work.ends_on_all) end_together(others, awaited);
    const bool awaits_processes = work.together != nullptr && work.together->ends_on_all();
    if (awaits_processes) {
      // The host lets it end when all have told of their ends.
      check(cudaEventRecord(order_, stream_), "cudaEventRecord");
      block_stream_kernel<<<1, 1, 0, stream_>>>(&mapped()->flag, ++blocks_);
      check(cudaGetLastError(), "blocking kernel");
    }
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    if (guarded) work.guard->at_end();
    queue_sm_clock();
    if (guarded && set_aside_l2_bytes() > 0)
      throw std::runtime_error(
          "the call sets L2 aside for persisting accesses (cudaLimitPersistingL2CacheSize), which "
          "would "
          "keep the input in it");
    if (work.together != nullptr) work.together->ready();
    const auto release = [&] {
      if (!work.synchronous)
        std::atomic_ref<unsigned>(mapped()->flag).store(awaited, std::memory_order_seq_cst);
    };
    if (work.together != nullptr) work.together->begin(release);
    else release();
    if (awaits_processes) {
      check(cudaEventSynchronize(order_), "waiting for a sample");
      work.together->end();
      std::atomic_ref<unsigned>(mapped()->flag).store(blocks_, std::memory_order_seq_cst);
    }
    check(guarded ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream_),
          "waiting for a sample");
    for (CudaDevice* const other : others) other->synchronize();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    // An event pair around nothing can read zero; a time of zero is no time.
    return std::max(static_cast<double>(ms) * 1e6, 1.0) / batch;
  }

  /// The time of a call by the host's clock: from idle devices until its work is done.
  double wall_ns(const Work& work) {
    using Clock = std::chrono::steady_clock;
    const std::vector<CudaDevice*> others = others_of(work);
    flush_l2();
    for (CudaDevice* const other : others) {
      other->flush_l2();
      other->synchronize();
    }
    const bool guarded = work.guard != nullptr;
    if (guarded) work.guard->at_begin();
    check(cudaStreamSynchronize(stream_), "waiting before a call");
    if (guarded) clock_check_.begin();
    if (work.together != nullptr) work.together->ready();
    const auto begun = Clock::now();
    if (work.together != nullptr) work.together->begin([] {});
    work.enqueue();
    check(guarded ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream_), "waiting for a call");
    if (work.ends_on_all)
      for (CudaDevice* const other : others) other->synchronize();
    if (work.together != nullptr && work.together->ends_on_all()) work.together->end();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begun).count();
    if (guarded) {
      clock_check_.end(ns);
      work.guard->at_end();
    }
    for (CudaDevice* const other : others) other->synchronize();
    queue_sm_clock();
    check(cudaStreamSynchronize(stream_), "waiting for the SM clock");
    return ns;
  }

  void queue_sm_clock() {
    sm_clock_kernel<<<1, 1, 0, stream_>>>(&mapped()->sm_clock_mhz);
    check(cudaGetLastError(), "SM clock kernel");
  }

  void capture(const Work& work, unsigned batch) {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "graph capture");
    cudaGraph_t graph = nullptr;
    try {
      const std::vector<CudaDevice*> others = others_of(work);
      if (!others.empty()) check(cudaEventRecord(order_, stream_), "cudaEventRecord");
      for (CudaDevice* const other : others)
        check(cudaStreamWaitEvent(other->stream_, order_), "cudaStreamWaitEvent");
      for (unsigned i = 0; i < batch; ++i) work.enqueue();
      for (CudaDevice* const other : others) {
        check(cudaEventRecord(other->order_, other->stream_), "cudaEventRecord");
        check(cudaStreamWaitEvent(stream_, other->order_), "cudaStreamWaitEvent");
      }
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(stream_, &graph), "graph capture");
    const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    check(status, "cudaGraphInstantiate");
  }

  /// Runs f. A fault inside a kernel surfaces at any later call and leaves the context unusable, so
  /// every CUDA error means that the device is lost, unless it is one that refuses a launch.
  template <class F>
  void lost_on_error(F&& f) {
    try {
      f();
    } catch (const CudaError& error) {
      switch (error.code) {
        case cudaErrorInvalidValue:
        case cudaErrorInvalidConfiguration:
        case cudaErrorLaunchOutOfResources:
        case cudaErrorCooperativeLaunchTooLarge:
        case cudaErrorStreamCaptureUnsupported:
        case cudaErrorStreamCaptureInvalidated: throw;
        default: throw DeviceLost(error.what());
      }
    }
  }

  int ordinal_;
  Gathered gathered_;
  DeviceTraits traits_;
  std::optional<double> max_sm_clock_mhz_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  cudaEvent_t order_ = nullptr;  ///< of the streams of several devices in a graph
  cudaGraphExec_t graph_ = nullptr;
  std::size_t flush_bytes_ = 0;
  Memory flush_, scalars_, signals_, mapped_;
  Memory staging_;  ///< page-locked, two halves of kStagedBytes; none before a large upload
  unsigned blocks_ = 0;
  std::optional<GpuProfiler> profiler_;   ///< once something was counted
  std::optional<Counter> flush_written_;  ///< once a cold call was counted
  std::vector<std::unique_ptr<CudaDevice>> others_;
  ClockCheck clock_check_;
};

}  // namespace

CudaStatus cuda_status() {
  CudaStatus status;
  status.cccl_version = std::to_string(CCCL_MAJOR_VERSION) + "." +
                        std::to_string(CCCL_MINOR_VERSION) + "." +
                        std::to_string(CCCL_PATCH_VERSION);
  int version = 0;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess)
    status.runtime_version = version_text(version);
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0)
    status.driver_api_version = version_text(version);
  status.driver_version = driver_version();
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess || count == 0) {
    cudaGetLastError();
    status.unavailable = status.driver_api_version.empty() ? "no NVIDIA driver is loaded"
                         : found == cudaSuccess            ? "no CUDA device is visible"
                                                           : cudaGetErrorString(found);
    return status;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      status.devices.push_back(gpu_info(ordinal));
    } catch (const CudaError& error) {
      status.unavailable = error.what();
      return status;
    }
  }
  return status;
}

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess || ordinal < 0 || ordinal >= count) {
    cudaGetLastError();
    throw UsageError("CUDA device " + std::to_string(ordinal) + " does not exist (" +
                     (found == cudaSuccess ? std::to_string(count) + " visible"
                                           : std::string(cudaGetErrorString(found))) +
                     "): choose another with --device, or --backend cpu");
  }
  try {
    return std::make_unique<CudaDevice>(ordinal);
  } catch (const CudaError& error) {
    throw DeviceLost(std::string("CUDA device ") + std::to_string(ordinal) +
                     " cannot be used: " + error.what());
  }
}

}  // namespace reduce_bench
