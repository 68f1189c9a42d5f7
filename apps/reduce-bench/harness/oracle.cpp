#include "harness/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace reduce_bench {
namespace {

template <class T>
T value_of(const Scalar& scalar) {
  T value;
  std::memcpy(&value, &scalar.bits, sizeof(T));
  return value;
}

template <class T>
Scalar scalar_of(T value) {
  return Scalar::load(kTypeOf<T>, &value);
}

/// A sum kept as an unevaluated pair, |low| <= ulp(high) / 2 (Dekker 1971, Knuth's TwoSum).
struct DoubleDouble {
  double high = 0, low = 0;

  void add(double x) {
    const double sum = high + x;
    const double virtual_x = sum - high;
    low += (high - (sum - virtual_x)) + (x - virtual_x);
    high = sum;
  }
  void add(const DoubleDouble& other) {
    add(other.high);
    add(other.low);
  }
  template <class T>
  T rounded() const {
    // For double one addition rounds; for float the pair is first rounded to odd so that rounding
    // twice gives the nearest float.
    const double sum = high + low;
    if constexpr (std::is_same_v<T, double>) {
      return sum;
    } else {
      const double rest = low - (sum - high);
      double sticky = sum;
      if (rest != 0 && std::isfinite(sum) && (std::bit_cast<std::uint64_t>(sum) & 1) == 0) {
        sticky = std::nextafter(sum, rest > 0 ? std::numeric_limits<double>::infinity()
                                              : -std::numeric_limits<double>::infinity());
      }
      return static_cast<T>(sticky);
    }
  }
};

/// The exponent of the lowest set bit of x: x is a multiple of 2^that.
int quantum_exponent(double x) {
  if (x == 0 || !std::isfinite(x)) return std::numeric_limits<int>::max();
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(std::fabs(fraction), 53));
  return exponent - 53 + std::countr_zero(digits);
}

constexpr std::size_t kChunk = std::size_t{1} << 16;

/// Splits [0, n) into chunks, computes `chunk(first, last)` on all cores and returns the results in
/// order.
template <class Result, class F>
std::vector<Result> in_chunks(std::size_t n, F&& chunk) {
  std::vector<Result> results((n + kChunk - 1) / kChunk);
#pragma omp parallel for schedule(static) if (results.size() > 1)
  for (std::size_t c = 0; c < results.size(); ++c)
    results[c] = chunk(c * kChunk, std::min(n, (c + 1) * kChunk));
  return results;
}

template <class T>
Reference float_sum(const T* x, std::size_t n) {
  struct Part {
    DoubleDouble sum, magnitude;
    int quantum = std::numeric_limits<int>::max();
  };
  const auto parts = in_chunks<Part>(n, [&](std::size_t first, std::size_t last) {
    Part part;
    for (std::size_t i = first; i < last; ++i) {
      const double value = static_cast<double>(x[i]);
      part.sum.add(value);
      part.magnitude.add(std::fabs(value));
      part.quantum = std::min(part.quantum, quantum_exponent(value));
    }
    return part;
  });
  Part total;
  for (const Part& part : parts) {
    total.sum.add(part.sum);
    total.magnitude.add(part.magnitude);
    total.quantum = std::min(total.quantum, part.quantum);
  }
  Reference result{.expected = scalar_of(total.sum.template rounded<T>()),
                   .magnitude = total.magnitude.high};
  // All partial sums are multiples of the quantum and at most the sum of magnitudes.
  result.exact =
      total.magnitude.high == 0 ||
      total.magnitude.high <= std::ldexp(1.0, std::numeric_limits<T>::digits + total.quantum);
  return result;
}

template <class T>
Reference float_product(const T* x, std::size_t n) {
  double product = 1, magnitude = 1;
  bool integers = true, zero = false;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(x[i]);
    product *= value;
    zero = zero || value == 0;
    if (value != 0) magnitude *= std::fabs(value);
    integers = integers && std::trunc(value) == value;
  }
  return {
      .expected = scalar_of(static_cast<T>(product)),
      .magnitude = std::fabs(product),
      .exact = zero || (integers && magnitude <= std::ldexp(1.0, std::numeric_limits<T>::digits))};
}

/// Folds with a commutative, associative f whose neutral element is `neutral`.
template <class T, class F>
Reference fold(const T* x, std::size_t n, T neutral, F&& f) {
  const auto parts = in_chunks<T>(n, [&](std::size_t first, std::size_t last) {
    T total = neutral;
    for (std::size_t i = first; i < last; ++i) total = f(total, x[i]);
    return total;
  });
  T total = neutral;
  for (const T part : parts) total = f(total, part);
  return {.expected = scalar_of(total)};
}

template <class T>
Reference integer_fold(Op op, const T* x, std::size_t n) {
  using U = std::make_unsigned_t<T>;
  const U* u = reinterpret_cast<const U*>(x);
  const auto as_signed = [](Reference r) {
    r.expected.type = kTypeOf<T>;
    return r;
  };
  const auto unsigned_fold = [&](U neutral, auto f) {
    const auto parts = in_chunks<U>(n, [&](std::size_t first, std::size_t last) {
      U total = neutral;
      for (std::size_t i = first; i < last; ++i) total = static_cast<U>(f(total, u[i]));
      return total;
    });
    U total = neutral;
    for (const U part : parts) total = static_cast<U>(f(total, part));
    return as_signed({.expected = scalar_of(static_cast<T>(total))});
  };
  switch (op) {
    case Op::kSum: return unsigned_fold(0, [](U a, U b) { return a + b; });
    case Op::kProd: return unsigned_fold(1, [](U a, U b) { return a * b; });
    case Op::kAnd: return unsigned_fold(static_cast<U>(~U{0}), [](U a, U b) { return a & b; });
    case Op::kOr: return unsigned_fold(0, [](U a, U b) { return a | b; });
    default: return unsigned_fold(0, [](U a, U b) { return a ^ b; });
  }
}

