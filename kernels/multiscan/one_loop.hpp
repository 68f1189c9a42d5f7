// The loops of the sequential multiscans.
#pragma once

#include <cstddef>

#include "kernels/multiscan/index_values.hpp"
#include "kernels/shared/arrays.hpp"

namespace reduce_bench::BACKEND {

/// eilers Algorithm 2.3 on the inputs [first, end). `buckets` hold the totals of what is before
/// `first`, and in the end of what is before `end`.
template <class Op, class T, class Buckets, class Labels, class Values, class Results>
void scan_in_order(Buckets buckets, Labels labels, Values values, std::size_t first,
                   std::size_t end, bool inclusive, Results results) {
  for (std::size_t i = first; i < end; ++i) {
    const Label label = labels[i];
    const T value = values[i], before = buckets[label], after = Op::combine(before, value);
    buckets[label] = after;
    results[i] = inclusive ? after : before;
  }
}

/// Each value with its position.
template <class T, class Values, class Pairs>
void pair_with_positions(std::size_t n, Values values, Pairs pairs) {
  for (std::size_t i = 0; i < n; ++i) {
    const T value = values[i];
    pairs[i] = IndexValue<T>{value, static_cast<Count>(i)};
  }
}

/// eilers Algorithm 2.5 after its sort: results go where their values came from.
template <class Op, class T, class Buckets, class Labels, class Pairs, class Results>
void scan_sorted(std::size_t n, Buckets buckets, Labels labels, Pairs pairs, bool inclusive,
                 Results results) {
  for (std::size_t i = 0; i < n; ++i) {
    const Label label = labels[i];
    const IndexValue<T> pair = pairs[i];
    const T before = buckets[label], after = Op::combine(before, pair.value);
    buckets[label] = after;
    results[pair.index] = inclusive ? after : before;
  }
}

}  // namespace reduce_bench::BACKEND
