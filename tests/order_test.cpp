// What the race detector takes for ordered, and what for a race, on sequences of a few accesses that
// are made up by hand.
#include "kernels/platform/order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/platform/races.hpp"

namespace reduce_bench::traced {
namespace {

using trace::Kind;

// ---- knowledge --------------------------------------------------------------------------------

TEST(Known, JoinKeepsTheLargerOfEachAndTheOrder) {
  Known::Entries into{{1, 5}, {3, 2}, {7, 1}};
  Known::join(into, {{0, 1}, {3, 9}, {7, 1}, {8, 4}});
  EXPECT_EQ(into, (Known::Entries{{0, 1}, {1, 5}, {3, 9}, {7, 1}, {8, 4}}));
  Known::join(into, {});
  EXPECT_EQ(into.size(), 5u);
  EXPECT_EQ(Known::at(into, 3), 9u);
  EXPECT_EQ(Known::at(into, 4), 0u);
}

TEST(Known, JoinedIsWhatEitherKnows) {
  const auto a = std::make_shared<Known>(Known{{{0, 1}}, {}});
  const auto b = std::make_shared<Known>(Known{{}, {{5, 2}}});
  EXPECT_EQ(joined(a, nullptr), a);
  EXPECT_EQ(joined(nullptr, b), b);
  EXPECT_EQ(joined(a, a), a);
  const Knowledge both = joined(a, b);
  EXPECT_EQ(Known::at(both->phases, 0), 1u);
  EXPECT_EQ(Known::at(both->epochs, 5), 2u);
}

// ---- order ------------------------------------------------------------------------------------

/// Two blocks of 64 threads.
struct Order : testing::Test {
  BlockOrder first{0, 64}, second{1, 64};
};

TEST_F(Order, AThreadFollowsItselfAndNobodyElse) {
  const Stamp earlier = first.stamp(3);
  EXPECT_TRUE(first.is_before(earlier, 3));
  EXPECT_FALSE(first.is_before(earlier, 4));
  EXPECT_FALSE(second.is_before(earlier, 3));
}

TEST_F(Order, ABarrierOrdersItsBlockAlone) {
  const Stamp earlier = first.stamp(3);
  first.barrier();
  EXPECT_TRUE(first.is_before(earlier, 63));
  EXPECT_FALSE(first.is_before(first.stamp(3), 63));  // after the barrier
  second.barrier();
  EXPECT_FALSE(second.is_before(earlier, 63));
}

TEST_F(Order, AWarpBarrierOrdersTheLanesOfItsMask) {
  const Stamp of_3 = first.stamp(3), of_5 = first.stamp(5);
  first.warp_barrier(0, 0b1000 | 0b10000);  // lanes 3 and 4
  EXPECT_TRUE(first.is_before(of_3, 4));
  EXPECT_FALSE(first.is_before(of_3, 5));
  EXPECT_FALSE(first.is_before(of_5, 4));
  EXPECT_FALSE(first.is_before(first.stamp(3), 4));  // what lane 3 does afterwards
  EXPECT_FALSE(first.is_before(of_3, 32 + 4));       // the next warp
}

TEST_F(Order, WarpBarriersPassOnWhatTheyLearnt) {
  const Stamp of_0 = first.stamp(0);
  first.warp_barrier(0, 0b011);
  first.warp_barrier(0, 0b110);
  EXPECT_TRUE(first.is_before(of_0, 2));
}

/// Thread 0 of the first block announces what it did; thread 0 of the second sees it.
struct Flag : Order {
  void announce(bool fence) {
    if (fence) first.fence(0);
    first.store(0, flag, true);
  }
  void see(bool fence) {
    second.load(0, flag);
    if (fence) second.fence(0);
  }
  Knowledge flag;
};

TEST_F(Flag, OrdersWithAFenceOnEitherSide) {
  const Stamp earlier = first.stamp(0);
  announce(true);
  see(true);
  EXPECT_TRUE(second.is_before(earlier, 0));
  EXPECT_FALSE(second.is_before(first.stamp(0), 0));  // what comes behind the fence
  EXPECT_FALSE(second.is_before(earlier, 1));         // until its block meets
  second.barrier();
  EXPECT_TRUE(second.is_before(earlier, 1));
}

TEST_F(Flag, OrdersNothingWithoutEitherFence) {
  const Stamp earlier = first.stamp(0);
  announce(false);
  see(true);
  EXPECT_FALSE(second.is_before(earlier, 0));
  announce(true);
  see(false);
  EXPECT_FALSE(second.is_before(earlier, 0));
}

TEST_F(Flag, PassesOnWhatTheBlockDidBeforeItsBarrier) {
  const Stamp of_63 = first.stamp(63);
  first.barrier();
  announce(true);
  see(true);
  EXPECT_TRUE(second.is_before(of_63, 0));
}

TEST_F(Flag, AnAtomicAddsAndAStoreReplaces) {
  const Stamp of_first = first.stamp(0);
  announce(true);
  BlockOrder third{2, 64};
  third.fence(0);
  const Stamp of_third = third.stamp(0);
  third.fence(0);
  third.store(0, flag, false);
  see(true);
  EXPECT_TRUE(second.is_before(of_first, 0));
  EXPECT_TRUE(second.is_before(of_third, 0));

  Knowledge replaced = flag;
  third.store(0, replaced, true);
  BlockOrder fourth{3, 64};
  fourth.load(0, replaced);
  fourth.fence(0);
  EXPECT_FALSE(fourth.is_before(of_first, 0));
  EXPECT_TRUE(fourth.is_before(of_third, 0));
}

// ---- races ------------------------------------------------------------------------------------

struct Detector : testing::Test {
  static constexpr std::uintptr_t kWord = 0x10000;

