// Operations with labels: their expected outputs, and how a point of one is checked.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <type_traits>
#include <vector>

#include "common/labels.hpp"
#include "common/mix.hpp"
#include "expect_error.hpp"
#include "fake_device.hpp"
#include "point/execute.hpp"
#include "point/oracle.hpp"

namespace reduce_bench {
namespace {

using Labels = std::vector<Label>;

template <class T>
const std::byte* bytes_of(const std::vector<T>& x) {
  return reinterpret_cast<const std::byte*>(x.data());
}
template <class T>
std::vector<T> elements(const ExpectedArray& array) {
  EXPECT_EQ(array.extent.type, kTypeOf<T>);
  std::vector<T> x(array.extent.count);
  if (!x.empty()) std::memcpy(x.data(), array.elements.get(), array.extent.bytes());
  return x;
}
template <class T>
Expected expected(Operation operation, Op op, const std::vector<T>& values, const Labels& labels,
                  std::size_t buckets) {
  return expected_of({.operation = operation,
                      .type = kTypeOf<T>,
                      .op = op,
                      .n = labels.size(),
                      .buckets = buckets,
                      .values = bytes_of(values),
                      .labels = bytes_of(labels)});
}

// ---- expected outputs -------------------------------------------------------------------------

TEST(KeyedOracle, MultireduceCombinesByLabelAndLeavesTheNeutralElementElsewhere) {
  const std::vector<int> values{5, -2, 7, 1};
  const Labels labels{2, 0, 2, 0};
  const auto of = [&](Op op) {
    return elements<int>(expected(Operation::kMultireduce, op, values, labels, 4).results);
  };
  constexpr int kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();
  EXPECT_EQ(of(Op::kSum), (std::vector{-1, 0, 12, 0}));
  EXPECT_EQ(of(Op::kMin), (std::vector{-2, kMost, 5, kMost}));
  EXPECT_EQ(of(Op::kMax), (std::vector{1, kLeast, 7, kLeast}));
  EXPECT_EQ(of(Op::kRight), (std::vector{1, kLeast, 7, kLeast}));
}

/// Few enough for each thread to have all of them, and too many.
constexpr std::size_t kFewBuckets = 37, kManyBuckets = 30011;

class KeyedOracleOf : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Buckets, KeyedOracleOf, testing::Values(kFewBuckets, kManyBuckets));

TEST_P(KeyedOracleOf, MultireduceAgreesWithAReductionOfEachBucketUnderEveryOperator) {
  constexpr std::size_t kN = 100003;
  const std::size_t bucket_count = GetParam();
  const HostArray label_array = generate(LabelKey{.n = kN, .buckets = bucket_count, .seed = 4});
  const auto* label = reinterpret_cast<const Label*>(label_array.data());
  const Labels labels(label, label + kN);
  for (std::size_t t = 0; t < kValueTypeCount; ++t)
    for (std::size_t o = 0; o < kOpCount; ++o) {
      const auto type = static_cast<Type>(t);
      const auto op = static_cast<Op>(o);
      if (!defined_on(Operation::kMultireduce, op, type)) continue;
      const HostArray array = generate(InputKey{.type = type, .op = op, .n = kN, .seed = 4});
      with_value_type(type, [&]<class T>() {
        const T* data = reinterpret_cast<const T*>(array.data());
        const std::vector<T> values(data, data + kN);
        std::map<Label, std::vector<T>> buckets;
        for (std::size_t i = 0; i < kN; ++i) buckets[labels[i]].push_back(values[i]);
        const Expected all = expected(Operation::kMultireduce, op, values, labels, bucket_count);
        for (const auto& [bucket, members] : buckets) {
          const Reference one = reference(type, op, bytes_of(members), members.size());
          EXPECT_EQ(all.results.at(bucket).bits, one.expected.bits)
              << name_of(type) << " " << name_of(op) << " " << bucket;
          EXPECT_EQ(all.results.reference_at(bucket).exact, one.exact);
          if (!one.exact) {
            EXPECT_DOUBLE_EQ(all.results.reference_at(bucket).magnitude, one.magnitude);
            EXPECT_EQ(all.results.terms.at(bucket), members.size());
          }
        }
      });
    }
}

TEST(KeyedOracle, ACorrectlyRoundedMultireduceRoundsTheExactSumOfEachBucketOnce) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // Buckets 0 to 6: what cancellation leaves, a tie broken by a tiny value, zeros of both signs, -0
  // alone, no input, infinities of both signs, and a sum that only overflows on the way.
  const std::vector<float> values{1e30f,      1,     -0.0f, 3e38f,  0x1p-149f,
                                  0x1p-24f,   0,     1e-3f, -0.0f,  kInfinity,
                                  -kInfinity, 3e38f, 1,     -1e30f, -3e38f};
  const Labels labels{0, 1, 2, 6, 1, 1, 2, 0, 3, 5, 5, 6, 0, 0, 6};
  const Expected e = expected_of({.operation = Operation::kMultireduce,
                                  .type = Type::kF32,
                                  .op = Op::kSum,
                                  .n = labels.size(),
                                  .buckets = 7,
                                  .correctly_rounded = true,
                                  .values = bytes_of(values),
                                  .labels = bytes_of(labels)});
  EXPECT_TRUE(e.results.bitwise);
  const std::vector<float> sums = elements<float>(e.results);
  EXPECT_EQ(sums[0], static_cast<float>(1.0 + 1e-3f));
  EXPECT_EQ(sums[1], 1 + 0x1p-23f);
  EXPECT_TRUE(sums[2] == 0 && !std::signbit(sums[2]));
  EXPECT_TRUE(sums[3] == 0 && std::signbit(sums[3]));
  EXPECT_TRUE(sums[4] == 0 && !std::signbit(sums[4]));
  EXPECT_TRUE(std::isnan(sums[5]));
  EXPECT_EQ(sums[6], 3e38f);
}

