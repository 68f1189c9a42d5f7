// One atomic update per operator and type: the native instruction where CUDA has one, otherwise a
// compare-and-swap loop.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/shared/ops.hpp"

namespace reduce_bench::BACKEND {

namespace detail {
/// An integer as CUDA's atomics take it: of 64 bits they take (unsigned) long long, and std::int64_t is
/// long here.
template <class T>
using Native =
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
                       std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>;
template <class T>
__device__ Native<T>* native_address(T* p) {
  return reinterpret_cast<Native<T>*>(p);
}

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;

template <class To, class From>
__device__ To bits_to(From from) {
  static_assert(sizeof(To) == sizeof(From));
  union {
    From from;
    To to;
  } both{from};
  return both.to;
}
}  // namespace detail

/// *address = Op(*address, value) by compare-and-swap, where `seen` was there a moment ago. Where
/// the update would not change the stored value (min, max) the loop ends without a swap, so
/// contention fades.
template <class Op, class T>
__device__ void combine_by_swap(T* address, detail::Word<T> seen, T value) {
  using Word = detail::Word<T>;
  Word* word = reinterpret_cast<Word*>(address);
  for (;;) {
    const T old = detail::bits_to<T>(seen);
    const T combined = Op::combine(old, value);
    if (combined == old) return;
    const Word before = atomicCAS(word, seen, detail::bits_to<Word>(combined));
    if (before == seen) return;
    seen = before;
  }
}

/// *address = Op(*address, value), indivisibly; returns nothing.
template <class Op, class T>
__device__ void atomic_combine(T* address, T value) {
  constexpr bool kInteger = std::is_integral_v<T>;
  if constexpr (std::is_same_v<Op, Sum> && kInteger && sizeof(T) == 8) {
    using Unsigned = detail::Native<std::make_unsigned_t<T>>;
    atomicAdd(reinterpret_cast<Unsigned*>(address), static_cast<Unsigned>(value));
  } else if constexpr (std::is_same_v<Op, Sum> && std::is_arithmetic_v<T>) {
    if constexpr (kInteger) atomicAdd(detail::native_address(address), value);
    else atomicAdd(address, value);
  } else if constexpr (std::is_same_v<Op, Min> && kInteger) {
    atomicMin(detail::native_address(address), value);
  } else if constexpr (std::is_same_v<Op, Max> && kInteger) {
    atomicMax(detail::native_address(address), value);
  } else {
    using Word = detail::Word<T>;
    combine_by_swap<Op>(address, *reinterpret_cast<volatile Word*>(address), value);
  }
}

}  // namespace reduce_bench::BACKEND
