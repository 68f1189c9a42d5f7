// The host's processor, as the system describes it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace reduce_bench {

/// The logical cores that this process may run on; at least 1.
unsigned logical_cores();
/// The cache of the second level that the first CPU uses, where the system tells.
std::optional<std::size_t> l2_cache_bytes();
/// The largest cache level of the first CPU, where the system tells.
std::optional<std::size_t> last_level_cache_bytes();
/// The caches of all levels and of all cores that this process may run on, together.
std::optional<std::size_t> all_caches_bytes();

}  // namespace reduce_bench
