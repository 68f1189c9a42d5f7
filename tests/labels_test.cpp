// Labels and the images they may come from.
#include "common/labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "common/error.hpp"
#include "expect_error.hpp"

namespace reduce_bench {
namespace {

using Kind = LabelDistribution::Kind;

std::vector<std::uint32_t> labels_of(const LabelKey& key) {
  const HostArray array = generate(key);
  std::vector<std::uint32_t> labels(key.n);
  with_label_type(key.type, [&]<class L>() {
    const L* data = reinterpret_cast<const L*>(array.data());
    std::copy(data, data + key.n, labels.begin());
  });
  return labels;
}
std::vector<std::uint32_t> labels_of(Kind kind, std::size_t n, std::size_t buckets,
                                     std::uint64_t seed = 1) {
  return labels_of({.distribution = {.kind = kind}, .n = n, .buckets = buckets, .seed = seed});
}
std::map<std::uint32_t, std::size_t> counts_of(const std::vector<std::uint32_t>& labels) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const std::uint32_t label : labels) ++counts[label];
  return counts;
}
std::vector<Kind> made_up_kinds() {
  std::vector<Kind> kinds;
  for (std::size_t k = 0; k < LabelDistribution::kDrawn; ++k) kinds.push_back(static_cast<Kind>(k));
  return kinds;
}

TEST(Labels, LieBelowTheBucketsAndRepeatForTheSameKey) {
  for (const Kind kind : made_up_kinds())
    for (const std::size_t buckets : {1u, 2u, 3u, 255u, 256u, 257u, 100003u}) {
      const auto labels = labels_of(kind, 10007, buckets);
      EXPECT_LT(*std::max_element(labels.begin(), labels.end()), buckets)
          << LabelDistribution{.kind = kind}.name();
      EXPECT_EQ(labels, labels_of(kind, 10007, buckets));
    }
}

TEST(Labels, AreOfATypeOfLabels) {
  EXPECT_THROW(with_label_type(Type::kI32, []<class L>() {}), std::logic_error);
}

TEST(Labels, DifferForAnotherSeedButWhereTheyAreFixed) {
  for (const Kind kind : made_up_kinds()) {
    const bool fixed = kind == Kind::kSequential || kind == Kind::kSorted;
    EXPECT_EQ(labels_of(kind, 1000, 1000) == labels_of(kind, 1000, 1000, 2), fixed)
        << LabelDistribution{.kind = kind}.name();
  }
}

TEST(Labels, OfFewerBytesAreThoseOfWords) {
  LabelKey key{.n = 5000, .buckets = 256, .seed = 3};
  const auto words = labels_of(key);
  for (const Type type : {Type::kU8, Type::kU16}) {
    key.type = type;
    EXPECT_EQ(labels_of(key), words) << name_of(type);
  }
}

TEST(Labels, UniformOnesAreEquallyOften) {
  const auto counts = counts_of(labels_of(Kind::kUniform, 160000, 16));
  ASSERT_EQ(counts.size(), 16u);
  for (const auto& [label, count] : counts) EXPECT_NEAR(count, 10000, 5 * 97) << label;  // 5 sigma
}

TEST(Labels, DegenerateOnesAreOneAndEndsAreTwo) {
  EXPECT_EQ(counts_of(labels_of(Kind::kDegenerate, 1000, 1000)).size(), 1u);
  const auto ends = counts_of(labels_of(Kind::kEnds, 1000, 1000));
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_TRUE(ends.contains(0) && ends.contains(999));
}

TEST(Labels, SortedOnesAscendAndUseAllBuckets) {
  const auto labels = labels_of(Kind::kSorted, 1000, 100);
  EXPECT_TRUE(std::is_sorted(labels.begin(), labels.end()));
  for (const auto& [label, count] : counts_of(labels)) EXPECT_EQ(count, 10u) << label;
}

