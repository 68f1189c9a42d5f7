// Input data: reproducible everywhere, and distributed as its names say.
#include "common/inputs.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "expect_error.hpp"

namespace reduce_bench {
namespace {

using Kind = Distribution::Kind;

template <class T>
std::vector<T> values_of(const InputKey& key) {
  const HostArray array = generate(key);
  std::vector<T> values(key.n);
  std::memcpy(values.data(), array.data(), key.n * sizeof(T));
  return values;
}

template <class T>
std::vector<T> values_of(Kind kind, Op op, std::size_t n, std::uint64_t seed = 1) {
  return values_of<T>(
      {.distribution = {.kind = kind}, .type = kTypeOf<T>, .op = op, .n = n, .seed = seed});
}

std::uint64_t checksum_of(const InputKey& key) {
  return checksum(generate(key).data(), key.n, size_bytes(key.type));
}

/// Every combination that inputs are made for.
std::vector<InputKey> every_key(std::size_t n) {
  std::vector<InputKey> keys;
  for (std::size_t k = 0; k < Distribution::kNames.size(); ++k)
    for (std::size_t t = 0; t < kValueTypeCount; ++t)
      for (std::size_t o = 0; o < kOpCount; ++o) {
        const InputKey key{.distribution = {.kind = static_cast<Kind>(k)},
                           .type = static_cast<Type>(t),
                           .op = static_cast<Op>(o),
                           .n = n,
                           .seed = 1};
        const bool sums = key.op == Op::kSum && is_float(key.type);
        if (defined_on(key.op, key.type) &&
            unsuited(key.distribution, key.op, key.type, sums).empty())
          keys.push_back(key);
      }
  return keys;
}

std::string name_of(const InputKey& key) {
  return std::string(key.distribution.name()) + " " + std::string(name_of(key.type)) + " " +
         std::string(name_of(key.op));
}

TEST(Inputs, RepeatForTheSameKey) {
  for (const InputKey& key : every_key(1003))
    EXPECT_EQ(checksum_of(key), checksum_of(key)) << name_of(key);
}

TEST(Inputs, DifferForAnotherSeed) {
  for (InputKey key : every_key(1003)) {
    const Kind kind = key.distribution.kind;
    const std::uint64_t first = checksum_of(key);
    key.seed = 2;
    const bool constant = kind == Kind::kOnes || kind == Kind::kZeros || kind == Kind::kRamp;
    EXPECT_EQ(checksum_of(key) == first, constant) << name_of(key);
  }
}

TEST(Inputs, DoNotDependOnTheNumberOfThreads) {
  const int threads = omp_get_max_threads();
  for (const InputKey& key : every_key(100003)) {
    omp_set_num_threads(1);
    const std::uint64_t by_one = checksum_of(key);
    omp_set_num_threads(3);
    EXPECT_EQ(checksum_of(key), by_one) << name_of(key);
  }
  omp_set_num_threads(threads);
}

TEST(Inputs, OfAShorterArrayAreAPrefix) {
  for (const InputKey& longer : every_key(1002)) {
    // These plant a fixed number of elements in any length, or have a partner at the other end.
    const Kind kind = longer.distribution.kind;
    const bool planted =
        kind == Kind::kWild || kind == Kind::kSpecials ||
        (kind == Kind::kUniform && (longer.op == Op::kAnd || longer.op == Op::kOr ||
                                    (longer.op == Op::kProd && is_float(longer.type))));
    InputKey shorter = longer;
    shorter.n = 500;
    const HostArray a = generate(longer), b = generate(shorter);
    const bool prefix = std::memcmp(a.data(), b.data(), b.size_bytes) == 0;
    EXPECT_EQ(prefix, !planted) << name_of(longer);
  }
}

TEST(Inputs, AreOfATypeOfValues) {
  EXPECT_THROW(generate({.distribution = {}, .type = Type::kU8, .op = Op::kSum, .n = 1, .seed = 1}),
               std::logic_error);
}

TEST(Inputs, OfNoElementsExist) {
  const HostArray array = generate(InputKey{.type = Type::kF64, .n = 0, .seed = 1});
  EXPECT_EQ(array.size_bytes, 0u);
}

TEST(Inputs, SurroundingsAreGarbage) {
  const InputKey key{.type = Type::kF32, .n = 5, .seed = 1};
  const HostArray array = generate(key, 3, 2);
  EXPECT_EQ(array.size_bytes, 10 * sizeof(float));
  EXPECT_EQ(array.data_offset_bytes, 3 * sizeof(float));
  const auto* all = reinterpret_cast<const float*>(array.bytes.get());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(std::isnan(all[i]), i < 3 || i >= 8) << i;
  EXPECT_EQ(std::memcmp(array.data(), generate(key).data(), 5 * sizeof(float)), 0);

  const HostArray integers = generate({.distribution = {.kind = Kind::kZeros}, .n = 4}, 1, 1);
  const auto* words = reinterpret_cast<const std::int32_t*>(integers.bytes.get());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(words[i] != 0, i == 0 || i == 5) << i;
}

// ---- distributions ----------------------------------------------------------------------------

constexpr std::size_t kMany = 100000;

template <class T>
double mean_of(const std::vector<T>& x) {
  double sum = 0;
  for (const T value : x) sum += static_cast<double>(value);
  return sum / static_cast<double>(x.size());
}
/// Five standard errors of a mean of kMany values.
double five_sigma(double deviation) { return 5 * deviation / std::sqrt(double{kMany}); }

TEST(Distributions, UniformFloatsFillTheUnitInterval) {
  const auto x = values_of<float>(Kind::kUniform, Op::kSum, kMany);
  EXPECT_GE(*std::min_element(x.begin(), x.end()), 0.0f);
  EXPECT_LT(*std::max_element(x.begin(), x.end()), 1.0f);
  EXPECT_NEAR(mean_of(x), 0.5, five_sigma(std::sqrt(1.0 / 12)));
  EXPECT_LT(*std::min_element(x.begin(), x.end()), 0.001f);
  EXPECT_GT(*std::max_element(x.begin(), x.end()), 0.999f);
}

TEST(Distributions, UniformIntegersFillTheirRange) {
  const auto x = values_of<std::int64_t>(Kind::kUniform, Op::kMin, kMany);
  for (int bit = 0; bit < 64; ++bit) {
    std::vector<int> set;
    for (const std::int64_t value : x) set.push_back(static_cast<int>(value >> bit & 1));
    EXPECT_NEAR(mean_of(set), 0.5, five_sigma(0.5)) << bit;
  }
}

TEST(Distributions, OnesZerosAndRampAreWhatTheySay) {
  EXPECT_EQ(values_of<double>(Kind::kOnes, Op::kSum, 3), std::vector<double>(3, 1));
  EXPECT_EQ(values_of<std::int32_t>(Kind::kZeros, Op::kMin, 3), std::vector<std::int32_t>(3, 0));
  const auto ramp = values_of<std::int32_t>(Kind::kRamp, Op::kSum, 18);
  for (int i = 0; i < 18; ++i) EXPECT_EQ(ramp[static_cast<std::size_t>(i)], 1 + i % 16);
}

TEST(Distributions, ARampHidesNoPaddingWithZeros) {
  for (const float x : values_of<float>(Kind::kRamp, Op::kMin, 100)) EXPECT_GT(x, 0);
  for (const float x : values_of<float>(Kind::kRamp, Op::kMax, 100)) EXPECT_LT(x, 0);
}

TEST(Distributions, NormalHasItsMoments) {
  const auto moments = [](const auto& x, double unit) {
    double squares = 0;
    for (const auto value : x) squares += std::pow(static_cast<double>(value) / unit, 2);
    EXPECT_NEAR(mean_of(x) / unit, 0, five_sigma(1));
    EXPECT_NEAR(squares / kMany, 1, five_sigma(std::sqrt(2)));
  };
  moments(values_of<double>(Kind::kNormal, Op::kSum, kMany), 1);
  moments(values_of<std::int32_t>(Kind::kNormal, Op::kSum, kMany), 0x1p20);
}

template <class T>
double condition_of(const std::vector<T>& x) {
  long double sum = 0, magnitude = 0;
  for (const T value : x) {
    sum += static_cast<long double>(value);
    magnitude += std::fabs(static_cast<long double>(value));
  }
  return static_cast<double>(magnitude / std::fabs(sum));
}

TEST(Distributions, CancellingHasTheConditionAskedFor) {
  for (const double condition : {10.0, 1e3, 1e6})
    for (const std::size_t n : {1000u, 1001u, 100001u}) {
      InputKey key{.distribution = {.kind = Kind::kCancelling, .condition = condition},
                   .type = Type::kF64,
                   .n = n,
                   .seed = 3};
      EXPECT_NEAR(condition_of(values_of<double>(key)) / condition, 1, 0.1)
          << condition << " " << n;
      if (condition == 1e6) continue;  // beyond what the narrower types can hold
      key.type = Type::kI32;
      EXPECT_NEAR(condition_of(values_of<std::int32_t>(key)) / condition, 1, 0.1) << n;
      key.type = Type::kF32;
      EXPECT_NEAR(condition_of(values_of<float>(key)) / condition, 1, 0.1) << n;
    }
}

template <class T>
void expect_exact_product(std::size_t n) {
  std::size_t threes = 0, first = n, last = 0;
  const auto x = values_of<T>(Kind::kUniform, Op::kProd, n);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(std::fabs(x[i]) == 1 || std::fabs(x[i]) == 3) << x[i];
    if (std::fabs(x[i]) != 3) continue;
    ++threes;
    first = std::min(first, i);
    last = i;
  }
  EXPECT_GE(threes, 6u);
  EXPECT_LE(threes, 12u);  // 3^12 < 2^24
  EXPECT_LT(first, n / 4);
  EXPECT_GT(last, n / 4 * 3);
}

TEST(Distributions, UniformFloatProductsAreExactAndDependOnBothEnds) {
  for (const std::size_t n : {100u, 100000u}) {
    expect_exact_product<float>(n);
    expect_exact_product<double>(n);
  }
}

TEST(Distributions, UniformIntegersDoNotDegenerateUnderAnyOperator) {
  for (const auto x : values_of<std::int32_t>(Kind::kUniform, Op::kProd, 1000)) EXPECT_EQ(x & 1, 1);
  for (const auto x : values_of<std::int64_t>(Kind::kUniform, Op::kAffine, 1000))
    EXPECT_EQ(x >> 32 & 1, 1);
  const auto cleared = values_of<std::int32_t>(Kind::kUniform, Op::kAnd, 1200);
  const auto set = values_of<std::int32_t>(Kind::kUniform, Op::kOr, 1200);
  for (std::size_t window = 0; window < 12; ++window) {
    unsigned in_and = 0, in_or = 0;
    for (std::size_t i = 100 * window; i < 100 * (window + 1); ++i) {
      in_and += static_cast<unsigned>(std::popcount(~static_cast<std::uint32_t>(cleared[i])));
      in_or += static_cast<unsigned>(std::popcount(static_cast<std::uint32_t>(set[i])));
    }
    EXPECT_EQ(in_and, 1u);
    EXPECT_EQ(in_or, 1u);
  }
  const auto right = values_of<std::int32_t>(Kind::kUniform, Op::kRight, kMany);
  const auto neutral =
      std::count(right.begin(), right.end(), std::numeric_limits<std::int32_t>::min());
  EXPECT_NEAR(static_cast<double>(neutral) / kMany, 7.0 / 8, five_sigma(0.33));
}

TEST(Distributions, RareZerosDecideMinAndMax) {
  for (const Op op : {Op::kMin, Op::kMax}) {
    const auto x = values_of<std::int32_t>(Kind::kRareZeros, op, kMany);
    const auto zeros = std::count(x.begin(), x.end(), 0);
    EXPECT_NEAR(static_cast<double>(zeros) / kMany, 1.0 / 64, five_sigma(0.124));
    const auto [least, most] = std::minmax_element(x.begin(), x.end());
    EXPECT_EQ(op == Op::kMin ? *least : *most, 0);
  }
}

TEST(Distributions, SumsOf2To27RareOnesAreExactInAnyOrder) {
  const auto x = values_of<float>(Kind::kRareOnes, Op::kSum, kMany);
  double ones = 0;
  for (const float value : {-1.0f, 1.0f}) {
    const auto count = static_cast<double>(std::count(x.begin(), x.end(), value));
    EXPECT_NEAR(count / kMany, 1.0 / 32, five_sigma(0.174));
    ones += count;
  }
  EXPECT_EQ(std::count(x.begin(), x.end(), 0.0f) + static_cast<std::ptrdiff_t>(ones), kMany);
  EXPECT_LT(0x1p27 * ones / kMany, 0x1p24);  // integers that a float holds
}

TEST(Distributions, ExtremesReachTheEndsOfTheType) {
  using Limits = std::numeric_limits<std::int32_t>;
  const auto x = values_of<std::int32_t>(Kind::kExtremes, Op::kSum, 100);
  for (const std::int32_t value : {Limits::min(), Limits::max(), 0, 1, -1})
    EXPECT_GT(std::count(x.begin(), x.end(), value), 0) << value;

  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto ordered = values_of<float>(Kind::kExtremes, Op::kMax, 1000);
  for (const float value : {kInf, -kInf, std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min(), -1.0f})
    EXPECT_GT(std::count(ordered.begin(), ordered.end(), value), 0) << value;
  EXPECT_TRUE(std::none_of(ordered.begin(), ordered.end(), [](float v) { return std::isnan(v); }));
  // A sum must stay finite for any n.
  for (const float value : values_of<float>(Kind::kExtremes, Op::kSum, 1000))
    EXPECT_LE(std::fabs(value) * 0x1p33f, std::numeric_limits<float>::max());
}

template <class T>
void expect_wild_values() {
  using Limits = std::numeric_limits<T>;
  std::set<int> exponents;
  for (std::uint64_t seed = 0; seed < kKindsBySeed; ++seed) {
    const std::vector<T> x = values_of<T>(
        {.distribution = {.kind = Kind::kWild}, .type = kTypeOf<T>, .n = 8191, .seed = seed});
    std::size_t differing = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(std::isfinite(x[i]));
      exponents.insert(x[i] == 0 ? 0 : std::ilogb(x[i]));
      const T partner = x[x.size() - 1 - i];
      if (i == x.size() / 2) continue;
      ASSERT_NE(std::signbit(x[i]), std::signbit(partner));
      differing += x[i] != -partner;
    }
    EXPECT_GT(differing, 0u) << seed;
    EXPECT_EQ(differing > x.size() / 2, seed >= 5) << seed;  // 7 of 8 pairs below the cap
  }
  EXPECT_GE(exponents.size(), 2u * Limits::max_exponent - 2);
}
TEST(Distributions, WildValuesHaveAllExponentsAndNearlyCancel) {
  expect_wild_values<float>();
  expect_wild_values<double>();
}

