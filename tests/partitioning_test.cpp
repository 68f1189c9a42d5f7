// Partitions of inputs: the shares that blocks take of them, the ends of a tile's labels, the lanes that
// go through a piece, and the tiles that are not ordered. Copies of a table.
#include "kernels/shared/partitioning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/multireduce/partition/partition_launch.hpp"
#include "kernels/multiscan/partition/scan_partitions.hpp"
#include "kernels/shared/shares.hpp"
#include "kernels/shared/stable_tiles.hpp"

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

TEST(Shares, AreFewerWhereATableCostsAsMuchAsTheyDo) {
  const std::vector<Count> totals(kBlocks + 8, 1000);
  EXPECT_EQ(starts_of(totals, 1000).back(), kBlocks + 8);
  EXPECT_GE(starts_of(totals, 1).back(), 2 * (kBlocks + 8));
}

TEST(Shares, OfPartitionsThatAreAlikeAreNearlyAsManyInEveryBlock) {
  for (const unsigned partitions : {1u, 49u, 64u, 132u, 512u, 2048u}) {
    const std::vector<Count> totals(partitions, (1u << 26) / partitions);
    const Count shares = starts_of(totals, 16384).back();
    EXPECT_GE(shares * 100, ceil_div(shares, kBlocks) * kBlocks * 94)
        << partitions << " partitions";
  }
}

TEST(StableTiles, HaveNarrowerPartitionsInAMultiscanOfManyInputsAndFewBuckets) {
  const DeviceTraits device{.max_shared_bytes_per_block = 227 * 1024};
  const auto least_bits = [&](std::size_t buckets, std::optional<unsigned> asked = {},
                              std::size_t n = 1u << 26) {
    return partition_multiscan::tuning_for(Sizes(n, buckets, 4, device), {.least_bits = asked})
        .least_bits;
  };
  EXPECT_EQ(least_bits(1), 8u);
  EXPECT_EQ(least_bits(1u << 16), 8u);
  EXPECT_EQ(least_bits((1u << 16) + 1), std::nullopt);
  EXPECT_EQ(least_bits(1u << 16, 10), 10u);
  EXPECT_EQ(least_bits(1u << 16, {}, 1u << 22), std::nullopt);
}

