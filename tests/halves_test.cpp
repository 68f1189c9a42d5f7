// Halves: their conversions, the values made of them, and what is expected of their reductions.
#include "kernels/api/halves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "common/inputs.hpp"
#include "expect_error.hpp"
#include "point/oracle.hpp"

namespace reduce_bench {
namespace {

/// The value of the bits, by the definition of such formats.
template <class T>
double by_definition(std::uint16_t bits) {
  const int fraction_bits = T::kDigits - 1, exponents = 1 << (15 - fraction_bits);
  const int field = (bits & 0x7fff) >> fraction_bits, bias = exponents / 2 - 1;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (field == exponents - 1)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  const int digits = field == 0 ? fraction : fraction + (1 << fraction_bits);
  return sign * std::ldexp(digits, std::max(field, 1) - bias - fraction_bits);
}

template <class T>
class Halves : public testing::Test {};
using Types = testing::Types<F16, Bf16>;
TYPED_TEST_SUITE(Halves, Types);

TYPED_TEST(Halves, AreTheFloatsOfTheirFormat) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const TypeParam half{static_cast<std::uint16_t>(bits)};
    const double expected = by_definition<TypeParam>(half.bits);
    const float value = to_float(half);
    ASSERT_EQ(std::isnan(value), std::isnan(expected)) << bits;
    if (std::isnan(expected)) continue;
    ASSERT_EQ(double{value}, expected) << bits;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    ASSERT_EQ(nearest<TypeParam>(value).bits, bits);
  }
  EXPECT_TRUE(std::isnan(to_float(nearest<TypeParam>(NAN))));
}

TYPED_TEST(Halves, AreTheNearestOfAFloat) {
  // Between neighbours, the middle goes to the even one, and what is nearer to either to that.
  for (unsigned bits = 0; bits + 1 < TypeParam::kInfinity; ++bits) {
    const TypeParam low{static_cast<std::uint16_t>(bits)};
    const TypeParam high{static_cast<std::uint16_t>(bits + 1)};
    const auto middle = static_cast<float>((double{to_float(low)} + to_float(high)) / 2);
    ASSERT_EQ(nearest<TypeParam>(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(nearest<TypeParam>(std::nextafter(middle, 0.0f)).bits, bits);
    ASSERT_EQ(nearest<TypeParam>(std::nextafter(middle, INFINITY)).bits, bits + 1);
    ASSERT_EQ(nearest<TypeParam>(-middle).bits, 0x8000 | (bits % 2 == 0 ? bits : bits + 1));
  }
  EXPECT_EQ(nearest<TypeParam>(std::numeric_limits<float>::max()).bits, TypeParam::kInfinity);
  EXPECT_EQ(nearest<TypeParam>(-INFINITY).bits, 0x8000 | TypeParam::kInfinity);
}

TEST(HalvesOfSixteenBits, OverflowHalfWayBeyondTheLargest) {
  EXPECT_EQ(to_float(nearest<F16>(65519.99f)), 65504);
  EXPECT_EQ(nearest<F16>(65520.0f).bits, F16::kInfinity);
}

template <class T>
std::vector<T> halves_of(Distribution::Kind kind, Op op, std::size_t n, bool twin = false) {
  const InputKey key{
      .distribution = {.kind = kind}, .type = kTypeOf<T>, .op = op, .n = n, .seed = 4};
  const HostArray array = twin ? generate_twin(key) : generate(key);
  std::vector<T> values(n);
  if (n > 0) std::memcpy(values.data(), array.data(), n * sizeof(T));
  return values;
}

TYPED_TEST(Halves, FillTheUnitIntervalWithAllTheirDigits) {
  float least = 1, greatest = 0;
  for (const TypeParam half : halves_of<TypeParam>(Distribution::Kind::kUniform, Op::kSum, 20000)) {
    const float scaled = std::ldexp(to_float(half), TypeParam::kDigits);
    ASSERT_EQ(scaled, std::trunc(scaled));
    least = std::min(least, to_float(half));
    greatest = std::max(greatest, to_float(half));
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, 1 - std::ldexp(1.0f, -TypeParam::kDigits));
}

TYPED_TEST(Halves, AreExtremeWithoutOverflowOfTheirSum) {
  constexpr auto kKind = Distribution::Kind::kExtremes;
  float greatest = 0;
  for (const TypeParam half : halves_of<TypeParam>(kKind, Op::kSum, 1000))
    greatest = std::max(greatest, to_float(half));
  EXPECT_LE(greatest * 0x1p33f, std::numeric_limits<float>::max());
  EXPECT_GE(greatest, 65504);
  const auto ordered = halves_of<TypeParam>(kKind, Op::kMax, 1000);
  EXPECT_TRUE(std::any_of(ordered.begin(), ordered.end(),
                          [](TypeParam half) { return std::isinf(to_float(half)); }));
}

TYPED_TEST(Halves, OfATwinAreOddIntegersOfEitherSign) {
  constexpr int kLargest = 1 << std::min(10, TypeParam::kDigits);
  int greatest = 0;
  for (const TypeParam half :
       halves_of<TypeParam>(Distribution::Kind::kUniform, Op::kSum, 1000, true)) {
    const auto value = static_cast<int>(to_float(half));
    ASSERT_EQ(to_float(half), static_cast<float>(value));
    ASSERT_NE(value % 2, 0);
    greatest = std::max(greatest, std::abs(value));
  }
  EXPECT_LT(greatest, kLargest);
  EXPECT_GT(greatest, kLargest / 2);
}

TYPED_TEST(Halves, AreReducedAsTheFloatsThatTheyAre) {
  for (const Op op : {Op::kSum, Op::kMin, Op::kMax})
    for (const std::size_t n : {0u, 1u, 100003u}) {
      const auto halves = halves_of<TypeParam>(Distribution::Kind::kNormal, op, n);
      std::vector<float> floats;
      for (const TypeParam half : halves) floats.push_back(to_float(half));
      const auto bytes = [](const auto& x) { return reinterpret_cast<const std::byte*>(x.data()); };
      const Reference of_floats = reference(Type::kF32, op, bytes(floats), n);
      const Expected expected =
          expected_of({.type = kTypeOf<TypeParam>, .op = op, .n = n, .values = bytes(halves)});
      EXPECT_EQ(expected.results.extent.type, Type::kF32);
      EXPECT_EQ(expected.results.at(0).bits, of_floats.expected.bits) << n;
      EXPECT_EQ(expected.results.bound_at(0, 20), error_bound(of_floats, 20)) << n;
    }
}

TEST(HalvesOfSixteenBits, AreValuesOfAReduceByThreeOperatorsAlone) {
  for (const Type type : {Type::kF16, Type::kBf16}) {
    EXPECT_TRUE(defined_on(Operation::kReduce, Op::kMax, type));
    EXPECT_FALSE(defined_on(Operation::kReduce, Op::kProd, type));
    EXPECT_FALSE(defined_on(Operation::kMultireduce, Op::kSum, type));
    EXPECT_FALSE(defined_on(Operation::kGather, Op::kNone, type));
    EXPECT_CONTAINS(unsuited({.kind = Distribution::Kind::kCancelling}, Op::kSum, type),
                    "need more digits than those of " + std::string(name_of(type)));
  }
}

}  // namespace
}  // namespace reduce_bench
