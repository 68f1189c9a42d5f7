// Memory for a variant's output or scratch, with margins that reveal writes out of bounds.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "devices/device.hpp"

namespace reduce_bench {

/// Allocates so many bytes that the device can reach.
using Allocate = std::function<Memory(std::size_t)>;

class GuardedMemory {
 public:
  GuardedMemory(Device& device, const Allocate& allocate, std::size_t size_bytes)
      : device_(device),
        memory_(allocate(kMarginBytes + size_bytes + kMarginBytes)),
        size_bytes_(size_bytes) {
    if (kMarginBytes == 0) return;
    device_.fill(memory_.data(), kPattern, kMarginBytes);
    device_.fill(data() + size_bytes_, kPattern, kMarginBytes);
  }

  std::byte* data() const { return memory_.data() + kMarginBytes; }
  /// The memory with its margins.
  const Memory& whole() const { return memory_; }

  /// Whether something wrote to a margin.
  bool damaged() const { return changed(memory_.data()) || changed(data() + size_bytes_); }

 private:
  // Under AddressSanitizer there are none: it reports every access beyond the allocation itself.
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::size_t kMarginBytes = 0;
#else
  static constexpr std::size_t kMarginBytes =
      256;  // a multiple of the alignment that Device promises
#endif
  static constexpr unsigned char kPattern = 0xb7;

  bool changed(const std::byte* margin) const {
    std::vector<std::byte> seen(kMarginBytes);
    device_.download(seen.data(), margin, kMarginBytes);
    return std::any_of(seen.begin(), seen.end(),
                       [](std::byte b) { return b != std::byte{kPattern}; });
  }

  Device& device_;
  Memory memory_;
  std::size_t size_bytes_;
};

}  // namespace reduce_bench
