#include "common/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "common/randomness.hpp"

namespace reduce_bench {
namespace {

/// The bucket that a share in [0, 1) of m buckets falls into.
std::uint64_t bucket_at(double share, std::uint64_t m) {
  return std::min(static_cast<std::uint64_t>(std::max(share, 0.0) * static_cast<double>(m)), m - 1);
}
std::uint64_t uniform(std::uint64_t word, std::uint64_t m) {
  return (word >> 32) * m >> 32;  // m <= 2^32
}

/// The place of x in a random order of [0, m), one for each seed: a Feistel network permutes the
/// next even power of two, and is applied until the result lies in the range.
std::uint64_t permuted(std::uint64_t x, std::uint64_t m, std::uint64_t seed) {
  const auto half_bits = std::max<std::uint64_t>(1, (std::bit_width(m - 1) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  do {
    std::uint64_t left = x >> half_bits, right = x & mask;
    for (unsigned round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (mix(seed + round + (right << 8)) & mask);
      left = right;
      right = next;
    }
    x = left << half_bits | right;
  } while (x >= m);
  return x;
}

/// Zipf's distribution on 1 ... m by rejection-inversion (Hoermann and Derflinger, 1996).
class Zipf {
 public:
  Zipf(double exponent, std::uint64_t m)
      : exponent_(exponent),
        m_(static_cast<double>(m)),
        at_first_(integral(1.5) - 1),
        at_last_(integral(m_ + 0.5)),
        always_(2 - inverse(integral(2.5) - density(2))) {}

  std::uint64_t sample(std::uint64_t word) const {
    for (;; word = mix(word + kGoldenGamma)) {
      const double u = at_last_ + Randomness::to_unit(word) * (at_first_ - at_last_);
      const double x = inverse(u), k = std::clamp(std::round(x), 1.0, m_);
      if (k - x <= always_ || u >= integral(k + 0.5) - density(k))
        return static_cast<std::uint64_t>(k);
    }
  }

 private:
  double density(double x) const { return std::exp(-exponent_ * std::log(x)); }
  /// The integral of the density from 1 to x: (x^(1-s) - 1) / (1-s), and ln x for s = 1.
  double integral(double x) const {
    const double log_x = std::log(x), t = (1 - exponent_) * log_x;
    return std::fabs(t) < 1e-8 ? log_x * (1 + t / 2) : std::expm1(t) / (1 - exponent_);
  }
  double inverse(double y) const {
    const double t = std::max(y * (1 - exponent_), -1.0);
    return std::exp(std::fabs(t) < 1e-8 ? y * (1 - t / 2) : std::log1p(t) / (1 - exponent_));
  }
  double exponent_, m_, at_first_, at_last_, always_;
};

constexpr std::size_t kImageWidth = 1024;

/// Grey in [0, 1) of a pixel of a smooth image: four layers of noise, each on a lattice of its own
/// and interpolated between its points, and a little noise of every pixel.
double photo(const Randomness& random, std::size_t i) {
  const std::size_t x = i % kImageWidth, y = i / kImageWidth;
  double grey = random.unit(i) / 32, weight = 0.5;
  for (const std::size_t cell : {256u, 64u, 16u, 4u}) {
    const std::size_t column = x / cell, row = y / cell;
    const double across = static_cast<double>(x % cell) / static_cast<double>(cell);
    const double down = static_cast<double>(y % cell) / static_cast<double>(cell);
    const auto point = [&](std::size_t dx, std::size_t dy) {
      return Randomness::to_unit(mix(random.seed + cell + mix((column + dx) << 32 | (row + dy))));
    };
    const double above = std::lerp(point(0, 0), point(1, 0), across);
    const double below = std::lerp(point(0, 1), point(1, 1), across);
    grey += weight * std::lerp(above, below, down);
    weight /= 2;
  }
  return grey / (0.9375 + 1.0 / 32);
}

/// Grey in [0, 1) of a pixel of a drawing: rectangles of one grey each, most of them the
/// background's, some with thin dark strokes on them.
double graphic(const Randomness& random, std::size_t i) {
  const std::size_t x = i % kImageWidth, y = i / kImageWidth;
  const std::uint64_t area = mix(random.seed + mix((x / 128) << 32 | (y / 32)));
  const bool written = area % 4 == 0, background = area / 4 % 4 != 0;
  if (written && mix(random.seed ^ mix((x / 2) << 32 | (y / 2))) % 4 == 0) return 0.1;
  return background ? 0.95 : static_cast<double>(area >> 60) / 16;
}

/// The label at a place of an array.
std::uint64_t element_of(const NpyArray& array, std::size_t i) {
  return with_label_type(array.type(), [&]<class L>() -> std::uint64_t {
    L label{};
    std::memcpy(&label, array.data() + i * sizeof(label), sizeof(label));
    return label;
  });
}

}  // namespace

std::string unsuited(const LabelKey& key) {
  if (key.buckets == 0) return "labels need at least one bucket";
  const std::uint64_t representable = std::uint64_t{1} << (8 * size_bytes(key.type));
  if (key.buckets > representable)
    return fmt::format("{} labels tell at most {} buckets apart, not {}", name_of(key.type),
                       representable, key.buckets);
  if (key.distribution.kind == LabelDistribution::Kind::kFile) {
    if (key.distribution.array == nullptr) return "no array was read";
    const std::string why = key.distribution.array->unfit_as_labels(key.type, key.n, key.buckets);
    return why.empty() ? why : fmt::format("the array '{}': {}", key.distribution.file, why);
  }
  if (key.distribution.kind != LabelDistribution::Kind::kImage) return {};
  if (key.distribution.image == nullptr) return "no image was read";
  const Image& image = *key.distribution.image;
  const auto used =
      image.pixels.begin() + static_cast<std::ptrdiff_t>(std::min(key.n, image.pixels.size()));
  const auto outside = std::find_if(image.pixels.begin(), used,
                                    [&](std::uint16_t pixel) { return pixel >= key.buckets; });
  if (outside == used) return {};
  const auto position = static_cast<std::size_t>(outside - image.pixels.begin());
  return fmt::format(
      "image '{}': the label {} of pixel {} (row {}, column {}) is not below {} buckets",
      key.distribution.file, *outside, position, position / image.width, position % image.width,
      key.buckets);
}

HostArray generate(const LabelKey& key, std::size_t lead, std::size_t overread) {
  using Kind = LabelDistribution::Kind;
  const LabelDistribution& distribution = key.distribution;
  // The labels' random sequence is another than the values'.
  const Randomness random{mix(key.seed + 2 * kGoldenGamma)};
  const std::uint64_t m = key.buckets, n = key.n;
  const Zipf zipf(distribution.exponent, m);
  const auto label = [&](std::size_t i) -> std::uint64_t {
    switch (distribution.kind) {
      case Kind::kUniform: return uniform(random.word(i), m);
      case Kind::kDegenerate: return uniform(random.word(0), m);
      case Kind::kEnds: return random.word(i) % 2 == 0 ? 0 : m - 1;
      case Kind::kSequential: return i % m;
      case Kind::kSorted:
        return std::min(static_cast<std::uint64_t>(static_cast<double>(i) * static_cast<double>(m) /
                                                   static_cast<double>(n)),
                        m - 1);
      case Kind::kZipf: return zipf.sample(random.word(i)) - 1;
      case Kind::kNormal: {
        const double radius = std::sqrt(-2 * std::log(1 - random.unit(i, 0)));
        return bucket_at(0.5 + radius * std::cos(2 * std::numbers::pi * random.unit(i, 1)) / 8, m);
      }
      case Kind::kRuns: return permuted(i / distribution.length % m, m, random.seed);
      case Kind::kPermutation: return permuted(i % m, m, random.word(i / m));
      case Kind::kPhoto: return bucket_at(photo(random, i), m);
      case Kind::kGraphic: return bucket_at(graphic(random, i), m);
      case Kind::kFile: return element_of(*distribution.array, i);
      case Kind::kImage: break;
    }
    return distribution.image->pixels[i % distribution.image->pixels.size()];
  };
  HostArray array(key.n, size_bytes(key.type), lead, overread);
  with_label_type(key.type, [&]<class L>() {
    L* all = reinterpret_cast<L*>(array.bytes.get());
    L* data = all + lead;
    std::fill(all, data, std::numeric_limits<L>::max());
#pragma omp parallel for schedule(static) if (key.n > 65536)
    for (std::size_t i = 0; i < key.n; ++i) data[i] = static_cast<L>(label(i));
    std::fill(data + key.n, data + key.n + overread, std::numeric_limits<L>::max());
  });
  return array;
}

}  // namespace reduce_bench
