// Sheffler's spine trees on inputs made for their published fault, which no distribution is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness/plan.hpp"
#include "harness/variants.hpp"
#include "kernels/platform/emu_device.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kSide = 32, kN = 3 * kSide * kSide;  // three segments

/// The exclusive multiscan of one label.
std::vector<int> scan(const std::string& id, const char* form, Op op,
                      const std::vector<int>& values) {
  const CatalogEntry& entry = *select_variants(std::vector{id}).front();
  const Variant& variant = *entry.on(Backend::kEmu);
  Params params = default_params(variant);
  params.set("form", form);
  params.set("threads", std::to_string(kSide));
  const DeviceTraits device = emu::device_traits();
  const Problem problem{.operation = Operation::kMultiscan,
                        .n = values.size(),
                        .buckets = 1,
                        .op = op,
                        .params = params,
                        .device = device};
  EXPECT_EQ(variant.defect(problem).has_value(), std::string(form) == "as-published");
  const std::vector<Label> labels(values.size());
  std::vector<int> results(values.size());
  std::vector<std::uint64_t> workspace(variant.workspace(problem).device_bytes / 8 + 1);
  const Call call{.input = values.data(),
                  .input_labels = labels.data(),
                  .output = results.data(),
                  .workspace = reinterpret_cast<std::byte*>(workspace.data()),
                  .problem = problem};
  variant.enqueue[index_of(Type::kI32)][index_of(op)](call);
  return results;
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

}  // namespace
}  // namespace reduce_bench
