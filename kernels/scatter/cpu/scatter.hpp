// The loop of cpu/scatter and, after a sort, of cpu/scatter-sorted.
#pragma once

#include <cstddef>

#include "kernels/api/operation.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// eilers Algorithm 2.1.
template <class T, class Labels, class Values, class Results>
void scatter(std::size_t n, Labels labels, Values values, Results results) {
  for (std::size_t i = 0; i < n; ++i) {
    const Label label = labels[i];
    results[label] = static_cast<T>(values[i]);
  }
}

}  // namespace reduce_bench::BACKEND
