// Loads a plug-in into this process, a worker's: from here on, foreign code runs in it.
#pragma once

#include <string>

#include "plugins/declaration.hpp"

namespace reduce_bench {

/// Loads the file, checks what it declares and adds its variants to the catalog. Throws UsageError
/// that says what is wrong with it.
DeclaredPlugin load_plugin(const std::string& path);

}  // namespace reduce_bench
