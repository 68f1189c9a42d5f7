// Which row of a policy a card gets.
#include "kernels/shared/by_capability.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace reduce_bench::emu {
namespace {

struct On75 {
  static constexpr unsigned kItems = 4;
  static constexpr unsigned kBlock = 256;
};
struct On90 : On75 {
  static constexpr unsigned kItems = 16;
};
struct On100 : On90 {
  static constexpr unsigned kBlock = 512;
};
template <unsigned kWanted>
using Chosen = RowFor<kWanted, Row<75, On75>, Row<90, On90>, Row<100, On100>>::type;

TEST(ByCapability, IsTheNewestRowThatIsNotNewer) {
  EXPECT_TRUE((std::is_same_v<Chosen<75>, On75>));
  EXPECT_TRUE((std::is_same_v<Chosen<89>, On75>));
  EXPECT_TRUE((std::is_same_v<Chosen<90>, On90>));
  EXPECT_TRUE((std::is_same_v<Chosen<99>, On90>));
  EXPECT_TRUE((std::is_same_v<Chosen<100>, On100>));
  EXPECT_TRUE((std::is_same_v<Chosen<121>, On100>));
}

TEST(ByCapability, IsTheOldestRowWhereAllAreNewer) {
  EXPECT_TRUE((std::is_same_v<Chosen<70>, On75>));
  EXPECT_TRUE((std::is_same_v<RowFor<70, Row<90, On90>>::type, On90>));
}

TEST(ByCapability, ARowKeepsWhatItDoesNotChange) {
  EXPECT_EQ(Chosen<90>::kItems, 16u);
  EXPECT_EQ(Chosen<90>::kBlock, 256u);
  EXPECT_EQ(Chosen<100>::kItems, 16u);
  EXPECT_EQ(Chosen<100>::kBlock, 512u);
}

TEST(ByCapability, TheEmulatorHasTheRowThatItsCountsAreOfOrTheOneAskedFor) {
#ifndef REDUCE_BENCH_TUNED_FOR
  EXPECT_EQ(kTunedFor, 90u);
#endif
  EXPECT_TRUE((std::is_same_v<ByCapability<Row<75, On75>, Row<90, On90>, Row<100, On100>>,
                              Chosen<kTunedFor>>));
}

}  // namespace
}  // namespace reduce_bench::emu