template <class T>
void expect_forty_exponents() {
  const std::vector<T> x =
      values_of<T>({.distribution = {.kind = Kind::kSpan40}, .type = kTypeOf<T>, .n = 4001});
  std::set<int> exponents;
  std::set<T> digits;
  for (const T value : x) {
    exponents.insert(std::ilogb(value));
    digits.insert(std::scalbn(std::fabs(value), -std::ilogb(value)));
  }
  EXPECT_EQ(exponents.size(), 40u);
  EXPECT_EQ(*exponents.begin(), -20);
  EXPECT_EQ(*exponents.rbegin(), 19);
  EXPECT_GT(digits.size(), 3990u);
  const auto negative = std::count_if(x.begin(), x.end(), [](T value) { return value < 0; });
  EXPECT_NEAR(static_cast<double>(negative), 2000, 200);
}
TEST(Distributions, OfSpan40HaveFortyExponents) {
  expect_forty_exponents<float>();
  expect_forty_exponents<double>();
}

TEST(Distributions, SpecialsAreOfEveryKind) {
  const auto kind = [](std::uint64_t seed) {
    return values_of<float>(
        {.distribution = {.kind = Kind::kSpecials}, .type = Type::kF32, .n = 1000, .seed = seed});
  };
  const auto count = [&](std::uint64_t seed, auto&& is) {
    const auto x = kind(seed);
    return std::count_if(x.begin(), x.end(), is);
  };
  EXPECT_EQ(count(0, [](float v) { return std::isinf(v) && v > 0; }), 1);
  EXPECT_EQ(count(1, [](float v) { return std::isinf(v) && v < 0; }), 1);
  EXPECT_EQ(count(2, [](float v) { return std::isinf(v); }), 2);
  EXPECT_EQ(count(3, [](float v) { return std::isnan(v); }), 1);
  EXPECT_EQ(count(4, [](float v) { return v == 0 && std::signbit(v); }), 1000);
  EXPECT_EQ(count(5, [](float v) { return v == 0 && std::signbit(v); }), 999);
  EXPECT_EQ(count(6, [](float v) { return v == std::numeric_limits<float>::max(); }), 1000);
  EXPECT_EQ(count(9, [](float v) { return v != 0; }), 3);
}

