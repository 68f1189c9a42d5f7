// Floats of 16 bits as the harness and the emulator see them: bits, and conversions from and to f32.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace reduce_bench {

/// IEEE binary16: 5 bits of exponent, values up to 65504.
struct F16 {
  static constexpr int kDigits = 11;
  static constexpr std::uint16_t kInfinity = 0x7c00, kNaN = 0x7e00;
  std::uint16_t bits;
};

/// bfloat16: the upper half of an f32.
struct Bf16 {
  static constexpr int kDigits = 8;
  static constexpr std::uint16_t kInfinity = 0x7f80, kNaN = 0x7fc0;
  std::uint16_t bits;
};

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, F16> || std::is_same_v<T, Bf16>;

/// Exact.
constexpr float to_float(F16 half) {
  const std::uint32_t sign = (half.bits & 0x8000u) << 16, magnitude = half.bits & 0x7fffu;
  constexpr std::uint32_t kBias = (127 - 15) << 23;  // between the exponents of the two types
  if (magnitude >= F16::kInfinity)
    return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + kBias));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign == 0 ? subnormal : -subnormal;
}
constexpr float to_float(Bf16 half) { return std::bit_cast<float>(std::uint32_t{half.bits} << 16); }

/// The nearest half; of two as near the one whose last digit is zero; infinity beyond the largest.
template <class T>
constexpr T nearest(float value) {
  static_assert(kIsHalf<T>);
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = all >> 16 & 0x8000u, magnitude = all & 0x7fffffffu;
  const auto half = [&](std::uint32_t bits) { return T{static_cast<std::uint16_t>(sign | bits)}; };
  if (magnitude > 0x7f800000u) return half(T::kNaN);
  if constexpr (std::is_same_v<T, Bf16>) {
    return half((magnitude + 0x7fffu + (magnitude >> 16 & 1)) >> 16);
  } else {
    constexpr std::uint32_t kBias = (127 - 15) << 23;
    if (magnitude >= 0x477ff000u) return half(F16::kInfinity);  // 65520, where rounding up begins
    if (magnitude >= 0x38800000u)                               // 2^-14, the least normal one
      return half((magnitude + 0xfffu + (magnitude >> 13 & 1) - kBias) >> 13);
    // The last digit of floats from 0.5 on is 2^-24, as that of subnormal halves.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return half(std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0.5f));
  }
}

}  // namespace reduce_bench
