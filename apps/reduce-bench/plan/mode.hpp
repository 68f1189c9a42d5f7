// The ways of timing.
#pragma once

#include <array>
#include <string_view>

#include "kernels/api/types.hpp"

namespace reduce_bench {

/// Cold: caches flushed before every sample. Hot: a back-to-back batch. Graph: replay of a captured
/// graph of such a batch. Wall: as cold, but by the host's clock, from the call of an idle device until
/// its work is done.
enum class Mode { kCold, kHot, kGraph, kWall };
inline constexpr std::array kModeNames{std::string_view{"cold"}, std::string_view{"hot"},
                                       std::string_view{"graph"}, std::string_view{"wall"}};
constexpr std::string_view name_of(Mode m) { return kModeNames[index_of(m)]; }

}  // namespace reduce_bench
