// One atomic update per operator and type: the native instruction where CUDA has one, otherwise a
// compare-and-swap loop.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/shared/ops.hpp"

namespace reduce_bench::BACKEND {

namespace detail {
// CUDA's 64-bit atomics take (unsigned) long long; std::int64_t is long here.
__device__ inline long long* as_signed(std::int64_t* p) { return reinterpret_cast<long long*>(p); }
__device__ inline unsigned long long* as_unsigned(std::int64_t* p) {
  return reinterpret_cast<unsigned long long*>(p);
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
  if constexpr (std::is_same_v<Op, Sum> && std::is_same_v<T, std::int64_t>) {
    atomicAdd(detail::as_unsigned(address), static_cast<unsigned long long>(value));
  } else if constexpr (std::is_same_v<Op, Sum>) {
    atomicAdd(address, value);
  } else if constexpr (std::is_same_v<Op, Min> && kInteger) {
    if constexpr (sizeof(T) == 8) atomicMin(detail::as_signed(address), value);
    else atomicMin(address, value);
  } else if constexpr (std::is_same_v<Op, Max> && kInteger) {
    if constexpr (sizeof(T) == 8) atomicMax(detail::as_signed(address), value);
    else atomicMax(address, value);
  } else {
    using Word = detail::Word<T>;
    combine_by_swap<Op>(address, *reinterpret_cast<volatile Word*>(address), value);
  }
}

}  // namespace reduce_bench::BACKEND
