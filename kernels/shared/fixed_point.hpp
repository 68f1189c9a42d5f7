// Any sum of floats, exactly: a number of fixed point that has room for all exponents.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// A finite float is an integer of kDigits binary digits at one of kPositions places: place p
/// counts units of 2^p times the least value above zero.
template <class T>
struct FloatFormat {
  using Bits = detail::Word<T>;
  static constexpr int kDigits = std::numeric_limits<T>::digits;
  static constexpr int kFraction = kDigits - 1;  ///< digits that are stored
  static constexpr unsigned kSpecial = 2 * std::numeric_limits<T>::max_exponent - 1;
  static constexpr unsigned kPositions = kSpecial - 1;
  /// The exponent of the least value above zero.
  static constexpr int kLeastExponent = std::numeric_limits<T>::min_exponent - kDigits;

  /// The exponent's field: kSpecial for infinities and NaN.
  __device__ static unsigned field(Bits bits) {
    return static_cast<unsigned>(bits >> kFraction) & kSpecial;
  }
  /// The digits of a finite value.
  __device__ static Bits digits(Bits bits) {
    const Bits fraction = bits & ((Bits{1} << kFraction) - 1);
    return field(bits) == 0 ? fraction : fraction | Bits{1} << kFraction;
  }
  __device__ static unsigned position(Bits bits) {
    const unsigned f = field(bits);
    return f == 0 ? 0 : f - 1;
  }
  __device__ static bool is_negative(Bits bits) { return bits >> (8 * sizeof(T) - 1) != 0; }
};

/// The exponents from the field `low` to low + most_shift: a value with such a one is an integer of
/// Format::kDigits + most_shift binary digits at most. No infinity, NaN, zero or denormal value.
template <class T>
struct FloatWindow {
  using Format = FloatFormat<T>;
  using Bits = typename Format::Bits;

  unsigned low, most_shift;

  /// Makes the window with `above` exponents above the field `largest`, the others below, as far as
  /// there are such.
  __device__ static FloatWindow around(unsigned largest, unsigned above, unsigned most_shift) {
    const unsigned below = most_shift - above, last = Format::kSpecial - 1 - most_shift;
    const unsigned top = largest > 0 ? largest : Format::kSpecial / 2;
    const unsigned low = top > below ? top - below : 1;
    return {low < last ? low : last, most_shift};
  }
  /// The position of the integers' unit.
  __device__ unsigned unit() const { return low - 1; }
  __device__ bool has(Bits bits) const { return Format::field(bits) - low <= most_shift; }
  /// The integer of a value in the window.
  __device__ long long amount(Bits bits) const {
    const long long amount = static_cast<long long>(Format::digits(bits))
                             << (Format::field(bits) - low);
    return Format::is_negative(bits) ? -amount : amount;
  }
};

/// The largest exponent's field among finite values, one of each of the block's threads, all of
/// which must call. `largest`: a word of shared memory.
__device__ inline unsigned largest_field(float value, unsigned* largest) {
  using Format = FloatFormat<float>;
  if (threadIdx.x == 0) *largest = 0;
  __syncthreads();
  const unsigned field = Format::field(detail::bits_to<unsigned>(value));
  const unsigned most = fold_warp<Max>(field == Format::kSpecial ? 0u : field);
  if (threadIdx.x % kWarpSize == 0) atomicMax(largest, most);
  __syncthreads();
  return *largest;
}

/// What of a sum is not a number of fixed point.
enum SpecialValues : unsigned { kPlusInfinity = 1, kMinusInfinity = 2, kNan = 4 };

/// The number: word k counts units of 2^(32 k) times the least value, of either sign. A value adds
/// less than 2^32 to a word, so 2^31 values may be added before any carry is.
template <class T>
struct FixedPoint {
  using Format = FloatFormat<T>;
  using Bits = typename Format::Bits;
  static constexpr unsigned kWordBits = 32;
  /// The words that a value may touch.
  static constexpr unsigned kWords =
      (Format::kPositions - 1) / kWordBits + (Format::kDigits + kWordBits - 2) / kWordBits + 1;