TEST(KeyedOracle, TheMemoryForExactSumsHoldsTheValuesOfEachLabel) {
  constexpr std::size_t kN = 1 << 20, kBuckets = 1 << 10;
  const Arrays arrays = arrays_of(Operation::kMultireduce, kN, kBuckets, Type::kF32);
  EXPECT_EQ(
      verification_bytes(Operation::kMultireduce, arrays, kBuckets, false, true),
      2 * kBuckets * 4 + kN * 4 + kN * sizeof(std::uint32_t) + kBuckets * sizeof(std::size_t));
}

TEST(KeyedOracle, ReduceByKeyCompactsRuns) {
  const std::vector<float> values{1, 2, 4, 8, 16};
  const Expected e = expected(Operation::kReduceByKey, Op::kSum, values, Labels{3, 3, 0, 3, 3}, 4);
  EXPECT_EQ(elements<float>(e.results), (std::vector<float>{3, 4, 24}));
  EXPECT_EQ(elements<Label>(e.result_labels), (Labels{3, 0, 3}));
  EXPECT_EQ(elements<Count>(e.result_count), (std::vector<Count>{3}));
  const Expected none = expected(Operation::kReduceByKey, Op::kSum, std::vector<float>{}, {}, 4);
  EXPECT_EQ(elements<Count>(none.result_count), (std::vector<Count>{0}));
  EXPECT_EQ(none.results.extent.count, 0u);
}

TEST(KeyedOracle, HistogramCountsLabelsOfAllTypes) {
  const std::vector<std::uint8_t> bytes{2, 0, 2, 255};
  const Expected e = expected_of({.operation = Operation::kHistogram,
                                  .type = Type::kU8,
                                  .op = Op::kNone,
                                  .n = 4,
                                  .buckets = 256,
                                  .labels = bytes_of(bytes)});
  std::vector<Count> counts(256);
  counts[0] = counts[255] = 1;
  counts[2] = 2;
  EXPECT_EQ(elements<Count>(e.results), counts);
  const std::vector<std::uint16_t> halves{299, 256, 299};
  const Expected of_halves = expected_of({.operation = Operation::kHistogram,
                                          .type = Type::kU16,
                                          .op = Op::kNone,
                                          .n = 3,
                                          .buckets = 300,
                                          .labels = bytes_of(halves)});
  counts.assign(300, 0);
  counts[256] = 1;
  counts[299] = 2;
  EXPECT_EQ(elements<Count>(of_halves.results), counts);
  const Labels words{1, 1, 0};
  EXPECT_EQ(elements<Count>(expected_of({.operation = Operation::kHistogram,
                                         .type = Type::kU32,
                                         .op = Op::kNone,
                                         .n = 3,
                                         .buckets = 3,
                                         .labels = bytes_of(words)})
                                .results),
            (std::vector<Count>{1, 2, 0}));
}

TEST(KeyedOracle, ScatterKeepsTheLastOfEqualLabelsAndLeavesTheRest) {
  const Expected e =
      expected(Operation::kScatter, Op::kNone, std::vector<int>{7, 8, 9}, Labels{2, 0, 2}, 4);
  std::int32_t untouched;
  std::memset(&untouched, kUntouched, sizeof(untouched));
  EXPECT_EQ(elements<int>(e.results), (std::vector{8, untouched, 9, untouched}));
}

TEST(KeyedOracle, ThreadsTakeTheInputsOfALabelInTheirOrder) {
  constexpr std::size_t kN = (std::size_t{1} << 25) + 70001, kBuckets = 1003;  // beyond one window
  const int threads = omp_get_max_threads();
  omp_set_num_threads(3);
  std::vector<int> values(kN), last(kBuckets);
  Labels labels(kN);
  for (std::size_t i = 0; i < kN; ++i) {
    values[i] = static_cast<int>(i);
    labels[i] = static_cast<Label>(mix(i) % kBuckets);
    last[labels[i]] = values[i];
  }
  EXPECT_EQ(
      elements<int>(expected(Operation::kScatter, Op::kNone, values, labels, kBuckets).results),
      last);
  omp_set_num_threads(threads);
}

