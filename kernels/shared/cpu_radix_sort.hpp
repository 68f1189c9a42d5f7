// The CPU's stable radix sort of labels with their values (eilers Algorithm 2.4).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/shared/arrays.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// One sort of n pairs by the bits [first_bit, end_bit) of their labels, `bits_per_run` of them in
/// every run, the lowest first.
struct CpuRadixSort {
  std::size_t n = 0;
  unsigned first_bit = 0, end_bit = 0, bits_per_run = 0;

  std::size_t base() const { return std::size_t{1} << bits_per_run; }
  unsigned runs() const {
    return static_cast<unsigned>(ceil_div(end_bit - first_bit, bits_per_run));
  }
  static std::size_t aligned(std::size_t bytes) { return ceil_div(bytes, 256) * 256; }
  /// Room for the digits' offsets, and for the pairs between two runs.
  std::size_t workspace_bytes(std::size_t value_bytes) const {
    return aligned(base() * sizeof(std::size_t)) + aligned(n * sizeof(Label)) +
           aligned(n * value_bytes);
  }
};

/// Sorts by the upper `sort_bits` of the bits that labels below `buckets` have.
inline CpuRadixSort plan_cpu_radix_sort(std::size_t n, std::size_t buckets, unsigned sort_bits,
                                        unsigned bits_per_run) {
  const unsigned bits = log2_ceil(buckets);
  return {n, bits - std::min(bits, sort_bits), bits, bits_per_run};
}

/// The axis of the algorithms that sort partially before their loop, and what it means: `auto`
/// leaves 18 bits unsorted and sorts from 2^21 buckets on, as the thesis found best on its machine.
inline ParamSpec partial_cpu_sort_axis() {
  return {"sort_bits",
          "auto",
          {"auto", "2", "4", "6", "8", "12"},
          "upper bits of the labels to sort by (auto: all but 18, from 2^21 buckets)"};
}
inline CpuRadixSort plan_partial_cpu_sort(const Problem& p) {
  constexpr unsigned kBitsPerRun = 8, kUnsortedBits = 18, kLeastBitsToSort = 21;
  const unsigned bits = log2_ceil(p.buckets);
  unsigned sort_bits = bits < kLeastBitsToSort ? 0 : bits - kUnsortedBits;
  if (!p.params.is("sort_bits", "auto")) sort_bits = p.params.number("sort_bits");
  return plan_cpu_radix_sort(p.n, p.buckets, sort_bits, kBitsPerRun);
}

/// offsets[d]: where the first label with the digit d goes.
template <class Labels, class Offsets>
void digit_offsets(Labels labels, std::size_t n, unsigned shift, std::size_t base,
                   Offsets offsets) {
  fill(offsets, base, std::size_t{0});
  for (std::size_t i = 0; i < n; ++i) {
    const Label label = labels[i];
    const std::size_t digit = (label >> shift) & (base - 1), count = offsets[digit];
    offsets[digit] = count + 1;
  }
  std::size_t sum = 0;
  for (std::size_t d = 0; d < base; ++d) {
    const std::size_t count = offsets[d];
    offsets[d] = sum;
    sum += count;
  }
}

/// The arrays that a sort needs beside its input and output: the digits' offsets, and the pairs
/// between the runs.
template <class Offsets, class Labels, class Values>
struct SortSpace {
  Offsets offsets;
  Labels labels;
  Values values;
};

/// Sorts pairs of a label and a T into the results; the input is left as it is. Without a bit to sort
/// by, the results are a copy.
template <class T, class InLabels, class InValues, class Labels, class Values, class Offsets>
void sort_pairs(const CpuRadixSort& sort, InLabels labels, InValues values, Labels result_labels,
                Values results, SortSpace<Offsets, Labels, Values> space) {
  if (sort.runs() == 0) {
    for (std::size_t i = 0; i < sort.n; ++i) result_labels[i] = static_cast<Label>(labels[i]);
    for (std::size_t i = 0; i < sort.n; ++i) results[i] = static_cast<T>(values[i]);
    return;
  }
  if (sort.runs() % 2 == 0) {  // the last run writes the results
    std::swap(result_labels, space.labels);
    std::swap(results, space.values);
  }
  for (unsigned shift = sort.first_bit; shift < sort.end_bit; shift += sort.bits_per_run) {
    const std::size_t mask = sort.base() - 1;
    digit_offsets(labels, sort.n, shift, sort.base(), space.offsets);
    for (std::size_t i = 0; i < sort.n; ++i) {
      const Label label = labels[i];
      const std::size_t digit = (label >> shift) & mask, place = space.offsets[digit];
      space.offsets[digit] = place + 1;
      result_labels[place] = label;
      results[place] = static_cast<T>(values[i]);
    }
    labels = result_labels;
    values = results;
    std::swap(result_labels, space.labels);
    std::swap(results, space.values);
  }
}

/// The same, with the space in the `workspace_bytes` of a workspace.
template <class T>
void sort_pairs(const CpuRadixSort& sort, const Label* labels, const T* values,
                Label* result_labels, T* results, std::byte* workspace) {
  auto* offsets = reinterpret_cast<std::size_t*>(workspace);
  workspace += CpuRadixSort::aligned(sort.base() * sizeof(std::size_t));
  auto* spare_labels = reinterpret_cast<Label*>(workspace);
  auto* spare_values =
      reinterpret_cast<T*>(workspace + CpuRadixSort::aligned(sort.n * sizeof(Label)));
  sort_pairs<T>(sort, labels, values, result_labels, results,
                SortSpace<std::size_t*, Label*, T*>{offsets, spare_labels, spare_values});
}

}  // namespace reduce_bench::BACKEND
