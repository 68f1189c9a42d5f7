// Reference results against hand-made cases and naive definitions, and the bound on the error.
#include "point/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "common/inputs.hpp"

namespace reduce_bench {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Reference reference_of(Op op, const std::vector<T>& x) {
  return reference(kTypeOf<T>, op, reinterpret_cast<const std::byte*>(x.data()), x.size());
}

template <class T>
T value_of(const Scalar& scalar) {
  T value;
  std::memcpy(&value, &scalar.bits, sizeof(T));
  return value;
}

template <class T>
T result_of(Op op, const std::vector<T>& x) {
  return value_of<T>(reference_of(op, x).expected);
}

template <class T>
Scalar scalar(T value) {
  return Scalar::load(kTypeOf<T>, &value);
}

template <class T>
std::vector<T> random_input(Op op, std::size_t n) {
  const HostArray array = generate({.type = kTypeOf<T>, .op = op, .n = n, .seed = 5});
  std::vector<T> x(n);
  std::memcpy(x.data(), array.data(), n * sizeof(T));
  return x;
}

constexpr std::size_t kSeveralChunks = 200003;

// ---- correctly rounded sums -------------------------------------------------------------------

template <class T>
std::uint64_t bits_of_exact(const std::vector<T>& x) {
  return correctly_rounded_sum(kTypeOf<T>, reinterpret_cast<const std::byte*>(x.data()), x.size())
      .bits;
}
template <class T>
void expect_exact(const std::vector<T>& x, T expected) {
  EXPECT_EQ(bits_of_exact(x), scalar(expected).bits) << expected;
}

TEST(ExactSum, KeepsWhatCancellationLeaves) {
  expect_exact<double>({1, 1e100, 1, -1e100}, 2);
  expect_exact<float>({3e38f, 1e-45f, 3e38f, -3e38f, -3e38f}, 1e-45f);
  // In 106 digits nothing of the small ones is left.
  expect_exact<double>({0x1p1023, 0x1p500, 3, 0x1p-1074, -0x1p500, -0x1p1023, -3}, 0x1p-1074);
  expect_exact<double>({0x1p1023, 1, -0x1p1023, 0x1p-1074}, 1);
}

TEST(ExactSum, RoundsOnceToTheNearestOfTwoToTheEvenOne) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  expect_exact<float>({1, 0x1p-24f, kTiny}, 1 + 0x1p-23f);
  expect_exact<float>({1, 0x1p-24f, -kTiny}, 1);
  expect_exact<float>({1, 0x1p-24f}, 1);
  expect_exact<float>({1 + 0x1p-23f, 0x1p-24f}, 1 + 0x1p-22f);
  expect_exact<float>({-1, -0x1p-24f, -kTiny}, -1 - 0x1p-23f);
  expect_exact<float>({2 - 0x1p-23f, 0x1p-24f}, 2);  // a carry into the next exponent
  expect_exact<double>({1, 0x1p-53, 0x1p-1074}, 1 + 0x1p-52);
  expect_exact<double>({1, 0x1p-53, -0x1p-1074}, 1);
  // Sums below the normal numbers have no digit to lose.
  expect_exact<float>({0x1p-126f, -kTiny}, 0x1p-126f - kTiny);
  expect_exact<double>({0x1p-1022, -0x1p-1074}, 0x1p-1022 - 0x1p-1074);
}

TEST(ExactSum, OverflowsOnlyAtTheEnd) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kHuge = std::numeric_limits<double>::infinity();
  expect_exact<double>({kMax, kMax, -kMax}, kMax);
  expect_exact<double>({kMax, kMax}, kHuge);
  // Half of a unit in the last place more is the first to round to infinity.
  expect_exact<double>({kMax, 0x1p970}, kHuge);
  expect_exact<double>({kMax, 0x1p970, -0x1p-1074}, kMax);
  expect_exact<double>({-kMax, -0x1p970}, -kHuge);
}

TEST(ExactSum, TreatsSpecialValuesAsIeeeSumsDo) {
  expect_exact<float>({kInf, 1, 3e38f}, kInf);
  expect_exact<float>({1, -kInf, -kInf}, -kInf);
  expect_exact<float>({kInf, -kInf}, kNan);
  expect_exact<float>({1, -kNan}, kNan);
  expect_exact<float>({kInf, kNan}, kNan);
  expect_exact<float>({-0.0f, -0.0f}, -0.0f);
  expect_exact<float>({-0.0f, 0.0f}, 0.0f);
  expect_exact<float>({1, -1}, 0.0f);
  expect_exact<float>({-0.0f, 1, -1}, 0.0f);
  expect_exact<float>({}, 0.0f);
}

