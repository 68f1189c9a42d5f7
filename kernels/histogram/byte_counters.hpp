// 64 histograms of 256 byte counters in the shared memory of a block, as TRISH keeps them. Row
// b mod 64 of a histogram is the word that holds the counters of b, b + 64, b + 128 and b + 192.
// Word `row * 64 + h` belongs to histogram h, so that no two of 32 neighbouring histograms share a
// bank.
#pragma once

#include "kernels/histogram/partials.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kTrishBins = 256;
inline constexpr unsigned kTrishSets = 64;
inline constexpr unsigned kTrishRows = kTrishBins / 4;
inline constexpr std::size_t kTrishSharedBytes = kTrishSets * kTrishRows * sizeof(unsigned);
/// After 63 words one of the 256 counters may hold 252, and the next word could overflow it.
inline constexpr unsigned kWordsPerFlush = 255 / kLabelsPerWord;

__device__ inline unsigned row_of(unsigned label) { return label % kTrishRows; }
__device__ inline unsigned increment_of(unsigned label) { return 1u << 8 * (label / kTrishRows); }

/// Adds `sets` words of a row, cyclically from `first` on, to the `counts` of their four bins and
/// clears them. Threads of a warp with successive `first` never share a bank.
__device__ inline void flush_row(unsigned* row, unsigned first, unsigned sets, Count (&counts)[4]) {
  // Two 16-bit sums in a word: 64 counters of 255 do not overflow.
  unsigned even = 0, odd = 0;
  for (unsigned i = 0; i < sets; ++i) {
    unsigned& word = row[(first + i) % kTrishSets];
    even += word & 0x00ff00ffu;
    odd += word >> 8 & 0x00ff00ffu;
    word = 0;
  }
  counts[0] += even & 0xffffu;
  counts[1] += odd & 0xffffu;
  counts[2] += even >> 16;
  counts[3] += odd >> 16;
}

}  // namespace reduce_bench::BACKEND
