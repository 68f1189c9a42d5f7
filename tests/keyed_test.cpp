// Operations with labels: their expected outputs, and how a point of one is checked.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "common/labels.hpp"
#include "expect_error.hpp"
#include "fake_device.hpp"
#include "harness/execute.hpp"
#include "harness/oracle.hpp"

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

TEST(KeyedOracle, MultireduceAgreesWithAReductionOfEachBucketUnderEveryOperator) {
  constexpr std::size_t kN = 100003, kBuckets = 37;
  const HostArray label_array = generate(LabelKey{.n = kN, .buckets = kBuckets, .seed = 4});
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
        const Expected all = expected(Operation::kMultireduce, op, values, labels, kBuckets);
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

TEST(KeyedOracle, HistogramCountsLabelsOfBothTypes) {
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

TEST(KeyedOracle, EveryElementOfAScanIsTheReductionOfAPrefixOfItsLabel) {
  // Several shares: runs of equal labels lie across their borders.
  constexpr std::size_t kN = 70001, kBuckets = 3;
  const HostArray labels =
      generate(LabelKey{.distribution = {.kind = LabelDistribution::Kind::kRuns, .length = 1000},
                        .n = kN,
                        .buckets = kBuckets,
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
                                 .buckets = kBuckets,
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
}

// ---- running one ------------------------------------------------------------------------------

void multireduce(const Call& call) {
  auto* results = static_cast<int*>(call.output);
  std::fill_n(results, call.problem.buckets, 0);
  for (std::size_t i = 0; i < call.problem.n; ++i) {
    const Label label = static_cast<const Label*>(call.input_labels)[i];
    results[label] = static_cast<int>(static_cast<unsigned>(results[label]) +
                                      static_cast<const unsigned*>(call.input)[i]);
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
    entry = {.variant = {.id = "made-up/keyed", .operation = operation}};
    if (is_scan(operation)) entry.variant.params = {scan_axis()};
    entry.variant.enqueue[index_of(point.type)][index_of(point.op)] = enqueue;
    entry.built[index_of(Backend::kCpu)] = &entry.variant;
    point.entry = &entry;
    return session.execute(point);
  }
  Record run_multireduce(Enqueue enqueue) { return run(Operation::kMultireduce, enqueue); }

  FakeDevice* device = nullptr;
  Session session;
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
  ++static_cast<int*>(call.output)[call.problem.buckets - 1];
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
    ++static_cast<Label*>(const_cast<void*>(call.input_labels))[999];
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

TEST_F(KeyedExecute, AScatterMustLeaveTheRestAlone) {
  point.op = Op::kNone;
  point.n = 10;
  const Enqueue scatter = [](const Call& call) {
    for (std::size_t i = 0; i < call.problem.n; ++i)
      static_cast<int*>(call.output)[static_cast<const Label*>(call.input_labels)[i]] =
          static_cast<const int*>(call.input)[i];
  };
  const Record record = run(Operation::kScatter, scatter);
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  EXPECT_EQ(record.traffic.written_bytes, 40u);  // of 64 elements, 10 at most
  EXPECT_EQ(run(Operation::kScatter,
                [](const Call& call) {
                  std::memset(call.output, 0, call.problem.shape().output_bytes());
                })
                .status,
            Status::kWrong);
}

void reduce_by_key(const Call& call, Count extra) {
  const auto* labels = static_cast<const Label*>(call.input_labels);
  Count runs = 0;
  for (std::size_t i = 0; i < call.problem.n; ++i) {
    const unsigned value = static_cast<const unsigned*>(call.input)[i];
    auto* results = static_cast<unsigned*>(call.output);
    if (i > 0 && labels[i] == labels[i - 1]) {
      results[runs - 1] += value;
    } else {
      static_cast<Label*>(call.output_labels)[runs] = labels[i];
      results[runs++] = value;
    }
  }
  *static_cast<Count*>(call.output_count) = runs + extra;
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
    unsigned& bucket = buckets[static_cast<const Label*>(call.input_labels)[i]];
    bucket += static_cast<const unsigned*>(call.input)[i];
    static_cast<unsigned*>(call.output)[i] = bucket;
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

TEST_F(KeyedExecute, FloatSumsWhoseBoundsReachThemAreSkipped) {
  point.type = Type::kF32;
  point.buckets = 1;
  point.distribution = {.kind = Distribution::Kind::kCancelling, .condition = 1e6};
  const Record record = run_multireduce(multireduce);
  EXPECT_EQ(record.status, Status::kSkipped);
  EXPECT_CONTAINS(record.reason, "cannot be verified");
}

}  // namespace
}  // namespace reduce_bench
