// The limits that a backend's times are held against: the fastest read stream, a copy, an empty
// launch.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/fields.hpp"
#include "devices/device.hpp"

namespace reduce_bench {

/// The time of the fastest stream that reads so many bytes.
struct ReadCeiling {
  std::size_t size_bytes = 0;
  double median_ns = 0;
  std::string shape;  ///< of the fastest stream

  double gb_per_s() const { return static_cast<double>(size_bytes) / median_ns; }
};
/// The limits between two devices.
struct BetweenDevices {
  ReadCeiling read;    ///< of the other's memory
  double word_ns = 0;  ///< how long a word takes to the other, one way
};

/// The limits of one backend, as measured in this run.
struct Ceilings {
  using Read = ReadCeiling;
  std::vector<Read> reads;     ///< ascending sizes
  std::size_t copy_bytes = 0;  ///< read and written together; 0: not measured
  double copy_median_ns = 0;
  double empty_launch_ns = 0;
  double further_launch_ns = 0;           ///< what each launch behind another adds
  std::optional<BetweenDevices> between;  ///< where a plan spreads points over several

  double copy_gb_per_s() const { return static_cast<double>(copy_bytes) / copy_median_ns; }
  /// Time of the read stream over so many bytes; linear between the sizes measured, and none
  /// beyond them.
  std::optional<double> read_ns(std::size_t size_bytes) const;
};
FIELDS(ReadCeiling, size_bytes, median_ns, shape);
FIELDS(BetweenDevices, read, word_ns);
FIELDS(Ceilings, reads, copy_bytes, copy_median_ns, empty_launch_ns, further_launch_ns, between);

/// The sizes at which to measure read streams for these sizes of inputs: ascending, each at least an
/// eighth larger than the one before, and always the largest. A plan of thousands of sizes thus
/// spends little time on ceilings.
std::vector<std::size_t> ceiling_sizes(std::vector<std::size_t> sizes_bytes);

/// Told as the read stream of a size (from 0) begins.
using BeginSize = std::function<void(std::size_t)>;

/// Measures read streams at the `ceiling_sizes` of the plan, a copy of the largest, and the empty
/// launch; between two devices, where that is asked for and there are two, a read of up to 256 MB and
/// a word's way.
Ceilings measure_ceilings(
    Device& device, const std::vector<std::size_t>& sizes_bytes,
    const BeginSize& begin_size = [](std::size_t) {}, bool between_devices = false);

}  // namespace reduce_bench
