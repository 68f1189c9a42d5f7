// What verify does not reach: loops that the emulated device is too large or too small to repeat,
// and labels of special forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/platform/emu_device.hpp"
#include "plan/plan.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

template <class T>
struct Inputs {
  std::vector<T> values;
  std::vector<Label> labels;
};
Inputs<int> random_inputs(std::size_t n, std::size_t buckets) {
  std::mt19937 random(1);
  Inputs<int> inputs;
  for (std::size_t i = 0; i < n; ++i) {
    inputs.values.push_back(static_cast<int>(random() % 2001) - 1000);
    inputs.labels.push_back(static_cast<Label>(random() % buckets));
  }
  return inputs;
}

/// The results of the variant with its default parameters, but for `params`, on another device.
template <class T>
std::vector<T> results_on(const DeviceTraits& device, const std::string& id, Op op,
                          const Inputs<T>& inputs, std::size_t buckets,
                          const std::vector<std::pair<std::string, std::string>>& changed = {},
                          LaunchLog* log = nullptr) {
  constexpr Type kType = kTypeOf<T>;
  const CatalogEntry& entry = *select_variants(std::vector{id}).front();
  const Variant& variant = *entry.on(Backend::kEmu);
  Params params = default_params(variant);
  for (const auto& [name, value] : changed) params.set(name, value);
  const Problem problem{.operation = variant.operation,
                        .n = inputs.values.size(),
                        .buckets = buckets,
                        .type = kType,
                        .op = op,
                        .params = params,
                        .device = device};
  EXPECT_EQ(variant.restriction == nullptr ? "" : variant.restriction(problem), "");
  std::vector<T> results(problem.arrays().results.count);
  const Workspace needed = variant.workspace == nullptr ? Workspace{} : variant.workspace(problem);
  std::vector<std::uint64_t> workspace(needed.device_bytes / 8 + 1);
  const Call call{.values = inputs.values.data(),
                  .labels = inputs.labels.data(),
                  .results = results.data(),
                  .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                  .stream = {nullptr, log},
                  .problem = problem};
  variant.enqueue[index_of(kType)][index_of(op)](call);
  return results;
}

/// The latest earlier value of the same label: wrong as soon as the order is.
std::vector<int> latest_before(const Inputs<int>& inputs, std::size_t buckets) {
  std::vector<int> latest(buckets, std::numeric_limits<int>::min()), expected;
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    expected.push_back(latest[inputs.labels[i]]);
    latest[inputs.labels[i]] = inputs.values[i];
  }
  return expected;
}

TEST(OtherDevices, TheLaunchThatClearsIsNotTheOneRecorded) {
  constexpr std::size_t kBuckets = 1 << 20;  // many to clear for few inputs
  LaunchLog log;
  (void)results_on(emu::settings().device, "partition/multireduce", Op::kSum,
                   random_inputs(20000, kBuckets), kBuckets, {{"launch", "partitioned"}}, &log);
  EXPECT_GE(log.kernels, 3u);
  EXPECT_LT(log.grid, 16u);
}

/// As large as an H200's multiprocessors.
DeviceTraits device_of_large_sms() {
  DeviceTraits device = emu::settings().device;
  device.max_threads_per_sm = 2048;
  return device;
}

/// What it launches where it plans for the shared memory of the publication's card.
LaunchLog published_launch(const std::string& id, std::size_t buckets,
                           std::vector<std::pair<std::string, std::string>> changed = {}) {
  changed.emplace_back("shared_kib", "48");
  const Inputs<int> inputs = random_inputs(199680, buckets);  // the same for 5, 20 or 30 blocks
  LaunchLog log;
  (void)results_on(device_of_large_sms(), id, Op::kSum, inputs, buckets, changed, &log);
  return log;
}
void expect_launch(const LaunchLog& log, std::size_t blocks_per_sm, unsigned block,
                   std::size_t shared_bytes) {
  EXPECT_EQ(log.grid, blocks_per_sm * emu::settings().device.sm_count);
  EXPECT_EQ(log.block, block);
  EXPECT_EQ(log.shared_bytes, shared_bytes);
}

// Of 48 KB, 32 sets take 32 KB with 256 buckets and 8 KB with 64, whether of threads or of banks. In
// order, a thread has eight labels and values and one of padding of each besides.
TEST(OtherDevices, BucketSetsAreAsFewAsThePublishedSharedMemoryHolds) {
  expect_launch(published_launch("eilers/shared-thread", 256), 1, 32, 32 * 1024);
  expect_launch(published_launch("eilers/shared-thread", 64), 6, 32, 8 * 1024);
  expect_launch(published_launch("eilers/shared-thread-ordered", 256), 1, 32, 32 * (1024 + 72));
  expect_launch(published_launch("eilers/shared-thread-ordered", 64), 4, 32, 32 * (256 + 72));
  expect_launch(published_launch("eilers/shared-bank", 256), 1, 1024, 32 * 1024);
  expect_launch(published_launch("eilers/shared-bank", 64), 6, 256, 8 * 1024);
}

// "nThreads = 32, and have three blocks per SM, or have nThreads = 62, which would leave just enough
// space for 256 buckets, and have one block per SM" (eilers section 5.4.3).
TEST(OtherDevices, SpineTreesAreAsFewAsThePublishedSharedMemoryHolds) {
  const auto blocks_per_sm = [](std::size_t buckets, const char* threads) {
    const LaunchLog log = published_launch("sheffler/shared", buckets, {{"threads", threads}});
    EXPECT_EQ(std::to_string(log.block), threads);
    return log.grid / emu::settings().device.sm_count;
  };
  EXPECT_EQ(blocks_per_sm(256, "32"), 3u);
  EXPECT_EQ(blocks_per_sm(1024, "32"), 2u);
  EXPECT_EQ(blocks_per_sm(256, "62"), 1u);
}

TEST(OtherDevices, SpineTreesTakeSeveralSegmentsInABlock) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 1;
  const Inputs<int> inputs = random_inputs(20003, 3);
  for (const char* threads : {"32", "62"})
    EXPECT_EQ(results_on(device, "sheffler/shared", Op::kRight, inputs, 3,
                         {{"threads", threads}, {"shared_kib", "48"}}),
              latest_before(inputs, 3));
}

