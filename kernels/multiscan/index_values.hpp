// Values that remember where they stood (eilers Algorithms 2.5, 5.3 and 5.4): a multiscan sorts
// them by label and stores each result where its value came from.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {

template <class T>
struct IndexValue {
  T value;
  Count index;
};

inline std::size_t index_value_bytes(const Problem& p) {
  return with_value_type(p.type, []<class T>() { return sizeof(IndexValue<T>); });
}

/// Positions are counted in 32 bits.
inline std::string index_restriction(const Problem& p) {
  if (p.n <= ~Count{0}) return {};
  return std::to_string(p.n) + " inputs: their positions are counted in 32 bits";
}

}  // namespace reduce_bench::BACKEND
