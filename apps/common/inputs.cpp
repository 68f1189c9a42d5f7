#include "common/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "common/randomness.hpp"

namespace reduce_bench {
namespace {

/// How many exponents finite values have; subnormal ones share one.
template <class T>
inline constexpr std::uint64_t kExponents = 2 * std::numeric_limits<T>::max_exponent - 1;

/// Whether element i is one of those that decide a `prod`, `and` or `or` of `uniform` values: one
/// at random in each twelfth of the input.
bool is_planted(const InputKey& key, const Randomness& random, std::size_t i) {
  const std::size_t window = std::max<std::size_t>(1, (key.n + 11) / 12);
  const std::size_t start = i / window * window;
  const std::size_t length = std::min(window, key.n - start);
  return start + random.word(start, 3) % length == i;
}

template <class T>
T uniform(const InputKey& key, const Randomness& random, std::size_t i) {
  const std::uint64_t word = random.word(i);
  if constexpr (std::is_floating_point_v<T>) {
    if (key.op == Op::kProd)
      return static_cast<T>((is_planted(key, random, i) ? 3 : 1) * ((word & 1) ? 1 : -1));
    constexpr int kDigits = std::numeric_limits<T>::digits;
    return static_cast<T>(word >> (64 - kDigits)) * (T{1} / (std::uint64_t{1} << kDigits));
  } else {
    const T value = static_cast<T>(word >> (64 - 8 * sizeof(T)));
    const T bit = static_cast<T>(T{1} << (random.word(i, 1) % (8 * sizeof(T) - 1)));
    switch (key.op) {
      case Op::kProd: return value | T{1};
      case Op::kAnd: return is_planted(key, random, i) ? static_cast<T>(~bit) : static_cast<T>(-1);
      case Op::kOr: return is_planted(key, random, i) ? bit : T{0};
      case Op::kRight: return random.word(i, 1) % 8 == 0 ? value : std::numeric_limits<T>::min();
      case Op::kAffine: return static_cast<T>(word | std::uint64_t{1} << 32);
      default: return value;
    }
  }
}

template <class T>
T normal(const Randomness& random, std::size_t i) {
  // Box-Muller; 1 - u keeps the logarithm finite.
  const double radius = std::sqrt(-2 * std::log(1 - random.unit(i, 0)));
  const double z = radius * std::cos(2 * std::numbers::pi * random.unit(i, 1));
  return std::is_floating_point_v<T> ? static_cast<T>(z) : static_cast<T>(z * 0x1p20);
}

/// Pairs (m, -m (c - 1) / (c + 1)): the sum of their magnitudes is c times their sum.
template <class T>
T cancelling(const InputKey& key, const Randomness& random, std::size_t i) {
  const double magnitude = 0.5 + random.unit(i / 2, 2);
  const double scaled = std::is_floating_point_v<T> ? magnitude : std::floor(magnitude * 0x1p24);
  const double left_over = 2 / (key.distribution.condition + 1);
  if (i % 2 == 1) return static_cast<T>(-scaled * (1 - left_over));
  const bool alone = i + 1 == key.n;  // without its partner it would outweigh all pairs
  return static_cast<T>(alone ? scaled * left_over : scaled);
}

template <class T>
T extremes(const InputKey& key, const Randomness& random, std::size_t i) {
  using Limits = std::numeric_limits<T>;
  const std::uint64_t word = random.word(i);
  if constexpr (std::is_floating_point_v<T>) {
    const T sign = (word & 1) ? T{1} : T{-1};
    const bool order_only = key.op == Op::kMin || key.op == Op::kMax;
    // Sums must not overflow: 2^33 elements of the largest magnitude stay finite.
    switch ((word >> 1) % 6) {
      case 0: return sign * T{0};
      case 1: return sign * Limits::denorm_min();
      case 2: return sign * Limits::min();
      case 3: return sign;
      case 4: return order_only ? sign * Limits::max() : Limits::max() * T(0x1p-33);
      default: return order_only ? sign * Limits::infinity() : Limits::max() * T(0x1p-34);
    }
  } else {
    switch (word % 5) {
      case 0: return Limits::min();
      case 1: return Limits::max();
      case 2: return T{0};
      case 3: return T{-1};
      default: return T{1};
    }
  }
}

/// Values that lie, for min and max, between zero and the neutral element: a variant that pads with
/// zeros instead of it gives a wrong result.
template <class T>
T ramp(const InputKey& key, std::size_t i) {
  const T magnitude = static_cast<T>(1 + i % 16);
  return key.op == Op::kMax ? -magnitude : magnitude;
}

/// A finite value of any exponent and sign, and far from it one of the other sign. The two have the
/// same magnitude; below the exponent 2^`cap` times the least, they may differ in the last three
/// digits. So sums overflow on the way, and nearly all of them cancels. The one in the middle of an
/// odd number of values is the least of all.
template <class T>
T mirrored(const InputKey& key, const Randomness& random, std::size_t i, std::uint64_t cap) {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<T>;
  constexpr int kFraction = Limits::digits - 1;
  const std::size_t partner = key.n - 1 - i;
  if (partner == i) return Limits::denorm_min();
  const std::size_t first = std::min(i, partner);
  const std::uint64_t exponent = random.word(first, 1) % kExponents<T>;
  Word bits = static_cast<Word>(random.word(first) & ((std::uint64_t{1} << kFraction) - 1));
  if (i != first && exponent < cap) bits ^= static_cast<Word>(random.word(first, 2) % 8);
  bits |= static_cast<Word>(exponent << kFraction);
  const auto magnitude = std::bit_cast<T>(bits);
  return (random.word(first, 3) % 2 == 0) == (i == first) ? magnitude : -magnitude;
}

template <class T>
T wild(const InputKey& key, const Randomness& random, std::size_t i) {
  // The seed chooses the largest exponent, so sums of different seeds begin at different bits.
  const std::uint64_t part = key.seed % kKindsBySeed + 1;
  return mirrored<T>(key, random, i, part * kExponents<T> / kKindsBySeed);
}

/// What an IEEE sum treats specially, one kind after the other by the seed.
template <class T>
T special(const InputKey& key, const Randomness& random, std::size_t i) {
  using Limits = std::numeric_limits<T>;
  const std::uint64_t kind = key.seed % kKindsBySeed;
  const std::size_t places[] = {key.n / 3, key.n / 2, key.n - 1};
  const auto is_at = [&](unsigned place) { return i == places[place]; };
  switch (kind) {
    case 0:  // one infinity: the sum is it
    case 1:
      if (is_at(1)) return kind == 0 ? Limits::infinity() : -Limits::infinity();
      break;
    case 2:  // both: NaN
      if (is_at(0)) return Limits::infinity();
      if (is_at(2)) return -Limits::infinity();
      break;
    case 3:
      if (is_at(1)) return Limits::quiet_NaN();
      break;
    case 4: return -T{0};                    // the only sum that is -0
    case 5: return is_at(1) ? T{0} : -T{0};  // a single +0 makes it +0
    case 6: return Limits::max();            // beyond the largest: infinity
    case 7:                                  // a subnormal number is left of all exponents
      if (is_at(1)) return 3 * Limits::denorm_min();
      return i == key.n - 1 - places[1] ? T{0} : mirrored<T>(key, random, i, 0);
    case 8:  // nothing is left: +0
      return i == key.n - 1 - i ? -T{0} : mirrored<T>(key, random, i, 0);
    default:  // the middle between two values, and the least value decides
      if (is_at(0)) return T{1};
      if (is_at(1)) return Limits::epsilon() / 2;
      if (is_at(2)) return random.word(0) & 1 ? Limits::denorm_min() : -Limits::denorm_min();
      return T{0};
  }
  return wild<T>(key, random, i);
}

/// Of either sign, and of 40 exponents, from 2^-20 up to 2^20.
template <class T>
T span_40(const Randomness& random, std::size_t i) {
  constexpr int kFraction = std::numeric_limits<T>::digits - 1, kExponents = 40;
  const std::uint64_t word = random.word(i);
  const T digits = T{1} + static_cast<T>(word >> (64 - kFraction)) * std::ldexp(T{1}, -kFraction);
  const auto exponent = static_cast<int>(random.word(i, 1) % kExponents) - kExponents / 2;
  return std::ldexp((word & 1) != 0 ? digits : -digits, exponent);
}

template <class T>
T element(const InputKey& key, const Randomness& random, std::size_t i) {
  using Kind = Distribution::Kind;
  switch (key.distribution.kind) {
    case Kind::kUniform: return uniform<T>(key, random, i);
    case Kind::kOnes: return T{1};
    case Kind::kRamp: return ramp<T>(key, i);
    case Kind::kNormal: return normal<T>(random, i);
    case Kind::kCancelling: return cancelling<T>(key, random, i);
    case Kind::kZeros: return T{0};
    case Kind::kExtremes: return extremes<T>(key, random, i);
    // The zeros decide min and max: an algorithm that takes zero for "no value" is wrong.
    case Kind::kRareZeros: return random.word(i) % 64 == 0 ? T{0} : ramp<T>(key, i);
    case Kind::kFile: {
      T value;
      std::memcpy(&value, key.distribution.array->data() + i * sizeof(T), sizeof(T));
      return value;
    }
    case Kind::kWild:
    case Kind::kSpecials:
    case Kind::kSpan40:
      if constexpr (std::is_floating_point_v<T>) {
        if (key.distribution.kind == Kind::kSpan40) return span_40<T>(random, i);
        return key.distribution.kind == Kind::kWild ? wild<T>(key, random, i)
                                                    : special<T>(key, random, i);
      } else {
        return uniform<T>(key, random, i);
      }
    case Kind::kRareOnes: break;
  }
  // Every partial sum of up to 2^27 of these is exact in a float, whatever the order, so variants
  // whose order is unknown can be verified, too.
  const std::uint64_t word = random.word(i);
  return word % 16 == 0 ? static_cast<T>(word >> 63 ? 1 : -1) : T{0};
}

/// A half: the nearest to what an f32 is, where it can be that.
template <class T>
  requires kIsHalf<T>
T element(const InputKey& key, const Randomness& random, std::size_t i) {
  const std::uint64_t word = random.word(i);
  switch (key.distribution.kind) {
    case Distribution::Kind::kUniform:  // as many digits as it has, so that none is rounded to 1
      return nearest<T>(std::ldexp(static_cast<float>(word >> (64 - T::kDigits)), -T::kDigits));
    case Distribution::Kind::kExtremes: {
      const bool order_only = key.op == Op::kMin || key.op == Op::kMax;
      const bool is_largest = order_only || std::is_same_v<T, F16>;
      // Sums of 2^33 elements stay finite in f32.
      const float large = is_largest ? to_float(T{T::kInfinity - 1}) : 0x1p94f;
      const T magnitudes[] = {T{0},
                              T{1},                      // the least
                              T{1 << (T::kDigits - 1)},  // the least that is normal
                              nearest<T>(1),
                              nearest<T>(large),
                              order_only ? T{T::kInfinity} : nearest<T>(large / 2)};
      const std::uint16_t sign = (word & 1) ? 0 : 0x8000;
      return T{static_cast<std::uint16_t>(magnitudes[(word >> 1) % 6].bits | sign)};
    }
    case Distribution::Kind::kFile: {
      T value;
      std::memcpy(&value, key.distribution.array->data() + i * sizeof(T), sizeof(T));
      return value;
    }
    default: return nearest<T>(element<float>(key, random, i));
  }
}

}  // namespace

std::string unsuited(const Distribution& distribution, Op op, Type type, bool correctly_rounded) {
  using Kind = Distribution::Kind;
  const Kind kind = distribution.kind;
  if ((kind == Kind::kWild || kind == Kind::kSpecials) && !correctly_rounded)
    return fmt::format("'{}' values overflow on the way, but in sums that are rounded only once",
                       distribution.name());
  const bool plain = kind == Kind::kUniform || kind == Kind::kOnes || kind == Kind::kZeros;
  if (op == Op::kProd && is_float(type) && !plain)
    return fmt::format(
        "a float product of '{}' values overflows or vanishes by order of evaluation",
        distribution.name());
  if (kind == Kind::kCancelling && is_half(type))
    return fmt::format("'{}' values need more digits than those of {}", distribution.name(),
                       name_of(type));
  if (kind == Kind::kSpan40 && type != Type::kF32 && type != Type::kF64)
    return fmt::format("'{}' values are f32 or f64, not {}", distribution.name(), name_of(type));
  if (kind == Kind::kFile && distribution.array == nullptr) return "no array was read";
  return {};
}

std::string unsuited(const InputKey& key, bool correctly_rounded) {
  const Distribution& distribution = key.distribution;
  std::string why = unsuited(distribution, key.op, key.type, correctly_rounded);
  if (!why.empty() || distribution.kind != Distribution::Kind::kFile) return why;
  why = distribution.array->unfit_as_values(key.type, key.n, key.op == Op::kSum);
  return why.empty() ? why : fmt::format("the array '{}': {}", distribution.file, why);
}

HostArray::HostArray(std::size_t n, std::size_t element_bytes, std::size_t lead,
                     std::size_t overread)
    : size_bytes((lead + n + overread) * element_bytes), data_offset_bytes(lead * element_bytes) {
  bytes.reset(new (kAlignment) std::byte[size_bytes]);
}

namespace {

/// An array whose element i is `value(i)`, between garbage.
template <class T, class F>
HostArray fill_between_garbage(std::size_t n, std::size_t lead, std::size_t overread, F&& value) {
  HostArray array(n, sizeof(T), lead, overread);
  T garbage;
  if constexpr (kIsHalf<T>) garbage = T{T::kNaN};
  else if constexpr (std::is_floating_point_v<T>) garbage = std::numeric_limits<T>::quiet_NaN();
  else garbage = static_cast<T>(0x5a5a5a5a5a5a5a5aLL);
  T* all = reinterpret_cast<T*>(array.bytes.get());
  T* data = all + lead;
  std::fill(all, data, garbage);
#pragma omp parallel for schedule(static) if (n > 65536)
  for (std::size_t i = 0; i < n; ++i) data[i] = value(i);
  std::fill(data + n, data + n + overread, garbage);
  return array;
}

/// Random words for an array of values.
Randomness randomness_of(const InputKey& key) { return {mix(key.seed + kGoldenGamma)}; }

}  // namespace

HostArray generate(const InputKey& key, std::size_t lead, std::size_t overread) {
  const Randomness random = randomness_of(key);
  return with_value_or_half_type(key.type, [&]<class T>() {
    return fill_between_garbage<T>(key.n, lead, overread,
                                   [&](std::size_t i) { return element<T>(key, random, i); });
  });
}

HostArray generate_twin(const InputKey& key, std::size_t lead, std::size_t overread) {
  const Randomness random = randomness_of(key);
  const auto make = [&]<class T>() {
    // Values below 2^bits: more bits tell more mistakes apart, up to 2^10.
    using Sum = Combined<T>;
    const int free_bits = 2 * std::numeric_limits<Sum>::digits - 8 - std::bit_width(key.n);
    int most_bits = 10;
    if constexpr (kIsHalf<T>) most_bits = std::min(most_bits, T::kDigits);
    const int bits = std::clamp(free_bits / 2, 1, most_bits);
    return fill_between_garbage<T>(key.n, lead, overread, [&](std::size_t i) {
      const std::uint64_t word = random.word(i);
      const Sum magnitude = static_cast<Sum>(((word >> 1) & ((1u << bits) - 1)) | 1);
      const Sum value = (word & 1) ? magnitude : -magnitude;
      if constexpr (kIsHalf<T>) return nearest<T>(value);
      else return value;
    });
  };
  if (key.type == Type::kF32) return make.template operator()<float>();
  if (key.type == Type::kF64) return make.template operator()<double>();
  if (key.type == Type::kF16) return make.template operator()<F16>();
  if (key.type == Type::kBf16) return make.template operator()<Bf16>();
  throw std::logic_error("generate_twin: sums of this type are exact as they are");
}

namespace {
/// The checksum of words of one size, which is a constant here so that a copy is one instruction.
template <class Word>
std::uint64_t checksum_of(const std::byte* data, std::size_t n) {
  std::uint64_t total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total) if (n > 65536)
  for (std::size_t i = 0; i < n; ++i) {
    Word bits;
    std::memcpy(&bits, data + i * sizeof(Word), sizeof(Word));
    total += mix(bits + (static_cast<std::uint64_t>(i) + 1) * kGoldenGamma);
  }
  return total;
}
}  // namespace

std::uint64_t checksum(const std::byte* data, std::size_t n, std::size_t element_bytes) {
  switch (element_bytes) {
    case 1: return checksum_of<std::uint8_t>(data, n);
    case 2: return checksum_of<std::uint16_t>(data, n);
    case 4: return checksum_of<std::uint32_t>(data, n);
    default: return checksum_of<std::uint64_t>(data, n);
  }
}

std::string file_checksum(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return fmt::format(
      "{:016x}", checksum(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size() / 8, 8));
}

}  // namespace reduce_bench
