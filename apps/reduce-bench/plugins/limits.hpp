// What is enough for any plug-in.
#pragma once

#include <cstddef>

namespace reduce_bench {

inline constexpr std::size_t kMostPluginVariants = 64;  ///< of all plug-ins of a run together
inline constexpr std::size_t kMostPluginParams = 16;    ///< of a variant

}  // namespace reduce_bench