// CUDA keeps 1 KB of each block: seven blocks of 32 KB do not fit into 228 KB.
TEST(OtherDevices, BucketSetsOfThreadsLeaveRoomForWhatCudaKeeps) {
  const Inputs<int> inputs = random_inputs(2000003, 32);
  LaunchLog log;
  (void)results_on(device_of_large_sms(), "eilers/shared-thread", Op::kSum, inputs, 32, {}, &log);
  expect_launch(log, 6, 256, 32 * 1024);
}

TEST(OtherDevices, ASegmentedScanTakesSeveralTilesOfAShare) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 1;
  // Three labels: segments begin in few tiles.
  const Inputs<int> inputs = random_inputs(100003, 3);
  EXPECT_EQ(results_on(device, "eilers/multiscan-sort-global", Op::kRight, inputs, 3),
            latest_before(inputs, 3));
}

TEST(OtherDevices, ASegmentedScanHasMoreSharesThanABlockHasThreads) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 32;
  const Inputs<int> inputs = random_inputs(250007, 3);
  EXPECT_EQ(results_on(device, "eilers/multiscan-sort-global", Op::kRight, inputs, 3),
            latest_before(inputs, 3));
}

TEST(OtherDevices, AWarpScansTheTotalsOfSeveralBlocks) {
  DeviceTraits device = emu::settings().device;
  constexpr std::size_t kBuckets = 300;
  device.sm_count = 70;
  device.max_shared_bytes_per_block = 2 * (kBuckets + 1) * sizeof(int);  // two warps
  const Inputs<int> inputs = random_inputs(70 * 2 * kBuckets + 77, kBuckets);
  EXPECT_EQ(results_on(device, "twopass/multiscan", Op::kRight, inputs, kBuckets),
            latest_before(inputs, kBuckets));
}

/// partition/histogram of labels on a device, against counting them one by one.
void expect_counts(const DeviceTraits& device, const std::vector<Label>& labels,
                   std::size_t buckets) {
  const std::size_t n = labels.size();
  const Variant& variant =
      *select_variants(std::vector<std::string>{"partition/histogram"}).front()->on(Backend::kEmu);
  Params params = default_params(variant);
  params.set("launch", "partitioned");
  const Problem problem{.operation = Operation::kHistogram,
                        .n = n,
                        .buckets = buckets,
                        .type = Type::kU32,
                        .op = Op::kNone,
                        .params = params,
                        .device = device};
  ASSERT_EQ(variant.restriction(problem), "");
  std::vector<Count> counts(buckets), expected(buckets);
  std::vector<std::uint64_t> workspace(variant.workspace(problem).device_bytes / 8 + 1);
  const Call call{.labels = labels.data(),
                  .results = counts.data(),
                  .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                  .problem = problem};
  variant.enqueue[index_of(Type::kU32)][index_of(Op::kNone)](call);
  for (const Label label : labels) ++expected[label];
  EXPECT_EQ(counts, expected);
}

TEST(OtherDevices, AWarpWalksThroughManyTilesOfAPartition) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 2;
  constexpr std::size_t kBuckets = 30'000;  // so far apart that tiles are ordered
  for (const unsigned warps : {1u, 2u}) {   // that fold; two take turns at the tiles
    device.max_threads_per_sm = 2 * warps * 32;
    // Pieces that are alike, short ones beside long ones, and those of partitions that few tiles have.
    for (const unsigned kind : {0u, 1u, 2u}) {
      Inputs<int> inputs = random_inputs(40 * 4096 + 5, kBuckets);
      std::mt19937 random(kind);
      for (std::size_t i = 0; i < inputs.labels.size(); ++i) {
        if (kind == 1 && random() % 64 != 0) inputs.labels[i] %= 2000;
        if (kind == 2) inputs.labels[i] = inputs.labels[i] % 15'000 + (i / 4096 == 7 ? 15'000 : 0);
      }
      std::vector<int> expected(kBuckets);
      for (std::size_t i = 0; i < inputs.values.size(); ++i)
        expected[inputs.labels[i]] += inputs.values[i];
      EXPECT_EQ(results_on(device, "partition/multireduce", Op::kSum, inputs, kBuckets,
                           {{"block", "256"}, {"launch", "partitioned"}}),
                expected)
          << kind << ", " << warps << " warps";
    }
  }
}

TEST(OtherDevices, AWarpCountsManyTilesOfAPartition) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 2;
  constexpr std::size_t kBins = 30'000;    // so far apart that tiles are ordered
  for (const unsigned warps : {1u, 2u}) {  // that count; two take turns at the tiles
    device.max_threads_per_sm = 2 * warps * 32;
    expect_counts(device, random_inputs(40 * 8192 + 5, kBins).labels, kBins);
  }
}

TEST(OtherDevices, APartitionHasFewerBinsWhereABlockHasLessMemory) {
  DeviceTraits device = emu::settings().device;
  device.max_shared_bytes_per_block = 20 * 1024;
  expect_counts(device, random_inputs(30011, 300007).labels, 300007);
  device.max_shared_bytes_per_block = 99 * 1024;
  const Variant& variant =
      *select_variants(std::vector<std::string>{"partition/histogram"}).front()->on(Backend::kEmu);
  Params params = default_params(variant);
  params.set("launch", "partitioned");
  Problem problem{.operation = Operation::kHistogram,
                  .n = 1 << 20,
                  .buckets = 1 << 23,
                  .type = Type::kU32,
                  .op = Op::kNone,
                  .params = params,
                  .device = device};
  EXPECT_EQ(variant.restriction(problem), "");
  problem.buckets = (1 << 23) + 1;
  EXPECT_EQ(
      variant.restriction(problem),
      "513 partitions of 16384 bins each, as many as fit into shared memory, are too many: at "
      "most 512");
}

TEST(OtherDevices, TilesThatPartitionsOrderAreSmallerWhereABlockHasLessMemory) {
  DeviceTraits device = emu::settings().device;
  device.max_shared_bytes_per_block = 40 * 1024;
  constexpr std::size_t kBuckets = 50'021;
  const Variant& variant = *select_variants(std::vector<std::string>{"partition/multireduce"})
                                .front()
                                ->on(Backend::kEmu);
  Params large = default_params(variant);
  large.set("block", "512");
  large.set("launch", "partitioned");
  const Problem problem{.operation = Operation::kMultireduce,
                        .n = 1 << 20,
                        .buckets = kBuckets,
                        .type = Type::kI32,
                        .op = Op::kSum,
                        .params = large,
                        .device = device};
  EXPECT_NE(variant.restriction(problem), "");
  const auto inputs = random_inputs(20011, kBuckets);
  std::vector<int> expected(kBuckets);
  for (std::size_t i = 0; i < inputs.values.size(); ++i)
    expected[inputs.labels[i]] += inputs.values[i];
  EXPECT_EQ(results_on(device, "partition/multireduce", Op::kSum, inputs, kBuckets,
                       {{"launch", "partitioned"}}),
            expected);
}