Reference last_not_neutral(const std::int32_t* x, std::size_t n) {
  constexpr std::int32_t kNeutral = std::numeric_limits<std::int32_t>::min();
  while (n > 0 && x[n - 1] == kNeutral) --n;
  return {.expected = scalar_of(n == 0 ? kNeutral : x[n - 1])};
}

/// Follows the composed map by where it sends 0 and 1, instead of composing coefficients.
Reference affine_composition(const std::int64_t* x, std::size_t n) {
  std::uint32_t image_of_zero = 0, image_of_one = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::uint64_t>(x[i]);
    const auto slope = static_cast<std::uint32_t>(bits >> 32);
    const auto offset = static_cast<std::uint32_t>(bits);
    image_of_zero = slope * image_of_zero + offset;
    image_of_one = slope * image_of_one + offset;
  }
  const std::uint64_t slope = image_of_one - image_of_zero;
  return {.expected =
              scalar_of(static_cast<std::int64_t>((slope & 0xffffffffu) << 32 | image_of_zero))};
}

template <class T>
Reference reference_of(Op op, const T* x, std::size_t n) {
  using Limits = std::numeric_limits<T>;
  if (op == Op::kMin) {
    const T top = Limits::has_infinity ? Limits::infinity() : Limits::max();
    return fold(x, n, top, [](T a, T b) { return std::min(a, b); });
  }
  if (op == Op::kMax) {
    const T bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return fold(x, n, bottom, [](T a, T b) { return std::max(a, b); });
  }
  if constexpr (std::is_floating_point_v<T>) {
    return op == Op::kSum ? float_sum(x, n) : float_product(x, n);
  } else {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      if (op == Op::kRight) return last_not_neutral(x, n);
    } else {
      if (op == Op::kAffine) return affine_composition(x, n);
    }
    return integer_fold(op, x, n);
  }
}

double unit_roundoff(Type type) { return type == Type::kF32 ? 0x1p-24 : 0x1p-53; }

}  // namespace

Scalar Scalar::load(Type type, const void* element) {
  Scalar scalar{.type = type};
  std::memcpy(&scalar.bits, element, size_bytes(type));
  return scalar;
}

double Scalar::as_double() const {
  return with_type(type, [&]<class T>() { return static_cast<double>(value_of<T>(*this)); });
}

std::string Scalar::to_text() const {
  return with_type(type, [&]<class T>() { return fmt::format("{}", value_of<T>(*this)); });
}

std::optional<double> Reference::condition() const {
  const double sum = std::fabs(expected.as_double());
  if (!is_float(expected.type) || magnitude == 0 || sum == 0 || !std::isfinite(magnitude))
    return std::nullopt;
  return magnitude / sum;
}

Reference reference(Type type, Op op, const std::byte* data, std::size_t n) {
  if (!defined_on(op, type)) throw std::logic_error("reference: operator undefined on this type");
  return with_type(
      type, [&]<class T>() { return reference_of<T>(op, reinterpret_cast<const T*>(data), n); });
}

std::optional<double> error_bound(const Reference& reference, std::uint64_t depth) {
  if (!is_float(reference.expected.type) || reference.exact) return 0.0;
  const double u = unit_roundoff(reference.expected.type);
  const double du = static_cast<double>(depth) * u;
  if (du >= 0.5) return std::nullopt;
  return du / (1 - du) * reference.magnitude + u * std::fabs(reference.expected.as_double());
}

Comparison compare(const Reference& reference, const Scalar& actual, double bound_abs) {
  const Type type = reference.expected.type;
  Comparison result;
  if (!is_float(type)) {
    result.passed = actual.bits == reference.expected.bits;
    result.error_abs = std::fabs(actual.as_double() - reference.expected.as_double());
    if (!result.passed && result.error_abs == 0) result.error_abs = 1;
  } else {
    const double expected = reference.expected.as_double(), value = actual.as_double();
    // Infinities agree only with themselves; NaN never agrees.
    result.error_abs = expected == value ? 0 : std::fabs(value - expected);
    result.passed = result.error_abs <= bound_abs;
    if (std::isfinite(expected)) {
      const double ulp =
          type == Type::kF32
              ? std::ldexp(1.0,
                           std::max(std::ilogb(expected == 0 ? 0x1p-126 : expected), -126) - 23)
              : std::ldexp(1.0,
                           std::max(std::ilogb(expected == 0 ? 0x1p-1022 : expected), -1022) - 52);
      result.error_ulp = result.error_abs / ulp;
    }
  }
  const double expected = std::fabs(reference.expected.as_double());
  if (expected != 0 && std::isfinite(expected)) result.error_relative = result.error_abs / expected;
  return result;
}

}  // namespace reduce_bench