  /// What of a value is special. No branches: a warp's values differ.
  __device__ static unsigned special_of(T value) {
    const Bits bits = detail::bits_to<Bits>(value);
    const unsigned infinity = Format::is_negative(bits) ? kMinusInfinity : kPlusInfinity;
    const unsigned special = value != value ? unsigned{kNan} : infinity;
    return Format::field(bits) == Format::kSpecial ? special : 0;
  }
  /// The sum with such values in it.
  __device__ static T special_sum(unsigned special) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if (special == kPlusInfinity) return kInfinity;
    if (special == kMinusInfinity) return -kInfinity;
    return std::numeric_limits<T>::quiet_NaN();
  }
  /// Calls `add(word, amount)` for each word that a value adds to; the amounts of a special one are
  /// zero.
  template <class Add>
  __device__ static void for_words(T value, Add&& add) {
    const Bits bits = detail::bits_to<Bits>(value);
    const unsigned position = Format::position(bits), shift = position % kWordBits;
    const auto digits = static_cast<unsigned long long>(
        Format::field(bits) == Format::kSpecial ? Bits{0} : Format::digits(bits));
    const unsigned first = position / kWordBits;
    // x ^ sign - sign is -x or x without a branch.
    const long long sign = Format::is_negative(bits) ? -1 : 0;
    const auto add_word = [&](unsigned word, unsigned amount) {
      add(first + word, (static_cast<long long>(amount) ^ sign) - sign);
    };
    const unsigned long long low = digits << shift;
    add_word(0, static_cast<unsigned>(low));
    add_word(1, static_cast<unsigned>(low >> kWordBits));
    if constexpr (sizeof(T) == 8)
      add_word(2, static_cast<unsigned>(shift == 0 ? 0 : digits >> (2 * kWordBits - shift)));
  }
  /// Adds a value to words that lie `stride` apart; nothing of a special one.
  __device__ static void add(long long* words, unsigned stride, T value) {
    for_words(value, [&](unsigned word, long long amount) { words[word * stride] += amount; });
  }
  /// Calls `add(word, amount)` for the three words, from position / kWordBits on, to which an amount
  /// in units of a position adds.
  template <class Add>
  __device__ static void for_amount(unsigned position, long long amount, Add&& add) {
    const unsigned word = position / kWordBits, shift = position % kWordBits;
    const unsigned long long low = static_cast<unsigned long long>(static_cast<unsigned>(amount))
                                   << shift;
    const long long high = amount >> kWordBits << shift;
    add(word, static_cast<long long>(static_cast<unsigned>(low)));
    add(word + 1, static_cast<long long>(low >> kWordBits) + static_cast<unsigned>(high));
    add(word + 2, high >> kWordBits);
  }
  static __device__ void add_amount(long long* words, unsigned position, long long amount) {
    for_amount(position, amount, [&](unsigned word, long long part) { words[word] += part; });
  }

  /// The number in words[first ... last), rounded to the nearest float, of two to the even one. Not
  /// unrolled, since with cold caches a launch waits for its instructions, too. All
  /// carries must fit into the last word. The words are changed.
  __device__ static T round(long long* words, unsigned first, unsigned last, T zero) {
    constexpr long long kMask = 0xffffffff;
    long long carry = 0;
#pragma unroll 1
    for (unsigned k = first; k < last; ++k) {
      carry += words[k];
      words[k] = carry & kMask;
      carry >>= kWordBits;
    }
    const bool negative = carry < 0;
    if (negative) {
      carry = 1;
#pragma unroll 1
      for (unsigned k = first; k < last; ++k) {
        carry += ~words[k] & kMask;
        words[k] = carry & kMask;
        carry >>= kWordBits;
      }
    }
    unsigned top = last;
#pragma unroll 1
    while (top > first && words[top - 1] == 0) --top;
    if (top == first) return zero;
    --top;
    const auto word_below = [&](unsigned k) {
      return top >= first + k ? static_cast<unsigned>(words[top - k]) : 0u;
    };
    // The 64 digits from the first one on, and whether there is any below.
    const unsigned head = word_below(0), third = word_below(2);
    const auto unused = static_cast<unsigned>(__clz(static_cast<int>(head)));
    const unsigned long long pair =
        static_cast<unsigned long long>(head) << kWordBits | word_below(1);
    const unsigned long long front =
        unused == 0 ? pair : pair << unused | third >> (kWordBits - unused);
    bool more = third << unused != 0;
#pragma unroll 1
    for (unsigned k = first; k + 2 < top; ++k) more = more || words[k] != 0;
    const unsigned highest =
        top * kWordBits + kWordBits - 1 - unused;  // position of the first digit
    constexpr auto kFraction = static_cast<unsigned>(Format::kFraction);
    const unsigned lowest = highest > kFraction ? highest - kFraction : 0;
    const unsigned kept = highest - lowest + 1;
    const unsigned long long rest = front << kept;
    unsigned long long digits = front >> (64 - kept);
    const bool half = rest >> 63 != 0;
    if (half && (more || rest << 1 != 0 || (digits & 1) != 0)) ++digits;
    // The first of the digits raises the exponent's field by one, and so does a carry.
    constexpr Bits kInfinity = static_cast<Bits>(Format::kSpecial) << kFraction;
    Bits bits = kInfinity;
    if (lowest < Format::kSpecial)
      bits = static_cast<Bits>((static_cast<unsigned long long>(lowest) << kFraction) + digits);
    if (bits > kInfinity) bits = kInfinity;
    if (negative) bits |= Bits{1} << (8 * sizeof(T) - 1);
    return detail::bits_to<T>(bits);
  }
};

}  // namespace reduce_bench::BACKEND