/// A thread of onepass/reduce-exact adds values outside of the window in doubles, which lose digits after
/// too many: here the lowest digit of one value, added to 20000 values of the largest exponent that
/// shares its word, unless the words are emptied in time. What they had counts once, although no
/// such value comes after it, or only some of one thread.
TEST(OtherDevices, ExactSumsOfManyValuesOutsideOfTheWindowLoseNoDigit) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 1;
  constexpr std::size_t kThreads = 128, kCount = kThreads * 40000, kZeros = kThreads * 10000;
  constexpr std::size_t kSampled = 4 * 8;  // values, at either end and at the thirds between
  const auto value_of = [](unsigned field, unsigned fraction) {
    return std::bit_cast<float>(field << 23 | fraction);
  };
  const float small = value_of(208, 1), large = value_of(223, (1u << 23) - 1);
  Inputs<float> inputs;
  for (std::size_t i = 0; i < kCount; ++i) inputs.values.push_back(i < kCount / 2 ? large : -large);
  inputs.values[kCount / 2 - 1] = small;
  inputs.values[kCount / 2] = 0;
  inputs.values.resize(kCount - kSampled);  // as many are taken from the front
  inputs.values.resize(kCount + kZeros);
  inputs.values[kCount + kZeros / 2] = large;
  inputs.values[kCount + kZeros / 2 + 1] = -large;
  for (std::size_t place = 0; place < 4; ++place) {
    const std::size_t at = (kCount + kZeros - kSampled) / 4 * place / 3 * 4;
    std::fill_n(inputs.values.begin() + static_cast<std::ptrdiff_t>(at), kSampled, 0.0f);
  }
  ASSERT_EQ(std::accumulate(inputs.values.begin(), inputs.values.end(), 0.0L), small);
  EXPECT_EQ(results_on(device, "onepass/reduce-exact", Op::kSum, inputs, 0,
                       {{"block", "128"}, {"blocks_per_sm", "1"}}),
            std::vector{small});
}

/// So many values of all exponents that a launch does not have L2 fetch ahead: they cancel but for one.
template <class T>
void expect_the_value_that_is_left(std::size_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(3);
  Inputs<T> inputs;
  while (inputs.values.size() < count) {
    const T value = std::bit_cast<T>(static_cast<Bits>(random()));
    if (!std::isfinite(value)) continue;
    inputs.values.push_back(value);
    inputs.values.push_back(-value);
  }
  const T left = std::numeric_limits<T>::denorm_min() * 5;
  inputs.values.push_back(left);
  std::shuffle(inputs.values.begin(), inputs.values.end(), random);
  DeviceTraits device = emu::settings().device;
  device.sm_count = 1;
  EXPECT_EQ(results_on(device, "onepass/reduce-exact", Op::kSum, inputs, 0), std::vector{left});
}

TEST(OtherDevices, ExactSumsOfManyValuesOfAllExponentsAreThose) {
  constexpr std::size_t kAheadBytes = 32768 * 16;  // for each SM
  expect_the_value_that_is_left<float>(kAheadBytes / sizeof(float) + 5000);
  expect_the_value_that_is_left<double>(kAheadBytes / sizeof(double) + 5000);
}

/// Values that are nearly 32 times as large where onepass/multireduce-exact does not look when it chooses
/// its window: their sum needs the third word of a bucket's number.
TEST(OtherDevices, AnExactSumOutgrowsTwoWordsOnBothSides) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 1;
  const Variant& variant = *select_variants(std::vector<std::string>{"onepass/multireduce-exact"})
                                .front()
                                ->on(Backend::kEmu);
  const Params params = default_params(variant);
  constexpr std::size_t kN = 8 * 1024, kBuckets = 3;
  const Problem problem{.operation = Operation::kMultireduce,
                        .n = kN,
                        .buckets = kBuckets,
                        .type = Type::kF32,
                        .op = Op::kSum,
                        .params = params,
                        .device = device};
  const Workspace needed = variant.workspace(problem);
  std::vector<std::uint64_t> workspace(needed.device_bytes / 8 + 1);
  for (const int sign : {1, -1}) {
    std::vector<float> values(kN), results(kBuckets);
    std::vector<Label> labels(kN);
    double sums[kBuckets] = {};  // of 24 digits and 13 bits more: exact
    for (std::size_t i = 0; i < kN; ++i) {
      labels[i] = static_cast<Label>(i / 4000);
      values[i] = static_cast<float>(sign) * (i % 8 == 0 ? 1.0f : 32 - 0x1p-19f);
      sums[labels[i]] += values[i];
    }
    const Call call{.values = values.data(),
                    .labels = labels.data(),
                    .results = results.data(),
                    .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                    .problem = problem};
    variant.enqueue[index_of(Type::kF32)][index_of(Op::kSum)](call);
    for (std::size_t b = 0; b < kBuckets; ++b) EXPECT_EQ(results[b], static_cast<float>(sums[b]));
  }
}

/// The numbers of onepass/multireduce-exact begin with words in the middle of what they hold. One lane fills
/// them, so that what it adds next carries or borrows through all; another block's values cancel it.
TEST(OtherDevices, AnExactSumOfAllExponentsCarriesAndBorrowsThroughAllWords) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 2;
  constexpr std::size_t kBlock = 256, kTile = kBlock * 4;  // the blocks take them in turn
  const auto units = [](int digits, int place) {
    return std::ldexp(static_cast<float>(digits), place - 149);
  };
  // The first block's first lane takes the first four neighbours of each of its tiles.
  const auto place_of = [](std::size_t k) { return 2 * kTile * (k / 4) + k % 4; };
  std::vector<float> carries, borrows;
  for (int word = 7; word >= 1; --word) {
    carries.push_back(units(0xffffff, 32 * word + 7));
    carries.push_back(units(0x7f, 32 * word));
    borrows.push_back(-units(1, 32 * word + 31));
  }
  borrows.push_back(-units(1, 31));
  carries.resize(16);  // what follows is taken in another step, when the others are in
  carries.push_back(units(1, 31));
  borrows.push_back(-units(1, 0));
  // All exponents fit into copies for every lane, into one, and not at all.
  for (const std::size_t buckets : {3, 4096, 6000}) {
    for (const std::vector<float>& values : {carries, borrows}) {
      Inputs<float> inputs;
      inputs.values.resize(16 * kTile);
      inputs.labels.resize(inputs.values.size(), static_cast<Label>(buckets - 1));
      for (std::size_t k = 0; k < values.size(); ++k) {
        inputs.values[place_of(k)] = values[k];  // every fourth is sampled
        inputs.values[kTile + k] = -values[k];
      }
      inputs.values[2 * kTile - 1] = units(5, 0);
      std::vector<float> expected(buckets);
      expected.back() = units(5, 0);
      EXPECT_EQ(results_on(device, "onepass/multireduce-exact", Op::kSum, inputs, buckets,
                           {{"block", std::to_string(kBlock)}}),
                expected)
          << buckets << " buckets, " << values.size() << " values";
    }
  }
}

