// Levels of a memory seen in a curve of latencies.
#pragma once

#include <cstddef>
#include <vector>

namespace reduce_bench {

/// The latency of chasing pointers over an extent, which counts bytes or pages.
struct Latency {
  double extent = 0, ns = 0;
};

/// How many extents are measured in each doubling.
inline constexpr std::size_t kPointsPerOctave = 4;

/// The levels of a curve by ascending extent, the last being what lies beyond all others. A level
/// shows as a plateau, an octave or more that keeps within a fifth of its first latency, at half as
/// much again as the level before or more. It reaches as far as half of the steps still hit it.
/// Disturbances only add to a latency, so each is lowered to the least of any larger extent.
std::vector<Latency> plateaus(std::vector<Latency> curve);

}  // namespace reduce_bench