TEST_P(KeyedOracleOf, SeveralThreadsCountSortAndCompactAsALoopDoes) {
  constexpr std::size_t kN = 200003;
  const std::size_t buckets = 4 * GetParam();  // counts are smaller than sums
  const int threads = omp_get_max_threads();
  omp_set_num_threads(3);
  std::vector<int> values(kN);
  Labels labels(kN), runs;
  std::map<Label, std::vector<int>> of_label;
  std::vector<int> sums;
  for (std::size_t i = 0; i < kN; ++i) {
    values[i] = static_cast<int>(mix(i));
    labels[i] = static_cast<Label>(mix(i / 3) % buckets);
    of_label[labels[i]].push_back(values[i]);
    if (i == 0 || labels[i] != labels[i - 1]) {
      runs.push_back(labels[i]);
      sums.push_back(0);
    }
    sums.back() =
        static_cast<int>(static_cast<unsigned>(sums.back()) + static_cast<unsigned>(values[i]));
  }
  std::vector<Count> counts(buckets);
  std::vector<int> sorted;
  Labels sorted_labels;
  for (const auto& [label, members] : of_label) {
    counts[label] = static_cast<Count>(members.size());
    sorted.insert(sorted.end(), members.begin(), members.end());
    sorted_labels.insert(sorted_labels.end(), members.size(), label);
  }
  EXPECT_EQ(elements<Count>(expected_of({.operation = Operation::kHistogram,
                                         .type = Type::kU32,
                                         .op = Op::kNone,
                                         .n = kN,
                                         .buckets = buckets,
                                         .labels = bytes_of(labels)})
                                .results),
            counts);
  const Expected by_label = expected(Operation::kSort, Op::kNone, values, labels, buckets);
  EXPECT_EQ(elements<int>(by_label.results), sorted);
  EXPECT_EQ(elements<Label>(by_label.result_labels), sorted_labels);
  const Expected by_run = expected(Operation::kReduceByKey, Op::kSum, values, labels, buckets);
  EXPECT_EQ(elements<Label>(by_run.result_labels), runs);
  EXPECT_EQ(elements<int>(by_run.results), sums);
  EXPECT_EQ(elements<Count>(by_run.result_count), (std::vector{static_cast<Count>(runs.size())}));
  omp_set_num_threads(threads);
}

TEST(KeyedOracle, AScatterInWhichAnyWinsKeepsTheValuesOfEachLabel) {
  const std::vector<int> values{7, 8, 9, 5};
  const Labels labels{2, 0, 2, 3};
  const Expected e = expected_of({.operation = Operation::kScatter,
                                  .op = Op::kNone,
                                  .n = 4,
                                  .buckets = 5,
                                  .any_wins = true,
                                  .values = bytes_of(values),
                                  .labels = bytes_of(labels)});
  EXPECT_EQ(e.results.choices.begins, (std::vector<std::size_t>{0, 1, 1, 3, 4, 4}));
  const int* choices = reinterpret_cast<const int*>(e.results.choices.values.get());
  EXPECT_EQ(std::vector<int>(choices, choices + 4), (std::vector{8, 7, 9, 5}));
  EXPECT_EQ(e.results.at(2).to_text(), "9");
  EXPECT_EQ(e.results.choice_count(1), 0u);
  EXPECT_EQ(e.results.choice_count(2), 2u);
  // The arrays of an output of 5 elements, 4 values and 6 positions.
  EXPECT_EQ(e.results.held_bytes(), 20u + 16 + 48);
  EXPECT_EQ(e.bytes(), 20u);
}

TEST(KeyedOracle, TheMemoryForVerifyingAScatterHoldsTheValuesOfEachLabelWhereAnyWins) {
  constexpr std::size_t kN = 1 << 20, kBuckets = 1 << 10;
  const Arrays arrays = arrays_of(Operation::kScatter, kN, kBuckets, Type::kI64);
  const std::size_t last = verification_bytes(Operation::kScatter, arrays, kBuckets, false);
  EXPECT_EQ(last, 2 * kBuckets * 8 + kN * sizeof(std::uint32_t));
  EXPECT_EQ(verification_bytes(Operation::kScatter, arrays, kBuckets, true),
            last + kN * 8 + kBuckets * sizeof(std::size_t));
}

TEST(KeyedOracle, GatherReadsWhatLabelsName) {
  const std::vector<double> values{0.5, 1.5, 2.5};
  EXPECT_EQ(elements<double>(
                expected(Operation::kGather, Op::kNone, values, Labels{2, 2, 0, 1}, 3).results),
            (std::vector<double>{2.5, 2.5, 0.5, 1.5}));
}

TEST(KeyedOracle, SortIsStable) {
  const Expected e = expected(Operation::kSort, Op::kNone, std::vector<int>{1, 2, 3, 4, 5},
                              Labels{3, 0, 3, 1, 0}, 4);
  EXPECT_EQ(elements<Label>(e.result_labels), (Labels{0, 0, 1, 3, 3}));
  EXPECT_EQ(elements<int>(e.results), (std::vector{2, 5, 4, 1, 3}));
}

Expected scan(Operation operation, const OperationInput& input, bool inclusive) {
  OperationInput in = input;
  in.operation = operation;
  in.inclusive = inclusive;
  return expected_of(in);
}

