// What a backend can do at most: read and copy streams, and the empty launch.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"

namespace reduce_bench {

/// What one backend can do at most, measured in this run.
struct Ceilings {
  struct Read {
    std::size_t size_bytes = 0;
    double median_ns = 0;
    std::string shape;  ///< of the fastest stream
  };
  std::vector<Read> reads;     ///< ascending sizes
  std::size_t copy_bytes = 0;  ///< read and written together; 0: not measured
  double copy_median_ns = 0;
  double empty_launch_ns = 0;

  /// Time of the read stream over so many bytes; linear between the sizes measured, and none
  /// beyond them.
  std::optional<double> read_ns(std::size_t size_bytes) const;
};

/// The sizes to measure for these: ascending, each at least an eighth above the one before, and the
/// largest. So a plan of thousands of sizes does not spend its time on ceilings.
std::vector<std::size_t> ceiling_sizes(std::vector<std::size_t> sizes_bytes);

/// Measures read streams at the `ceiling_sizes` of the plan, a copy of the largest, and the empty
/// launch.
Ceilings measure_ceilings(Device& device, const std::vector<std::size_t>& sizes_bytes);

}  // namespace reduce_bench
