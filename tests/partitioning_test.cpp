// Partitions of inputs: the shares that blocks take of them, the ends of a tile's labels, and the lanes
// that go through a piece.
#include "kernels/shared/partitioning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/shared/shares.hpp"

namespace reduce_bench::emu {
namespace {

constexpr unsigned kBlocks = 132;

constexpr unsigned kTiles = 8192;

__global__ void divide(const Count* totals, std::size_t n, unsigned partitions, Count table_inputs,
                       unsigned skewed_rounds, Count* starts) {
  auto* own = dynamic_shared<Count>();
  divide_into_shares(totals, n, partitions, kTiles, table_inputs, skewed_rounds, own);
  if (blockIdx.x == 0)
    for (unsigned p = threadIdx.x; p <= partitions; p += blockDim.x) starts[p] = own[p];
}

std::vector<Count> starts_of(const std::vector<Count>& totals, Count table_inputs,
                             unsigned skewed_rounds = 1) {
  const auto partitions = static_cast<unsigned>(totals.size());
  const std::size_t n = std::accumulate(totals.begin(), totals.end(), std::size_t{1});
  std::vector<Count> starts(partitions + 1);
  launch(divide, {kBlocks, 64, starts_bytes(partitions)}, totals.data(), n, partitions,
         table_inputs, skewed_rounds, starts.data());
  return starts;
}

TEST(Shares, AreOfEveryPartitionThatHasInputs) {
  std::mt19937 random(1);
  for (unsigned k = 0; k < 60; ++k) {
    std::vector<Count> totals(1 + random() % 600);
    for (Count& total : totals) total = random() % 4 == 0 ? 0 : random() >> (6 + random() % 26);
    const std::vector<Count> starts = starts_of(totals, 16u << random() % 13, 1 + random() % 3);
    EXPECT_EQ(starts[0], 0u);
    for (std::size_t p = 0; p < totals.size(); ++p) {
      ASSERT_LE(starts[p], starts[p + 1]);
      ASSERT_EQ(starts[p + 1] > starts[p], totals[p] > 0) << "partition " << p;
      for (Count share = starts[p]; share < starts[p + 1]; ++share)
        ASSERT_EQ(partition_of(share, starts.data(), static_cast<unsigned>(totals.size())), p);
    }
  }
}

TEST(Shares, OfPartitionsThatDifferAreOfSeveralRoundsWhereTheyAreLong) {
  std::vector<Count> totals(64, 1u << 16);
  totals[0] = 1u << 26;
  const std::size_t work = (1u << 26) + 63 * (1u << 16) + 64 * std::size_t{kTiles} * 16;
  EXPECT_NEAR(starts_of(totals, 32768, 1).back(), kBlocks + 63, 10);
  EXPECT_NEAR(starts_of(totals, 32768, 2).back(),
              2 * kBlocks * ((1u << 26) + 16.0 * kTiles) / static_cast<double>(work) + 63, 10);
  for (Count& total : totals) total /= 8;
  EXPECT_EQ(starts_of(totals, 32768, 2), starts_of(totals, 32768, 1));
  std::vector<Count> many(kBlocks + 1, 1u << 16);
  many[0] = 1u << 26;
  EXPECT_EQ(starts_of(many, 32768, 2), starts_of(many, 32768, 1));
}

TEST(Shares, OfPartitionsThatAreAlikeAreNearlyAsManyInEveryBlock) {
  for (const unsigned partitions : {1u, 49u, 64u, 132u, 512u, 2048u}) {
    const std::vector<Count> totals(partitions, (1u << 26) / partitions);
    const Count shares = starts_of(totals, 16384).back();
    EXPECT_GE(shares * 100, ceil_div(shares, kBlocks) * kBlocks * 94)
        << partitions << " partitions";
  }
}

__global__ void find_ends(const Label* labels, std::size_t count, Window* found) {
  *found = window_between_ends(labels, count);
}

TEST(WindowBetweenEnds, IsThatOfSortedLabelsOfWhichAnEndIsAstray) {
  const auto window_of = [](const std::vector<Label>& labels) {
    Window found{};
    launch(find_ends, {1, 1}, labels.data(), labels.size(), &found);
    return std::pair{found.first, found.width};
  };
  using Pair = std::pair<Label, unsigned>;
  EXPECT_EQ(window_of({7}), Pair(7, 1));
  EXPECT_EQ(window_of({5, 9}), Pair(5, 5));
  EXPECT_EQ(window_of({9, 5}), Pair(5, 5));
  std::vector<Label> labels(100);
  std::iota(labels.begin(), labels.end(), 50);
  for (unsigned direction = 0; direction < 2; ++direction) {
    EXPECT_EQ(window_of(labels), Pair(51, 98));
    for (const Label astray : {0u, ~0u})
      for (const std::size_t place : {0, 99}) {
        std::vector<Label> with_stray = labels;
        with_stray[place] = astray;
        const auto [first, width] = window_of(with_stray);
        EXPECT_GE(first, 50u);
        EXPECT_LE(first, 52u);
        EXPECT_GE(first + width - 1, 147u);
        EXPECT_LE(first + width - 1, 149u);
      }
    std::ranges::reverse(labels);
  }
}

TEST(Walkers, AreNoMoreThanHaveWork) {
  const auto walkers = [](unsigned loads, unsigned steps) {
    return 1u << log2_walkers(loads, steps, 3);
  };
  for (const unsigned steps : {1u, 2u, 3u, 5u})
    for (unsigned loads = 0; loads < 64; ++loads) {
      const unsigned own = walkers(loads, steps);
      EXPECT_LE(own, 8u);
      EXPECT_TRUE(own == 1 || steps * own / 2 <= loads) << loads << " loads, " << steps << " steps";
      EXPECT_TRUE(own == 8 || steps * own > loads) << loads << " loads, " << steps << " steps";
    }
}

}  // namespace
}  // namespace reduce_bench::emu
