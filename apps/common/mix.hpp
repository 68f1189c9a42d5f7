// The 64-bit finaliser behind inputs and checksums, for host and device.
#pragma once

#include <cstdint>

namespace reduce_bench {

inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15u;

/// SplitMix64's output function (Steele, Lea, Flood 2014): a bijection that scrambles all bits.
#ifdef __CUDACC__
__host__ __device__
#endif
    constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace reduce_bench