  /// Access number k of a test is at place k.
  void access(BlockOrder& of, std::uint32_t t, Kind kind, std::uintptr_t address = kWord,
              std::size_t size_bytes = 4) {
    races.access(of, t, address, size_bytes, kind, ++places);
  }
  /// Every race found, as `earlier-later`.
  std::string found() const {
    std::string text;
    for (const Race& race : races.found())
      text += std::to_string(race.earlier.place) + "-" + std::to_string(race.later.place) + " ";
    return text;
  }

  Races races;
  std::uint32_t places = 0;
  BlockOrder block{0, 64}, other{1, 64};
};

TEST_F(Detector, OneOfTwoMustWrite) {
  access(block, 0, Kind::kRead);
  access(block, 1, Kind::kRead);
  EXPECT_EQ(found(), "");
  access(block, 2, Kind::kWrite);
  EXPECT_EQ(found(), "1-3 2-3 ");
  EXPECT_EQ(races.found()[0].address, kWord);
}

TEST_F(Detector, AThreadDoesNotRaceWithItselfNorAcrossABarrier) {
  access(block, 0, Kind::kWrite);
  access(block, 0, Kind::kWrite);
  block.barrier();
  access(block, 1, Kind::kRead);
  EXPECT_EQ(found(), "");
  access(other, 0, Kind::kRead);
  EXPECT_EQ(found(), "2-4 ");
}

TEST_F(Detector, AReadThatAWriteDoesNotFollowIsRemembered) {
  access(block, 0, Kind::kRead);
  access(block, 1, Kind::kRead);
  block.warp_barrier(0, 0b11);
  access(block, 1, Kind::kWrite);  // after both
  EXPECT_EQ(found(), "");
  access(block, 2, Kind::kRead);
  EXPECT_EQ(found(), "3-4 ");
}

TEST_F(Detector, StrongAccessesDoNotRaceWithEachOtherButWithPlainOnes) {
  access(block, 0, Kind::kAtomic);
  access(other, 0, Kind::kAtomic);
  access(other, 1, Kind::kStrongRead);
  access(other, 2, Kind::kStrongWrite);
  EXPECT_EQ(found(), "");
  access(block, 1, Kind::kWrite);
  EXPECT_EQ(found(), "1-5 2-5 3-5 4-5 ");
}

TEST_F(Detector, AVolatileReadSeesAStrongWriteOrNot) {
  access(block, 0, Kind::kStrongWrite);
  access(other, 0, Kind::kVolatileRead);
  EXPECT_EQ(found(), "");
  access(other, 1, Kind::kVolatileWrite);
  EXPECT_EQ(found(), "1-3 2-3 ");
}

TEST_F(Detector, AVolatileStoreOfSeveralThreadsLeavesTheValueOfOne) {
  for (std::uint32_t t = 0; t < 3; ++t) races.access(block, t, kWord, 4, Kind::kVolatileWrite, 1);
  EXPECT_EQ(found(), "");
  races.access(block, 3, kWord, 4, Kind::kVolatileWrite, 2);
  EXPECT_EQ(found(), "1-2 ");
}

TEST_F(Detector, BytesOfAWordAreApart) {
  access(block, 0, Kind::kWrite, kWord, 1);
  access(block, 1, Kind::kWrite, kWord + 1, 1);
  EXPECT_EQ(found(), "");
  access(block, 2, Kind::kRead, kWord, 4);
  EXPECT_EQ(found(), "1-3 2-3 ");
}

TEST_F(Detector, AWideAccessTouchesEveryWordOfIt) {
  access(block, 0, Kind::kWrite, kWord, 16);
  access(block, 1, Kind::kRead, kWord + 12, 4);
  EXPECT_EQ(found(), "1-2 ");
  EXPECT_EQ(races.found()[0].address, kWord + 12);
  access(block, 2, Kind::kRead, kWord + 16, 4);
  EXPECT_EQ(races.found().size(), 1u);
}

TEST_F(Detector, EachPairOfPlacesIsReportedOnce) {
  for (std::uint32_t t = 0; t < 8; ++t) races.access(block, t, kWord, 4, Kind::kWrite, 1);
  EXPECT_EQ(found(), "1-1 ");
}

TEST_F(Detector, AFlagWithFencesOrdersTheData) {
  constexpr std::uintptr_t kFlag = kWord + 64;
  access(block, 0, Kind::kWrite);
  block.fence(0);
  access(block, 0, Kind::kStrongWrite, kFlag);
  access(other, 0, Kind::kStrongRead, kFlag);
  other.fence(0);
  access(other, 0, Kind::kRead);
  EXPECT_EQ(found(), "");
  access(other, 1, Kind::kRead);
  EXPECT_EQ(found(), "1-5 ");
}

TEST_F(Detector, MemoryOfAnotherBlockBeginsAnew) {
  access(block, 0, Kind::kWrite);
  access(block, 0, Kind::kWrite, kWord + 4);
  races.forget(kWord, 4);
  access(other, 0, Kind::kRead);
  EXPECT_EQ(found(), "");
  access(other, 0, Kind::kRead, kWord + 4);
  EXPECT_EQ(found(), "2-4 ");
}

TEST_F(Detector, ManyReadersAreNotForgotten) {
  BlockOrder wide{0, 1024}, writer{1, 1024};
  for (std::uint32_t t = 0; t < 1024; ++t) races.access(wide, t, kWord, 4, Kind::kRead, 1 + t);
  races.access(writer, 0, kWord, 4, Kind::kWrite, 5000);
  EXPECT_EQ(races.found().size(), 1024u);
}

}  // namespace
}  // namespace reduce_bench::traced
