// The loops of cpu/gather and cpu/gather-sorted.
#pragma once

#include <cstddef>

#include "kernels/api/operation.hpp"
#include "kernels/shared/arrays.hpp"
#include "kernels/shared/cpu_radix_sort.hpp"

namespace reduce_bench::BACKEND {

/// eilers section 2.1.
template <class T, class Labels, class Values, class Results>
void gather(std::size_t n, Labels labels, Values values, Results results) {
  for (std::size_t i = 0; i < n; ++i) {
    const Label label = labels[i];
    results[i] = static_cast<T>(values[label]);
  }
}

/// The arrays that sorting needs beside the operation's own: the digits' offsets and their copy,
/// the sorted labels, and the values that they name.
template <class Offsets, class Labels, class Values>
struct GatherSpace {
  Offsets offsets, copy;
  Labels sorted;
  Values fetched;
};

/// eilers Algorithm 2.6; the sort has one run.
template <class T, class InLabels, class InValues, class Results, class Offsets, class Labels,
          class Values>
void gather_sorted(const CpuRadixSort& sort, InLabels labels, InValues values, Results results,
                   GatherSpace<Offsets, Labels, Values> space) {
  const auto digit = [&](Label label) { return (label >> sort.first_bit) & (sort.base() - 1); };
  const auto next_place = [](Offsets& offsets, std::size_t at) {
    const std::size_t place = offsets[at];
    offsets[at] = place + 1;
    return place;
  };
  digit_offsets(labels, sort.n, sort.first_bit, sort.base(), space.offsets);
  for (std::size_t d = 0; d < sort.base(); ++d)
    space.copy[d] = static_cast<std::size_t>(space.offsets[d]);
  for (std::size_t i = 0; i < sort.n; ++i) {
    const Label label = labels[i];
    space.sorted[next_place(space.offsets, digit(label))] = label;
  }
  gather<T>(sort.n, space.sorted, values, space.fetched);
  for (std::size_t i = 0; i < sort.n; ++i)
    results[i] = static_cast<T>(space.fetched[next_place(space.copy, digit(labels[i]))]);
}

}  // namespace reduce_bench::BACKEND
