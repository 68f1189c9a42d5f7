// What each operation reads and writes: all that the harness must know to run one, but for its
// reference results (point/oracle.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/api/types.hpp"

namespace reduce_bench {

/// What a variant computes, from n values v and n labels l in [0, m), the buckets.
///   reduce         one result: v[0] . v[1] . ... . v[n-1]
///   multireduce    m results: bucket b holds the v[i] with l[i] = b, combined in the order of i;
///                  the neutral element where there is none
///   reduce-by-key  one result and its label for each run of equal labels, and how many there are
///   histogram      m counts: how many l[i] = b
///   scatter        m results: r[l[i]] = v[i], the last i winning, or any where the variant lets it
///                  (`winner_axis` in variant.hpp); the rest is left as it was
///   gather         n results: r[i] = v[l[i]], of m values
///   sort           n labels in ascending order with their values, equal labels in the order of i
///   multiscan      n results: r[i] combines the v[j] with l[j] = l[i] and j < i, in order; the
///                  neutral element where there is none. j <= i where it is inclusive (`scan_axis`
///                  in variant.hpp)
///   scan-by-key    the same within each run of equal labels
enum class Operation {
  kReduce,
  kMultireduce,
  kReduceByKey,
  kHistogram,
  kScatter,
  kGather,
  kSort,
  kMultiscan,
  kScanByKey
};
inline constexpr std::array kOperationNames{
    std::string_view{"reduce"},        std::string_view{"multireduce"},
    std::string_view{"reduce-by-key"}, std::string_view{"histogram"},
    std::string_view{"scatter"},       std::string_view{"gather"},
    std::string_view{"sort"},          std::string_view{"multiscan"},
    std::string_view{"scan-by-key"}};
constexpr std::string_view name_of(Operation o) { return kOperationNames[index_of(o)]; }

/// The element types of labels, of which histograms also take bytes, and of counts.
using Label = std::uint32_t;
using Count = std::uint32_t;

/// One array of an operation: `count` elements; 0 where the operation has no such array.
struct Extent {
  Type type = Type::kI32;
  std::size_t count = 0;

  std::size_t bytes() const { return count * size_bytes(type); }
};

/// The arrays of an operation, by the names that `Call` and the kernels use too.
struct Arrays {
  Extent values, labels;                        ///< read
  Extent results, result_labels, result_count;  ///< written

  std::size_t input_bytes() const { return values.bytes() + labels.bytes(); }
  std::size_t output_bytes() const {
    return results.bytes() + result_labels.bytes() + result_count.bytes();
  }
};

/// The arrays of an operation on n inputs with labels below `buckets`; `type` as in `Problem`.
constexpr Arrays arrays_of(Operation operation, std::size_t n, std::size_t buckets, Type type) {
  const Extent values{type, n}, labels{kTypeOf<Label>, n};
  switch (operation) {
    case Operation::kMultireduce:
    case Operation::kScatter:
      return {.values = values, .labels = labels, .results = {type, buckets}};
    case Operation::kReduceByKey:
      return {.values = values,
              .labels = labels,
              .results = {type, n},
              .result_labels = labels,
              .result_count = {kTypeOf<Count>, 1}};
    case Operation::kHistogram: return {.labels = {type, n}, .results = {kTypeOf<Count>, buckets}};
    case Operation::kGather:
      return {.values = {type, buckets}, .labels = labels, .results = {type, n}};
    case Operation::kSort:
      return {.values = values, .labels = labels, .results = {type, n}, .result_labels = labels};
    case Operation::kMultiscan:
    case Operation::kScanByKey: return {.values = values, .labels = labels, .results = {type, n}};
    case Operation::kReduce: break;
  }
  return {.values = values, .results = {result_type(type), 1}};
}

constexpr bool has_labels(Operation operation) { return operation != Operation::kReduce; }
constexpr bool has_values(Operation operation) { return operation != Operation::kHistogram; }
constexpr bool is_scan(Operation operation) {
  return operation == Operation::kMultiscan || operation == Operation::kScanByKey;
}
constexpr bool has_operator(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kMultireduce ||
         operation == Operation::kReduceByKey || is_scan(operation);
}

/// Whether the operation exists with this operator on this type.
constexpr bool defined_on(Operation operation, Op op, Type type) {
  if (is_half(type) && operation != Operation::kReduce) return false;
  return has_values(operation) != is_label(type) && has_operator(operation) == (op != Op::kNone) &&
         defined_on(op, type);
}

/// The type and operator of a configuration that names none.
constexpr Type default_type(Operation operation) {
  return has_values(operation) ? Type::kI32 : Type::kU32;
}
constexpr Op default_op(Operation operation) {
  return has_operator(operation) ? Op::kSum : Op::kNone;
}

}  // namespace reduce_bench
