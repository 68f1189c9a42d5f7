// What the CPU algorithms read and write: arrays. An array is anything whose `array[i]` converts to
// an element and can be assigned one. It is a plain pointer where an algorithm runs; cache-sim
// gives arrays that record every access, so that what it simulates is what is timed.
//
// So that every access counts once, an algorithm keeps what it has read in a variable of the
// element's type.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

template <class Array, class T>
void fill(Array array, std::size_t n, T value) {
  for (std::size_t i = 0; i < n; ++i) array[i] = value;
}

/// An array whose every access needs the value read before to find its place, so that the processor
/// cannot fetch ahead (eilers section 2.4, Figure 2.8). Stores too: one whose place is known early
/// brings its line before the read that should wait for it.
template <class T>
class Chained {
 public:
  explicit Chained(T* data) : data_(data), zero_(unknown_zero()) {}

  class Element {
   public:
    Element(Chained& array, std::size_t i) : array_(array), i_(i) {}
    operator T() const { return array_.last_ = array_.data_[place()]; }
    void operator=(T value) const { array_.data_[place()] = value; }

   private:
    std::size_t place() const {
      const auto last = static_cast<std::size_t>(std::bit_cast<Bits>(array_.last_));
      return i_ + (last & array_.zero_);
    }

    Chained& array_;
    std::size_t i_;
  };
  Element operator[](std::size_t i) { return {*this, i}; }

 private:
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  /// 0, but the compiler does not know.
  static std::size_t unknown_zero() {
    const volatile std::size_t zero = 0;
    return zero;
  }

  T* data_;
  std::size_t zero_;
  T last_{};
};

}  // namespace reduce_bench::BACKEND