TEST(KeyedOracle, ScansCombineTheEarlierInputsOfALabelOrOfARun) {
  const std::vector<int> values{5, -2, 7, 1, 3};
  const Labels labels{2, 0, 2, 2, 0};
  const auto of = [&](Operation operation, Op op, bool inclusive) {
    return elements<int>(scan(operation,
                              {.op = op,
                               .n = 5,
                               .buckets = 4,
                               .values = bytes_of(values),
                               .labels = bytes_of(labels)},
                              inclusive)
                             .results);
  };
  constexpr int kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();
  EXPECT_EQ(of(Operation::kMultiscan, Op::kSum, false), (std::vector{0, 0, 5, 12, -2}));
  EXPECT_EQ(of(Operation::kMultiscan, Op::kSum, true), (std::vector{5, -2, 12, 13, 1}));
  EXPECT_EQ(of(Operation::kMultiscan, Op::kMin, false), (std::vector{kMost, kMost, 5, 5, -2}));
  EXPECT_EQ(of(Operation::kMultiscan, Op::kRight, false), (std::vector{kLeast, kLeast, 5, 7, -2}));
  EXPECT_EQ(of(Operation::kMultiscan, Op::kRight, true), values);
  EXPECT_EQ(of(Operation::kScanByKey, Op::kSum, false), (std::vector{0, 0, 0, 7, 0}));
  EXPECT_EQ(of(Operation::kScanByKey, Op::kSum, true), (std::vector{5, -2, 7, 8, 3}));
}

TEST_P(KeyedOracleOf, EveryElementOfAScanIsTheReductionOfAPrefixOfItsLabel) {
  // Several shares: runs of equal labels lie across their borders.
  constexpr std::size_t kN = 70001;
  const HostArray labels =
      generate(LabelKey{.distribution = {.kind = LabelDistribution::Kind::kRuns, .length = 300},
                        .n = kN,
                        .buckets = GetParam(),
                        .seed = 4});
  const auto* label = reinterpret_cast<const Label*>(labels.data());
  for (std::size_t t = 0; t < kValueTypeCount; ++t)
    for (std::size_t o = 0; o < kOpCount; ++o) {
      const auto type = static_cast<Type>(t);
      const auto op = static_cast<Op>(o);
      if (!defined_on(Operation::kMultiscan, op, type)) continue;
      const HostArray array = generate(InputKey{.type = type, .op = op, .n = kN, .seed = 4});
      const OperationInput input{.type = type,
                                 .op = op,
                                 .n = kN,
                                 .buckets = GetParam(),
                                 .values = array.data(),
                                 .labels = labels.data()};
      const Expected exclusive = scan(Operation::kMultiscan, input, false);
      const Expected inclusive = scan(Operation::kMultiscan, input, true);
      const Expected by_key = scan(Operation::kScanByKey, input, true);
      with_value_type(type, [&]<class T>() {
        const T* data = reinterpret_cast<const T*>(array.data());
        for (const std::size_t at :
             {std::size_t{0}, std::size_t{999}, std::size_t{35000}, kN - 1}) {
          std::vector<T> before, run;
          for (std::size_t i = 0; i < at; ++i)
            if (label[i] == label[at]) before.push_back(data[i]);
          std::size_t first = at;
          while (first > 0 && label[first - 1] == label[at]) --first;
          run.assign(data + first, data + at + 1);
          const auto expect = [&](const ExpectedArray& scanned, const std::vector<T>& terms) {
            const Reference one = reference(type, op, bytes_of(terms), terms.size());
            EXPECT_EQ(scanned.at(at).bits, one.expected.bits)
                << name_of(type) << " " << name_of(op) << " " << at;
            EXPECT_EQ(scanned.reference_at(at).exact, one.exact);
            if (one.exact) return;
            EXPECT_DOUBLE_EQ(scanned.reference_at(at).magnitude, one.magnitude);
            EXPECT_EQ(scanned.terms.at(at), terms.size());
          };
          expect(exclusive.results, before);
          before.push_back(data[at]);
          expect(inclusive.results, before);
          expect(by_key.results, run);
        }
      });
    }
}

// ---- comparison -------------------------------------------------------------------------------

TEST(ArrayComparisonOf, ExactElementsShowsTheFirstWrongOneAndCountsThem) {
  const std::vector<int> values(100000, 1);
  Labels labels(100000);
  for (Label i = 0; i < 100000; ++i) labels[i] = i;
  const Expected e = expected(Operation::kMultireduce, Op::kSum, values, labels, 100000);
  std::vector<int> actual(100000, 1);
  EXPECT_EQ(compare(e.results, bytes_of(actual), 1).mismatches, 0u);
  actual[99999] = 5;
  actual[70001] = 4;
  const ArrayComparison wrong = compare(e.results, bytes_of(actual), 1);
  EXPECT_EQ(wrong.mismatches, 2u);
  EXPECT_EQ(wrong.index, 70001u);
  EXPECT_EQ(wrong.actual.to_text(), "4");
  EXPECT_FALSE(wrong.comparison.passed);
}

