// The inputs of a multireduce, sorted by the upper bits of their labels before an algorithm reads
// them (eilers sections 4.3.5 and 4.4).
#pragma once

#include <algorithm>

#include "kernels/shared/radix_sort.hpp"

namespace reduce_bench::BACKEND {

/// The value of `sort_bits` that sorts completely.
inline constexpr unsigned kAllBits = 32;

/// Offsets into the workspace. It holds the sorted labels and values, then from `rest` on what the
/// sort needs and, once that is done, what the algorithm needs.
struct SortedInput {
  RadixSort sort;
  std::size_t values, rest;

  std::size_t bytes(std::size_t element_bytes, std::size_t algorithm_bytes) const {
    return rest + std::max(sort.workspace_bytes(element_bytes), algorithm_bytes);
  }
  /// Traffic of the sort and of `algorithm`, which reads what the sort wrote.
  Traffic traffic(std::size_t element_bytes, const Traffic& algorithm) const {
    Traffic traffic = sort.traffic(element_bytes);
    traffic.read_bytes += algorithm.read_bytes;
    traffic.written_bytes += algorithm.written_bytes;
    return traffic;
  }
};

inline SortedInput sorted_input(const Problem& p, unsigned sort_bits) {
  SortedInput input{};
  input.sort = plan_radix_sort(p, sort_bits);
  input.values = RadixSort::aligned(p.n * sizeof(Label));
  input.rest = input.values + RadixSort::aligned(p.n * p.element_bytes());
  return input;
}

/// Sorts the call's inputs and returns the sorted pairs.
template <class T>
Pairs<const Label, const T> enqueue_sort(const TypedCall<T>& call, const SortedInput& input) {
  const Pairs<Label, T> sorted{call.template scratch<Label>(),
                               call.template scratch<T>(input.values)};
  enqueue_radix_sort<T>(call.stream, input.sort, {call.labels(), call.values()}, sorted,
                        call.workspace + input.rest);
  return {sorted.labels, sorted.values};
}

}  // namespace reduce_bench::BACKEND
