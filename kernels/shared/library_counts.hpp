// The width of the counts that libraries are called with: 32 bits where they suffice, as of any
// user who passes an int. With a 64-bit count CUB compiles other kernels: on one H200, 2^26 inputs,
// reduce-by-key takes 285 us instead of 207, of sorted labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

inline bool fits_int(std::size_t n) {
  return n <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
}

/// A declaration's `count_bits` where the library is called by `with_library_count`. Thrust's
/// algorithms choose by the same limit themselves.
inline unsigned library_count_bits(const Problem& p) { return fits_int(p.n) ? 32 : 64; }

/// Calls `f` with n in the type that the library is to be given. What asks for the size of
/// temporary storage takes the same way as the call, so that the two agree.
template <class F>
decltype(auto) with_library_count(std::size_t n, F&& f) {
  if (fits_int(n)) return std::forward<F>(f)(static_cast<std::int32_t>(n));
  return std::forward<F>(f)(static_cast<std::int64_t>(n));
}

}  // namespace reduce_bench
