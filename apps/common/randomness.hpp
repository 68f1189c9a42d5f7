// Random numbers by position: the same on every backend and in any order of evaluation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/mix.hpp"

namespace reduce_bench {

/// Up to four independent random words for each position: word k < 4 of element i.
struct Randomness {
  std::uint64_t seed;
  std::uint64_t word(std::size_t i, unsigned k = 0) const {
    return mix(seed + kGoldenGamma * (4 * static_cast<std::uint64_t>(i) + k + 1));
  }
  /// A number in [0, 1) of 53 random bits.
  double unit(std::size_t i, unsigned k = 0) const { return to_unit(word(i, k)); }
  static double to_unit(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
};

}  // namespace reduce_bench