TEST(Labels, PermutationsHoldEveryLabelOnceInEachBlock) {
  const auto labels = labels_of(Kind::kPermutation, 300, 100);
  std::vector<std::vector<std::uint32_t>> blocks;
  for (std::size_t b = 0; b < 3; ++b) {
    blocks.emplace_back(labels.begin() + b * 100, labels.begin() + (b + 1) * 100);
    EXPECT_EQ(counts_of(blocks.back()).size(), 100u);
  }
  EXPECT_NE(blocks[0], blocks[1]);
}

TEST(Labels, RunsHaveOneLengthAndDifferFromTheirNeighbours) {
  for (const std::size_t buckets : {2u, 3u, 50u}) {
    const auto labels = labels_of(
        {.distribution = {.kind = Kind::kRuns, .length = 7}, .n = 7 * 200, .buckets = buckets});
    for (std::size_t i = 1; i < labels.size(); ++i)
      EXPECT_EQ(labels[i] == labels[i - 1], i % 7 != 0) << i;
  }
}

TEST(Labels, ZipfOnesFollowTheirLaw) {
  for (const double exponent : {0.5, 1.0, 2.0}) {
    constexpr std::size_t kN = 200000, kBuckets = 50;
    const auto counts =
        counts_of(labels_of({.distribution = {.kind = Kind::kZipf, .exponent = exponent},
                             .n = kN,
                             .buckets = kBuckets}));
    double total = 0;
    for (std::size_t k = 1; k <= kBuckets; ++k) total += std::pow(k, -exponent);
    for (const std::uint32_t label : {0u, 1u, 2u, 9u}) {
      const double share = std::pow(label + 1, -exponent) / total;
      EXPECT_NEAR(counts.at(label), kN * share, 5 * std::sqrt(kN * share)) << exponent;
    }
  }
}

TEST(Labels, NormalOnesLieAroundTheMiddle) {
  const auto labels = labels_of(Kind::kNormal, 100000, 1000);
  double sum = 0, squares = 0;
  for (const std::uint32_t label : labels) {
    sum += label;
    squares += (label - 499.5) * (label - 499.5);
  }
  EXPECT_NEAR(sum / 100000, 499.5, 5 * 125 / std::sqrt(1e5));
  EXPECT_NEAR(std::sqrt(squares / 100000), 125, 5);
}

/// How often neighbours are equal, which images have and random labels have not.
double share_of_equal_neighbours(Kind kind) {
  const auto labels = labels_of(kind, 1 << 16, 256);
  std::size_t equal = 0;
  for (std::size_t i = 1; i < labels.size(); ++i) equal += labels[i] == labels[i - 1];
  return static_cast<double>(equal) / static_cast<double>(labels.size());
}

TEST(Labels, MadeUpImagesCorrelate) {
  const double by_chance = 1.0 / 256;
  EXPECT_GT(share_of_equal_neighbours(Kind::kPhoto), 10 * by_chance);
  EXPECT_GT(share_of_equal_neighbours(Kind::kGraphic), 0.7);
  EXPECT_GT(counts_of(labels_of(Kind::kPhoto, 1 << 16, 256)).size(), 100u);
  EXPECT_LT(counts_of(labels_of(Kind::kGraphic, 1 << 16, 256)).size(), 20u);
}

TEST(Labels, GarbageAroundThemIsBeyondAllBuckets) {
  const HostArray array = generate(LabelKey{.n = 10, .buckets = 5}, 2, 3);
  ASSERT_EQ(array.size_bytes, 15 * sizeof(std::uint32_t));
  const auto* all = reinterpret_cast<const std::uint32_t*>(array.bytes.get());
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(all[i] < 5, i >= 2 && i < 12) << i;
}

TEST(Labels, OfATooSmallTypeAreUnsuited) {
  EXPECT_EQ(unsuited(LabelKey{.type = Type::kU8, .n = 1, .buckets = 256}), "");
  EXPECT_EQ(unsuited(LabelKey{.type = Type::kU8, .n = 1, .buckets = 257}),
            "u8 labels tell at most 256 buckets apart, not 257");
  EXPECT_EQ(unsuited(LabelKey{.type = Type::kU16, .n = 1, .buckets = 65536}), "");
  EXPECT_EQ(unsuited(LabelKey{.type = Type::kU16, .n = 1, .buckets = 65537}),
            "u16 labels tell at most 65536 buckets apart, not 65537");
}

