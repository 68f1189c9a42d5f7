// Input values: every element is a function of seed and position, identical on every backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "common/fields.hpp"
#include "common/npy.hpp"
#include "kernels/api/types.hpp"

namespace reduce_bench {

/// How values are distributed. Sums, min and max see them as named; for the operators under which
/// most random inputs degenerate, `uniform` is shaped so that the result depends on elements
/// everywhere: prod (odd integers; for floats +-1 and at most twelve threes, an exact product),
/// and (one bit cleared in each of twelve places), or (one bit set), right (seven of eight elements
/// neutral), affine (odd multipliers).
struct Distribution {
  enum class Kind {
    kUniform,
    kOnes,
    kRamp,
    kNormal,
    kCancelling,
    kZeros,
    kExtremes,
    kRareZeros,
    kRareOnes,
    kWild,
    kSpecials,
    kSpan40,
    kFile  ///< an array file, from its beginning
  };
  static constexpr std::array kNames{
      std::string_view{"uniform"},  std::string_view{"ones"},       std::string_view{"ramp"},
      std::string_view{"normal"},   std::string_view{"cancelling"}, std::string_view{"zeros"},
      std::string_view{"extremes"}, std::string_view{"rare-zeros"}, std::string_view{"rare-ones"},
      std::string_view{"wild"},     std::string_view{"specials"},   std::string_view{"span-40"},
      std::string_view{"file"}};

  Kind kind = Kind::kUniform;
  double condition = 1e3;  ///< of `cancelling`: sum of magnitudes over magnitude of the sum
  std::string file;        ///< of `file`, as the configuration names it
  std::string path;        ///< where that file is
  std::shared_ptr<const NpyArray> array;

  std::string_view name() const { return kNames[static_cast<std::size_t>(kind)]; }
  bool operator==(const Distribution&) const = default;
};

/// How many kinds of `wild` and `specials` values there are; the seed chooses one of them.
inline constexpr std::uint64_t kKindsBySeed = 10;

/// Why the operator has no meaningful result on the distribution; empty where it has.
/// `correctly_rounded`: of a sum that is rounded only once, so that nothing overflows on the way.
std::string unsuited(const Distribution& distribution, Op op, Type type,
                     bool correctly_rounded = false);

/// What identifies an array of values.
struct InputKey {
  Distribution distribution;
  Type type = Type::kI32;
  Op op = Op::kSum;  ///< some distributions are shaped for the operator
  std::size_t n = 0;
  std::uint64_t seed = 0;
  bool operator==(const InputKey&) const = default;
};

/// The same of these n values, where a file's elements count.
std::string unsuited(const InputKey& key, bool correctly_rounded = false);

/// Elements of garbage before the inputs, so that their addresses are misaligned.
struct Lead {
  std::size_t values = 0, labels = 0;
  bool operator==(const Lead&) const = default;
};
FIELDS(Lead, values, labels);

/// `lead` elements of garbage, n elements, then `overread` elements of garbage (NaN for floats).
/// They are one heap allocation of exactly that size, so that AddressSanitizer notices a read
/// beyond, and aligned as device memory is, so that an emulated kernel's accesses fall into sectors as
/// on a GPU.
struct HostArray {
  static constexpr std::align_val_t kAlignment{256};
  struct Delete {
    void operator()(std::byte* data) const { ::operator delete[](data, kAlignment); }
  };

  HostArray() = default;
  HostArray(std::size_t n, std::size_t element_bytes, std::size_t lead, std::size_t overread);

  std::unique_ptr<std::byte[], Delete> bytes;
  std::size_t size_bytes = 0;
  std::size_t data_offset_bytes = 0;  ///< where the n elements start

  const std::byte* data() const { return bytes.get() + data_offset_bytes; }
};
HostArray generate(const InputKey& key, std::size_t lead = 0, std::size_t overread = 0);

/// As many floats as `generate` gives, in the same surroundings, whose sums are exact whatever the
/// order: odd integers of either sign, so that a sum which lacks one of them, or has one twice, is
/// wrong. Of an order that does not follow the values, no partial sum needs more digits than the
/// type has, but for a probability below 2 exp(-128) each (Hoeffding's inequality): the n signs are
/// independent, and n times the square of the largest value is at most 2^(2 digits - 8).
HostArray generate_twin(const InputKey& key, std::size_t lead = 0, std::size_t overread = 0);

/// Position-dependent checksum of an array of 1-, 2-, 4- or 8-byte elements, in any order of
/// evaluation: the sum over i of mix(bits(i) + (i + 1) * constant) modulo 2^64. A backend whose
/// data is not in host memory computes the same there.
std::uint64_t checksum(const std::byte* data, std::size_t n, std::size_t element_bytes);

/// The same of a file's words of 8 bytes, the last filled up with zeros, in hexadecimal: what a build
/// or a plug-in is told apart by. That of nothing where the file cannot be read.
std::string file_checksum(const std::filesystem::path& file);

}  // namespace reduce_bench
