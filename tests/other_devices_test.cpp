// Loops that the emulated device is too large or too small to repeat on inputs it can verify.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "harness/plan.hpp"
#include "harness/variants.hpp"
#include "kernels/platform/emu_device.hpp"

namespace reduce_bench {
namespace {

struct Inputs {
  std::vector<int> values;
  std::vector<Label> labels;
};
Inputs random_inputs(std::size_t n, std::size_t buckets) {
  std::mt19937 random(1);
  Inputs inputs;
  for (std::size_t i = 0; i < n; ++i) {
    inputs.values.push_back(static_cast<int>(random() % 2001) - 1000);
    inputs.labels.push_back(static_cast<Label>(random() % buckets));
  }
  return inputs;
}

/// The results of the variant with its default parameters, but for `params`, on another device.
std::vector<int> results_on(const DeviceTraits& device, const std::string& id, Op op,
                            const Inputs& inputs, std::size_t buckets,
                            const std::vector<std::pair<std::string, std::string>>& changed = {}) {
  const CatalogEntry& entry = *select_variants(std::vector{id}).front();
  const Variant& variant = *entry.on(Backend::kEmu);
  Params params = default_params(variant);
  for (const auto& [name, value] : changed) params.set(name, value);
  const Problem problem{.operation = variant.operation,
                        .n = inputs.values.size(),
                        .buckets = buckets,
                        .op = op,
                        .params = params,
                        .device = device};
  EXPECT_EQ(variant.restriction == nullptr ? "" : variant.restriction(problem), "");
  std::vector<int> results(problem.shape().results.count);
  std::vector<std::uint64_t> workspace(variant.workspace(problem).device_bytes / 8 + 1);
  const Call call{.input = inputs.values.data(),
                  .input_labels = inputs.labels.data(),
                  .output = results.data(),
                  .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                  .problem = problem};
  variant.enqueue[index_of(Type::kI32)][index_of(op)](call);
  return results;
}

/// The latest earlier value of the same label: wrong as soon as the order is.
std::vector<int> latest_before(const Inputs& inputs, std::size_t buckets) {
  std::vector<int> latest(buckets, std::numeric_limits<int>::min()), expected;
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    expected.push_back(latest[inputs.labels[i]]);
    latest[inputs.labels[i]] = inputs.values[i];
  }
  return expected;
}

TEST(OtherDevices, ASegmentedScanTakesSeveralTilesOfAShare) {
  DeviceTraits device = emu::device_traits();
  device.sm_count = 1;
  // Three labels: segments begin in few tiles.
  const Inputs inputs = random_inputs(100003, 3);
  EXPECT_EQ(results_on(device, "eilers/multiscan-sort-global", Op::kRight, inputs, 3),
            latest_before(inputs, 3));
}

TEST(OtherDevices, ASegmentedScanHasMoreSharesThanABlockHasThreads) {
  DeviceTraits device = emu::device_traits();
  device.sm_count = 32;
  const Inputs inputs = random_inputs(250007, 3);
  EXPECT_EQ(results_on(device, "eilers/multiscan-sort-global", Op::kRight, inputs, 3),
            latest_before(inputs, 3));
}

TEST(OtherDevices, AWarpWalksThroughManyTilesOfAPartition) {
  DeviceTraits device = emu::device_traits();
  device.sm_count = 2;
  device.max_threads_per_sm = 64;  // one warp folds
  constexpr std::size_t kBuckets = 300;
  const Inputs inputs = random_inputs(40 * 4096 + 5, kBuckets);
  std::vector<int> expected(kBuckets);
  for (std::size_t i = 0; i < inputs.values.size(); ++i)
    expected[inputs.labels[i]] += inputs.values[i];
  EXPECT_EQ(
      results_on(device, "partition/multireduce", Op::kSum, inputs, kBuckets, {{"block", "256"}}),
      expected);
}

class ByteHistogram : public testing::TestWithParam<const char*> {};

/// Where one block takes all, each of nugteren/private's 32 threads gets more than 2^16 equal
/// labels, and others far more than 2^8: more than their counters hold, if they are not emptied
/// before.
TEST_P(ByteHistogram, CountsLongRunsOfOneLabel) {
  DeviceTraits device = emu::device_traits();
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
  ASSERT_EQ(problem.shape().results.bytes(), expected.size() * sizeof(expected[0]));
  std::vector<std::uint32_t> counts(kBuckets);
  std::vector<std::uint64_t> workspace(variant.workspace(problem).device_bytes / 8 + 1);
  variant.enqueue[index_of(Type::kU8)][index_of(Op::kNone)](
      Call{.input_labels = labels.data(),
           .output = counts.data(),
           .workspace = reinterpret_cast<std::byte*>(workspace.data()),
           .problem = problem});
  EXPECT_EQ(counts, expected);
}

INSTANTIATE_TEST_SUITE_P(Variants, ByteHistogram,
                         testing::Values("nugteren/private", "brown/trish", "eilers/banktrish"),
                         [](const auto& variant) {
                           const std::string id = variant.param;
                           return id.substr(0, id.find('/'));
                         });

}  // namespace
}  // namespace reduce_bench
