#include "point/ceilings.hpp"

#include <algorithm>
#include <iterator>

#include "common/inputs.hpp"
#include "point/measure.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kLeastStreamBytes = 16;  // one load of the widest kind
constexpr unsigned kLaunches = 9;              // enough for the clock's resolution
constexpr std::size_t kMostBetweenBytes = std::size_t{1} << 28;

MeasurementSettings careful() {
  MeasurementSettings settings;
  settings.max_time_ms = 100;
  return settings;
}

/// The fastest of the streams that read `data`; nothing where the device has none.
std::optional<Ceilings::Read> fastest_read(Device& device, const std::byte* data,
                                           std::size_t size) {
  MeasurementSettings quick;
  quick.max_time_ms = 10;
  quick.relative_ci = 0.01;
  Ceilings::Read best{.size_bytes = size};
  const auto shapes = device.read_shapes(data, size);
  const StreamShape* fastest = nullptr;
  for (const StreamShape& shape : shapes) {
    const Work work{.enqueue = shape.enqueue};
    work.enqueue();
    device.synchronize();
    const double ns = median(measure(device, Mode::kCold, work, quick).samples_ns);
    if (fastest == nullptr || ns < best.median_ns) {
      fastest = &shape;
      best.median_ns = ns;
    }
  }
  if (fastest == nullptr) return std::nullopt;
  // Measured again, because the least of several noisy medians is too low.
  best.shape = fastest->name;
  best.median_ns =
      median(measure(device, Mode::kCold, Work{.enqueue = fastest->enqueue}, careful()).samples_ns);
  return best;
}

}  // namespace

std::optional<double> Ceilings::read_ns(std::size_t size_bytes) const {
  const std::size_t wanted = std::max(size_bytes, kLeastStreamBytes);
  const auto above = std::find_if(reads.begin(), reads.end(),
                                  [&](const Read& r) { return r.size_bytes >= wanted; });
  if (above == reads.end()) return std::nullopt;
  if (above->size_bytes == wanted) return above->median_ns;
  if (above == reads.begin()) return std::nullopt;
  const Read& below = *std::prev(above);
  const double part = static_cast<double>(wanted - below.size_bytes) /
                      static_cast<double>(above->size_bytes - below.size_bytes);
  return below.median_ns + part * (above->median_ns - below.median_ns);
}

std::vector<std::size_t> ceiling_sizes(std::vector<std::size_t> sizes_bytes) {
  for (std::size_t& size : sizes_bytes) size = std::max(size, kLeastStreamBytes);
  std::sort(sizes_bytes.begin(), sizes_bytes.end());
  std::vector<std::size_t> kept;
  for (const std::size_t size : sizes_bytes)
    if (kept.empty() || size - kept.back() >= kept.back() / 8 + 1) kept.push_back(size);
  if (!kept.empty() && kept.back() != sizes_bytes.back()) kept.push_back(sizes_bytes.back());
  return kept;
}

Ceilings measure_ceilings(Device& device, const std::vector<std::size_t>& sizes_bytes,
                          const BeginSize& begin_size, bool between_devices) {
  Ceilings ceilings;
  std::vector<std::size_t> fitting;
  for (const std::size_t size : sizes_bytes)  // the copy needs as much again
    if (2 * size <= device.free_bytes()) fitting.push_back(size);
  const std::vector<std::size_t> sizes = ceiling_sizes(std::move(fitting));
  if (sizes.empty()) return ceilings;

  const std::size_t largest = sizes.back();
  const Memory data = device.allocate(largest);
  // Random contents, as the variants read.
  const HostArray random = generate({.distribution = {},
                                     .type = Type::kI64,
                                     .op = Op::kSum,
                                     .n = std::min<std::size_t>(largest / 8 + 1, 1 << 23),
                                     .seed = 1});
  for (std::size_t done = 0; done < largest; done += random.size_bytes)
    device.upload(data.data() + done, random.bytes.get(),
                  std::min(random.size_bytes, largest - done));

  for (std::size_t k = 0; k < sizes.size(); ++k) {
    begin_size(k);
    if (const auto read = fastest_read(device, data.data(), sizes[k]))
      ceilings.reads.push_back(*read);
  }

  const Memory copy = device.allocate(largest);
  const Work copy_work{.enqueue = device.copy(copy.data(), data.data(), largest)};
  copy_work.enqueue();
  device.synchronize();
  ceilings.copy_bytes = 2 * largest;
  ceilings.copy_median_ns = median(measure(device, Mode::kCold, copy_work, careful()).samples_ns);
  const auto launch = device.empty_launch();
  const auto launches_ns = [&](unsigned count) {
    const Work empty{.enqueue =
                         [&] {
                           for (unsigned i = 0; i < count; ++i) launch();
                         },
                     .kernels = count};
    empty.enqueue();
    device.synchronize();
    return median(measure(device, Mode::kCold, empty, careful()).samples_ns);
  };
  ceilings.empty_launch_ns = launches_ns(1);
  ceilings.further_launch_ns =
      std::max(launches_ns(kLaunches) - ceilings.empty_launch_ns, 0.0) / (kLaunches - 1);
  // Nothing here reads the memory of another process.
  if (between_devices && device.traits().devices > 1 && !device.gathers_processes()) {
    Device& other = *device.gather(2).back();
    const std::size_t size = std::min(largest, kMostBetweenBytes);
    const Memory there = other.allocate(size);
    other.fill(there.data(), 0x5a, size);
    if (const auto read = fastest_read(device, there.data(), size))
      ceilings.between = {.read = *read, .word_ns = device.word_ns(other)};
  }
  return ceilings;
}

}  // namespace reduce_bench
