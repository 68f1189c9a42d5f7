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

/// The levels of a curve by ascending extent, the last being what lies beyond all others. A level
/// shows as a plateau, an octave or more that keeps within a fifth of its first latency, at half as
/// much again as the level before or more. It reaches as far as half of the steps still hit it.
/// What disturbs a measurement makes it longer, so that a latency counts only as far as no larger
/// extent has a shorter one.
std::vector<Latency> plateaus(std::vector<Latency> curve);

}  // namespace reduce_bench