// ---- images -----------------------------------------------------------------------------------

class ImageFile : public testing::Test {
 protected:
  Image read(const std::string& bytes) {
    std::ofstream(file_, std::ios::binary) << bytes;
    return read_image(file_);
  }
  std::string complaint(const std::string& bytes) {
    return message_of<UsageError>([&] { read(bytes); });
  }
  void TearDown() override { std::filesystem::remove(file_); }

  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".pgm");
};

TEST_F(ImageFile, IsReadInEveryFormat) {
  const std::vector<std::uint16_t> expected{7, 0, 255, 9, 1, 2};
  const Image raw = read(std::string("P5 3 2 255\n\x07\x00\xff\x09\x01\x02", 17));
  EXPECT_EQ(raw.width, 3u);
  EXPECT_EQ(raw.height, 2u);
  EXPECT_EQ(raw.pixels, expected);
  EXPECT_EQ(read("P2\n# a comment\n3 2\n255\n7 0 255\n9 1 2\n").pixels, expected);
  EXPECT_EQ(read(std::string("P5 1 1 65535\n\x01\x02", 15)).pixels,
            std::vector<std::uint16_t>{0x102});
  const std::vector<std::uint16_t> brightness{76, 149, 29};  // of pure red, green and blue
  EXPECT_EQ(read("P3 3 1 255 255 0 0 0 255 0 0 0 255").pixels, brightness);
  EXPECT_EQ(read(std::string("P6 1 1 255\n\xff\x00\x00", 14)).pixels,
            std::vector<std::uint16_t>{76});
}

TEST_F(ImageFile, ComplaintsNameThePlace) {
  EXPECT_CONTAINS(complaint(""), "does not start with P2, P3, P5 or P6 at byte 0");
  EXPECT_CONTAINS(complaint("P5 3"), "the height is missing at byte 4");
  EXPECT_CONTAINS(complaint("P5 0 3 255\n"), "the width is not from 1 to");
  EXPECT_CONTAINS(complaint("P5 3 2 70000\n"), "the largest value is not from 1 to 65535");
  EXPECT_CONTAINS(complaint("P5 3 2 255\nabc"), "3 bytes of samples are missing at byte 11");
  EXPECT_CONTAINS(complaint("P5 99999999999 9 255\n"), "the width is not from 1 to");
  EXPECT_CONTAINS(complaint("P2 2 1 9 8 10"), "the sample is not from 0 to 9");
  EXPECT_CONTAINS(message_of<UsageError>([] { read_image("/no/such.pgm"); }),
                  "cannot read the image '/no/such.pgm': No such file or directory");
  for (const char* endless : {"/dev/zero", "/"})
    EXPECT_CONTAINS(message_of<UsageError>([&] { read_image(endless); }),
                    "': it is not a regular file; name a PGM or PPM file");
}

TEST_F(ImageFile, LabelsRepeatItAndAreCheckedAgainstTheBuckets) {
  LabelKey key{.distribution = {.kind = Kind::kImage, .file = "a.pgm"}, .n = 5, .buckets = 8};
  EXPECT_EQ(unsuited(key), "no image was read");
  key.distribution.image = std::make_shared<const Image>(read("P2 3 1 255 7 0 200"));
  EXPECT_EQ(unsuited(key),
            "image 'a.pgm': the label 200 of pixel 2 (row 0, column 2) is not below 8 buckets");
  key.buckets = 201;
  EXPECT_EQ(unsuited(key), "");
  EXPECT_EQ(labels_of(key), (std::vector<std::uint32_t>{7, 0, 200, 7, 0}));
}

}  // namespace
}  // namespace reduce_bench