TEST(StableTiles, HavePartitionsThatWidenWhereTheyWouldBeMany) {
  const DeviceTraits device{.max_shared_bytes_per_block = 227 * 1024};
  const auto partitions = [&](std::size_t buckets, std::optional<unsigned> least_bits = {}) {
    const Sizes sizes(1u << 26, buckets, 4, device);
    const Partitioning parts = stable_tiles::partitioning(sizes, {.least_bits = least_bits});
    return std::pair{parts.count, parts.width()};
  };
  using Pair = std::pair<unsigned, unsigned>;
  EXPECT_EQ(partitions(1), Pair(1, 512));
  EXPECT_EQ(partitions(1u << 19), Pair(1024, 512));
  EXPECT_EQ(partitions((1u << 19) + 1), Pair(513, 1024));
  EXPECT_EQ(partitions(1u << 20), Pair(1024, 1024));
  EXPECT_EQ(partitions(1u << 21), Pair(2048, 1024));
  EXPECT_EQ(partitions(1u << 22), Pair(2048, 2048));
  // A launch may ask for others, but for no more than a block has counters for.
  EXPECT_EQ(partitions(1u << 20, 9), Pair(2048, 512));
  EXPECT_EQ(partitions(1u << 20, 7), Pair(2048, 512));
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

constexpr unsigned kSamples = 64;  ///< threads of a block

__global__ void find_walkers(std::size_t loads, unsigned present, unsigned steps, unsigned* found) {
  const unsigned log2 = log2_walkers_for(loads, kTiles, present, steps, 3);
  if (threadIdx.x == 0) *found = 1u << log2;
}

TEST(Walkers, AreTheFewestThatLoadAPieceAtOnce) {
  for (const unsigned steps : {1u, 2u, 3u, 5u})
    for (const unsigned present : {1u, 32u, kSamples})
      for (unsigned loads = 0; loads < 64; ++loads) {
        unsigned found = 0;
        launch(find_walkers, {1, kSamples}, std::size_t{loads} * kTiles * present / kSamples,
               present, steps, &found);
        unsigned fewest = 1;
        while (fewest < 8 && steps * fewest <= loads) fewest *= 2;
        EXPECT_EQ(found, fewest) << loads << " loads, " << steps << " steps, " << present;
      }
  unsigned found = 0;
  launch(find_walkers, {1, kSamples}, std::size_t{1000}, 0u, 5u, &found);
  EXPECT_EQ(found, 8u) << "where no sample has any";
}

/// Inputs that partition/multireduce orders, instead of combining their tiles at once.
std::size_t ordered_inputs(const std::vector<Label>& labels, std::size_t buckets) {
  namespace partition = partition_multireduce;
  const std::vector<int> values(labels.size(), 1);
  std::vector<int> results(buckets);
  const Sizes sizes(labels.size(), buckets, sizeof(int), settings().device);
  const partition::Tuning tuning{.block = 256, .always_partitioned = true};
  const Partitioning parts = partition::partitioning(sizes, tuning);
  const partition::Layout layout = partition::layout(parts, sizeof(int));
  std::vector<std::uint64_t> workspace(layout.bytes / 8 + 1);
  const Arguments<int> call{.values = values.data(),
                            .labels = labels.data(),
                            .results = results.data(),
                            .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                            .sizes = sizes};
  partition::enqueue<Sum, int>(call, tuning);
  EXPECT_EQ(std::accumulate(results.begin(), results.end(), std::size_t{0}), labels.size());
  const Count* totals = layout.tiles.in(call).totals;
  return std::accumulate(totals, totals + parts.count, std::size_t{0});
}

TEST(SortedTiles, AreOrderedOnlyWhereManyLabelsAreAstray) {
  constexpr std::size_t kTile = 4096, kBuckets = 200'000;
  for (const std::size_t apart : {1, 6})  // near labels; far ones
    for (const std::size_t cut : {77, 2000, 3900}) {
      std::vector<Label> labels(3 * kTile + cut);
      for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<Label>(i * apart / 2);
      EXPECT_EQ(ordered_inputs(labels, kBuckets), 0u) << cut;
      for (const std::size_t end : {std::size_t{0}, kTile - 1, kTile, labels.size() - 1}) {
        std::vector<Label> astray = labels;
        astray[end] = end < kTile ? kBuckets - 1 : 0;
        EXPECT_EQ(ordered_inputs(astray, kBuckets), 0u) << cut << ", input " << end;
      }
      // Of 256 threads four; of labels that are far apart the least and the greatest lie beyond the ends.
      const unsigned most = apart == 1 ? 4 : 2;
      for (const unsigned strays : {most, most + 1}) {
        std::vector<Label> astray = labels;
        for (unsigned k = 0; k < strays; ++k) astray[kTile + 100 + 4 * k] = kBuckets - 1;
        EXPECT_EQ(ordered_inputs(astray, kBuckets), strays > most ? kTile : 0) << cut;
      }
    }
}

DeviceTraits device_of_large_tables() {
  DeviceTraits device = settings().device;
  device.sm_count = kBlocks;
  device.max_shared_bytes_per_block = 227 * 1024;
  return device;
}

TEST(Copies, AreFewerOfFewInputs) {
  const DeviceTraits device = device_of_large_tables();
  const auto copies = [&](std::size_t n, std::size_t buckets, unsigned asked = 0) {
    const Sizes sizes(n, buckets, sizeof(int), device);
    return 1u << table_plan(sizes, {.copies = asked}, sizeof(int), 256).log2_copies;
  };
  EXPECT_EQ(copies(1u << 26, 4096), 8u);
  EXPECT_EQ(copies(1u << 23, 4096), 4u);
  EXPECT_EQ(copies(1u << 20, 4096), 1u);
  EXPECT_EQ(copies(1u << 20, 4096, 8), 8u);
  EXPECT_EQ(copies(1u << 20, 1024), 32u);  // each lane has its own
  const auto of_partition = [&](std::size_t n) {
    const Sizes sizes(n, 1u << 18, sizeof(int), device);
    const Partitioning parts = partition_multireduce::partitioning(sizes, {});
    return 1u << partition_multireduce::log2_copies_of<int, Sum>(sizes, parts);
  };
  EXPECT_EQ(of_partition(1u << 26), 8u);
  EXPECT_EQ(of_partition(1u << 22), 2u);
}

TEST(Tables, OfFewInputsAreOfBlocksOfFewerThreads) {
  const DeviceTraits device = device_of_large_tables();
  using Grid = std::pair<unsigned, unsigned>;  // threads of a block, blocks
  const auto grid = [&](std::size_t n, std::size_t buckets, unsigned asked = 1024) {
    const TablePlan plan =
        table_plan(Sizes(n, buckets, sizeof(int), device), {.block = asked}, sizeof(int), 256);
    return Grid(plan.block, plan.blocks);
  };
  EXPECT_EQ(grid(1u << 16, 16), Grid(256, 32));
  EXPECT_EQ(grid(1u << 18, 16), Grid(512, 64));
  EXPECT_EQ(grid(1u << 19, 16), Grid(1024, 64));  // there would be twice as many tables
  EXPECT_EQ(grid(1'000'000, 16), Grid(512, kBlocks));
  EXPECT_EQ(grid(1u << 26, 16), Grid(1024, kBlocks));
  EXPECT_EQ(grid(1u << 16, 256), Grid(512, 16));
  EXPECT_EQ(grid(1u << 16, 257), Grid(1024, 8));  // there would be too few inputs for each bucket
  EXPECT_EQ(grid(1u << 16, 16, 512), Grid(256, 32));
}

TEST(WarpTables, OfFewInputsAreOfBlocksOfFewerWarps) {
  const DeviceTraits device = device_of_large_tables();
  using Grid = std::pair<unsigned, unsigned>;  // warps of a block, blocks
  const auto grid = [&](std::size_t n, std::size_t buckets, unsigned most = 32) {
    const Sizes sizes(n, buckets, sizeof(int), device);
    const WarpTablesPlan plan = warp_tables_plan(sizes, buckets * sizeof(int), 8, 64, most);
    return Grid(plan.warps, plan.blocks);
  };
  EXPECT_EQ(grid(0, 16), Grid(4, 1));
  EXPECT_EQ(grid(1u << 16, 16), Grid(4, 64));  // of 256 inputs
  EXPECT_EQ(grid(1u << 18, 16), Grid(8, 128));
  EXPECT_EQ(grid(1u << 20, 16), Grid(32, 128));
  EXPECT_EQ(grid(1u << 20, 2048), Grid(11, 131));  // of 724
  EXPECT_EQ(grid(1u << 26, 16), Grid(32, kBlocks));
  EXPECT_EQ(grid(1u << 26, 16, 24), Grid(24, kBlocks));
  EXPECT_EQ(grid(1u << 26, 8192), Grid(7, kBlocks));  // more have no room
  EXPECT_EQ(grid(1u << 16, 20'000), Grid(2, 57));
  EXPECT_EQ(grid(1u << 16, 60'000), Grid(0, 1));
}

}  // namespace
}  // namespace reduce_bench::emu