TEST(Distributions, FloatProductsOfSpreadValuesAreRefused) {
  EXPECT_NE(unsuited({.kind = Kind::kNormal}, Op::kProd, Type::kF32), "");
  EXPECT_EQ(unsuited({.kind = Kind::kNormal}, Op::kProd, Type::kI32), "");
  EXPECT_EQ(unsuited({.kind = Kind::kUniform}, Op::kProd, Type::kF64), "");
  EXPECT_EQ(unsuited({.kind = Kind::kExtremes}, Op::kSum, Type::kF32), "");
  EXPECT_NE(unsuited({.kind = Kind::kWild}, Op::kSum, Type::kF32), "");
  EXPECT_EQ(unsuited({.kind = Kind::kWild}, Op::kSum, Type::kF32, true), "");
  EXPECT_NE(unsuited({.kind = Kind::kSpan40}, Op::kProd, Type::kF64), "");
  EXPECT_EQ(unsuited({.kind = Kind::kSpan40}, Op::kSum, Type::kF64), "");
  for (const Type type : {Type::kF16, Type::kI32})
    EXPECT_CONTAINS(unsuited({.kind = Kind::kSpan40}, Op::kSum, type), "are f32 or f64, not");
}

// ---- checksum ---------------------------------------------------------------------------------