TEST(ExactSum, AgreesWithIntegersOverManyChunks) {
  const auto x = random_input<float>(Op::kSum, kSeveralChunks);
  std::int64_t sum = 0;  // multiples of 2^-24
  for (const float value : x) sum += static_cast<std::int64_t>(std::ldexp(value, 24));
  expect_exact(x, static_cast<float>(std::ldexp(static_cast<float>(sum), -24)));
}

// ---- float sums -------------------------------------------------------------------------------

TEST(FloatSum, SurvivesCancellation) {
  EXPECT_EQ(result_of<double>(Op::kSum, {1e16, 1, -1e16}), 1);
  EXPECT_EQ(result_of<double>(Op::kSum, {1, 1e100, 1, -1e100}), 2);
  EXPECT_EQ(result_of<float>(Op::kSum, {1e8f, 1e-8f, -1e8f}), 1e-8f);
}

TEST(FloatSum, RoundsToFloatOnce) {
  // Just above, just below, and on the middle of two floats: through double all three would tie.
  EXPECT_EQ(result_of<float>(Op::kSum, {1, 0x1p-24f, 0x1p-60f}), 1 + 0x1p-23f);
  EXPECT_EQ(result_of<float>(Op::kSum, {1, 0x1p-24f, -0x1p-60f}), 1.0f);
  EXPECT_EQ(result_of<float>(Op::kSum, {1, 0x1p-24f}), 1.0f);
  EXPECT_EQ(result_of<float>(Op::kSum, {1 + 0x1p-23f, 0x1p-24f, -0x1p-60f}), 1 + 0x1p-23f);
  EXPECT_EQ(result_of<float>(Op::kSum, {1 + 0x1p-23f, 0x1p-24f}), 1 + 0x1p-22f);
  EXPECT_EQ(result_of<float>(Op::kSum, {-1, -0x1p-24f, -0x1p-60f}), -1 - 0x1p-23f);
}

TEST(FloatSum, IsExactOverManyChunks) {
  const std::vector<float> tenths(1000000, 0.1f);
  const double exact = 1e6 * static_cast<double>(0.1f);  // 24 + 20 bits: no rounding
  EXPECT_EQ(result_of(Op::kSum, tenths), static_cast<float>(exact));
  EXPECT_DOUBLE_EQ(reference_of(Op::kSum, tenths).magnitude, exact);
}

TEST(FloatSum, ConditionIsMagnitudeOverSum) {
  const Reference r = reference_of<double>(Op::kSum, {3, -1});
  EXPECT_EQ(r.magnitude, 4);
  EXPECT_EQ(r.condition(), 2.0);
  EXPECT_EQ(reference_of<double>(Op::kSum, {1, -1}).condition(), std::nullopt);
  EXPECT_EQ(reference_of<std::int32_t>(Op::kSum, {1, 2}).condition(), std::nullopt);
}

TEST(FloatSum, IsExactWhileEveryPartialSumIsRepresentable) {
  EXPECT_TRUE(reference_of<float>(Op::kSum, {16777215, 1}).exact);
  EXPECT_FALSE(reference_of<float>(Op::kSum, {16777215, 1, 1}).exact);
  EXPECT_FALSE(reference_of<float>(Op::kSum, {16777215, 1, -1}).exact);
  EXPECT_TRUE(reference_of<double>(Op::kSum, {16777215, 1, 1}).exact);
  // In units of an eighth the limit is 2^21.
  EXPECT_TRUE(reference_of<float>(Op::kSum, {0.125f, 2097151.875f}).exact);
  EXPECT_FALSE(reference_of<float>(Op::kSum, {0.125f, 2097151.875f, 0.125f}).exact);
  // Where a subnormal number may appear, a GPU's atomics may flush it.
  EXPECT_FALSE(reference_of<float>(Op::kSum, {0x1p-149f}).exact);
  EXPECT_FALSE(reference_of<float>(Op::kSum, {0x1.8p-126f}).exact);
  EXPECT_TRUE(reference_of<float>(Op::kSum, {0x1p-126f, -0x1p-125f}).exact);
  EXPECT_TRUE(reference_of<double>(Op::kSum, {0x1p-1074}).exact);
  const Reference subnormal = reference_of<float>(Op::kSum, {0x1p-127f});
  EXPECT_GE(error_bound(subnormal, 1), 0x1p-127);
  EXPECT_LE(error_bound(subnormal, 1), 0x1p-124);
  EXPECT_TRUE(reference_of<float>(Op::kSum, {0, 0, 0}).exact);
  EXPECT_TRUE(reference_of<float>(Op::kSum, {}).exact);
}