TEST(ArrayComparisonOf, FloatsBoundsEachBucketByItsOwnInputs) {
  // Bucket 0 has one input and no rounding; bucket 1 has three.
  const std::vector<float> values{0.1f, 0.1f, 0.2f, 0.7f};
  const Expected e = expected(Operation::kMultireduce, Op::kSum, values, Labels{0, 1, 1, 1}, 2);
  const float right = 0.1f + 0.2f + 0.7f;
  const float off = std::nextafter(right, 2.0f);
  EXPECT_EQ(compare(e.results, bytes_of(std::vector{0.1f, off}), 1000).mismatches, 0u);
  const float one_off = std::nextafter(0.1f, 1.0f);
  const ArrayComparison wrong = compare(e.results, bytes_of(std::vector{one_off, right}), 1000);
  EXPECT_EQ(wrong.mismatches, 1u);
  EXPECT_EQ(wrong.index, 0u);
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(compare(e.results, bytes_of(std::vector{0.1f, nan}), 1000).mismatches, 1u);
  // NaN does not agree with itself either, unless every bit counts.
  Expected spoiled = expected(Operation::kMultireduce, Op::kSum, values, Labels{0, 1, 1, 1}, 2);
  const std::vector both{0.1f, nan};
  std::memcpy(spoiled.results.elements.get(), both.data(), sizeof(float) * both.size());
  EXPECT_EQ(compare(spoiled.results, bytes_of(both), 1000).mismatches, 1u);
  spoiled.results.bitwise = true;
  EXPECT_EQ(compare(spoiled.results, bytes_of(both), 1000).mismatches, 0u);
}

template <class T>
class AnyWins : public testing::Test {
 protected:
  /// Of bucket 0 two inputs, of bucket 1 none, of bucket 2 three, of bucket 3 one.
  std::vector<T> values{11, 12, 22, 23, 24, 33};
  Labels labels{0, 0, 2, 2, 2, 3};
  std::size_t buckets = 4;
  const T untouched = [] {
    T x;
    std::memset(&x, kUntouched, sizeof(x));
    return x;
  }();

  ArrayComparison compared(const std::vector<T>& results, bool any_wins = true) {
    return compare(expected_of({.operation = Operation::kScatter,
                                .type = kTypeOf<T>,
                                .op = Op::kNone,
                                .n = labels.size(),
                                .buckets = buckets,
                                .any_wins = any_wins,
                                .values = bytes_of(values),
                                .labels = bytes_of(labels)})
                       .results,
                   bytes_of(results), 1);
  }
  void expect_wrong(const std::vector<T>& results, std::size_t bucket) {
    const ArrayComparison wrong = compared(results);
    EXPECT_EQ(wrong.mismatches, 1u);
    EXPECT_EQ(wrong.index, bucket);
    EXPECT_FALSE(wrong.comparison.passed);
    EXPECT_EQ(wrong.actual.bits, Scalar::load(kTypeOf<T>, &results[bucket]).bits);
  }
};
using ValueTypes = testing::Types<std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(AnyWins, ValueTypes);

TYPED_TEST(AnyWins, EveryValueOfTheLabelIsRight) {
  const TypeParam none = this->untouched;
  for (const TypeParam first : {11, 12})
    for (const TypeParam third : {22, 23, 24}) {
      const ArrayComparison right = this->compared({first, none, third, 33});
      EXPECT_EQ(right.mismatches, 0u);
      EXPECT_TRUE(right.comparison.passed);
      EXPECT_EQ(right.comparison.error_abs, 0);
      EXPECT_EQ(right.expected.bits, right.actual.bits);
    }
  EXPECT_EQ(this->compared({11, none, 23, 33}, false).mismatches, 2u);
  EXPECT_EQ(this->compared({12, none, 24, 33}, false).mismatches, 0u);
}

TYPED_TEST(AnyWins, AValueOfAnotherLabelIsWrong) {
  this->expect_wrong({11, this->untouched, 12, 33}, 2);
  this->expect_wrong({11, this->untouched, 33, 33}, 2);
  this->expect_wrong({22, this->untouched, 22, 33}, 0);
  this->expect_wrong({12, this->untouched, 24, 24}, 3);
}

TYPED_TEST(AnyWins, ABucketThatLostItsInputsIsWrong) {
  this->expect_wrong({this->untouched, this->untouched, 24, 33}, 0);
  this->expect_wrong({11, this->untouched, 22, this->untouched}, 3);
}

TYPED_TEST(AnyWins, ABucketWithoutInputsMustBeLeftAlone) {
  this->expect_wrong({11, 0, 22, 33}, 1);
  this->expect_wrong({11, 22, 22, 33}, 1);
  this->expect_wrong({11, 12, 22, 33}, 1);
}

TYPED_TEST(AnyWins, AValueMixedFromTwoOfItsLabelIsWrong) {
  TypeParam low = 22, high = 23;
  // Both halves must differ, for a mixed value to be neither.
  if constexpr (std::is_integral_v<TypeParam>) {
    low += TypeParam{1} << (4 * sizeof(TypeParam));
    high += TypeParam{2} << (4 * sizeof(TypeParam));
  } else {
    low = static_cast<TypeParam>(1) / 3;
    high = static_cast<TypeParam>(-2) / 7;
  }
  this->values = {low, high};
  this->labels = {0, 0};
  this->buckets = 1;
  const auto mixed = [](TypeParam of_low, TypeParam of_high) {
    constexpr std::size_t kHalf = sizeof(TypeParam) / 2;
    std::vector<TypeParam> one{of_high};
    std::memcpy(one.data(), &of_low, kHalf);
    return one;
  };
  EXPECT_EQ(this->compared(mixed(low, low)).mismatches, 0u);
  EXPECT_EQ(this->compared(mixed(high, high)).mismatches, 0u);
  EXPECT_EQ(this->compared(mixed(low, high)).mismatches, 1u);
  EXPECT_EQ(this->compared(mixed(high, low)).mismatches, 1u);
}

