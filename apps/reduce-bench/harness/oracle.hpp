// Reference results, computed without the kernels' code, and the error a correct algorithm may
// make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/types.hpp"

namespace reduce_bench {

/// One element of any type, as bits.
struct Scalar {
  Type type = Type::kI32;
  std::uint64_t bits = 0;  ///< the element in the low bytes, zero above

  static Scalar load(Type type, const void* element);
  double as_double() const;
  std::string to_text() const;
};

/// What is known about the reduction of one input, whatever variant computes it.
///
/// Integers, min and max are exact (wrapping modulo 2^bits; min and max compare by value, so -0 and
/// +0 are equal; no input holds NaN). Float sums are accumulated in double-double arithmetic (about
/// 106 bits) and rounded once. Float products are exact by the construction of the inputs.
struct Reference {
  Scalar expected;
  double magnitude = 0;  ///< float sum: sum of |x|; float product: |product|
  /// Every partial result in any order is representable, so no rounding may happen at all.
  bool exact = true;

  /// Sum of magnitudes over magnitude of the sum; nothing where that is undefined.
  std::optional<double> condition() const;
};
Reference reference(Type type, Op op, const std::byte* data, std::size_t n);

/// The largest |result - expected| that an algorithm whose results pass through at most `depth`
/// roundings may show: gamma_depth * sum|x| with gamma_d = d*u / (1 - d*u), plus one rounding of
/// the reference itself (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 4.2);
/// zero where the result must be exact; nothing where d*u >= 1/2 leaves no usable bound.
std::optional<double> error_bound(const Reference& reference, std::uint64_t depth);

/// How a result compares to the reference.
struct Comparison {
  bool passed = false;
  double error_abs = 0;                  ///< 0 for exact types that agree
  std::optional<double> error_relative;  ///< to the expected value, where that is not zero
  std::optional<double> error_ulp;  ///< floats: in units of the last place of the expected value
};
Comparison compare(const Reference& reference, const Scalar& actual, double bound_abs);

}  // namespace reduce_bench
