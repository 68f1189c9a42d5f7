// Exact sums of floats in registers, while exponents stay in a window.
#pragma once

#include "kernels/shared/fixed_point.hpp"

namespace reduce_bench::BACKEND::onepass_reduce_exact {

/// A value of the window is cut into parts at fixed positions. Each part is a multiple of the
/// position below it, and so small that a double adds up all parts of a thread without rounding.
template <class T>
inline constexpr unsigned kParts = sizeof(T) == 4 ? 2 : 3;

/// How many digits each part has: those of the first, and those of every other.
struct Digits {
  unsigned first, other;

  template <class T>
  __host__ __device__ unsigned all() const {
    return first + (kParts<T> - 1) * other;
  }
};

/// The digits for sums of `per_thread` values and of n in all. A double is exact up to 2^53 units;
/// a part but the first is half a unit of the part above it at most. Sums of threads are added as
/// integers: sums of first parts grow with n, sums of the other parts stay below 2^kMostDigits.
inline Digits digits_for(std::size_t n, std::size_t per_thread) {
  constexpr unsigned kMostDigits = 40;
  const unsigned log2_per_thread = log2_ceil(per_thread), log2_n = log2_ceil(n);
  return {std::min(53 - log2_per_thread, 61 - log2_n), std::min(54 - log2_per_thread, kMostDigits)};
}

template <class T>
struct Window {
  using Format = FloatFormat<T>;

  double cut[kParts<T> - 1];     ///< adding and subtracting it rounds to a multiple of a position
  unsigned position[kParts<T>];  ///< of the units of each part
  unsigned first_key, keys;      ///< of the values inside

  /// What orders magnitudes: the exponent above all. Zero only for zeros.
  __device__ static unsigned key(T value) {
    if constexpr (sizeof(T) == 4) {
      return detail::bits_to<unsigned>(value) << 1;
    } else {
      const auto bits = detail::bits_to<unsigned long long>(value);
      return static_cast<unsigned>(bits >> 32) << 1 | (static_cast<unsigned>(bits) != 0);
    }
  }
  static constexpr unsigned kFieldInKey = sizeof(T) == 4 ? 24 : 21;

  /// The window for one of the larger values, whose exponent has this field: it reaches down to values
  /// 2^kBelow times smaller.
  __device__ Window(unsigned field, const Digits& digits) {
    constexpr unsigned kBelow = 40;
    // Doubles must have room for the sum of the first parts, and for the first cut.
    constexpr unsigned kTop = sizeof(T) == 4 ? ~0u : Format::kPositions;
    const unsigned all = digits.all<T>();
    unsigned low = field > kBelow + 1 ? field - 1 - kBelow : 0;
    if (low > kTop - all) low = kTop - all;
#pragma unroll
    for (unsigned part = 0; part < kParts<T>; ++part)
      position[part] = low + (kParts<T> - 1 - part) * digits.other;
#pragma unroll
    for (unsigned part = 0; part + 1 < kParts<T>; ++part) {
      // 1.5 * 2^52 units.
      const auto exponent = static_cast<unsigned long long>(static_cast<int>(position[part]) +
                                                            Format::kLeastExponent + 52 + 1023);
      cut[part] = detail::bits_to<double>(exponent << 52 | 1ull << 51);
    }
    unsigned end = low + all - Format::kDigits + 2;  // fields
    if (end > Format::kSpecial) end = Format::kSpecial;
    first_key = low == 0 ? 0 : (low + 1) << kFieldInKey;
    keys = (end << kFieldInKey) - first_key;
  }

  __device__ bool has(T value) const {
    const unsigned k = key(value);
    return (k - first_key < keys) | (k == 0);  // no branch
  }
};

/// The sums of the parts of values in the window. They begin as -0: that of the last parts stays so
/// if all values are -0, as all else leaves a zero or more in it.
template <class T>
struct Sums {
  double part[kParts<T>];

