// The catalog's entries of a plug-in's variants.
#pragma once

#include "plugins/declaration.hpp"

struct reduce_bench_variant;

namespace reduce_bench {

/// Adds a plug-in's variants to the catalog. `loaded` are the plug-in's own, in the order of the
/// declaration; where it is null, in the driver, they are planned and never run. Throws UsageError for
/// an id that the catalog has, and for too many variants.
void add_to_catalog(DeclaredPlugin plugin, const reduce_bench_variant* loaded);

}  // namespace reduce_bench