TEST(ArrayComparisonOf, AScatterInWhichAnyWinsChecksEveryBucketOfLargeOnes) {
  // Several chunks of buckets. Every value names its input, so that none is right by chance.
  constexpr std::size_t kN = 300001, kBuckets = 200003;
  const HostArray label_array = generate(LabelKey{.n = kN, .buckets = kBuckets, .seed = 4});
  const auto* label = reinterpret_cast<const Label*>(label_array.data());
  const Labels labels(label, label + kN);
  std::vector<int> values(kN);
  for (std::size_t i = 0; i < kN; ++i) values[i] = static_cast<int>(i);
  const Expected e = expected_of({.operation = Operation::kScatter,
                                  .op = Op::kNone,
                                  .n = kN,
                                  .buckets = kBuckets,
                                  .any_wins = true,
                                  .values = bytes_of(values),
                                  .labels = bytes_of(labels)});
  std::vector<int> first(kBuckets);
  std::memset(first.data(), kUntouched, kBuckets * sizeof(int));
  for (std::size_t i = kN; i-- > 0;) first[labels[i]] = values[i];
  EXPECT_EQ(compare(e.results, bytes_of(first), 1).mismatches, 0u);
  // One bucket off, only a bucket without inputs beside another is right.
  std::vector<int> shifted(kBuckets);
  std::rotate_copy(first.begin(), first.end() - 1, first.end(), shifted.begin());
  std::size_t wrong = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
    wrong += first[bucket] != shifted[bucket];
  EXPECT_GT(wrong, kBuckets / 2);
  EXPECT_EQ(compare(e.results, bytes_of(shifted), 1).mismatches, wrong);
  first[labels[kN - 1]] = static_cast<int>(kN);
  first[labels[7]] = -1;
  const ArrayComparison two = compare(e.results, bytes_of(first), 1);
  EXPECT_EQ(two.mismatches, 2u);
  EXPECT_EQ(two.index, std::min(labels[kN - 1], labels[7]));
}

// ---- running one ------------------------------------------------------------------------------

void multireduce(const Call& call) {
  auto* results = static_cast<int*>(call.results);
  std::fill_n(results, call.problem.buckets, 0);
  for (std::size_t i = 0; i < call.problem.n; ++i) {
    const Label label = static_cast<const Label*>(call.labels)[i];
    results[label] = static_cast<int>(static_cast<unsigned>(results[label]) +
                                      static_cast<const unsigned*>(call.values)[i]);
  }
}

class KeyedExecute : public testing::Test {
 protected:
  KeyedExecute() : session(make_device()) {
    point.n = 1000;
    point.buckets = 64;
    point.backend = Backend::kCpu;
  }
  std::unique_ptr<Device> make_device() {
    auto owned = std::make_unique<FakeDevice>();
    device = owned.get();
    return owned;
  }
  Record run(Operation operation, Enqueue enqueue) {
    entry = {.variant = {.id = "made-up/keyed", .operation = operation}, .plugin = plugin};
    if (is_scan(operation)) entry.variant.params = {scan_axis()};
    if (operation == Operation::kScatter && point.params.has("winner"))
      entry.variant.params = {winner_axis()};
    entry.variant.enqueue[index_of(point.type)][index_of(point.op)] = enqueue;
    entry.built[index_of(Backend::kCpu)] = &entry.variant;
    point.entry = &entry;
    return session.execute(point);
  }
  Record run_multireduce(Enqueue enqueue) { return run(Operation::kMultireduce, enqueue); }

  FakeDevice* device = nullptr;
  Session session;
  const PluginFile* plugin = nullptr;  ///< that the variants are of
  CatalogEntry entry;
  Point point;
};

TEST_F(KeyedExecute, ARightResultIsTimed) {
  const Record record = run_multireduce(multireduce);
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  EXPECT_EQ(record.verification->elements, 64u);
  EXPECT_EQ(record.verification->mismatches, 0u);
  EXPECT_EQ(record.verification->deterministic, true);
  EXPECT_EQ(record.traffic.read_bytes, 8000u);
  EXPECT_EQ(record.traffic.written_bytes, 256u);
}

void misses_the_last_bucket(const Call& call) {
  multireduce(call);
  ++static_cast<int*>(call.results)[call.problem.buckets - 1];
}

TEST_F(KeyedExecute, OneWrongBucketIsWrong) {
  const Record record = run_multireduce(misses_the_last_bucket);
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_TRUE(record.timing.empty());
  EXPECT_CONTAINS(record.reason, "results[63]: got ");
  EXPECT_CONTAINS(record.reason, "1 of 64 elements are wrong");
}

TEST_F(KeyedExecute, AVariantThatWritesItsLabelsIsWrong) {
  const Record record = run_multireduce([](const Call& call) {
    multireduce(call);
    ++static_cast<Label*>(const_cast<void*>(call.labels))[999];
  });
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_EQ(record.reason, "the input was modified");
}

