// How many blocks a multiprocessor holds at once, and as an axis, how many it held on the thesis's
// card, whose 48 KB of shared memory leave room for few threads with bucket sets of their own.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

/// CUDA keeps so much of the shared memory of every block for itself.
inline constexpr std::size_t kReservedSharedBytes = 1024;

/// Blocks that one SM holds at once.
inline unsigned resident_blocks_per_sm(const DeviceTraits& device, unsigned block,
                                       std::size_t shared_bytes) {
  const std::size_t by_memory = (device.max_shared_bytes_per_block + kReservedSharedBytes) /
                                (shared_bytes + kReservedSharedBytes);
  const std::size_t by_threads = device.max_threads_per_sm / block;
  return static_cast<unsigned>(
      std::clamp<std::size_t>(std::min(by_memory, by_threads), 1, device.max_blocks_per_sm));
}

/// The division of an SM's L1 (`shared_percent` of a launch) that holds so many blocks with so much
/// shared memory each; 0 where none does.
inline unsigned shared_percent_for(const DeviceTraits& device, std::size_t blocks,
                                   std::size_t shared_bytes) {
  const std::size_t needed = blocks * (shared_bytes + kReservedSharedBytes),
                    all = device.max_shared_bytes_per_block + kReservedSharedBytes;
  return needed > all ? 0 : static_cast<unsigned>((100 * needed + all - 1) / all);
}

/// The axis of kernels that can be launched as if an SM had the 48 KB of eilers section 4.3.6.
inline ParamSpec shared_room_axis() {
  return {"shared_kib",
          "all",
          {"all", "48"},
          "KiB of an SM's shared memory that blocks are planned for (48: the publication's card)"};
}
inline bool has_published_room(const Params& params) {
  return params.has("shared_kib") && params.is("shared_kib", "48");
}

/// Shared memory that a block may have.
inline std::size_t room_bytes(const Problem& p) {
  const std::size_t all = p.device.max_shared_bytes_per_block;
  return has_published_room(p.params) ? std::min<std::size_t>(all, 48 * 1024) : all;
}
/// Blocks that one SM holds at once, or of which 48 KB hold the shared memory.
inline std::size_t resident_in_room(const Problem& p, unsigned block, std::size_t shared_bytes) {
  const std::size_t resident = resident_blocks_per_sm(p.device, block, shared_bytes);
  if (!has_published_room(p.params)) return resident;
  return std::clamp<std::size_t>(room_bytes(p) / shared_bytes, 1, resident);
}

}  // namespace reduce_bench
