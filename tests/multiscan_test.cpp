// Multiscans on inputs that `verify` does not have: made for the published fault of Sheffler's
// spine trees, which no distribution is; and many tiles, which take too long for every case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/platform/emu_device.hpp"
#include "plan/plan.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kSide = 32, kN = 3 * kSide * kSide;  // three segments

/// The exclusive multiscan by an emulated variant, with `set` in its parameters.
std::vector<int> scan(const std::string& id, const std::function<void(Params&)>& set, Op op,
                      const std::vector<Label>& labels, std::size_t buckets,
                      const std::vector<int>& values) {
  const Variant& variant = *select_variants(std::vector{id}).front()->on(Backend::kEmu);
  Params params = default_params(variant);
  set(params);
  const DeviceTraits device = emu::settings().device;
  const Problem problem{.operation = Operation::kMultiscan,
                        .n = values.size(),
                        .buckets = buckets,
                        .op = op,
                        .params = params,
                        .device = device};
  EXPECT_EQ(variant.defect != nullptr && variant.defect(problem).has_value(),
            params.has("form") && params.is("form", "as-published"));
  std::vector<int> results(values.size());
  std::vector<std::uint64_t> workspace(variant.workspace(problem).device_bytes / 8 + 1);
  const Call call{.values = values.data(),
                  .labels = labels.data(),
                  .results = results.data(),
                  .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                  .problem = problem};
  variant.enqueue[index_of(Type::kI32)][index_of(op)](call);
  return results;
}

/// Of one label.
std::vector<int> scan(const std::string& id, const char* form, Op op,
                      const std::vector<int>& values) {
  const auto set = [&](Params& params) {
    params.set("form", form);
    params.set("threads", std::to_string(kSide));
  };
  return scan(id, set, op, std::vector<Label>(values.size()), 1, values);
}

class Sheffler : public testing::TestWithParam<const char*> {
 protected:
  /// Rows above the first are neutral: the published form loses what is below the second of them.
  void expect_loss(Op op, const std::vector<int>& values, const std::vector<int>& expected) {
    EXPECT_EQ(scan(GetParam(), "corrected", op, values), expected);
    const std::vector<int> published = scan(GetParam(), "as-published", op, values);
    const auto wrong = std::mismatch(published.begin(), published.end(), expected.begin()).first;
    EXPECT_EQ(wrong - published.begin(), 2 * static_cast<std::ptrdiff_t>(kSide));
  }
};
INSTANTIATE_TEST_SUITE_P(Memory, Sheffler, testing::Values("sheffler/global", "sheffler/shared"));

TEST_P(Sheffler, AsPublishedLosesWhatIsBelowARowThatCancels) {
  std::vector<int> values{1}, expected{0};
  for (std::size_t i = 1; i < kN; ++i) {
    expected.push_back(expected.back() + values.back());
    values.push_back(i % 2 == 1 ? 5 : -5);
  }
  expect_loss(Op::kSum, values, expected);
}

TEST_P(Sheffler, AsPublishedLosesWhatIsBelowANeutralRow) {
  std::vector<int> values(kN, 0), expected(kN, 7);
  values[0] = 7;
  expected[0] = 0;
  expect_loss(Op::kSum, values, expected);
  constexpr int kNeutral = std::numeric_limits<int>::min();
  values.assign(kN, kNeutral);
  values[0] = 7;
  expected[0] = kNeutral;
  expect_loss(Op::kRight, values, expected);
}

TEST_P(Sheffler, WithoutNeutralRowsBothFormsAreRight) {
  std::vector<int> values, expected;
  for (std::size_t i = 0; i < kN; ++i) {
    expected.push_back(i == 0 ? 0 : expected.back() + values.back());
    values.push_back(static_cast<int>(i % 100) + 1);
  }
  for (const char* form : {"corrected", "as-published"})
    EXPECT_EQ(scan(GetParam(), form, Op::kSum, values), expected) << form;
}

/// Of sums, by partition/multiscan: its tiles have 8192 inputs, its partitions 512 buckets where a
/// test says nothing else.
void expect_partition_scan(const std::vector<Label>& labels, std::size_t buckets) {
  std::vector<int> values, expected, sums(buckets, 0);
  std::mt19937 random(1);
  for (const Label label : labels) {
    values.push_back(static_cast<int>(random() % 1000));
    expected.push_back(sums[label]);
    sums[label] += values.back();
  }
  const auto as_is = [](Params&) {};
  EXPECT_TRUE(scan("partition/multiscan", as_is, Op::kSum, labels, buckets, values) == expected);
}

TEST(PartitionMultiscan, CutsChunksAnywhereInManyTiles) {
  // 128 tiles are counted together, 512 looked through at once. Three partitions: one has most
  // inputs, so that its chunks begin within tiles; one has all of one tile; one has a few in all.
  std::mt19937 random(2);
  std::vector<Label> labels;
  for (std::size_t i = 0; i < 520 * 8192 + 77; ++i) {
    const unsigned partition = i / 8192 == 127 ? 1 : random() % 1000 == 0 ? 2 : 0;
    labels.push_back(partition * 512 + random() % 512);
  }
  expect_partition_scan(labels, 3 * 512);
}

/// Half of them anywhere, the others in the last partition, so that many occur more than once.
std::vector<Label> labels_below(std::size_t buckets) {
  std::mt19937 random(3);
  std::vector<Label> labels;
  for (std::size_t i = 0; i < 3 * 8192 + 5; ++i)
    labels.push_back(static_cast<Label>(i % 2 ? random() % buckets : buckets - 1 - random() % 500));
  return labels;
}

TEST(PartitionMultiscan, HasMorePartitionsThanThreads) {
  constexpr std::size_t kBuckets = 600 * 512;
  expect_partition_scan(labels_below(kBuckets), kBuckets);
}

TEST(PartitionMultiscan, WidensItsPartitionsWhereTheyWouldBeMany) {
  constexpr std::size_t kBuckets = (1u << 19) + 1;  // 513 partitions of 1024, the last of one
  expect_partition_scan(labels_below(kBuckets), kBuckets);
}

}  // namespace
}  // namespace reduce_bench