/// Values of all exponents that cancel but for one of each bucket, in runs and not. Of 6000 buckets numbers
/// have no room for all exponents.
TEST(OtherDevices, ExactSumsOfBucketsOfAllExponentsAreThose) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 2;
  std::mt19937 random(5);
  for (const std::size_t run : {1, 4, 100}) {
    for (const std::size_t buckets : {1, 33, 2000, 6000}) {
      Inputs<float> inputs;
      std::vector<float> expected;
      for (std::size_t bucket = 0; bucket < buckets; ++bucket)
        expected.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(1 + random() % 100)));
      for (const float value : expected) inputs.values.push_back(value);
      inputs.labels.resize(buckets);
      std::iota(inputs.labels.begin(), inputs.labels.end(), 0);
      while (inputs.values.size() < 40001) {
        const auto label = static_cast<Label>(random() % buckets);
        std::vector<float> of_run;
        while (of_run.size() < run) {
          const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
          if (std::isfinite(value)) of_run.push_back(value);
        }
        for (const float sign : {1.0f, -1.0f}) {
          std::shuffle(of_run.begin(), of_run.end(), random);
          for (const float value : of_run) {
            inputs.values.push_back(sign * value);
            inputs.labels.push_back(label);
          }
        }
      }
      EXPECT_EQ(results_on(device, "onepass/multireduce-exact", Op::kSum, inputs, buckets),
                expected)
          << run << " " << buckets;
    }
  }
}

/// partition/multireduce on tiles of 16 * 256 inputs that `change` gives labels to.
template <class Change>
void expect_sums(Change&& change) {
  constexpr std::size_t kBuckets = 100000;
  Inputs<int> inputs = random_inputs(4 * 16 * 256, kBuckets);
  change(inputs.labels);
  std::vector<int> expected(kBuckets);
  for (std::size_t i = 0; i < inputs.values.size(); ++i)
    expected[inputs.labels[i]] += inputs.values[i];
  EXPECT_EQ(results_on(emu::settings().device, "partition/multireduce", Op::kSum, inputs, kBuckets,
                       {{"block", "256"}, {"launch", "partitioned"}}),
            expected);
}

TEST(SpecialLabels, AsManyRunsAsATileOfRunsMayHave) {
  // In three threads of four every quad is a run, in the others every input.
  expect_sums([](std::vector<Label>& labels) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (i / 4 % 4 != 3) labels[i] = labels[i / 4 * 4];
  });
}

TEST(SpecialLabels, RunsThatBeginAndEndWithinQuads) {
  // Before every fourth quad, runs of one quad or of all three; they reach into the fourth by none
  // to three inputs, and so do those behind it.
  expect_sums([](std::vector<Label>& labels) {
    for (std::size_t quad = 0; quad < labels.size() / 4; ++quad) {
      Label* const own = &labels[quad * 4];
      if (quad % 4 != 3) {
        const bool goes_on = quad % 4 != 0 && quad / 4 % 2 == 0;
        std::fill_n(own, 4, goes_on ? own[-1] : own[0]);
        continue;
      }
      const std::size_t before = quad / 4 % 4, behind = quad / 16 % (5 - before);
      std::fill_n(own, before, own[-1]);
      if (quad + 1 < labels.size() / 4) std::fill_n(own + 4 - behind, behind, own[4]);
    }
  });
}

/// partition/multireduce's sums of floats into so many buckets that they are in fixed point.
constexpr std::size_t kFixedBuckets = 1u << 18;
std::vector<float> fixed_sums(const Inputs<float>& inputs) {
  return results_on(emu::settings().device, "partition/multireduce", Op::kSum, inputs,
                    kFixedBuckets, {{"block", "256"}, {"launch", "partitioned"}});
}
/// Values of the size of `scale`, into buckets all over their range.
Inputs<float> floats_of_size(float scale, std::size_t n) {
  std::mt19937 random(1);
  Inputs<float> inputs;
  for (std::size_t i = 0; i < n; ++i) {
    inputs.values.push_back(scale * (static_cast<float>(random() % 2001) / 1024 - 1));
    inputs.labels.push_back(static_cast<Label>(random() % 500 * 523 + 1000));
  }
  return inputs;
}

TEST(FloatsInFixedPoint, SumsThatFloatsCanHoldAreExact) {
  for (const float scale : {1.0f, 0x1p-100f, 0x1p+100f}) {
    const Inputs<float> inputs = floats_of_size(scale, 5 * 16 * 256 + 77);
    std::vector<double> expected(kFixedBuckets);
    for (std::size_t i = 0; i < inputs.values.size(); ++i)
      expected[inputs.labels[i]] += static_cast<double>(inputs.values[i]);
    const std::vector<float> results = fixed_sums(inputs);
    for (std::size_t b = 0; b < kFixedBuckets; ++b)
      ASSERT_EQ(static_cast<double>(results[b]), expected[b]) << b << " at " << scale;
  }
}

