// The table of all variants.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

/// A plug-in, a library with variants that was loaded into a worker process.
struct PluginFile {
  std::string path;      ///< as it was named
  std::string name;      ///< of the file, without its folder
  std::string checksum;  ///< of its contents, hexadecimal
  std::string version;   ///< that it gives itself
};

/// One line of kernels/catalog.def, or one variant of a plug-in.
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
  /// The header comment of its source file, or the text that a plug-in gives.
  std::string_view description;
  /// Where it comes from, if it is not in the catalog of this build.
  const PluginFile* plugin = nullptr;

  /// What runs on a backend; null where this build cannot run it there.
  const Variant* on(Backend b) const { return built[index_of(b)]; }
};

/// All variants in catalog order, then those that were registered. Built on first use. Throws
/// std::logic_error where two of a backend have one id.
const std::vector<CatalogEntry>& catalog();

/// Puts a variant of another project beside the catalog's in that project's driver, before the catalog
/// is first used (REDUCE_BENCH_VARIANT in include/reduce_bench_variant.hpp). Returns true.
bool register_variant(Backend backend, Variant (*declare)());

/// Adds a variant of a plug-in, before anything refers to an entry. The caller has looked for its id.
void add_to_catalog(CatalogEntry entry);

/// Whether the CUDA backend was compiled in.
bool cuda_is_built();

/// The header comment of every kernel file by the id that its path gives. Generated at build time
/// (cmake/embed_descriptions.py).
const std::map<std::string_view, std::string_view>& descriptions();

}  // namespace reduce_bench
