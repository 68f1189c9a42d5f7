// The cases in which `verify` tries a variant: which inputs, parameters and alignments.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/api/catalog.hpp"
#include "kernels/api/variant.hpp"
#include "plan/plan.hpp"

namespace reduce_bench {

/// The build with sanitizers looks for accesses and arithmetic that are undefined, in fewer cases: the
/// build without tells wrong results.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// One execution.
struct Case {
  Point point;
  Lead lead;                         ///< by which the inputs are off alignment
  std::optional<unsigned> sm_count;  ///< of the emulated device, where it is not the usual

  Problem problem(DeviceTraits device) const;
};

/// What is tried: a variant on a backend whose device has the traits.
struct Subject {
  const CatalogEntry& entry;
  Backend backend = Backend::kCpu;
  const DeviceTraits& traits;
  bool full = false;   ///< every size class, label distribution and misalignment
  bool races = false;  ///< on the emulator, with every access traced: few cases, one type of a size

  /// What runs; the build must have it.
  const Variant& variant() const { return races ? *entry.traced : *entry.on(backend); }
};

/// The cases of one type and operator that the variant provides, in the order in which they run.
/// `Point::index` numbers them, with gaps where a distribution has no meaningful result.
std::vector<Case> cases_of(const Subject& subject, Type type, Op op);

/// A size at which every loop, pass and fold of partial results takes more than one step. On the
/// emulated device it exceeds the device's threads times the largest unroll factor, on a GPU those
/// of any GPU.
std::size_t large_size(Backend backend);

}  // namespace reduce_bench
