// What the launches of a kernel do, counted by the traced build: no time, and no noise.
//
// The lanes of a warp execute an access together where they stand at one place of the code and have
// executed it equally often since the warp last met. Each such group is one request of the GPU's
// memory pipeline; how many 32-byte sectors of device memory it touches, and in how many wavefronts
// shared memory serves it, follows from its addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/platform/emu_device.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::traced {

using emu::Counts;
using emu::Metric;

/// One lane's access to memory.
struct LaneAccess {
  std::uint32_t place = 0;  ///< of the source; the caller's number
  std::uint32_t lane = 0;
  std::uint32_t size_bytes = 0;
  trace::Kind kind = trace::Kind::kRead;
  bool shared = false;
  std::uintptr_t address = 0;
};

/// The wavefronts in which shared memory serves what the lanes of one request ask for: 32 banks of 4
/// bytes serve one word each at a time, and a word to as many lanes as ask for it. Requests of 8 bytes
/// a lane are served by half warps, of 16 by quarters (CUDA C++ Programming Guide, shared memory).
unsigned wavefronts_of(std::size_t size_bytes, const std::vector<LaneAccess>& lanes);
/// The fewest in which as many lanes could be served.
unsigned least_wavefronts_of(std::size_t size_bytes, const std::vector<LaneAccess>& lanes);
/// The 32-byte sectors that the lanes touch.
unsigned sectors_of(const std::vector<LaneAccess>& lanes);

/// What one launch does, by place of the source.
class LaunchCounts {
 public:
  /// An access of a lane of warp `warp` of the block; it counts when the warp meets.
  void access(std::uint32_t block, std::uint32_t warp, const LaneAccess& access);
  /// Lanes of the warp meet: what they did since they last met can be grouped.
  void meet(std::uint32_t block, std::uint32_t warp);
  /// Everything of a block, which ends.
  void end_block(std::uint32_t block);
  /// Adds to a count that is no access.
  void add(Metric what, std::uint32_t place, std::uint64_t times);

  const std::map<std::uint32_t, Counts>& by_place() const { return by_place_; }

 private:
  void count(std::uint32_t block, std::vector<LaneAccess>& accesses);
  void count_request(std::uint32_t block, const std::vector<LaneAccess>& lanes);

  std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, std::vector<LaneAccess>>>
      pending_;  ///< by block and warp
  /// Atomics are told apart by address, of shared memory also by block: the next block may have the
  /// same addresses.
  std::map<std::pair<std::uint32_t, std::uintptr_t>, std::uint64_t> atomics_at_;
  std::map<std::uint32_t, Counts> by_place_;
};

}  // namespace reduce_bench::traced
