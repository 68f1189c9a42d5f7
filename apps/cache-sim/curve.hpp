// Levels of a memory seen in a curve of latencies.
#pragma once

#include <cstddef>
#include <vector>

namespace reduce_bench {

/// Latency of a chase over so much: bytes, or pages.
struct Latency {
  double extent = 0, ns = 0;
};

/// Sizes are measured at so many points in each doubling.
inline constexpr std::size_t kPointsPerOctave = 4;

/// The plateaus of a curve by ascending extent, each with the largest extent on it and its latency;
/// the last is what lies beyond all levels. A plateau keeps within a fifth of its latency for at
/// least an octave; what disturbs a measurement makes it longer, so that a latency counts only as
/// far as no larger extent has a shorter one.
std::vector<Latency> plateaus(std::vector<Latency> curve);

}  // namespace reduce_bench
