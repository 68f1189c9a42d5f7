// Input labels: which bucket every element belongs to, a function of seed and position, identical
// on every backend.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/image.hpp"
#include "common/inputs.hpp"
#include "common/npy.hpp"
#include "kernels/api/types.hpp"

namespace reduce_bench {

/// How labels are distributed over the buckets.
struct LabelDistribution {
  enum class Kind {
    kUniform,
    kDegenerate,   ///< one label, chosen by the seed
    kEnds,         ///< the first and the last bucket, at random
    kSequential,   ///< 0, 1, ..., m-1, 0, 1, ...
    kSorted,       ///< ascending, every label equally often
    kZipf,         ///< label k with probability proportional to 1 / (k + 1)^s
    kNormal,       ///< mean m/2, standard deviation m/8, cut off at the ends
    kRuns,         ///< runs of one length, neighbouring runs of different labels
    kPermutation,  ///< blocks of m, each a random order of all labels
    kPhoto,        ///< smooth areas of many greys, as in a photograph
    kGraphic,      ///< flat areas of few greys and thin strokes, as on a screen
    kImage,        ///< an image file, repeated
    kFile          ///< an array file, from its beginning
  };
  static constexpr std::array kNames{
      std::string_view{"uniform"},     std::string_view{"degenerate"},
      std::string_view{"ends"},        std::string_view{"sequential"},
      std::string_view{"sorted"},      std::string_view{"zipf"},
      std::string_view{"normal"},      std::string_view{"runs"},
      std::string_view{"permutation"}, std::string_view{"photo"},
      std::string_view{"graphic"},     std::string_view{"image"},
      std::string_view{"file"}};
  static constexpr std::size_t kDrawn = kNames.size() - 2;  ///< those before read no file

  Kind kind = Kind::kUniform;
  double exponent = 1;      ///< s of `zipf`
  std::size_t length = 64;  ///< of `runs`, in labels
  std::string file;         ///< of `image` and `file`, as the configuration names it
  std::string path;         ///< where that file is
  std::shared_ptr<const Image> image;
  std::shared_ptr<const NpyArray> array;

  std::string_view name() const { return kNames[static_cast<std::size_t>(kind)]; }
  bool operator==(const LabelDistribution&) const = default;
};

/// What identifies an array of labels.
struct LabelKey {
  LabelDistribution distribution;
  Type type = Type::kU32;
  std::size_t n = 0, buckets = 0;
  std::uint64_t seed = 0;
  bool operator==(const LabelKey&) const = default;
};

/// Why the distribution or the type cannot label these buckets; empty where it can.
std::string unsuited(const LabelKey& key);

/// Does for labels what the other `generate` does for values; the garbage is beyond all buckets.
HostArray generate(const LabelKey& key, std::size_t lead = 0, std::size_t overread = 0);

}  // namespace reduce_bench
