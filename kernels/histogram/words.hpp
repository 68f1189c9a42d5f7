// Byte labels as the publications on 256 bins read them: four to a word, the first in the lowest
// byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kLabelsPerWord = 4;

__device__ inline unsigned label_of(unsigned word, unsigned k) { return word >> (8 * k) & 0xffu; }

/// Labels outside of whole aligned words: [0, head) and [tail, n), at most three each. The
/// publications take only aligned inputs of whole words.
struct Edges {
  const std::uint8_t* labels = nullptr;
  std::size_t head = 0, tail = 0, n = 0;
};

struct Words {
  const unsigned* words;
  std::size_t count;
  Edges edges;
};

inline Words words_of(const std::uint8_t* labels, std::size_t n) {
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(labels) % sizeof(unsigned);
  const std::size_t head = std::min(n, (sizeof(unsigned) - misaligned) % sizeof(unsigned));
  const std::size_t count = (n - head) / kLabelsPerWord;
  return {reinterpret_cast<const unsigned*>(labels + head),
          count,
          {labels, head, head + count * kLabelsPerWord, n}};
}

/// How many words there are at most, wherever the labels begin.
inline std::size_t most_words(const Problem& p) { return p.n / kLabelsPerWord; }

}  // namespace reduce_bench::BACKEND
