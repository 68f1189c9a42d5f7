#include "common/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size_bytes)
#define ASAN_UNPOISON_MEMORY_REGION(address, size_bytes)
#endif

namespace reduce_bench {

std::size_t available_memory_bytes() {
  std::ifstream stream("/proc/meminfo");
  for (std::string key; stream >> key;) {
    if (std::size_t kib = 0; key == "MemAvailable:" && stream >> kib) return kib * 1024;
    stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void copy_by_all_cores(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  constexpr std::size_t kPartBytes = std::size_t{256} << 10;
#pragma omp parallel for schedule(static) if (size_bytes > kPartBytes)
  for (std::size_t at = 0; at < size_bytes; at += kPartBytes)
    std::memcpy(to + at, from + at, std::min(kPartBytes, size_bytes - at));
}

PagedMemory::PagedMemory(std::size_t size_bytes, PageSize pages) {
  // The memory is whole huge pages, so that its end can lie on one, too. Around it lies at least a
  // page that is never accessible: the kernel may merge neighbouring mappings and count them as
  // one.
  usable_bytes_ = whole_huge_pages(std::max<std::size_t>(size_bytes, 1));
  mapped_bytes_ = usable_bytes_ + 2 * kHugePageBytes;
  mapped_ = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
  data_ = static_cast<std::byte*>(mapped_) + (kHugePageBytes - address % kHugePageBytes);
  if (mprotect(data_, usable_bytes_, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapped_, mapped_bytes_);
    throw std::bad_alloc();
  }
  // A kernel without huge pages refuses either advice. What was granted is read back, not assumed.
  (void)madvise(data_, usable_bytes_, pages == PageSize::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  ASAN_POISON_MEMORY_REGION(data_ + size_bytes, usable_bytes_ - size_bytes);
}

PagedMemory::~PagedMemory() {
  ASAN_UNPOISON_MEMORY_REGION(data_, usable_bytes_);
  munmap(mapped_, mapped_bytes_);
}

std::optional<std::size_t> huge_page_bytes(std::span<const std::span<const std::byte>> parts) {
  std::ifstream maps("/proc/self/smaps");
  const auto begins_inside = [&](std::uintptr_t low) {
    return std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
      return low - reinterpret_cast<std::uintptr_t>(part.data()) < part.size();
    });
  };
  bool known = false, inside = false;
  std::size_t huge_kib = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long low = 0, high = 0, kib = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &low, &high) == 2) {
      inside = begins_inside(low);
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kib) == 1) {
      known = true;
      huge_kib += kib;
    }
  }
  return known ? std::optional(huge_kib * 1024) : std::nullopt;
}

}  // namespace reduce_bench
