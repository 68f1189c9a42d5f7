// The table of all variants.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "kernels/variant.hpp"

namespace reduce_bench {

/// A variant and where it runs. `variant` is the host build's declaration: identity, axes, types and
/// operators. What runs (workspace, traffic, enqueue) comes from the backend's own: a workspace may
/// depend on code that only nvcc compiles.
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

/// The header comment of the source file of a variant; empty where there is none. Generated at
/// build time (cmake/embed_descriptions.py).
std::string_view description_of(std::string_view id);

}  // namespace reduce_bench