TEST(FloatsInFixedPoint, AreRoundedOnceForManyInputs) {
  // By float additions to 1, each of the small values would add a third too much.
  constexpr float kSmall = 1.5f * 0x1p-24f;
  constexpr std::size_t kLabels = 64, kInputs = 1u << 11;  // few: the window has all exponents
  std::mt19937 random(2);
  Inputs<float> inputs;
  std::vector<double> expected(kLabels);
  for (std::size_t i = 0; i < kInputs; ++i) {
    const auto label = static_cast<Label>(i < kLabels ? i : random() % kLabels);
    inputs.labels.push_back(label * 61);  // all in one partition
    inputs.values.push_back(i < kLabels ? 1.0f : kSmall);
    expected[label] += static_cast<double>(inputs.values.back());
  }
  const std::vector<float> results = fixed_sums(inputs);
  for (std::size_t b = 0; b < kLabels; ++b)
    EXPECT_NEAR(static_cast<double>(results[b * 61]), expected[b], 0x1p-22) << b;
}

TEST(FloatsInFixedPoint, WhatIsOutsideOfTheWindowIsAddedAsFloat) {
  using Limits = std::numeric_limits<float>;
  constexpr float kInfinity = Limits::infinity();
  for (const float scale : {1.0f, 0x1p-125f, 0x1p+120f}) {
    Inputs<float> inputs = floats_of_size(scale, 3 * 16 * 256);
    std::size_t next = 100;
    const auto set = [&](Label label, float value) {
      inputs.labels[next] = label;
      inputs.values[next] = value;
      next += 97;  // in several quads and tiles
    };
    // Labels below 1000 have no other inputs.
    set(1, kInfinity), set(1, 1.0f), set(1, Limits::max());
    set(2, -kInfinity), set(2, 1.0f);
    set(3, kInfinity), set(3, -kInfinity);
    set(4, Limits::quiet_NaN()), set(4, 1.0f);
    set(5, -0.0f), set(5, -0.0f);
    set(6, Limits::denorm_min()), set(6, 2 * Limits::denorm_min());
    set(7, Limits::max()), set(7, Limits::max());
    set(8, 0x1p-100f), set(8, 0x1p-101f);
    set(9, 0x1p+100f), set(9, 0x1p+99f);
    set(10, Limits::max()), set(10, -Limits::max());
    set(11, Limits::min()), set(11, -Limits::denorm_min());
    const std::vector<float> results = fixed_sums(inputs);
    EXPECT_EQ(results[0], 0.0f);
    EXPECT_EQ(results[1], kInfinity);
    EXPECT_EQ(results[2], -kInfinity);
    EXPECT_TRUE(std::isnan(results[3]));
    EXPECT_TRUE(std::isnan(results[4]));
    EXPECT_EQ(results[5], 0.0f);
    EXPECT_FALSE(std::signbit(results[5]));
    EXPECT_EQ(results[6], 3 * Limits::denorm_min());
    EXPECT_EQ(results[7], kInfinity);
    EXPECT_EQ(results[8], 0x1.8p-100f);
    EXPECT_EQ(results[9], 0x1.8p+100f);
    EXPECT_EQ(results[10], 0.0f);
    EXPECT_EQ(results[11], Limits::min() - Limits::denorm_min());
    EXPECT_TRUE(std::all_of(results.begin() + 1000, results.end(),
                            [](float sum) { return std::isfinite(sum); }));
  }
}

/// partition/multireduce's sums of f64, of which so many buckets have one copy of each, on a device
/// whose blocks have few threads: then few inputs suffice for frequent labels to be looked for.
TEST(FloatsOfFrequentLabels, SumsThatFloatsCanHoldAreExact) {
  constexpr std::size_t kBuckets = (1u << 18) - 1000;  // the last partition is narrower
  DeviceTraits device = emu::settings().device;
  device.sm_count = 3;
  device.max_threads_per_sm = 128;
  std::mt19937 random(5);
  Inputs<double> inputs;
  std::vector<double> expected(kBuckets);
  for (std::size_t i = 0; i < 60000; ++i) {
    // A quarter each: three labels of the last partition, three of the first, any, and zeros.
    const auto any = static_cast<Label>(random() % kBuckets);
    const std::size_t kind = i % 4;
    inputs.labels.push_back(kind == 0   ? static_cast<Label>(kBuckets - 1 - any % 3)
                            : kind == 1 ? any % 3
                                        : any);
    const double value = static_cast<int>(random() % 2001) - 1000;
    inputs.values.push_back(kind == 3 ? -0.0 : value);
    expected[inputs.labels.back()] += inputs.values.back();
  }
  // Not-a-number with the bits that mark a frequent label is one like any other.
  inputs.values[400] = std::bit_cast<double>(0xfff4a50000000001u);
  inputs.values[801] = std::numeric_limits<double>::infinity();
  expected[inputs.labels[400]] = std::numeric_limits<double>::quiet_NaN();
  expected[inputs.labels[801]] = inputs.values[801];
  ASSERT_NE(inputs.labels[400], inputs.labels[801]);
  const std::vector<double> results =
      results_on(device, "partition/multireduce", Op::kSum, inputs, kBuckets,
                 {{"block", "256"}, {"launch", "partitioned"}});
  for (std::size_t b = 0; b < kBuckets; ++b) {
    if (std::isnan(expected[b])) ASSERT_TRUE(std::isnan(results[b])) << b;
    else ASSERT_EQ(results[b], expected[b]) << b;
  }
}

/// partition/multireduce-ordered on values of which none may be lost or take another's place.
void expect_ordered_reduction(const DeviceTraits& device, const std::vector<Label>& labels,
                              std::size_t buckets) {
  const char* const id = "partition/multireduce-ordered";
  std::mt19937_64 random(4);
  // The last that is not neutral: of odd labels one in four is not, of even ones one in 4000.
  constexpr int kNeutral = std::numeric_limits<int>::min();
  Inputs<int> any{.labels = labels};
  std::vector<int> latest(buckets, kNeutral);
  for (const Label label : labels) {
    any.values.push_back(random() % (label % 2 == 1 ? 4 : 4000) == 0 ? static_cast<int>(random())
                                                                     : kNeutral);
    if (any.values.back() != kNeutral) latest[label] = any.values.back();
  }
  EXPECT_TRUE(results_on(device, id, Op::kRight, any, buckets) == latest);

  // x -> m * x + c modulo 2^32, an input after the other. Odd factors can be divided by: each map
  // shows in the end.
  Inputs<std::int64_t> maps{.labels = labels};
  std::vector<std::uint32_t> factors(buckets, 1), terms(buckets, 0);
  for (const Label label : labels) {
    const auto m = static_cast<std::uint32_t>(random() | 1),
               c = static_cast<std::uint32_t>(random());
    maps.values.push_back(static_cast<std::int64_t>(std::uint64_t{m} << 32 | c));
    factors[label] *= m;
    terms[label] = terms[label] * m + c;
  }
  std::vector<std::int64_t> composed;
  for (std::size_t b = 0; b < buckets; ++b)
    composed.push_back(static_cast<std::int64_t>(std::uint64_t{factors[b]} << 32 | terms[b]));
  EXPECT_TRUE(results_on(device, id, Op::kAffine, maps, buckets) == composed);
}

