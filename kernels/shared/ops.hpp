// The operators: associative, with a neutral element. Integer arithmetic wraps.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/api/types.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

namespace detail {
template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
__host__ __device__ constexpr T lowest() {
  if constexpr (kIsHalf<T>) return T{T::kInfinity | 0x8000};
  else if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::min();
}
template <class T>
__host__ __device__ constexpr T highest() {
  if constexpr (kIsHalf<T>) return T{T::kInfinity};
  else if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}
}  // namespace detail

struct Sum {
  static constexpr Op kOp = Op::kSum;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return T{0};
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<detail::Unsigned<T>>(a) +
                            static_cast<detail::Unsigned<T>>(b));
    } else {
      return a + b;
    }
  }
};

/// NaN inputs are outside the contract of Min and Max: which operand wins would depend on order.
struct Min {
  static constexpr Op kOp = Op::kMin;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return detail::highest<T>();
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    return b < a ? b : a;
  }
};

struct Max {
  static constexpr Op kOp = Op::kMax;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return detail::lowest<T>();
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    return a < b ? b : a;
  }
};

struct Prod {
  static constexpr Op kOp = Op::kProd;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return T{1};
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<detail::Unsigned<T>>(a) *
                            static_cast<detail::Unsigned<T>>(b));
    } else {
      return a * b;
    }
  }
};

struct And {
  static constexpr Op kOp = Op::kAnd;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return static_cast<T>(~T{0});
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    return a & b;
  }
};

struct Or {
  static constexpr Op kOp = Op::kOr;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return T{0};
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    return a | b;
  }
};

struct Xor {
  static constexpr Op kOp = Op::kXor;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return T{0};
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    return a ^ b;
  }
};

/// Stands for the operator where an operation has none.
struct None {
  static constexpr Op kOp = Op::kNone;
};

/// right(x, y) = y, with the lowest integer as the neutral element: the last element that is not
/// neutral wins. Associative, does not commute.
struct Right {
  static constexpr Op kOp = Op::kRight;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return detail::lowest<T>();
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    return b == identity<T>() ? a : b;
  }
};

/// Composition of affine maps x -> m*x + c modulo 2^32: a first, then b. m is the upper half of the
/// 64-bit element, c the lower. Associative, does not commute.
struct Affine {
  static constexpr Op kOp = Op::kAffine;
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return static_cast<T>(std::uint64_t{1} << 32);
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    const auto xm = static_cast<std::uint32_t>(x >> 32), xc = static_cast<std::uint32_t>(x);
    const auto ym = static_cast<std::uint32_t>(y >> 32), yc = static_cast<std::uint32_t>(y);
    const std::uint32_t m = xm * ym;
    const std::uint32_t c = ym * xc + yc;
    return static_cast<T>((static_cast<std::uint64_t>(m) << 32) | c);
  }
};

}  // namespace reduce_bench::BACKEND
