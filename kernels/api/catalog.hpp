// The table of all variants.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

/// One line of kernels/catalog.def.
struct CatalogEntry {
  /// What it is: identity, parameters, types and operators, the same in every build and on every
  /// backend. Declared by the CPU's or the emulated build, which every program has; for a variant
  /// that only nvcc compiles by the CUDA build. What runs is asked of `on(backend)`: a workspace may
  /// depend on the backend's code.
  Variant variant;
  /// The backends that it is written for, in this build or not.
  std::array<bool, kBackendCount> declared{};
  /// The declaration of each backend that this build has; null for the others.
  std::array<const Variant*, kBackendCount> built{};
  /// The emulated variant with every access reported, for one type of each size; null where this
  /// build has none.
  const Variant* traced = nullptr;
  /// The header comment of its source file.
  std::string_view description;

  /// What runs on a backend; null where this build cannot run it there.
  const Variant* on(Backend b) const { return built[index_of(b)]; }
};

/// All variants in catalog order. Built on first use.
const std::vector<CatalogEntry>& catalog();

/// Whether the CUDA backend was compiled in.
bool cuda_is_built();

/// The header comment of every kernel file by the id that its path gives. Generated at build time
/// (cmake/embed_descriptions.py).
const std::map<std::string_view, std::string_view>& descriptions();

}  // namespace reduce_bench