/// Four partitions of 512 buckets. The first has most inputs, so that its chunks begin within
/// tiles; the second none; the third all of one tile; the last a few in all, in one chunk.
std::vector<Label> uneven_partitions() {
  std::mt19937 random(5);
  std::vector<Label> labels;
  for (std::size_t i = 0; i < 61 * 8192 + 77; ++i) {
    const unsigned partition = i / 8192 == 30 ? 2 : random() % 1000 == 0 ? 3 : 0;
    labels.push_back(partition * 512 + random() % 512);
  }
  return labels;
}

TEST(OtherDevices, AStretchHasManyChunks) {
  // 60 chunks in 20 stretches of 3; for each bucket 2 threads take 10 tables each.
  expect_ordered_reduction(emu::settings().device, uneven_partitions(), 4 * 512);
}

TEST(OtherDevices, APartitionHasMoreTablesThanABlockHasWarps) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 50;
  // A stretch for every chunk; for each bucket 16 threads take 3 or 4 tables each.
  expect_ordered_reduction(device, uneven_partitions(), 4 * 512);
}

TEST(OtherDevices, AWidePartitionHasStretchesOfSeveralChunks) {
  // Of 1025 partitions of 4096 buckets few have inputs: five chunks, three, two, or one. A stretch
  // has two chunks, if it can.
  constexpr unsigned kOften[] = {3, 3, 3, 3, 4, 4, 5, 700};
  std::mt19937 random(6);
  std::vector<Label> labels;
  for (std::size_t i = 0; i < 9 * 8192 + 5; ++i) {
    const bool last = random() % 50 == 0;
    labels.push_back(last ? 1024 * 4096 + random() % 5
                          : kOften[random() % 8] * 4096 + random() % 4096);
  }
  expect_ordered_reduction(emu::settings().device, labels, 1024 * 4096 + 5);
}

TEST(OtherDevices, PartitionsWidenWhereTheyWouldBeMany) {
  constexpr std::size_t kBuckets = (1u << 20) - 1;  // 1024 partitions of 1024, the last of one less
  std::vector<Label> labels = uneven_partitions();
  for (std::size_t i = 0; i < labels.size(); i += 3) labels[i] = kBuckets - 1 - labels[i];
  expect_ordered_reduction(emu::settings().device, labels, kBuckets);
}

/// Pairs of blocks, which have one copy of the buckets each, read each other's tables: some orders
/// of threads show a barrier that is missing.
TEST(OtherDevices, PairsOfBlocksCombineTheirTables) {
  DeviceTraits device = emu::settings().device;
  for (const unsigned sm_count : {2u, 3u, 6u}) {
    device.sm_count = sm_count;
    for (const std::size_t buckets : {1u, 63u, 1000u}) {
      const Inputs inputs = random_inputs(sm_count * 9000 + 5, buckets);
      std::vector<int> expected(buckets);
      for (std::size_t i = 0; i < inputs.values.size(); ++i)
        expected[inputs.labels[i]] += inputs.values[i];
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        emu::reseed(seed);
        EXPECT_EQ(results_on(device, "onepass/multireduce", Op::kSum, inputs, buckets,
                             {{"copies", "1"}, {"block", "256"}}),
                  expected);
      }
    }
  }
}

/// onepass/reduce, with more blocks for its first to wait for than the emulated device holds.
template <class T>
void expect_sum_on(unsigned sm_count) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = sm_count;
  std::mt19937 random(7);
  Inputs<T> inputs;
  for (std::size_t i = 0; i < 600011; ++i)
    inputs.values.push_back(static_cast<T>(random() % 2001) - 1000);
  const T sum = std::accumulate(inputs.values.begin(), inputs.values.end(), T{0});
  EXPECT_EQ(results_on(device, "onepass/reduce", Op::kSum, inputs, 0), std::vector{sum});
}

TEST(OtherDevices, ABlockWaitsForMoreOthersThanItHasThreads) {
  expect_sum_on<int>(80);            // 146 others, 256 threads
  expect_sum_on<std::int64_t>(400);  // 292 others, 256 threads
}

class ByteHistogram : public testing::TestWithParam<const char*> {};

/// Where one block takes all, each of nugteren/private's 32 threads gets more than 2^16 equal
/// labels, and others far more than 2^8: more than their counters hold, if they are not emptied
/// before.
TEST_P(ByteHistogram, CountsLongRunsOfOneLabel) {
  DeviceTraits device = emu::settings().device;
  device.sm_count = 1;
  constexpr std::size_t kBuckets = 256, kRun = 32 * 65536 + 12345;
  std::vector<std::uint8_t> labels(kRun, 7);
  labels.insert(labels.end(), 70001, 255);
  std::vector<std::uint32_t> expected(kBuckets);
  for (const std::uint8_t label : labels) ++expected[label];

  const CatalogEntry& entry = *select_variants(std::vector<std::string>{GetParam()}).front();
  const Variant& variant = *entry.on(Backend::kEmu);
  Params params = default_params(variant);
  params.set("blocks_per_sm", "1");
  const Problem problem{.operation = Operation::kHistogram,
                        .n = labels.size(),
                        .buckets = kBuckets,
                        .type = Type::kU8,
                        .op = Op::kNone,
                        .params = params,
                        .device = device};
  ASSERT_EQ(problem.arrays().results.bytes(), expected.size() * sizeof(expected[0]));
  std::vector<std::uint32_t> counts(kBuckets);
  std::vector<std::uint64_t> workspace(variant.workspace(problem).device_bytes / 8 + 1);
  LaunchLog log;
  variant.enqueue[index_of(Type::kU8)][index_of(Op::kNone)](
      Call{.labels = labels.data(),
           .results = counts.data(),
           .workspace = reinterpret_cast<std::byte*>(workspace.data()),
           .stream = {nullptr, &log},
           .problem = problem});
  EXPECT_EQ(counts, expected);
  // Not that of the kernel that adds partial histograms up, which has a block for every bin.
  EXPECT_EQ(log.kernels, 2u);
  EXPECT_LT(log.grid, kBuckets);
}

