// Arrays for the CPU algorithms (kernels/shared/arrays.hpp) whose every access goes to a simulated
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "memory.hpp"

namespace reduce_bench {

/// A 32-bit value that is never looked at. No algorithm's accesses depend on values, so values have
/// a place in the simulated memory and, unless they lie beside positions, none in the simulator's
/// own.
struct Blank {
  std::int32_t unused;
  friend Blank operator+(Blank, Blank) { return {}; }
};
static_assert(sizeof(Blank) == sizeof(std::int32_t));
template <class T>
inline constexpr bool kBlank = std::is_same_v<std::remove_const_t<T>, Blank>;

/// The elements of an array, which holds none where they are blank.
template <class T>
struct Elements {
  explicit Elements(std::size_t n, T value = {}) : size(n), kept(kBlank<T> ? 0 : n, value) {}
  explicit Elements(std::vector<T> elements) : size(elements.size()), kept(std::move(elements)) {}
  std::size_t size;
  std::vector<T> kept;
};

template <class T>
class Traced {
 public:
  using Value = std::remove_const_t<T>;

  Traced(T* data, std::uint64_t address, Memory& memory, bool chained = false)
      : data_(data),
        address_(address),
        memory_(&memory),
        read_(chained ? Memory::Kind::kChainedRead : Memory::Kind::kRead) {}
  operator Traced<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data_, address_, *memory_, read_ == Memory::Kind::kChainedRead};
  }

  class Element {
   public:
    Element(const Traced& array, std::size_t i) : array_(array), i_(i) {}
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;
    operator Value() const {
      array_.memory_->access(array_.address_ + i_ * sizeof(T), array_.read_);
      if constexpr (kBlank<T>) return {};
      else return array_.data_[i_];
    }
    void operator=(Value value) const {
      array_.memory_->access(array_.address_ + i_ * sizeof(T), Memory::Kind::kWrite);
      if constexpr (!kBlank<T>) array_.data_[i_] = value;
    }

   private:
    const Traced& array_;
    std::size_t i_;
  };
  Element operator[](std::size_t i) const { return {*this, i}; }

 private:
  T* data_;
  std::uint64_t address_;
  Memory* memory_;
  Memory::Kind read_;
};

/// Gives arrays their simulated addresses: each begins on a page of its own, one page after the end
/// of the last, so that arrays of a power of two do not all begin in one set of a cache.
class AddressSpace {
 public:
  AddressSpace(Memory& memory, std::uint64_t page_bytes)
      : memory_(memory), page_bytes_(page_bytes), next_(page_bytes) {}

  template <class T>
  Traced<T> place(Elements<T>& elements, bool chained = false) {
    const std::uint64_t address = next_;
    const std::uint64_t pages = (elements.size * sizeof(T) + page_bytes_ - 1) / page_bytes_;
    next_ += (pages + 1) * page_bytes_;
    if (next_ > Memory::kMostBytes)
      throw UsageError("the arrays lie beyond the " + std::to_string(Memory::kMostBytes >> 30) +
                       " GiB that can be simulated: choose a smaller n or fewer buckets");
    return {elements.kept.data(), address, memory_, chained};
  }

 private:
  Memory& memory_;
  std::uint64_t page_bytes_, next_;
};

}  // namespace reduce_bench
