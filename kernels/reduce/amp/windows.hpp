// What amp/simple-1 and amp/simple-2 share: launches that fold `window` elements, n / window apart,
// into one, in place, until fewer than `window` are left. What does not divide goes to a tail sum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/reduce/amp/host_finish.hpp"

namespace reduce_bench::BACKEND {

/// Elements of the workspace before the array, which stays aligned; the last of them is the tail
/// sum, so that one copy brings both.
inline constexpr std::size_t kBeforeArray = 64;

/// Calls `fold(values, results, n, tail, first)` for every launch. In the first, which also
/// initialises the tail sum, `values` is the input; in all others it is `results` itself.
template <class Op, class T, class Fold>
void reduce_in_windows(const TypedCall<T>& call, unsigned window, Fold&& fold) {
  std::size_t n = call.n();
  if (n < window) return fold_on_host<Op>(call, call.values(), n);
  T* array = call.scratch() + kBeforeArray;
  T* tail = array - 1;
  const T* values = call.values();
  for (bool first = true; n >= window; n /= window, first = false) {
    fold(values, array, n, tail, first);
    values = array;
  }
  fold_on_host<Op>(call, tail, 1 + n);
}

inline Workspace workspace_of_windows(const Problem& problem, unsigned window) {
  return {.device_bytes = (kBeforeArray + problem.n / window) * problem.element_bytes(),
          .host_bytes = window * problem.element_bytes()};
}

/// Every launch reads what the launch before it wrote; the host reads the rest.
inline Traffic traffic_of_windows(const Problem& problem, unsigned window) {
  Traffic traffic;
  std::size_t n = problem.n;
  for (; n >= window; n /= window) {
    traffic.read_bytes += n * problem.element_bytes();
    traffic.written_bytes += n / window * problem.element_bytes();
  }
  traffic.read_bytes += n * problem.element_bytes();
  return traffic;
}

/// A launch adds at most window - 1 elements to an element, or to the tail sum after it has left
/// the array; the host adds what remains.
inline std::uint64_t depth_of_windows(const Problem& problem, unsigned window) {
  std::uint64_t depth = 0;
  std::size_t n = problem.n;
  for (; n >= window; n /= window) depth += window - 1;
  return depth + n;
}

}  // namespace reduce_bench::BACKEND
