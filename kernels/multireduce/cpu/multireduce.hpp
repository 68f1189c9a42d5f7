// The loop of cpu/multireduce and, after a sort, of cpu/multireduce-sorted.
#pragma once

#include <cstddef>

#include "kernels/api/operation.hpp"
#include "kernels/api/variant.hpp"
#include "kernels/platform/platform.hpp"
#include "kernels/shared/arrays.hpp"

namespace reduce_bench::BACKEND {

/// `sequential` gives `multireduce` its buckets as a `Chained` array.
inline ParamSpec fetch_axis() {
  return {"fetch",
          "free",
          {"free", "sequential"},
          "sequential: a bucket is read only when the one before was (Figure 2.8)"};
}

/// eilers Algorithm 2.2.
template <class Op, class T, class Labels, class Values, class Results>
void multireduce(std::size_t n, std::size_t m, Labels labels, Values values, Results results) {
  fill(results, m, Op::template identity<T>());
  for (std::size_t i = 0; i < n; ++i) {
    const Label label = labels[i];
    const T value = values[i], bucket = results[label];
    results[label] = Op::combine(bucket, value);
  }
}

}  // namespace reduce_bench::BACKEND
