// One atomic update per operator and type: the native instruction where CUDA has one, otherwise a
// compare-and-swap loop.
#pragma once

#include <bit>
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

/// The same for a slot in shared memory, which other threads use by this function alone until the
/// next barrier. Shared memory has no atomic addition of 64 bits, only loops of compare-and-swap,
/// in which the inputs of a frequent bucket wait for one another: so a sum's halves are added one
/// after the other, with the carry of the low one, and the slot is right when all have been added.
template <class Op, class T>
__device__ void atomic_combine_shared(T* slot, T value) {
  if constexpr (std::is_same_v<Op, Sum> && std::is_integral_v<T> && sizeof(T) == 8) {
    static_assert(std::endian::native == std::endian::little);
    // Depends on T, as not every build that reads this file has atomics on unsigned.
    using Half = std::conditional_t<sizeof(T) == 8, unsigned, T>;
    auto* halves = reinterpret_cast<Half*>(slot);
    const auto low = static_cast<Half>(value);
    const Half carry = atomicAdd(&halves[0], low) + low < low;
    const Half high = static_cast<Half>(static_cast<std::uint64_t>(value) >> 32) + carry;
    if (high != 0) atomicAdd(&halves[1], high);
  } else {
    atomic_combine<Op>(slot, value);
  }
}

/// Adds values to slots in shared memory, in which `seen` was a moment ago, by compare-and-swap. The
/// first attempts of all overlap; the few that fail are made again, one after the other.
template <class T, unsigned kCount>
__device__ void add_all_shared(T* const (&slot)[kCount], const bool (&present)[kCount],
                               const detail::Word<T> (&seen)[kCount], const T (&value)[kCount]) {
  using Word = detail::Word<T>;
  Word before[kCount];
#pragma unroll
  for (unsigned e = 0; e < kCount; ++e) {
    before[e] = seen[e];
    if (present[e])
      before[e] = atomicCAS(reinterpret_cast<Word*>(slot[e]), seen[e],
                            detail::bits_to<Word>(detail::bits_to<T>(seen[e]) + value[e]));
  }
  bool all = true;
#pragma unroll
  for (unsigned e = 0; e < kCount; ++e) all = all && before[e] == seen[e];
  if (all) return;
#pragma unroll
  for (unsigned e = 0; e < kCount; ++e)
    if (before[e] != seen[e]) atomicAdd(slot[e], value[e]);
}

}  // namespace reduce_bench::BACKEND