TEST_F(KeyedExecute, TheNextPointHasItsOwnLabels) {
  EXPECT_EQ(run_multireduce(multireduce).status, Status::kOk);
  point.labels.kind = LabelDistribution::Kind::kSorted;
  EXPECT_EQ(run_multireduce(multireduce).status, Status::kOk);
  point.buckets = 7;
  EXPECT_EQ(run_multireduce(multireduce).status, Status::kOk);
}

TEST_F(KeyedExecute, ValuesStayWhereOnlyLabelsChange) {
  device->has_own_memory = true;
  const auto uploads_of = [&](Enqueue enqueue) {
    device->uploads = 0;
    run_multireduce(enqueue);
    return device->uploads;
  };
  EXPECT_EQ(uploads_of(multireduce), 2u);
  EXPECT_EQ(uploads_of(multireduce), 0u);
  point.labels.kind = LabelDistribution::Kind::kSorted;
  EXPECT_EQ(uploads_of(multireduce), 1u);
  EXPECT_EQ(run_multireduce(multireduce).status, Status::kOk);
  EXPECT_EQ(run_multireduce(misses_the_last_bucket).status, Status::kWrong);
  point.buckets = 7;
  EXPECT_EQ(uploads_of([](const Call& call) {
              multireduce(call);
              ++static_cast<int*>(const_cast<void*>(call.values))[999];
            }),
            1u);
  EXPECT_EQ(uploads_of(multireduce), 2u);  // after values that were written to
  point.seed = 9;
  EXPECT_EQ(uploads_of(multireduce), 2u);
  point.n = 999;
  EXPECT_EQ(uploads_of(multireduce), 2u);
  EXPECT_EQ(run_multireduce(multireduce).status, Status::kOk);
}

/// Gives what the first call of all found.
void remember(const Call& call) {
  static const std::vector<int> first = [&] {
    multireduce(call);
    const auto* const results = static_cast<const int*>(call.results);
    return std::vector<int>(results, results + call.problem.buckets);
  }();
  std::copy(first.begin(), first.end(), static_cast<int*>(call.results));
}

TEST_F(KeyedExecute, APluginIsCheckedOnTheInputsThatItWasTimedOn) {
  device->has_own_memory = true;
  const PluginFile file;
  plugin = &file;
  Record record = run_multireduce(multireduce);
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  record = run_multireduce(remember);
  EXPECT_CONTAINS(record.reason, "in cold timing, where inputs change between calls");
}

/// Scatters so that the last of equal labels wins, or the first.
void scatter(const Call& call, bool first_wins) {
  for (std::size_t k = 0; k < call.problem.n; ++k) {
    const std::size_t i = first_wins ? call.problem.n - 1 - k : k;
    static_cast<int*>(call.results)[static_cast<const Label*>(call.labels)[i]] =
        static_cast<const int*>(call.values)[i];
  }
}

TEST_F(KeyedExecute, AScatterMustLeaveTheRestAlone) {
  point.op = Op::kNone;
  point.n = 10;
  const Record record = run(Operation::kScatter, [](const Call& call) { scatter(call, false); });
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  EXPECT_EQ(record.traffic.written_bytes, 40u);  // of 64 elements, 10 at most
  EXPECT_EQ(run(Operation::kScatter,
                [](const Call& call) {
                  std::memset(call.results, 0, call.problem.arrays().output_bytes());
                })
                .status,
            Status::kWrong);
}

TEST_F(KeyedExecute, WhetherAnyWinsDecidesWhatAScatterMayGive) {
  point.op = Op::kNone;
  const auto run_with = [&](const char* winner) {
    point.params.set("winner", winner);
    return run(Operation::kScatter, [](const Call& call) { scatter(call, true); });
  };
  const Record any = run_with("any");
  EXPECT_EQ(any.status, Status::kOk) << any.reason;
  EXPECT_FALSE(any.known_wrong);
  EXPECT_FALSE(any.timing.empty());
  EXPECT_EQ(any.verification->expected.bits, any.verification->actual.bits);
  EXPECT_EQ(any.traffic.written_bytes, 256u);
  EXPECT_EQ(run_with("last").status, Status::kWrong);
  EXPECT_EQ(run_with("any").status, Status::kOk);
}

TEST_F(KeyedExecute, AScatterInWhichAnyWinsMayLetAnotherWinInEveryCall) {
  point.op = Op::kNone;
  point.params.set("winner", "any");
  static bool first_wins;
  first_wins = false;
  const Record record = run(Operation::kScatter, [](const Call& call) {
    first_wins = !first_wins;
    scatter(call, first_wins);
  });
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  EXPECT_EQ(record.verification->deterministic, false);
  EXPECT_EQ(record.verification->passed_after, true);
}

TEST_F(KeyedExecute, AWrongScatterInWhichAnyWinsIsShownWithHowManyWereRight) {
  point.op = Op::kNone;
  point.buckets = 1;
  point.params.set("winner", "any");
  const Record record = run(Operation::kScatter, [](const Call&) {});
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_FALSE(record.known_wrong);
  EXPECT_TRUE(record.timing.empty());
  EXPECT_CONTAINS(record.reason, "results[0]: got -1515870811, expected ");
  EXPECT_CONTAINS(record.reason,
                  " or the value of another of 1000 inputs within 0; 1 of 1 elements are wrong");
}

