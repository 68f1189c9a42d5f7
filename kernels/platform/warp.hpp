// The warp, which kernels, the emulator and launch plans share.
#pragma once

namespace reduce_bench {

/// Threads of a warp, on every device so far.
inline constexpr unsigned kWarpSize = 32;
/// The mask of a warp's operation in which all its lanes take part.
inline constexpr unsigned kAllLanes = 0xffffffffu;

}  // namespace reduce_bench