TEST(FloatProduct, IsExactForSmallIntegers) {
  const Reference r = reference_of<float>(Op::kProd, {3, -1, 3, -1, -1});
  EXPECT_EQ(value_of<float>(r.expected), -9);
  EXPECT_TRUE(r.exact);
  EXPECT_FALSE(reference_of<float>(Op::kProd, {0.5f, 3}).exact);
  EXPECT_FALSE(reference_of<float>(Op::kProd, {4097, 4097}).exact);
  EXPECT_TRUE(reference_of<float>(Op::kProd, {0, 4097, 4097}).exact);
}

// ---- exact operators --------------------------------------------------------------------------

TEST(IntegerOracle, ArithmeticWraps) {
  constexpr auto kMost32 = std::numeric_limits<std::int32_t>::max();
  constexpr auto kLeast32 = std::numeric_limits<std::int32_t>::min();
  constexpr auto kMost64 = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(result_of<std::int32_t>(Op::kSum, {kMost32, 1}), kLeast32);
  EXPECT_EQ(result_of<std::int32_t>(Op::kSum, {kLeast32, -1}), kMost32);
  EXPECT_EQ(result_of<std::int64_t>(Op::kSum, {kMost64, kMost64}), -2);
  EXPECT_EQ(result_of<std::int32_t>(Op::kProd, {65536, 65537}), 65536);
  EXPECT_EQ(
      result_of<std::int64_t>(Op::kProd, {std::int64_t{1} << 32, (std::int64_t{1} << 32) + 3}),
      std::int64_t{3} << 32);
}

/// The definition, one element after the other.
template <class T>
void expect_agreement_with_a_loop(Op op, T neutral, T (*f)(T, T)) {
  const std::vector<T> x = random_input<T>(op, kSeveralChunks);
  EXPECT_EQ(result_of(op, x), std::accumulate(x.begin(), x.end(), neutral, f)) << name_of(op);
}

template <class T>
void expect_agreement_with_loops() {
  using U = std::make_unsigned_t<T>;
  expect_agreement_with_a_loop<T>(Op::kSum, 0, [](T a, T b) { return T(U(a) + U(b)); });
  expect_agreement_with_a_loop<T>(Op::kProd, 1, [](T a, T b) { return T(U(a) * U(b)); });
  expect_agreement_with_a_loop<T>(Op::kAnd, -1, [](T a, T b) { return a & b; });
  expect_agreement_with_a_loop<T>(Op::kOr, 0, [](T a, T b) { return a | b; });
  expect_agreement_with_a_loop<T>(Op::kXor, 0, [](T a, T b) { return a ^ b; });
  expect_agreement_with_a_loop<T>(Op::kMin, std::numeric_limits<T>::max(),
                                  [](T a, T b) { return b < a ? b : a; });
  expect_agreement_with_a_loop<T>(Op::kMax, std::numeric_limits<T>::min(),
                                  [](T a, T b) { return a < b ? b : a; });
}

TEST(IntegerOracle, AgreesWithALoop32) { expect_agreement_with_loops<std::int32_t>(); }
TEST(IntegerOracle, AgreesWithALoop64) { expect_agreement_with_loops<std::int64_t>(); }

