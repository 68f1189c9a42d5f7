// The ways of timing.
#pragma once

#include <array>
#include <string_view>

#include "kernels/api/types.hpp"

namespace reduce_bench {

/// Cold: caches flushed before every sample. Hot: a back-to-back batch. Graph: replay of a captured
/// graph of such a batch.
enum class Mode { kCold, kHot, kGraph };
inline constexpr std::array kModeNames{std::string_view{"cold"}, std::string_view{"hot"},
                                       std::string_view{"graph"}};
constexpr std::string_view name_of(Mode m) { return kModeNames[index_of(m)]; }

}  // namespace reduce_bench
