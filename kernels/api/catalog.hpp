// The table of all variants.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

/// A variant and where it runs. `variant` is the host build's declaration: identity, axes, types
/// and operators. What runs (workspace, traffic, enqueue) comes from the backend's own: a workspace
/// may depend on code that only nvcc compiles.
struct CatalogEntry {
  Variant variant;
  std::array<bool, kBackendCount> declared{};         ///< backends it is written for
  std::array<const Variant*, kBackendCount> built{};  ///< null: not in this build
  /// The header comment of its source file.
  std::string_view description;

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
