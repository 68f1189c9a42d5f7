// Exact sums in fixed point, digit by digit.
#include "kernels/shared/fixed_point.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/multireduce/partition/fixed_table.hpp"

namespace reduce_bench::emu {
namespace {

template <class T>
class Number {
 public:
  void add(T value) {
    special_ |= FixedPoint<T>::special_of(value);
    FixedPoint<T>::add(words_.data(), 1, value);
  }
  void add_amount(unsigned position, long long amount) {
    FixedPoint<T>::add_amount(words_.data(), position, amount);
  }
  unsigned special() const { return special_; }
  T rounded() const {
    auto words = words_;
    return FixedPoint<T>::round(words.data(), 0, static_cast<unsigned>(words.size()), T{0});
  }

 private:
  std::array<long long, FixedPoint<T>::kWords + 3> words_{};
  unsigned special_ = 0;
};

template <class T>
using Bits = typename FloatFormat<T>::Bits;

template <class T>
class FixedPointOf : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FixedPointOf, Floats);

/// Of every exponent the least, the largest, and some between: a word that is left out, of any
/// place, loses digits of some of them.
template <class T>
std::vector<T> values_of_every_exponent() {
  constexpr auto kFraction = static_cast<unsigned>(FloatFormat<T>::kFraction);
  std::mt19937_64 random(1);
  std::vector<T> values;
  for (Bits<T> field = 0; field < FloatFormat<T>::kSpecial; ++field)
    for (const Bits<T> fraction :
         {Bits<T>{1}, (Bits<T>{1} << kFraction) - 1,
          static_cast<Bits<T>>(random() & ((std::uint64_t{1} << kFraction) - 1))})
      values.push_back(std::bit_cast<T>(static_cast<Bits<T>>(field << kFraction | fraction)));
  return values;
}

TEST(FloatWindow, HasItsExponentsAndNoInfinityNanZeroOrDenormalValue) {
  using Format = FloatFormat<float>;
  for (const unsigned largest : {0u, 1u, 20u, 127u, Format::kSpecial - 1}) {
    const auto window = FloatWindow<float>::around(largest, 2, 17);
    unsigned inside = 0;
    for (unsigned field = 0; field <= Format::kSpecial; ++field)
      for (const unsigned sign : {0u, 1u << 31}) {
        const unsigned bits = sign | field << Format::kFraction | 5;
        if (!window.has(bits)) continue;
        ++inside;
        EXPECT_EQ(std::ldexp(static_cast<double>(window.amount(bits)),
                             static_cast<int>(window.unit()) + Format::kLeastExponent),
                  std::bit_cast<float>(bits));
      }
    EXPECT_EQ(inside, 2 * 18u);
    if (largest > 0) {
      EXPECT_TRUE(window.has(largest << Format::kFraction));
    }
    EXPECT_FALSE(window.has(0));
    EXPECT_FALSE(window.has(1));
    EXPECT_FALSE(window.has(Format::kSpecial << Format::kFraction));
    EXPECT_FALSE(window.has(Format::kSpecial << Format::kFraction | 1));
  }
}

TEST(FloatWindow, NoSumOfAPartitionOverflows) {
  for (const std::uint64_t inputs : {1ull, 2ull, 3ull, 1023ull, 1024ull, 1025ull, (1ull << 26) + 1,
                                     1ull << 31, (1ull << 32) - 1}) {
    const unsigned shift =
        partition_multireduce::FixedTable::most_shift_for(static_cast<Count>(inputs));
    const double most = std::ldexp(1 - std::ldexp(1.0, -24), 24 + static_cast<int>(shift));
    EXPECT_LT(most * static_cast<double>(inputs), std::ldexp(1.0, 63)) << inputs;
    EXPECT_GE(most * static_cast<double>(inputs), std::ldexp(1.0, 60)) << inputs;
  }
}

TYPED_TEST(FixedPointOf, OneValueIsItself) {
  for (const TypeParam value : values_of_every_exponent<TypeParam>())
    for (const TypeParam x : {value, -value}) {
      Number<TypeParam> number;
      number.add(x);
      EXPECT_EQ(number.rounded(), x);
    }
}

TYPED_TEST(FixedPointOf, AValueRemainsWhenAllOthersCancel) {
  const auto values = values_of_every_exponent<TypeParam>();
  Number<TypeParam> all;
  for (const TypeParam value : values) all.add(value);
  for (const TypeParam value : values) {
    Number<TypeParam> number = all;
    for (const TypeParam other : values)
      if (other != value) number.add(-other);
    EXPECT_EQ(number.rounded(), value);
  }
}

TYPED_TEST(FixedPointOf, OppositesLeaveThePositiveZero) {
  for (const TypeParam value : values_of_every_exponent<TypeParam>()) {
    Number<TypeParam> number;
    number.add(value);
    number.add(-value);
    EXPECT_EQ(std::bit_cast<Bits<TypeParam>>(number.rounded()), 0u);
  }
}

TYPED_TEST(FixedPointOf, SumsOfTwoAreThoseOfIeee) {
  std::mt19937_64 random(2);
  const auto values = values_of_every_exponent<TypeParam>();
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const std::size_t apart : {1u, 2u, 5u, 60u, 75u, 78u, 160u}) {
      if (i + apart >= values.size()) continue;
      const TypeParam x = values[i], y = random() & 1 ? values[i + apart] : -values[i + apart];
      Number<TypeParam> number;
      number.add(x);
      number.add(y);
      EXPECT_EQ(number.rounded(), x + y) << x << " " << y;
    }
}

TYPED_TEST(FixedPointOf, AmountsAreUnitsOfTheirPosition) {
  // Below the normal numbers ldexp would round a second time.
  for (unsigned position = 65; position < FloatFormat<TypeParam>::kPositions; ++position)
    for (const long long amount : {1ll, -1ll, 0x12345678ll, -0x765432112345678ll}) {
      Number<TypeParam> number;
      number.add_amount(position, amount);
      const auto exponent = static_cast<int>(position) + FloatFormat<TypeParam>::kLeastExponent;
      const TypeParam expected = std::ldexp(static_cast<TypeParam>(amount), exponent);
      EXPECT_EQ(number.rounded(), expected) << position << " " << amount;
    }
}

TYPED_TEST(FixedPointOf, SpecialValuesAreTold) {
  constexpr TypeParam kInf = std::numeric_limits<TypeParam>::infinity();
  Number<TypeParam> number;
  number.add(kInf);
  EXPECT_EQ(number.special(), unsigned{kPlusInfinity});
  number.add(-kInf);
  EXPECT_EQ(number.special(), unsigned{kPlusInfinity | kMinusInfinity});
  number.add(-std::numeric_limits<TypeParam>::quiet_NaN());
  EXPECT_EQ(number.special(), unsigned{kPlusInfinity | kMinusInfinity | kNan});
}

}  // namespace
}  // namespace reduce_bench::emu