TEST(Oracle, OfNothingIsTheNeutralElement) {
  EXPECT_EQ(result_of<std::int32_t>(Op::kMin, {}), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(result_of<std::int64_t>(Op::kMax, {}), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(result_of<float>(Op::kMin, {}), kInf);
  EXPECT_EQ(result_of<double>(Op::kMax, {}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(result_of<float>(Op::kSum, {}), 0.0f);
  EXPECT_EQ(result_of<double>(Op::kProd, {}), 1.0);
  EXPECT_EQ(result_of<std::int32_t>(Op::kProd, {}), 1);
  EXPECT_EQ(result_of<std::int32_t>(Op::kAnd, {}), -1);
  EXPECT_EQ(result_of<std::int32_t>(Op::kOr, {}), 0);
  EXPECT_EQ(result_of<std::int64_t>(Op::kXor, {}), 0);
  EXPECT_EQ(result_of<std::int32_t>(Op::kRight, {}), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(result_of<std::int64_t>(Op::kAffine, {}), std::int64_t{1} << 32);
}

TEST(Oracle, MinAndMaxOfFloatsReachInfinity) {
  EXPECT_EQ(result_of<float>(Op::kMin, {3, -kInf, 5}), -kInf);
  EXPECT_EQ(result_of<float>(Op::kMax, {-3, -5}), -3);
}

TEST(OrderedOracle, RightIsTheLastThatIsNotNeutral) {
  constexpr std::int32_t kNeutral = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(result_of<std::int32_t>(Op::kRight, {7, kNeutral, 8, kNeutral, kNeutral}), 8);
  EXPECT_EQ(result_of<std::int32_t>(Op::kRight, {7, 8, 9}), 9);
  EXPECT_EQ(result_of<std::int32_t>(Op::kRight, {kNeutral, kNeutral}), kNeutral);
  expect_agreement_with_a_loop<std::int32_t>(
      Op::kRight, kNeutral, [](std::int32_t a, std::int32_t b) { return b == kNeutral ? a : b; });
}

TEST(OrderedOracle, AffineComposesInOrder) {
  const auto map = [](std::uint32_t m, std::uint32_t c) {
    return static_cast<std::int64_t>(std::uint64_t{m} << 32 | c);
  };
  // First x + 5, then 3 x: 3 x + 15; the other way round 3 x + 5.
  EXPECT_EQ(result_of<std::int64_t>(Op::kAffine, {map(1, 5), map(3, 0)}), map(3, 15));
  EXPECT_EQ(result_of<std::int64_t>(Op::kAffine, {map(3, 0), map(1, 5)}), map(3, 5));
  EXPECT_EQ(result_of<std::int64_t>(Op::kAffine, {map(0x80000001u, 1), map(2, 0xffffffffu)}),
            map(2, 1));
  expect_agreement_with_a_loop<std::int64_t>(
      Op::kAffine, std::int64_t{1} << 32, [](std::int64_t a, std::int64_t b) {
        const auto ma = static_cast<std::uint32_t>(a >> 32), ca = static_cast<std::uint32_t>(a);
        const auto mb = static_cast<std::uint32_t>(b >> 32), cb = static_cast<std::uint32_t>(b);
        return static_cast<std::int64_t>(std::uint64_t{mb * ma} << 32 |
                                         static_cast<std::uint32_t>(mb * ca + cb));
      });
}

TEST(Oracle, AnOperatorOutsideItsTypesIsAnError) {
  EXPECT_THROW(reference_of<float>(Op::kXor, {1}), std::logic_error);
  EXPECT_THROW(reference_of<std::int64_t>(Op::kRight, {1}), std::logic_error);
}

// ---- the error bound --------------------------------------------------------------------------

Reference inexact(Type type, double magnitude, double expected) {
  Reference r{.magnitude = magnitude, .exact = false};
  r.expected = type == Type::kF32 ? scalar(static_cast<float>(expected)) : scalar(expected);
  return r;
}

TEST(ErrorBound, IsGammaTimesMagnitudePlusOneRounding) {
  constexpr double u32 = 0x1p-24, u64 = 0x1p-53;
  EXPECT_DOUBLE_EQ(error_bound(inexact(Type::kF32, 100, 50), 10),
                   10 * u32 / (1 - 10 * u32) * 100 + u32 * 50);
  EXPECT_DOUBLE_EQ(error_bound(inexact(Type::kF64, 8, -4), 1000),
                   1000 * u64 / (1 - 1000 * u64) * 8 + u64 * 4);
  EXPECT_EQ(error_bound(inexact(Type::kF32, 100, 50), 0), u32 * 50);
}

TEST(ErrorBound, IsZeroWhereNothingMayRound) {
  EXPECT_EQ(error_bound(reference_of<std::int32_t>(Op::kSum, {1, 2}), 1u << 30), 0.0);
  EXPECT_EQ(error_bound(reference_of<float>(Op::kMax, {1, 2}), 1u << 30), 0.0);
  EXPECT_EQ(error_bound(reference_of<float>(Op::kSum, {1, 2}), 1u << 30), 0.0);
}

TEST(ErrorBound, IsThatOfEveryRoundingUpwardsWhereGammaHasNoMeaning) {
  constexpr double u = 0x1p-24;
  const Reference r = inexact(Type::kF32, 100, 50);
  for (const std::uint64_t depth : {1u << 23, 1u << 24, 1u << 26}) {
    const double growth = std::pow(1 + u, static_cast<double>(depth)) - 1;
    EXPECT_GE(error_bound(r, depth), growth * 100 + u * 50);
    EXPECT_LE(error_bound(r, depth), 2 * (growth * 100 + u * 50));
  }
  EXPECT_LT(error_bound(r, (1u << 23) + 1), error_bound(r, 1u << 24));
}

TEST(ErrorBound, HoldsForALoopThatRoundsEveryTime) {
  const std::vector<float> x = random_input<float>(Op::kSum, 4096);
  const Reference r = reference_of(Op::kSum, x);
  const float loop = std::accumulate(x.begin(), x.end(), 0.0f);
  const Comparison c = compare(r, scalar(loop), error_bound(r, x.size()));
  EXPECT_TRUE(c.passed);
  EXPECT_GT(c.error_abs, 0);  // else the input proves nothing
}

// ---- comparing --------------------------------------------------------------------------------

template <class T>
Reference expecting(T value) {
  return {.expected = scalar(value)};
}

TEST(Compare, PassesUpToTheBound) {
  const Reference r = expecting(1000.0f);
  EXPECT_TRUE(compare(r, scalar(1000.5f), 0.5).passed);
  EXPECT_TRUE(compare(r, scalar(999.5f), 0.5).passed);
  EXPECT_FALSE(compare(r, scalar(1000.5f), 0.49).passed);
  EXPECT_FALSE(compare(r, scalar(std::nextafter(1000.0f, 2000.0f)), 0).passed);
}

TEST(Compare, NanNeverPasses) {
  for (const double bound : {0.0, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(compare(expecting(1.0f), scalar(kNan), bound).passed);
    EXPECT_FALSE(compare(expecting(kInf), scalar(kNan), bound).passed);
    EXPECT_FALSE(compare(expecting(kNan), scalar(kNan), bound).passed);
  }
}

TEST(Compare, InfinityAgreesWithItselfAlone) {
  EXPECT_TRUE(compare(expecting(kInf), scalar(kInf), 0).passed);
  EXPECT_FALSE(compare(expecting(kInf), scalar(-kInf), 1e300).passed);
  EXPECT_FALSE(compare(expecting(kInf), scalar(1.0f), 1e300).passed);
  EXPECT_FALSE(compare(expecting(1.0f), scalar(kInf), 1e300).passed);
}

TEST(Compare, BothZerosAreOne) {
  EXPECT_TRUE(compare(expecting(0.0f), scalar(-0.0f), 0).passed);
  EXPECT_TRUE(compare(expecting(-0.0), scalar(0.0), 0).passed);
}

TEST(Compare, IntegersAgreeBitByBit) {
  EXPECT_TRUE(compare(expecting<std::int32_t>(-5), scalar<std::int32_t>(-5), 0).passed);
  EXPECT_FALSE(compare(expecting<std::int32_t>(-5), scalar<std::int32_t>(-4), 0).passed);
  // Two integers that are one double.
  const std::int64_t large = std::int64_t{1} << 60;
  const Comparison c = compare(expecting(large), scalar(large + 1), 0);
  EXPECT_FALSE(c.passed);
  EXPECT_GT(c.error_abs, 0);
}

TEST(Compare, ErrorIsToldInEveryUnit) {
  const Comparison c = compare(expecting(8.0f), scalar(8.0f + 3 * 0x1p-20f), 1);
  EXPECT_EQ(c.error_abs, 3 * 0x1p-20);
  EXPECT_EQ(c.error_relative, 3 * 0x1p-23);
  EXPECT_EQ(c.error_ulp, 3.0);
  EXPECT_EQ(compare(expecting(8.0), scalar(8.0 + 0x1p-49), 1).error_ulp, 1.0);
  const Comparison of_zero = compare(expecting(0.0f), scalar(0x1p-149f), 1);
  EXPECT_EQ(of_zero.error_relative, std::nullopt);
  EXPECT_EQ(of_zero.error_ulp, 1.0);
  EXPECT_EQ(compare(expecting<std::int32_t>(4), scalar<std::int32_t>(5), 0).error_relative, 0.25);
  EXPECT_EQ(compare(expecting<std::int32_t>(4), scalar<std::int32_t>(5), 0).error_ulp,
            std::nullopt);
}

TEST(Scalar, ReadsBackAsTextAndDouble) {
  EXPECT_EQ(scalar<std::int32_t>(-7).to_text(), "-7");
  EXPECT_EQ(scalar<std::int32_t>(-7).bits >> 32, 0u);
  EXPECT_EQ(scalar(0.1f).to_text(), "0.1");
  EXPECT_EQ(scalar(kNan).to_text(), "nan");
  EXPECT_EQ(scalar(0.25).as_double(), 0.25);
}

}  // namespace
}  // namespace reduce_bench
