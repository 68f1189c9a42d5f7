// Host memory: how much there is, copies by all cores, and pages of a chosen size.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kernels/api/pages_axis.hpp"

namespace reduce_bench {

/// How much memory the host can still give out.
std::size_t available_memory_bytes();

void copy_by_all_cores(std::byte* to, const std::byte* from, std::size_t size_bytes);

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;  // where base pages are 4 KiB
constexpr std::size_t whole_huge_pages(std::size_t size_bytes) {
  return (size_bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

/// Zeroed memory, aligned to a huge page, in a mapping that it shares with nothing, so that what
/// the kernel says of the mapping holds for it alone.
class PagedMemory {
 public:
  /// Throws std::bad_alloc where the system refuses.
  PagedMemory(std::size_t size_bytes, PageSize pages);
  ~PagedMemory();
  PagedMemory(const PagedMemory&) = delete;
  PagedMemory& operator=(const PagedMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  void* mapped_;
  std::size_t mapped_bytes_, usable_bytes_;
  std::byte* data_;
};

/// How much of the mappings that begin in these parts lies on huge pages, by the kernel's account;
/// nothing where the kernel does not tell. A mapping is counted whole, also beyond its part.
std::optional<std::size_t> huge_page_bytes(std::span<const std::span<const std::byte>> parts);

}  // namespace reduce_bench
