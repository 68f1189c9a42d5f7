// Pages of the host's memory, and what the processor counts, as this machine permits.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "common/pages.hpp"
#include "devices/counters.hpp"
#include "devices/device.hpp"
#include "devices/processor.hpp"
#include "huge_pages.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kPageBytes = 4096;

void touch(std::byte* data, std::size_t from_page, std::size_t to_page) {
  for (std::size_t page = from_page; page < to_page; ++page) data[page * kPageBytes] = std::byte{1};
}

// ---- copies -------------------------------------------------------------------------------------

TEST(CopyByAllCores, CopiesEveryByteAndNoMore) {
  const std::size_t part_bytes = std::size_t{256} << 10;
  for (const std::size_t size_bytes : {std::size_t{0}, std::size_t{1}, part_bytes, part_bytes + 1,
                                       5 * part_bytes - 1, 8 * part_bytes}) {
    std::vector<std::byte> from(size_bytes + 1), to(size_bytes + 1, std::byte{7});
    for (std::size_t i = 0; i < from.size(); ++i)
      from[i] = static_cast<std::byte>(i * i / 1000 + i);
    copy_by_all_cores(to.data(), from.data(), size_bytes);
    EXPECT_TRUE(std::equal(to.begin(), to.end() - 1, from.begin())) << size_bytes;
    EXPECT_EQ(to.back(), std::byte{7}) << size_bytes;
  }
}

// ---- pages --------------------------------------------------------------------------------------

std::optional<std::size_t> granted(const PagedMemory& memory, std::size_t size_bytes) {
  return huge_page_bytes(std::array{std::span<const std::byte>(memory.data(), size_bytes)});
}

TEST(Pages, MemoryIsAlignedAndZeroAndAllOfItUsable) {
  for (const std::size_t size_bytes : {std::size_t{0}, std::size_t{1}, kHugePageBytes - 1,
                                       kHugePageBytes, 3 * kHugePageBytes + 5}) {
    const PagedMemory memory(size_bytes, PageSize::kSmall);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % kHugePageBytes, 0u);
    for (std::size_t i = 0; i < size_bytes; i += i + 1 < size_bytes ? size_bytes / 3 + 1 : 1) {
      EXPECT_EQ(memory.data()[i], std::byte{0});
      memory.data()[i] = std::byte{1};
    }
    if (size_bytes > 0) memory.data()[size_bytes - 1] = std::byte{1};
  }
}

TEST(Pages, SmallOnesAreNeverHuge) {
  const PagedMemory memory(4 * kHugePageBytes, PageSize::kSmall);
  touch(memory.data(), 0, 4 * kHugePageBytes / kPageBytes);
  const auto huge_bytes = granted(memory, 4 * kHugePageBytes);
  if (!huge_bytes) GTEST_SKIP() << "this kernel does not tell what lies on huge pages";
  EXPECT_EQ(huge_bytes, 0u);
}

// Between two others: what they are granted is not counted.
TEST(Pages, WhatIsTouchedOfHugeOnesIsGrantedWhereTheSystemHasThem) {
  if (const std::string why = why_no_huge_pages(); !why.empty()) GTEST_SKIP() << why;
  constexpr std::size_t kBytes = 8 * kHugePageBytes;
  const PagedMemory before(kBytes, PageSize::kHuge), memory(kBytes, PageSize::kHuge),
      after(kBytes, PageSize::kHuge);
  touch(before.data(), 0, kBytes / kPageBytes);
  touch(after.data(), 0, kBytes / kPageBytes);
  EXPECT_EQ(granted(memory, kBytes), 0u);
  touch(memory.data(), 0, 1);
  EXPECT_EQ(granted(memory, kBytes), kHugePageBytes);
  touch(memory.data(), 0, kBytes / kPageBytes);
  EXPECT_EQ(granted(memory, kBytes), kBytes);
}

TEST(Pages, MoreThanTheAddressSpaceIsRefused) {
  EXPECT_THROW(PagedMemory(std::size_t{1} << 60, PageSize::kHuge), std::bad_alloc);
}

// ---- counters -----------------------------------------------------------------------------------

// Page faults: the kernel counts them itself, on any processor.
constexpr Event kPageFaults{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
constexpr Event kNoSuchEvent{"none", ~std::uint32_t{0}, 0};

TEST(Processor, AllCachesTogetherHoldTheLastLevel) {
  const auto last_bytes = last_level_cache_bytes(), all_bytes = all_caches_bytes();
  ASSERT_EQ(last_bytes.has_value(), all_bytes.has_value());
  if (!last_bytes) GTEST_SKIP() << "this system does not tell of caches";
  EXPECT_GE(*all_bytes, *last_bytes);
  // The L2 is one of them, beside the first level's of at least 4 KB.
  if (const auto second_bytes = l2_cache_bytes()) {
    EXPECT_LE(*second_bytes, *last_bytes);
    EXPECT_GE(*all_bytes, *second_bytes + 4096);
  }
  EXPECT_LE(*all_bytes, 4 * *last_bytes * logical_cores());  // of four levels that no cores share
}

TEST(Counters, CountTheWorkAloneOnEveryThread) {
  constexpr std::size_t kPrepared = 300, kEach = 100;
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const PagedMemory memory((kPrepared + threads * kEach) * kPageBytes, PageSize::kSmall);
  const auto work = [&] {
#pragma omp parallel for
    for (std::size_t thread = 0; thread < threads; ++thread)
      touch(memory.data(), kPrepared + thread * kEach, kPrepared + (thread + 1) * kEach);
  };
  const auto counters =
      count_events(std::array{kPageFaults}, [&] { touch(memory.data(), 0, kPrepared); }, work);
  ASSERT_EQ(counters.size(), 1u);
  if (!counters[0].count) GTEST_SKIP() << counters[0].unavailable;
  EXPECT_GE(counters[0].count, threads * kEach);
  EXPECT_LT(counters[0].count, threads * kEach + kPrepared / 2);
}

TEST(Counters, OneThatIsRefusedSaysWhyAndTheOthersCount) {
  unsigned calls = 0;
  const auto count = [&](std::span<const Event> events) {
    return count_events(events, [&] { ++calls; }, [&] { ++calls; });
  };
  const auto both = count(std::array{kNoSuchEvent, kPageFaults});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_FALSE(both[0].count);
  EXPECT_NE(both[0].unavailable, "");
  EXPECT_EQ(both[1].name, "page_faults");
  EXPECT_EQ(both[1].count.has_value(), both[1].unavailable.empty());
  calls = 0;
  EXPECT_NE(count(std::array{kNoSuchEvent})[0].unavailable, "");
  EXPECT_EQ(calls, 0u);  // for nothing
}

TEST(Counters, TheCpuCountsMissesOrSaysWhyNot) {
  const auto device = make_cpu_device();
  const auto counters = device->count(Mode::kCold, {.enqueue = [] {}}, [] {});
  ASSERT_EQ(counters.size(), kCounterNames.size());
  for (std::size_t i = 0; i < counters.size(); ++i) {
    EXPECT_EQ(counters[i].name, kCounterNames[i]);
    EXPECT_NE(counters[i].count.has_value(), !counters[i].unavailable.empty());
  }
}

}  // namespace
}  // namespace reduce_bench