INSTANTIATE_TEST_SUITE_P(Variants, ByteHistogram,
                         testing::Values("nugteren/private", "brown/trish", "eilers/banktrish"),
                         [](const auto& variant) {
                           const std::string id = variant.param;
                           return id.substr(0, id.find('/'));
                         });

struct FewOf {
  Type type = Type::kI32;
  Op op = Op::kSum;
  const char* launch = "auto";
};
/// Whether so many inputs have the kernel for few, for which partitions have no workspace.
bool are_few(const char* id, std::size_t n, std::size_t buckets, const FewOf& of = {}) {
  const Variant& variant =
      *select_variants(std::vector<std::string>{id}).front()->on(Backend::kEmu);
  Params params = default_params(variant);
  params.set("launch", of.launch);
  const bool counts = variant.operation == Operation::kHistogram;
  const Problem problem{.operation = variant.operation,
                        .n = n,
                        .buckets = buckets,
                        .type = counts ? Type::kU32 : of.type,
                        .op = counts ? Op::kNone : of.op,
                        .params = params,
                        .device = emu::settings().device};
  return variant.workspace(problem).device_bytes == 0;
}

TEST(FewInputs, HaveTheirKernelUpToTheLimits) {
  for (const char* id : {"partition/multireduce", "partition/histogram"}) {
    EXPECT_TRUE(are_few(id, 1 << 17, 1024));
    EXPECT_FALSE(are_few(id, (1 << 17) + 1, 1024));
    EXPECT_FALSE(are_few(id, 1000, 1023));
    EXPECT_TRUE(are_few(id, 1 << 19, 4096));
    EXPECT_FALSE(are_few(id, (1 << 19) + 1, 4096));
    EXPECT_TRUE(are_few(id, 1 << 22, 1 << 21));
    EXPECT_FALSE(are_few(id, (1 << 22) + 1, 1 << 22));
    EXPECT_FALSE(are_few(id, 1000, 5003, {.launch = "partitioned"}));
  }
  EXPECT_TRUE(are_few("partition/multireduce", 1 << 20, 1 << 16));
  EXPECT_FALSE(are_few("partition/multireduce", 1 << 20, (1 << 16) - 1));
  EXPECT_TRUE(are_few("partition/multireduce", 1 << 21, 1 << 18));
  EXPECT_FALSE(are_few("partition/multireduce", 1 << 21, (1 << 18) - 1));
  EXPECT_FALSE(are_few("partition/multireduce", (1 << 21) + 1, 1 << 19));
  EXPECT_TRUE(are_few("partition/histogram", 1 << 20, 1 << 17));
  EXPECT_FALSE(are_few("partition/histogram", 1 << 20, (1 << 17) - 1));
}

// While their results take at most 16 MB.
TEST(FewInputs, AreMoreOfLongValuesAndOfFloatsToBeAdded) {
  const char* const id = "partition/multireduce";
  for (const FewOf& wide : {FewOf{.type = Type::kI64}, FewOf{.type = Type::kF64, .op = Op::kMax}}) {
    EXPECT_TRUE(are_few(id, 1 << 23, 1 << 18, wide));
    EXPECT_FALSE(are_few(id, 1 << 23, (1 << 18) - 1, wide));
    EXPECT_FALSE(are_few(id, (1 << 23) + 1, 1 << 20, wide));
    EXPECT_TRUE(are_few(id, 1 << 23, 1 << 21, wide));
    EXPECT_FALSE(are_few(id, 1 << 23, (1 << 21) + 1, wide));
  }
  const FewOf floats{.type = Type::kF32};
  EXPECT_TRUE(are_few(id, 1 << 23, 1 << 22, floats));
  EXPECT_FALSE(are_few(id, 1 << 23, (1 << 22) + 1, floats));
  EXPECT_FALSE(are_few(id, 1 << 23, (1 << 22) - 1, floats));
  EXPECT_FALSE(are_few(id, 1 << 23, 1 << 22, {.type = Type::kF32, .op = Op::kMax}));
  EXPECT_FALSE(are_few(id, 1 << 23, 1 << 22));
}

/// Inputs whose values are negative, too, so that a lost element shows in a sum and a neutral one in a
/// maximum.
Inputs<int> negative_inputs(std::size_t n, std::size_t buckets) {
  Inputs<int> inputs = random_inputs(n, buckets);
  for (int& value : inputs.values) value -= 5000;
  return inputs;
}
std::vector<int> combined(const Inputs<int>& inputs, Op op, std::size_t buckets) {
  std::vector<int> results(buckets, op == Op::kSum ? 0 : std::numeric_limits<int>::min());
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    int& result = results[inputs.labels[i]];
    result = op == Op::kSum ? result + inputs.values[i] : std::max(result, inputs.values[i]);
  }
  return results;
}

// Where runs are of four lanes and more they are combined across lanes first; where of three, not. Of
// 20011 inputs a thread has several rounds.
TEST(FewInputs, RunsOfAnyLengthAreCombinedOnce) {
  for (const std::size_t n : {1, 31, 33, 1009, 20011})
    for (const std::size_t buckets : {1024, 5003})
      for (const std::size_t run : {1, 3, 4, 5, 31, 32, 33, 30000})
        for (const Op op : {Op::kSum, Op::kMax}) {
          Inputs<int> inputs = negative_inputs(n, buckets);
          for (std::size_t i = 0; i < n; ++i)
            inputs.labels[i] = static_cast<Label>(i / run * 7919 % buckets);
          EXPECT_EQ(results_on(emu::settings().device, "onepass/multireduce", op, inputs, buckets),
                    combined(inputs, op, buckets))
              << n << " inputs, " << buckets << " buckets, runs of " << run;
        }
}

// Warps whose labels ascend leave the table out where inputs are no more than buckets. Some labels are
// equal, in one warp and in two.
TEST(FewInputs, AscendingLabelsAreCombinedOnce) {
  for (const std::size_t n : {1, 33, 1009, 20011})
    for (const std::size_t buckets : {20010, 20011, 30011})
      for (const Op op : {Op::kSum, Op::kMax}) {
        Inputs<int> inputs = negative_inputs(n, buckets);
        std::ranges::sort(inputs.labels);
        EXPECT_EQ(results_on(emu::settings().device, "partition/multireduce", op, inputs, buckets),
                  combined(inputs, op, buckets))
            << n << " inputs, " << buckets << " buckets";
      }
}

