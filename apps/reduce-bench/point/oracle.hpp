// Reference results, computed without the kernels' code, and the error a correct algorithm may
// make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/api/operation.hpp"
#include "kernels/api/types.hpp"

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

/// The exact sum of floats, rounded once to the nearest (of two, the even one), at 2^1024 (f32:
/// 2^128) and beyond infinity. As in an IEEE sum an infinity remains, with one of the other sign NaN
/// (the quiet one without sign or payload), and NaN remains; a zero is -0 only if there are inputs
/// and all are -0.
Scalar correctly_rounded_sum(Type type, const std::byte* data, std::size_t n);

/// The largest |result - expected| that an algorithm whose results pass through at most `depth`
/// roundings may show: gamma_depth * sum|x| with gamma_d = d*u / (1 - d*u), plus one rounding of
/// the reference itself (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 4.2);
/// zero where the result must be exact. Where d*u > 1/2, gamma_d gives way to what it simplifies,
/// (1 + u)^d - 1: each of d roundings multiplies a term by a factor of at most 1 + u.
double error_bound(const Reference& reference, std::uint64_t depth);

/// How a result compares to the reference.
struct Comparison {
  bool passed = false;
  double error_abs = 0;                  ///< 0 for exact types that agree
  std::optional<double> error_relative;  ///< to the expected value, where that is not zero
  std::optional<double> error_ulp;  ///< floats: in units of the last place of the expected value
};
Comparison compare(const Reference& reference, const Scalar& actual, double bound_abs);

/// What every element of an output array must be, and how far a float may be off.
struct ExpectedArray {
  Extent extent;
  std::unique_ptr<std::byte[]> elements;
  /// `Reference::magnitude` of every element of rounded sums and products, 0 where the element is
  /// exact. Else empty.
  std::vector<double> magnitudes;
  /// How many inputs each of the same elements combines. No algorithm rounds more often.
  std::vector<Count> terms;
  /// The values that are right for element i where there are several: those from begins[i] up to
  /// begins[i + 1]. `elements` holds one of them. Where the range is empty, only that one is right.
  struct Choices {
    std::unique_ptr<std::byte[]> values;
    std::vector<std::size_t> begins;  ///< empty where no element has choices
  } choices;
  /// Whether every bit counts: NaN is right where NaN is expected, and -0 is not +0.
  bool bitwise = false;

  Scalar at(std::size_t i) const;
  std::size_t choice_count(std::size_t i) const;
  bool is_choice(std::size_t i, const Scalar& value) const;
  std::size_t held_bytes() const;  ///< of the host's memory
  Reference reference_at(std::size_t i) const;
  double bound_at(std::size_t i, std::uint64_t depth) const;
};

/// All arrays that an operation writes. An output array longer than its expected one
/// (reduce-by-key, whose number of results depends on the labels) may hold anything beyond.
struct Expected {
  ExpectedArray results, result_labels, result_count;
  std::optional<double> condition;  ///< of the one result of a reduce

  std::size_t bytes() const;       ///< of the outputs
  std::size_t held_bytes() const;  ///< of the host's memory
  /// Whether the bound of a result that combines up to n inputs could hide a fault: zero would pass
  /// in its place, or the result without an input of average magnitude.
  bool bounds_hide_faults(std::uint64_t depth, std::size_t n) const;
};

/// The byte that fills the elements which a scatter must leave alone.
inline constexpr unsigned char kUntouched = 0xa5;

/// The inputs of an operation. `values` and `labels` have the extents that `arrays_of` gives.
struct OperationInput {
  Operation operation = Operation::kReduce;
  Type type = Type::kI32;
  Op op = Op::kSum;
  std::size_t n = 0, buckets = 0;
  bool inclusive = false;  ///< of a scan
  bool any_wins = false;   ///< of a scatter: any value of a label may win, else the last does
  /// What is expected of a float sum, of all inputs or of each bucket, is the exact sum, rounded
  /// once.
  bool correctly_rounded = false;
  const std::byte* values = nullptr;
  const std::byte* labels = nullptr;
};
Expected expected_of(const OperationInput& input);
/// What is expected for values whose sums no order rounds (`generate_twin`): every result is exact.
Expected expected_of_twin(const OperationInput& input);

/// Bytes of host memory for the expected arrays, for computing them, and for a copy of the outputs.
std::size_t verification_bytes(Operation operation, const Arrays& arrays, std::size_t buckets,
                               bool any_wins, bool correctly_rounded = false);

/// How an output array compares to the expected one. The element shown is the first that fails, or
/// where all pass the one that comes nearest to failing.
struct ArrayComparison {
  std::size_t mismatches = 0;
  std::size_t index = 0;
  Scalar expected, actual;
  Comparison comparison;
  double bound_abs = 0;
};
ArrayComparison compare(const ExpectedArray& expected, const std::byte* actual,
                        std::uint64_t depth);

}  // namespace reduce_bench
