// One point from plan to record, with variants that go wrong in every way.
#include "point/execute.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "common/pages.hpp"
#include "expect_error.hpp"
#include "fake_device.hpp"
#include "huge_pages.hpp"

namespace reduce_bench {
namespace {

// ---- made-up variants -------------------------------------------------------------------------

/// Calls since the test began, and what the last one saw; variants are plain functions.
struct Seen {
  unsigned calls = 0;
  const void* input = nullptr;
  std::vector<std::byte> workspace;
};
Seen seen;

template <class T>
void write_sum(const Call& call, T extra = 0) {
  T sum = extra;
  for (std::size_t i = 0; i < call.problem.n; ++i) {
    T x;
    std::memcpy(&x, static_cast<const std::byte*>(call.values) + i * sizeof(T), sizeof(T));
    if constexpr (std::is_integral_v<T>)
      sum = static_cast<T>(static_cast<std::make_unsigned_t<T>>(sum) +
                           static_cast<std::make_unsigned_t<T>>(x));
    else sum += x;
  }
  std::memcpy(call.results, &sum, sizeof(T));
  ++seen.calls;
  seen.input = call.values;
}

void right_i32(const Call& call) { write_sum<std::int32_t>(call); }
void right_f32(const Call& call) { write_sum<float>(call); }
void wrong_i32(const Call& call) { write_sum<std::int32_t>(call, 1); }
void nan_f32(const Call& call) { write_sum<float>(call, std::nanf("")); }
void writes_nothing(const Call&) {}
void throws(const Call&) { throw std::runtime_error("the kernel fell over"); }
void loses_the_device(const Call&) { throw DeviceLost("gone"); }

/// Right for as many calls as `kCalls`, then `after`.
template <unsigned kCalls, Enqueue kAfter>
void at_first_right(const Call& call) {
  if (seen.calls >= kCalls) {
    ++seen.calls;
    kAfter(call);
  } else {
    right_i32(call);
  }
}

void damages_input(const Call& call) {
  right_i32(call);
  ++static_cast<unsigned char*>(const_cast<void*>(call.values))[0];
}

/// The checks before timing make two calls.
constexpr unsigned kCallsBefore = 2;

Variant variant(Enqueue enqueue, Type type = Type::kI32) {
  Variant v{.id = "made-up/sum"};
  v.enqueue[index_of(type)][index_of(Op::kSum)] = enqueue;
  return v;
}

// ---- running one ------------------------------------------------------------------------------

class Execute : public testing::Test {
 protected:
  void SetUp() override {
    seen = {};
    auto owned = std::make_unique<FakeDevice>();
    device = owned.get();
    session.emplace(std::move(owned));
    point.n = 1000;
    point.backend = Backend::kCpu;
  }

  Record run(const Variant& v, const ExecuteOptions& options = {}) {
    CatalogEntry entry{.variant = v};
    entry.built[index_of(Backend::kCpu)] = &entry.variant;
    point.entry = &entry;
    point.params = default_params(v);
    const Record record = session->execute(point, options);
    // Whatever happens: no verified result, no time.
    const bool verified = record.verification && record.verification->passed_before &&
                          record.verification->passed_after.value_or(false);
    EXPECT_TRUE(verified || record.known_wrong || record.timing.empty());
    return record;
  }