void reduce_by_key(const Call& call, Count extra) {
  const auto* labels = static_cast<const Label*>(call.labels);
  Count runs = 0;
  for (std::size_t i = 0; i < call.problem.n; ++i) {
    const unsigned value = static_cast<const unsigned*>(call.values)[i];
    auto* results = static_cast<unsigned*>(call.results);
    if (i > 0 && labels[i] == labels[i - 1]) {
      results[runs - 1] += value;
    } else {
      static_cast<Label*>(call.result_labels)[runs] = labels[i];
      results[runs++] = value;
    }
  }
  *static_cast<Count*>(call.result_count) = runs + extra;
}

TEST_F(KeyedExecute, ReduceByKeyIsCheckedAsFarAsItsCount) {
  point.labels = {.kind = LabelDistribution::Kind::kRuns, .length = 10};
  const Record right =
      run(Operation::kReduceByKey, [](const Call& call) { reduce_by_key(call, 0); });
  EXPECT_EQ(right.status, Status::kOk) << right.reason;
  EXPECT_EQ(right.verification->elements, 201u);
  EXPECT_EQ(right.traffic.written_bytes, 100u * 8 + 4);
  const Record wrong =
      run(Operation::kReduceByKey, [](const Call& call) { reduce_by_key(call, 1); });
  EXPECT_CONTAINS(wrong.reason, "count[0]: got 101, expected 100");
}

void inclusive_multiscan(const Call& call) {
  std::vector<unsigned> buckets(call.problem.buckets);
  for (std::size_t i = 0; i < call.problem.n; ++i) {
    unsigned& bucket = buckets[static_cast<const Label*>(call.labels)[i]];
    bucket += static_cast<const unsigned*>(call.values)[i];
    static_cast<unsigned*>(call.results)[i] = bucket;
  }
}

TEST_F(KeyedExecute, WhetherAScanIsInclusiveDecidesWhatIsExpected) {
  const auto status_with = [&](const char* scan) {
    point.params.set("scan", scan);
    return run(Operation::kMultiscan, inclusive_multiscan);
  };
  EXPECT_EQ(status_with("inclusive").status, Status::kOk);
  const Record wrong = status_with("exclusive");
  EXPECT_EQ(wrong.status, Status::kWrong);
  EXPECT_CONTAINS(wrong.reason, "results[0]: got ");
  EXPECT_CONTAINS(wrong.reason, "of 1000 elements are wrong");
  EXPECT_EQ(status_with("inclusive").status, Status::kOk);
}

TEST_F(KeyedExecute, LabelsOutsideOfTheBucketsAreSkippedWithTheirPlace) {
  auto image = std::make_shared<Image>();
  *image = {.width = 2, .height = 1, .pixels = {3, 64}};
  point.labels = {.kind = LabelDistribution::Kind::kImage, .file = "x.pgm", .image = image};
  const Record record = run_multireduce(multireduce);
  EXPECT_EQ(record.status, Status::kSkipped);
  EXPECT_CONTAINS(record.reason, "image 'x.pgm': the label 64 of pixel 1");
}

TEST_F(KeyedExecute, WhatDoesNotFitIsSkippedWithBothNumbers) {
  device->available_bytes = 20'000;
  point.buckets = 4000;
  const Record record = run_multireduce(multireduce);
  EXPECT_EQ(record.status, Status::kSkipped);
  EXPECT_CONTAINS(record.reason, "needs 0.0 MB of memory");
  point.buckets = 2000;
  EXPECT_EQ(run_multireduce(multireduce).status, Status::kOk);
}

void multireduce_f32(const Call& call, std::size_t n) {
  auto* results = static_cast<float*>(call.results);
  std::fill_n(results, call.problem.buckets, 0.0f);
  for (std::size_t i = 0; i < n; ++i)
    results[static_cast<const Label*>(call.labels)[i]] += static_cast<const float*>(call.values)[i];
}

TEST_F(KeyedExecute, FloatSumsWhoseBoundsReachThemMustBeExactOnOtherValues) {
  point.type = Type::kF32;
  point.n = 20000;  // whose bound is larger than any element
  point.distribution = {.kind = Distribution::Kind::kCancelling, .condition = 1e6};
  for (const std::size_t buckets : {1, 5}) {
    point.buckets = buckets;
    point.labels = {.kind = LabelDistribution::Kind::kDegenerate};
    const Record record =
        run_multireduce([](const Call& call) { multireduce_f32(call, call.problem.n); });
    EXPECT_EQ(record.status, Status::kOk) << record.reason;
    EXPECT_EQ(record.verification->twin_passed_before, true);
    const Record wrong =
        run_multireduce([](const Call& call) { multireduce_f32(call, call.problem.n - 1); });
    EXPECT_EQ(wrong.status, Status::kWrong);
    EXPECT_CONTAINS(wrong.reason, ": of values whose sums no order rounds, got ");
  }
}

}  // namespace
}  // namespace reduce_bench
