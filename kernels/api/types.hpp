// The vocabulary that every layer shares: element types, operators, backends, and their names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/api/halves.hpp"

namespace reduce_bench {

/// Element types: those of values, those of labels and counts, and halves, values of 16 bits that are
/// reduced in f32.
enum class Type { kI32, kI64, kF32, kF64, kU8, kU32, kF16, kBf16, kU16 };
inline constexpr std::array kTypeNames{
    std::string_view{"i32"}, std::string_view{"i64"},  std::string_view{"f32"},
    std::string_view{"f64"}, std::string_view{"u8"},   std::string_view{"u32"},
    std::string_view{"f16"}, std::string_view{"bf16"}, std::string_view{"u16"}};

/// Binary associative operator. `kRight` and `kAffine` do not commute: they exist to test order
/// (kRight: i32, the last element that is not neutral; kAffine: i64, composition of x -> m*x + c
/// modulo 2^32 with m in the upper and c in the lower half). `kNone` stands where an operation has
/// no operator.
enum class Op { kSum, kMin, kMax, kProd, kAnd, kOr, kXor, kRight, kAffine, kNone };
inline constexpr std::array kOpNames{std::string_view{"sum"},    std::string_view{"min"},
                                     std::string_view{"max"},    std::string_view{"prod"},
                                     std::string_view{"and"},    std::string_view{"or"},
                                     std::string_view{"xor"},    std::string_view{"right"},
                                     std::string_view{"affine"}, std::string_view{"none"}};

/// Where a variant runs. Those that are timed come first.
enum class Backend { kCuda, kOpencl, kCpu, kEmu };
inline constexpr std::array kBackendNames{std::string_view{"cuda"}, std::string_view{"opencl"},
                                          std::string_view{"cpu"}, std::string_view{"emu"}};
inline constexpr std::size_t kTimedBackendCount = 3;

/// How a variant stands to its publication.
enum class Fidelity { kAsPublished, kCorrected, kAdapted, kBaseline, kBeyond };
inline constexpr std::array kFidelityNames{
    std::string_view{"as-published"}, std::string_view{"corrected"}, std::string_view{"adapted"},
    std::string_view{"baseline"}, std::string_view{"beyond"}};

inline constexpr std::size_t kTypeCount = kTypeNames.size();
/// The types of values that every operation has come first.
inline constexpr std::size_t kValueTypeCount = 4;
inline constexpr std::size_t kOpCount = kOpNames.size();
inline constexpr std::size_t kBackendCount = kBackendNames.size();

constexpr std::size_t index_of(auto enumerator) { return static_cast<std::size_t>(enumerator); }

constexpr std::string_view name_of(Type t) { return kTypeNames[index_of(t)]; }
constexpr std::string_view name_of(Op o) { return kOpNames[index_of(o)]; }
constexpr std::string_view name_of(Backend b) { return kBackendNames[index_of(b)]; }
constexpr std::string_view name_of(Fidelity f) { return kFidelityNames[index_of(f)]; }

constexpr bool is_half(Type t) { return t == Type::kF16 || t == Type::kBf16; }
constexpr bool is_float(Type t) { return t == Type::kF32 || t == Type::kF64 || is_half(t); }
constexpr bool is_label(Type t) { return t == Type::kU8 || t == Type::kU16 || t == Type::kU32; }
constexpr std::size_t size_bytes(Type t) {
  switch (t) {
    case Type::kU8: return 1;
    case Type::kU16:
    case Type::kF16:
    case Type::kBf16: return 2;
    case Type::kU32:
    case Type::kI32:
    case Type::kF32: return 4;
    case Type::kI64:
    case Type::kF64: break;
  }
  return 8;
}

/// The type in which values are combined, and of the result.
constexpr Type result_type(Type t) { return is_half(t) ? Type::kF32 : t; }

/// Calls `f.template operator()<T>()` with the C++ type of `t`, a type of values, no half.
template <class F>
decltype(auto) with_value_type(Type t, F&& f) {
  switch (t) {
    case Type::kI32: return f.template operator()<std::int32_t>();
    case Type::kI64: return f.template operator()<std::int64_t>();
    case Type::kF32: return f.template operator()<float>();
    case Type::kF64: return f.template operator()<double>();
    default: throw std::logic_error(std::string(name_of(t)) + " is no type of values");
  }
}
/// The same for any type of values.
template <class F>
decltype(auto) with_value_or_half_type(Type t, F&& f) {
  if (t == Type::kF16) return f.template operator()<F16>();
  if (t == Type::kBf16) return f.template operator()<Bf16>();
  return with_value_type(t, f);
}
/// The same for a type of labels.
template <class F>
decltype(auto) with_label_type(Type t, F&& f) {
  switch (t) {
    case Type::kU8: return f.template operator()<std::uint8_t>();
    case Type::kU16: return f.template operator()<std::uint16_t>();
    case Type::kU32: return f.template operator()<std::uint32_t>();
    default: throw std::logic_error(std::string(name_of(t)) + " is no type of labels");
  }
}
/// The same for any type that outputs have.
template <class F>
decltype(auto) with_type(Type t, F&& f) {
  if (is_label(t)) return with_label_type(t, f);
  return with_value_type(t, f);
}

template <class T>
struct TypeOf;  // other element types are a compile error
template <>
struct TypeOf<std::int32_t> {
  static constexpr Type kValue = Type::kI32;
};
template <>
struct TypeOf<std::int64_t> {
  static constexpr Type kValue = Type::kI64;
};
template <>
struct TypeOf<float> {
  static constexpr Type kValue = Type::kF32;
};
template <>
struct TypeOf<double> {
  static constexpr Type kValue = Type::kF64;
};
template <>
struct TypeOf<std::uint8_t> {
  static constexpr Type kValue = Type::kU8;
};
template <>
struct TypeOf<std::uint16_t> {
  static constexpr Type kValue = Type::kU16;
};
template <>
struct TypeOf<std::uint32_t> {
  static constexpr Type kValue = Type::kU32;
};
template <>
struct TypeOf<F16> {
  static constexpr Type kValue = Type::kF16;
};
template <>
struct TypeOf<Bf16> {
  static constexpr Type kValue = Type::kBf16;
};
template <class T>
inline constexpr Type kTypeOf = TypeOf<T>::kValue;

/// The C++ type of `result_type`.
template <class T>
using Combined = std::conditional_t<kIsHalf<T>, float, T>;

/// Whether the operator is defined on the type at all.
constexpr bool defined_on(Op op, Type t) {
  if (op == Op::kNone) return true;
  if (is_label(t)) return false;
  if (is_half(t)) return op == Op::kSum || op == Op::kMin || op == Op::kMax;
  switch (op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor: return !is_float(t);
    case Op::kRight: return t == Type::kI32;
    case Op::kAffine: return t == Type::kI64;
    default: return true;
  }
}

constexpr bool commutes(Op op) { return op != Op::kRight && op != Op::kAffine; }

}  // namespace reduce_bench