template <class T>
std::uint64_t sum_of(const std::vector<T>& x) {
  return checksum(reinterpret_cast<const std::byte*>(x.data()), x.size(), sizeof(T));
}

TEST(Checksum, OfZerosIsSplitMix64FromSeedZero) {
  // The generator's published first outputs.
  constexpr std::uint64_t kFirst = 0xe220a8397b1dcdafu, kSecond = 0x6e789e6aa1b965f4u,
                          kThird = 0x06c45d188009454fu;
  EXPECT_EQ(sum_of<std::int64_t>({}), 0u);
  EXPECT_EQ(sum_of<std::int64_t>({0}), kFirst);
  EXPECT_EQ(sum_of<std::int32_t>({0, 0, 0}), kFirst + kSecond + kThird);
}

TEST(Checksum, SeesValuesPositionsAndLength) {
  const std::vector<std::int32_t> x{3, 1, 4, 1, 5};
  std::vector<std::int32_t> swapped = x, changed = x, longer = x;
  std::swap(swapped[0], swapped[4]);
  changed[2] ^= 1 << 31;
  longer.push_back(0);
  EXPECT_NE(sum_of(swapped), sum_of(x));
  EXPECT_NE(sum_of(changed), sum_of(x));
  EXPECT_NE(sum_of(longer), sum_of(x));
}