/// Of sorted labels, rising or falling, those with or without one that does not lie between the ends
/// of its tile.
std::vector<Label> sorted(std::vector<Label> labels, bool falling, bool stray, Label most) {
  std::ranges::sort(labels);
  if (falling) std::ranges::reverse(labels);
  if (stray) labels[5000] = falling ? most : 0;
  return labels;
}

// A whole tile has 4096 inputs or 16384 labels, over a third of the buckets; the last one is cut.
TEST(SortedLabels, ThatAreFarApartAreCombinedAtOnce) {
  constexpr std::size_t kBuckets = 100'000, kBins = 300'007;
  for (const bool falling : {false, true})
    for (const bool stray : {false, true}) {
      for (const Op op : {Op::kSum, Op::kMax}) {
        Inputs<int> inputs = negative_inputs(3 * 4096 + 77, kBuckets);
        inputs.labels = sorted(inputs.labels, falling, stray, kBuckets - 1);
        EXPECT_EQ(results_on(emu::settings().device, "partition/multireduce", op, inputs, kBuckets,
                             {{"block", "256"}, {"launch", "partitioned"}}),
                  combined(inputs, op, kBuckets));
      }
      expect_counts(emu::settings().device,
                    sorted(random_inputs(3 * 16384 + 77, kBins).labels, falling, stray, kBins - 1),
                    kBins);
    }
}

/// The labels of a tile of `partition/multireduce` lie side by side, but for some: of `strays` of its
/// first threads the first, and the tile's last `last`.
template <class T>
void expect_strays_are_combined(Op op, unsigned strays, unsigned last, Label astray) {
  constexpr std::size_t kBuckets = 100'000, kTile = 256 * 64 / sizeof(T), kInputs = 3 * kTile + 77;
  std::mt19937 random(3);
  Inputs<T> inputs;
  for (std::size_t i = 0; i < kInputs; ++i) {
    inputs.values.push_back(static_cast<T>(static_cast<int>(random() % 201) - 100));
    inputs.labels.push_back(static_cast<Label>(50'000 + i / 8));
  }
  for (unsigned k = 0; k < strays; ++k) inputs.labels[kTile + std::size_t{4} * k] = astray;
  for (unsigned k = 1; k <= last; ++k) inputs.labels[2 * kTile - k] = astray;
  std::vector<T> expected(kBuckets, op == Op::kSum ? T{} : std::numeric_limits<T>::lowest());
  if (op == Op::kMax && std::is_floating_point_v<T>)
    std::ranges::fill(expected, -std::numeric_limits<T>::infinity());
  for (std::size_t i = 0; i < kInputs; ++i) {
    T& result = expected[inputs.labels[i]];
    result = op == Op::kSum ? result + inputs.values[i] : std::max(result, inputs.values[i]);
  }
  EXPECT_EQ(results_on(emu::settings().device, "partition/multireduce", op, inputs, kBuckets,
                       {{"block", "256"}, {"launch", "partitioned"}}),
            expected)
      << strays << " strays, label " << astray << ", and the tile's last " << last;
}

// One thread in 64 may have labels that are far from the others'; with one more the tile is ordered.
TEST(SortedLabels, MayHaveAFewThatAreAstray) {
  for (const unsigned strays : {0u, 1u, 4u, 5u})
    for (const unsigned last : {0u, 1u, 2u})
      for (const Label astray : {0u, 99'999u}) {
        expect_strays_are_combined<int>(Op::kSum, strays, last, astray);
        expect_strays_are_combined<float>(Op::kSum, strays, last, astray);
        expect_strays_are_combined<double>(Op::kMax, strays, last, astray);
        expect_strays_are_combined<std::int64_t>(Op::kSum, strays, last, astray);
        std::vector<Label> labels(3 * 16384 + 77);
        for (std::size_t i = 0; i < labels.size(); ++i)
          labels[i] = static_cast<Label>(150'000 + i / 16);
        for (unsigned k = 0; k < strays; ++k) labels[16384 + 4 * k] = 3 * astray;
        for (unsigned k = 1; k <= last; ++k) labels[2 * 16384 - k] = 3 * astray;
        expect_counts(emu::settings().device, labels, 300'007);
      }
}

// A thread looks at none to four labels before it begins.
TEST(HotLabels, AreSummedUpWhateverTheNumberOfSamples) {
  constexpr std::size_t kBuckets = 2000;
  DeviceTraits device = emu::settings().device;
  for (const unsigned sm_count : {1u, 2u})
    for (const unsigned of_block : {4095u, 4096u, 8192u, 12288u, 16384u, 20011u})
      for (const char* copies : {"1", "4", "16"}) {
        device.sm_count = sm_count;
        std::mt19937 random(8);
        Inputs<float> inputs;
        std::vector<float> expected(kBuckets);
        for (unsigned i = 0; i < sm_count * of_block; ++i) {
          inputs.labels.push_back(static_cast<Label>(random() % (i % 2 == 0 ? 3 : kBuckets)));
          inputs.values.push_back(static_cast<float>(static_cast<int>(random() % 201) - 100));
          expected[inputs.labels.back()] += inputs.values.back();
        }
        EXPECT_EQ(results_on(device, "onepass/multireduce", Op::kSum, inputs, kBuckets,
                             {{"copies", copies}}),
                  expected);
      }
}

TEST(ManyBuckets, OfSeveralDevicesAreRefusedWhereAGridCannotCountThem) {
  for (const char* id : {"peers/multireduce", "peers/histogram"}) {
    const Variant& variant =
        *select_variants(std::vector<std::string>{id}).front()->on(Backend::kEmu);
    Params params = default_params(variant);
    params.set("devices", "2");
    const bool counts = variant.operation == Operation::kHistogram;
    Problem problem{.operation = variant.operation,
                    .n = 1000,
                    .buckets = 0xff000000,
                    .type = counts ? Type::kU32 : Type::kI32,
                    .op = counts ? Op::kNone : Op::kSum,
                    .params = params,
                    .device = emu::settings().device};
    EXPECT_EQ(variant.restriction(problem), "");
    ++problem.buckets;
    EXPECT_EQ(variant.restriction(problem),
              "4278190081 buckets: those of several devices are counted in 32 bits, 4278190080 at "
              "most");
  }
}

}  // namespace
}  // namespace reduce_bench