  FakeDevice* device = nullptr;
  std::optional<Session> session;
  Point point;
};

void expect_wrong_without_time(const Record& record, const std::string& reason) {
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_TRUE(record.unexpected_wrong());
  EXPECT_TRUE(record.timing.empty());
  EXPECT_CONTAINS(record.reason, reason);
}

TEST_F(Execute, ARightResultIsTimed) {
  const Record record = run(variant(right_i32));
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_EQ(record.reason, "");
  EXPECT_FALSE(record.known_wrong);
  ASSERT_TRUE(record.verification);
  EXPECT_TRUE(record.verification->passed_before);
  EXPECT_EQ(record.verification->passed_after, true);
  EXPECT_EQ(record.verification->deterministic, true);
  EXPECT_EQ(record.verification->actual.bits, record.verification->expected.bits);
  ASSERT_EQ(record.timing.size(), 1u);
  EXPECT_EQ(median(record.timing.at(Mode::kCold).samples_ns), 1000);
  EXPECT_EQ(record.traffic.read_bytes, 4000u);
  EXPECT_EQ(record.traffic.written_bytes, 4u);
  EXPECT_TRUE(record.input_checksum);
}

TEST_F(Execute, EveryModeAskedForIsTimed) {
  point.measurement.modes = {Mode::kHot, Mode::kCold};
  const Record record = run(variant(right_i32));
  EXPECT_EQ(record.timing.size(), 2u);
  device->modes = {Mode::kHot};
  EXPECT_EQ(run(variant(right_i32)).timing.size(), 1u);
}

TEST_F(Execute, UntimedItIsOnlyVerified) {
  const Record record = run(variant(right_i32), {.timed = false});
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_TRUE(record.timing.empty());
  EXPECT_TRUE(device->taken.empty());
  EXPECT_EQ(record.verification->passed_after, std::nullopt);
}

// ---- wrong results ----------------------------------------------------------------------------

TEST_F(Execute, AWrongResultIsNotTimed) {
  const Record record = run(variant(wrong_i32));
  expect_wrong_without_time(record, "got ");
  EXPECT_CONTAINS(record.reason, "expected " + record.verification->expected.to_text());
  EXPECT_FALSE(record.verification->passed_before);
  EXPECT_TRUE(device->taken.empty());
}

TEST_F(Execute, ANanIsWrong) {
  point.type = Type::kF32;
  expect_wrong_without_time(run(variant(nan_f32, Type::kF32)), "got nan");
}

/// The sum, and one unit in the last place.
void next_float(const Call& call) {
  write_sum<float>(call);
  float sum;
  std::memcpy(&sum, call.results, sizeof(sum));
  sum = std::nextafter(sum, 1e9f);
  std::memcpy(call.results, &sum, sizeof(sum));
}
void minus_zero(const Call& call) {
  const float zero = -0.0f;
  std::memcpy(call.results, &zero, sizeof(zero));
}

TEST_F(Execute, ACorrectlyRoundedSumIsComparedBitForBit) {
  point.type = Type::kF32;
  point.n = 2;
  point.distribution.kind = Distribution::Kind::kNormal;
  Variant next = variant(next_float, Type::kF32), right = variant(right_f32, Type::kF32);
  EXPECT_EQ(run(next).status, Status::kOk);  // within the bound of any order
  next.correctly_rounded = true;
  expect_wrong_without_time(run(next), "got ");
  right.correctly_rounded = true;  // two floats are rounded once
  EXPECT_EQ(run(right).status, Status::kOk);
  EXPECT_EQ(run(right).verification->bound_abs, 0);

  point.distribution.kind = Distribution::Kind::kZeros;
  Variant negative = variant(minus_zero, Type::kF32);
  EXPECT_EQ(run(negative).status, Status::kOk);
  negative.correctly_rounded = true;
  expect_wrong_without_time(run(negative), "got -0");
}

TEST_F(Execute, OnlyACorrectlyRoundedSumIsGivenValuesThatOverflow) {
  point.type = Type::kF32;
  point.n = 100;
  point.seed = 3;  // NaN among the values
  point.distribution.kind = Distribution::Kind::kSpecials;
  Variant v = variant(nan_f32, Type::kF32);
  const Record skipped = run(v);
  EXPECT_EQ(skipped.status, Status::kSkipped);
  EXPECT_CONTAINS(skipped.reason, "'specials' values overflow on the way");
  v.correctly_rounded = true;
  EXPECT_EQ(run(v).status, Status::kOk);
}

TEST_F(Execute, ASecondCallThatIsWrongIsFoundWithoutTiming) {
  expect_wrong_without_time(run(variant(at_first_right<1, wrong_i32>), {.timed = false}), "got ");
}

TEST_F(Execute, AResultThatTurnsWrongWhileTimedHasNoTime) {
  const Record record = run(variant(at_first_right<kCallsBefore + 3, wrong_i32>));
  expect_wrong_without_time(record, "right before timing, wrong after cold timing: got ");
  EXPECT_TRUE(record.verification->passed_before);
  EXPECT_EQ(record.verification->passed_after, false);
  EXPECT_NE(record.verification->actual.bits, record.verification->expected.bits);
}

TEST_F(Execute, AWrongSecondModeTakesTheTimeOfTheFirstToo) {
  point.measurement.modes = {Mode::kCold, Mode::kHot};
  // The cold mode makes a warm-up and ten samples.
  expect_wrong_without_time(run(variant(at_first_right<kCallsBefore + 12, wrong_i32>)),
                            "wrong after hot timing");
}

TEST_F(Execute, AnOutputThatIsNotWrittenShowsThePoison) {
  const Record record = run(variant(writes_nothing));
  expect_wrong_without_time(record, "got ");
  EXPECT_EQ(record.verification->actual.bits, 0xa5a5a5a5u);
}

TEST_F(Execute, AnOutputThatIsNoLongerWrittenShowsThePoison) {
  expect_wrong_without_time(
      run(variant(at_first_right<kCallsBefore, writes_nothing>)),
      "wrong after cold timing: got " + std::to_string(std::int32_t(0xa5a5a5a5)));
}

// ---- sums whose bound lets zero pass ----------------------------------------------------------

class TwoLegs : public Execute {
 protected:
  void SetUp() override {
    Execute::SetUp();
    point.type = Type::kF32;
    point.n = 20000;  // whose bound is larger than any element
    point.distribution = {.kind = Distribution::Kind::kCancelling, .condition = 1e6};
  }
  static Variant of(Enqueue enqueue) { return variant(enqueue, Type::kF32); }
};

/// The sum without element kDropped, as a kernel gives that ends too early or begins too late.
template <std::size_t kDropped>
void drops_one_f32(const Call& call) {
  right_f32(call);
  float sum = 0, dropped = 0;
  std::memcpy(&sum, call.results, sizeof(float));
  std::memcpy(&dropped, static_cast<const float*>(call.values) + kDropped, sizeof(float));
  sum -= dropped;
  std::memcpy(call.results, &sum, sizeof(float));
}

/// Right but for the calls from the first timed one.
template <Enqueue kAfter>
void right_until_timed_f32(const Call& call) {
  constexpr unsigned kOfTwin = 1;
  if (seen.calls < kCallsBefore + kOfTwin) return right_f32(call);
  ++seen.calls;
  kAfter(call);
}

TEST_F(TwoLegs, AreTheDerivedBoundAndExactSumsOfOtherValues) {
  const Record record = run(of(right_f32));
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  const Verification& check = *record.verification;
  EXPECT_EQ(check.twin_passed_before, true);
  EXPECT_EQ(check.twin_passed_after, true);
  EXPECT_EQ(check.passed_after, true);
  // What is shown is the error of the input itself.
  EXPECT_GT(check.comparison.error_abs, 0);
  EXPECT_GT(check.bound_abs, std::fabs(check.expected.as_double()));
  EXPECT_NEAR(*check.condition, 1e6, 2e4);
}

TEST_F(TwoLegs, AreOneWhereTheBoundHidesNoFault) {
  point.distribution = {};
  Variant v = of(right_f32);
  // An input of average magnitude is the sum over n, and the bound depth * 2^-24 of the sum.
  v.depth = [](const Problem& p) -> std::uint64_t { return (1 << 24) / p.n - 2; };
  EXPECT_EQ(run(v).verification->twin_passed_before, std::nullopt);
  v.depth = [](const Problem& p) -> std::uint64_t { return (1 << 24) / p.n + 2; };
  EXPECT_EQ(run(v).verification->twin_passed_before, true);
  // Nothing rounds in a sum of small integers, however deep.
  v.depth = [](const Problem&) -> std::uint64_t { return 1 << 25; };
  point.distribution.kind = Distribution::Kind::kOnes;
  EXPECT_EQ(run(v).verification->twin_passed_before, std::nullopt);
}

TEST_F(TwoLegs, FindAKernelThatDropsOneElement) {
  for (const Enqueue dropping : {drops_one_f32<0>, drops_one_f32<500>, drops_one_f32<19999>}) {
    seen = {};
    const Record record = run(of(dropping));
    expect_wrong_without_time(record, "of values whose sums no order rounds, got ");
    EXPECT_EQ(record.verification->twin_passed_before, false);
    EXPECT_FALSE(record.verification->passed_before);
  }
}

TEST_F(TwoLegs, FindAnOutputThatIsNotWritten) {
  expect_wrong_without_time(run(of(writes_nothing)), "of values whose sums no order rounds, got ");
}

TEST_F(TwoLegs, FindWhatTurnsWrongWhileTimed) {
  const Record record = run(of(right_until_timed_f32<drops_one_f32<7>>));
  expect_wrong_without_time(
      record, "right before timing, wrong after cold timing: of values whose sums no order ");
  EXPECT_EQ(record.verification->twin_passed_before, true);
  EXPECT_EQ(record.verification->twin_passed_after, false);
  EXPECT_EQ(record.verification->passed_after, false);
}

TEST_F(TwoLegs, DoNotExcuseAResultBeyondTheBound) {
  expect_wrong_without_time(run(of(nan_f32)), "got nan");
}

TEST_F(TwoLegs, ServeAllPointsOfAnInput) {
  EXPECT_EQ(run(of(right_f32)).status, Status::kOk);
  expect_wrong_without_time(run(of(drops_one_f32<3>)), "of values whose sums no order rounds");
  EXPECT_EQ(run(of(right_f32)).verification->twin_passed_after, true);
}

// ---- the input --------------------------------------------------------------------------------

TEST_F(Execute, AVariantThatWritesItsInputIsWrong) {
  expect_wrong_without_time(run(variant(damages_input)), "the input was modified");
  expect_wrong_without_time(run(variant(damages_input), {.timed = false}),
                            "the input was modified");
}

TEST_F(Execute, AnInputWrittenWhileTimedTakesTheTimeAway) {
  expect_wrong_without_time(run(variant(at_first_right<kCallsBefore + 10, damages_input>)),
                            "the input was modified");
}

TEST_F(Execute, TheNextPointDoesNotSeeADamagedInput) {
  run(variant(damages_input));
  EXPECT_EQ(run(variant(right_i32)).status, Status::kOk);
  seen = {};
  run(variant(at_first_right<kCallsBefore, damages_input>));
  EXPECT_EQ(run(variant(right_i32)).status, Status::kOk);
  run(variant([](const Call& call) {
    damages_input(call);
    throw std::runtime_error("and fell over");
  }));
  EXPECT_EQ(run(variant(right_i32)).status, Status::kOk);
}

TEST_F(Execute, PointsOnOneInputShareIt) {
  run(variant(right_i32));
  const void* first = seen.input;
  run(variant(right_i32));
  EXPECT_EQ(seen.input, first);
  const Record another_seed = (point.seed = 2, run(variant(right_i32)));
  EXPECT_EQ(another_seed.status, Status::kOk);
}

TEST_F(Execute, LeadMisalignsTheInput) {
  EXPECT_EQ(run(variant(right_i32), {.lead = {.values = 3}}).status, Status::kOk);
  const auto misaligned = reinterpret_cast<std::uintptr_t>(seen.input) % 16;
  EXPECT_EQ(run(variant(right_i32)).status, Status::kOk);
  EXPECT_EQ(misaligned, (reinterpret_cast<std::uintptr_t>(seen.input) + 12) % 16);
}

TEST_F(Execute, WhatAVariantReadsBeyondTheInputIsGarbage) {
  point.type = Type::kF32;
  Variant v = variant(
      [](const Call& call) {
        write_sum<float>(call, 0 * static_cast<const float*>(call.values)[call.problem.n]);
      },
      Type::kF32);
  v.overread = [](const Problem&) { return std::size_t{1}; };
  expect_wrong_without_time(run(v), "got nan");
}

#ifndef __SANITIZE_ADDRESS__  // which stops at the write itself
/// Writes one byte at `kOffset` from a memory of the call.
template <int kOffset>
void strays_from_output(const Call& call) {
  right_i32(call);
  static_cast<std::byte*>(call.results)[kOffset] = std::byte{0};
}

TEST_F(Execute, AWriteBesideTheOutputIsFound) {
  EXPECT_EQ(run(variant(strays_from_output<3>)).reason.substr(0, 4), "got ");
  EXPECT_FALSE(session->lost());
  for (const Enqueue stray : {strays_from_output<4>, strays_from_output<-1>}) {
    expect_wrong_without_time(run(variant(stray)), "wrote out of the bounds of its output");
    EXPECT_TRUE(session->lost());
    expect_wrong_without_time(run(variant(stray), {.timed = false}), "out of the bounds");
  }
}

TEST_F(Execute, AWriteBesideScratchMemoryIsFound) {
  Variant v = variant([](const Call& call) {
    right_i32(call);
    call.workspace[100] = std::byte{0};
  });
  v.workspace = [](const Problem&) { return Workspace{.device_bytes = 101, .host_bytes = 101}; };
  EXPECT_EQ(run(v).status, Status::kOk);
  v.workspace = [](const Problem&) { return Workspace{.device_bytes = 100, .host_bytes = 101}; };
  expect_wrong_without_time(run(v), "wrote out of the bounds of its scratch memory");
  v.enqueue[index_of(Type::kI32)][index_of(Op::kSum)] = [](const Call& call) {
    right_i32(call);
    call.host_workspace[-1] = std::byte{0};
  };
  expect_wrong_without_time(run(v), "wrote out of the bounds of its host scratch memory");
}
#endif

TEST_F(Execute, ACallThatDoesNotRepeatTheFirstIsNamed) {
  expect_wrong_without_time(run(variant(at_first_right<1, wrong_i32>), {.timed = false}),
                            "right in a first call, but the second got ");
}

// ---- scratch memory and records ---------------------------------------------------------------

TEST_F(Execute, ScratchIsZeroedAsFarAsAskedAndGarbageBeyond) {
  Variant v = variant([](const Call& call) {
    if (seen.calls == 0) seen.workspace.assign(call.workspace, call.workspace + 100);
    right_i32(call);
  });
  v.workspace = [](const Problem&) { return Workspace{.device_bytes = 100, .zeroed_bytes = 60}; };
  EXPECT_EQ(run(v).status, Status::kOk);
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_EQ(seen.workspace.at(i) == std::byte{0}, i < 60) << i;
}

TEST_F(Execute, AHostResultIsWrittenToHostMemory) {
  Variant v = variant(right_i32);
  run(v);
  const unsigned first = device->host_allocations;  // with the memory that outputs are copied to
  run(v);
  const unsigned without = device->host_allocations - first;
  v.finish = Finish::kHost;
  EXPECT_EQ(run(v).status, Status::kOk);
  EXPECT_EQ(device->host_allocations - first - without, without + 1);
}

TEST_F(Execute, TheFirstLaunchIsRecorded) {
  const Record record = run(variant([](const Call& call) {
    right_i32(call);
    if (call.stream.log != nullptr)
      static_cast<Launches&>(*call.stream.log) = {.kernels = 2, .grid = 7, .block = 64};
  }));
  ASSERT_TRUE(record.launch);
  EXPECT_EQ(record.launch->grid, 7u);
  EXPECT_FALSE(run(variant(right_i32)).launch);
}

TEST_F(Execute, TheScratchMemoryThatAVariantAsksForIsRecorded) {
  Variant v = variant(right_i32);
  EXPECT_EQ(run(v).workspace_bytes, 0u);
  v.workspace = [](const Problem& p) { return Workspace{.device_bytes = 10 * p.n}; };
  EXPECT_EQ(run(v).workspace_bytes, 10 * point.n);
}

TEST_F(Execute, TheWidthOfALibrarysCountsIsRecordedWhereItRan) {
  Variant v = variant(right_i32);
  EXPECT_FALSE(run(v).count_bits);
  v.count_bits = [](const Problem& p) { return p.n > 0 ? 32u : 64u; };
  EXPECT_EQ(run(v).count_bits, 32u);
  v.count_bits = [](const Problem&) { return 0u; };  // none is called
  EXPECT_FALSE(run(v).count_bits);
  v.count_bits = [](const Problem&) { return 32u; };
  v.restriction = [](const Problem&) -> std::string { return "no"; };
  EXPECT_FALSE(run(v).count_bits);
}

TEST_F(Execute, MissesAreCountedOnceAfterTheTimedCalls) {
  device->counters = {{.name = "one", .count = 7},
                      {.name = "other", .unavailable = "no such counter"}};
  point.measurement = {.modes = {Mode::kHot, Mode::kCold}, .min_samples = 10, .max_samples = 10};
  const Record record = run(variant(right_i32));
  ASSERT_EQ(record.counters.size(), 2u);
  EXPECT_EQ(record.counters[0].count, 7u);
  EXPECT_EQ(record.counters[1].unavailable, "no such counter");
  EXPECT_EQ(device->counted, std::vector{Mode::kHot});
  EXPECT_EQ(record.timing.at(Mode::kHot).samples_ns.size(), 10u);
}

TEST_F(Execute, NothingIsCountedOfWhatIsNotTimed) {
  device->counters = {{.name = "one", .count = 7}};
  EXPECT_TRUE(run(variant(right_i32), {.timed = false}).counters.empty());
  EXPECT_TRUE(run(variant(wrong_i32)).counters.empty());
  EXPECT_TRUE(device->counted.empty());
}

TEST_F(Execute, WhatIsNotTimedIsCountedWhereThatIsAskedFor) {
  device->counters = {{.name = "one", .count = 7}};
  const Record record =
      run(variant(right_i32), {.timed = false, .profiled = true, .check_determinism = false});
  ASSERT_EQ(record.counters.size(), 1u);
  EXPECT_EQ(record.status, Status::kOk);
  EXPECT_TRUE(record.timing.empty());
  EXPECT_EQ(device->counted, std::vector{Mode::kCold});
  EXPECT_TRUE(run(variant(wrong_i32), {.timed = false, .profiled = true}).counters.empty());
}

TEST_F(Execute, ArraysLieOnThePagesAskedForAndWhatWasGrantedIsRecorded) {
  Variant v = variant(right_i32);
  v.workspace = [](const Problem&) { return Workspace{.device_bytes = 5'000'000}; };
  EXPECT_FALSE(run(v).pages);
  v.params = {pages_axis()};
  point.n = 1'000'000;  // 4 MB
  const Record small = run(v);
  EXPECT_FALSE(run(v, {.timed = false}).pages) << "looked up though nothing is timed";
  ASSERT_TRUE(small.pages);
  EXPECT_EQ(small.pages->bytes, (2 + 3 + 1) * kHugePageBytes);
  EXPECT_EQ(small.pages->huge_bytes.value_or(0), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen.input) % kHugePageBytes, 0u);
  v.params[0].default_value = "huge";
  const Record huge = run(v);
  EXPECT_EQ(huge.status, Status::kOk);
  ASSERT_TRUE(huge.pages);
  EXPECT_EQ(huge.pages->bytes, small.pages->bytes);
  EXPECT_LE(huge.pages->huge_bytes.value_or(0), huge.pages->bytes);
  if (const std::string why = why_no_huge_pages(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_GT(huge.pages->huge_bytes.value_or(0), 0u);
}

// ---- faults -----------------------------------------------------------------------------------

TEST_F(Execute, AFaultIsRecordedAndTheNextPointRuns) {
  const Record record = run(variant(throws));
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_FALSE(record.known_wrong);
  EXPECT_EQ(record.reason, "the kernel fell over");
  EXPECT_EQ(run(variant(right_i32)).status, Status::kOk);
}

TEST_F(Execute, AFaultWhileTimedTakesTheTimeAway) {
  point.measurement.modes = {Mode::kCold, Mode::kHot};
  const Record record = run(variant(at_first_right<kCallsBefore + 12, throws>));
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_TRUE(record.timing.empty());
}

TEST_F(Execute, ALostDeviceIsRecordedAndEndsTheSession) {
  run(variant(throws));
  EXPECT_FALSE(session->lost());
  const Record record = run(variant(loses_the_device));
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_EQ(record.reason, "gone");
  EXPECT_TRUE(session->lost());
}

TEST_F(Execute, AHostWithoutMemoryIsAFailure) {
  const Record record = run(variant([](const Call&) { throw std::bad_alloc(); }));
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_CONTAINS(record.reason, "asked for more host memory than there is");
}

TEST_F(Execute, RefusedMemoryIsAFailure) {
  const Record record = run(variant([](const Call&) { throw OutOfMemory("no room"); }));
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_EQ(record.reason, "no room");
}

// ---- documented defects -----------------------------------------------------------------------

std::optional<Defect> certain(const Problem&) { return Defect{.reason = "misses the tail"}; }
std::optional<Defect> possible(const Problem&) {
  return Defect{.reason = "races", .certain = false};
}
Variant defective(Enqueue enqueue, std::optional<Defect> (*defect)(const Problem&) = certain) {
  Variant v = variant(enqueue);
  v.defect = defect;
  return v;
}

TEST_F(Execute, ADocumentedWrongResultIsTimedAndMarked) {
  const Record record = run(defective(wrong_i32));
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_TRUE(record.known_wrong);
  EXPECT_FALSE(record.unexpected_wrong());
  EXPECT_CONTAINS(record.reason, "misses the tail (got ");
  EXPECT_EQ(record.timing.size(), 1u);
}

TEST_F(Execute, ARightResultWhereOneIsDocumentedAsWrongIsAnError) {
  expect_wrong_without_time(run(defective(right_i32)), "expected to be wrong as published");
}

TEST_F(Execute, ADefectThatThisInputMayHideIsNeverRanked) {
  const Record by_chance = run(defective(right_i32, possible));
  EXPECT_EQ(by_chance.status, Status::kWrong);
  EXPECT_TRUE(by_chance.known_wrong);
  EXPECT_CONTAINS(by_chance.reason, "races (this run happened to be right)");
  point.distribution.kind = Distribution::Kind::kZeros;
  EXPECT_TRUE(run(defective(right_i32)).known_wrong);
}

TEST_F(Execute, ADefectThatFaultsHasShownItself) {
  const Record record = run(defective(throws));
  EXPECT_EQ(record.status, Status::kFailed);
  EXPECT_TRUE(record.known_wrong);
  EXPECT_TRUE(record.timing.empty());
  EXPECT_EQ(record.reason, "misses the tail: the kernel fell over");
}

TEST_F(Execute, ADefectDoesNotExcuseWritingTheInput) {
  expect_wrong_without_time(run(defective(damages_input, possible)), "the input was modified");
}

// ---- what is skipped --------------------------------------------------------------------------

void expect_skipped(const Record& record, const std::string& reason) {
  EXPECT_EQ(record.status, Status::kSkipped);
  EXPECT_CONTAINS(record.reason, reason);
  EXPECT_TRUE(record.timing.empty());
  EXPECT_FALSE(record.verification);
  EXPECT_EQ(seen.calls, 0u);
}

TEST_F(Execute, WhatDoesNotFitIsSkippedWithBothNumbers) {
  device->available_bytes = 5'000'000;
  point.n = 2'000'000;
  Variant v = variant(right_i32);
  v.workspace = [](const Problem&) { return Workspace{.device_bytes = 1'000'000}; };
  expect_skipped(run(v), "needs 9.0 MB of memory, 5.0 MB are available on cpu");
}

/// Whose memory the first input fills.
class FillingDevice : public FakeDevice {
 public:
  std::size_t free_bytes() const override { return asked_++ == 0 ? 12'000'000 : 8'000'000; }

 private:
  mutable unsigned asked_ = 0;
};

TEST_F(Execute, WhatNeedsATwinThatDoesNotFitIsSkippedWithBothNumbers) {
  session.emplace(std::make_unique<FillingDevice>());
  point.n = 1'000'000;
  point.type = Type::kF32;
  point.distribution = {.kind = Distribution::Kind::kCancelling, .condition = 1e6};
  Variant v = variant(right_f32, Type::kF32);
  v.workspace = [](const Problem&) { return Workspace{.device_bytes = 7'000'000}; };
  expect_skipped(run(v),
                 "needs 11.0 MB of memory to be verified on a second input, too, 8.0 MB are "
                 "available on cpu");
}

TEST_F(Execute, WhatAVariantDoesNotProvideIsSkipped) {
  point.op = Op::kMax;
  expect_skipped(run(variant(right_i32)), "made-up/sum does not provide max on i32");
  point.op = Op::kSum;
  Variant v = variant(right_i32);
  v.params = {{"block", "63", {"64", "128"}, "threads"}};
  expect_skipped(run(v), "does not provide block=63: allowed are 64, 128");
  v.params = {{"sort", "library", {"suite", "library"}, "whose sort", {"library"}}};
  expect_skipped(run(v), "sort=library calls a library that runs on cuda alone");
  v.params.clear();
  v.restriction = [](const Problem& p) { return "n = " + std::to_string(p.n) + " is odd"; };
  expect_skipped(run(v), "n = 1000 is odd");
}

TEST_F(Execute, AnInputThatTheOperatorCannotTakeIsSkipped) {
  point.type = Type::kF32;
  point.op = Op::kProd;
  point.distribution.kind = Distribution::Kind::kNormal;
  Variant v = variant(right_i32);
  v.enqueue[index_of(Type::kF32)][index_of(Op::kProd)] = right_f32;
  expect_skipped(run(v), "a float product of 'normal' values");
}

TEST_F(Execute, AVariantOfAnotherBuildIsSkipped) {
  CatalogEntry entry{.variant = variant(right_i32)};
  point.entry = &entry;
  expect_skipped(session->execute(point), "needs the cpu backend, which this build lacks");
}

TEST_F(Execute, APointWithNoneOfItsModesIsSkipped) {
  device->modes.clear();
  const Record record = run(variant(right_i32));
  EXPECT_EQ(record.status, Status::kSkipped);
  EXPECT_CONTAINS(record.reason, "none of the modes asked for on cpu");
}

// ---- rounds -----------------------------------------------------------------------------------

TEST_F(Execute, RoundsOfAPointAddUp) {
  Record first = run(variant(right_i32), {.budget_share = 0.5});
  const std::size_t samples = first.timing.at(Mode::kCold).samples_ns.size();
  first.merge(run(variant(right_i32), {.budget_share = 0.5}));
  EXPECT_EQ(first.status, Status::kOk);
  EXPECT_EQ(first.timing.at(Mode::kCold).samples_ns.size(), 2 * samples);
}

TEST_F(Execute, AWrongRoundCondemnsThePoint) {
  for (const bool wrong_first : {false, true}) {
    Record record = run(variant(wrong_first ? wrong_i32 : right_i32));
    record.merge(run(variant(wrong_first ? right_i32 : wrong_i32)));
    expect_wrong_without_time(record, "got ");
    EXPECT_FALSE(record.verification->passed_before);
  }
}

TEST_F(Execute, ADocumentedDefectDoesNotExcuseAnotherRound) {
  Record known = run(defective(wrong_i32));
  known.merge(run(defective(damages_input, possible)));
  expect_wrong_without_time(known, "the input was modified");

  Record faulted = run(defective(throws));
  faulted.merge(run(defective(wrong_i32)));
  EXPECT_EQ(faulted.status, Status::kFailed);
  EXPECT_TRUE(faulted.timing.empty());
}

}  // namespace
}  // namespace reduce_bench