TEST(Checksum, DoesNotDependOnTheNumberOfThreads) {
  std::vector<std::int32_t> x(200003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i * i);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::uint64_t by_one = sum_of(x);
  omp_set_num_threads(4);
  EXPECT_EQ(sum_of(x), by_one);
  omp_set_num_threads(threads);
}

// ---- values whose sums no order rounds ---------------------------------------------------------

template <class T>
void expect_exact_sums(std::size_t n) {
  const InputKey key{.type = kTypeOf<T>, .n = n, .seed = 3};
  const HostArray array = generate_twin(key, 2, 3);
  const T* const x = reinterpret_cast<const T*>(array.data());
  EXPECT_TRUE(std::isnan(x[-1]));
  EXPECT_TRUE(std::isnan(x[n]));
  long long sum = 0;
  std::size_t odd = 0;  // counted, since a check of each of millions takes seconds
  T in_order = 0, backwards = 0, by_sign[2] = {0, 0};
  std::vector<T> strided(1024);
  for (std::size_t i = 0; i < n; ++i) {
    const auto whole = static_cast<long long>(x[i]);
    odd += static_cast<T>(whole) == x[i] && whole % 2 != 0;
    sum += whole;
    in_order += x[i];
    backwards += x[n - 1 - i];
    strided[i % 1024] += x[i];
    by_sign[x[i] < 0] += std::fabs(x[i]);
  }
  EXPECT_EQ(odd, n);
  EXPECT_EQ(in_order, static_cast<T>(sum));
  EXPECT_EQ(backwards, static_cast<T>(sum));
  T of_strides = 0;
  for (const T part : strided) of_strides += part;
  EXPECT_EQ(of_strides, static_cast<T>(sum));
  if (n < 1000) return;
  // Many values and both signs, or mistakes would cancel.
  EXPECT_GT(std::set<T>(x, x + 1000).size(), 50u);
  EXPECT_NEAR(by_sign[0] / by_sign[1], 1, 0.2);
}

TEST(Twin, HasOddIntegersWhoseSumsAreExact) {
  for (const std::size_t n : {1u, 2u, 1009u, 1u << 20, 20'000'003u}) expect_exact_sums<float>(n);
  for (const std::size_t n : {1u, 1009u, 1u << 20}) expect_exact_sums<double>(n);
}

}  // namespace
}  // namespace reduce_bench