  __device__ Sums() {
#pragma unroll
    for (double& sum : part) sum = -0.0;
  }
  __device__ void add(T value, const Window<T>& window) {
    double rest = value;
#pragma unroll
    for (unsigned p = 0; p + 1 < kParts<T>; ++p) {
      const double multiple = (rest + window.cut[p]) - window.cut[p];
      part[p] += multiple;
      rest -= multiple;
    }
    part[kParts<T> - 1] += rest;
  }
  __device__ void add(const Sums& other) {
#pragma unroll
    for (unsigned p = 0; p < kParts<T>; ++p) part[p] += other.part[p];
  }
  /// Whether all values were -0.
  __device__ bool is_minus_zero() const {
    return detail::bits_to<unsigned long long>(part[kParts<T> - 1]) == 1ull << 63;
  }
};

/// A multiple of a position, of up to 2^53 units, in these. (Not by a product: 2^1074 is no
/// double.)
template <class T>
__device__ long long in_units(double multiple, unsigned position) {
  using Double = FloatFormat<double>;
  constexpr int kOffset = FloatFormat<T>::kLeastExponent - Double::kLeastExponent;
  const auto bits = detail::bits_to<unsigned long long>(multiple);
  const auto digits = static_cast<long long>(Double::digits(bits));
  const int shift = static_cast<int>(Double::position(bits)) - kOffset - static_cast<int>(position);
  // A shift to the right loses zero bits alone; that of the number zero may be one of 64 or more.
  long long units = digits;
  if (shift >= 0) units = digits << (shift & 63);
  else units = -shift < 64 ? digits >> -shift : 0;
  return Double::is_negative(bits) ? -units : units;
}

/// A thread's sums as integers, of which all but the first have `digits.other` digits and no sign.
template <class T>
__device__ void to_amounts(const Sums<T>& sums, const Window<T>& window, const Digits& digits,
                           long long (&amounts)[kParts<T>]) {
  long long carry = 0;
#pragma unroll
  for (unsigned p = kParts<T>; p-- > 0;) {
    const long long amount = in_units<T>(sums.part[p], window.position[p]) + carry;
    carry = amount >> digits.other;
    amounts[p] = p == 0 ? amount : amount & ((1ll << digits.other) - 1);
  }
}

/// A thread's sum of values that lie outside of the window: words that have room for all exponents.
template <class T>
struct Outside;

/// Values of 16 exponents share a word. They are multiples of one unit and below 2^39 of it, so that
/// a double adds up kMostValues of them without rounding.
template <>
struct Outside<float> {
  using Format = FloatFormat<float>;
  using Word = double;
  static constexpr unsigned kWordBits = 16;
  static constexpr unsigned kWords = Format::kSpecial / kWordBits + 1;
  static constexpr unsigned kMostValues = 1u << 13;
  // Sums of 2^10 threads are integers of 64 bits.
  static_assert(std::size_t{kMostValues} << (Format::kDigits + kWordBits - 1 + 10) <= std::size_t{1}
                                                                                          << 62);

  /// Adds a value to words that lie `stride` apart. Returns what of it is special, of which nothing
  /// is added.
  __device__ static unsigned add(double* words, unsigned stride, float value) {
    const unsigned field = Format::field(detail::bits_to<unsigned>(value));
    if (field == Format::kSpecial) return FixedPoint<float>::special_of(value);
    words[field / kWordBits * stride] += value;
    return 0;
  }
  __device__ static unsigned position(unsigned word) {
    return word == 0 ? 0 : word * kWordBits - 1;
  }
  /// What a word has, in units of its position: below 2^52.
  __device__ static long long amount(double word, unsigned k) {
    return in_units<float>(word, position(k));
  }
};

/// The words of FixedPoint. 2^10 threads' sums of a word stay below 2^62.
template <>
struct Outside<double> {
  using Word = long long;
  static constexpr unsigned kWordBits = FixedPoint<double>::kWordBits;
  static constexpr unsigned kWords = FixedPoint<double>::kWords;
  static constexpr unsigned kMostValues = 1u << 20;

  /// As that of floats, but without a branch: FixedPoint adds nothing of a special value.
  __device__ static unsigned add(long long* words, unsigned stride, double value) {
    FixedPoint<double>::add(words, stride, value);
    return FixedPoint<double>::special_of(value);
  }
  __device__ static unsigned position(unsigned word) {
    return word * FixedPoint<double>::kWordBits;
  }
  __device__ static long long amount(long long word, unsigned /*k*/) { return word; }
};

}  // namespace reduce_bench::BACKEND::onepass_reduce_exact
