// Accesses of one launch that nothing orders: the race detector of the traced build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/platform/order.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::traced {

/// One access as the detector remembers it.
struct Access {
  Stamp stamp;
  std::uint32_t place = 0;  ///< of the source; the caller's number
  trace::Kind kind = trace::Kind::kRead;
};

/// Two accesses to one byte, one of them a write, by threads that nothing orders.
struct Race {
  Access earlier, later;  ///< in the order of this schedule
  std::uintptr_t address = 0;
};

/// Knows, of every byte that a launch touched, the accesses with which a later one may race: the
/// last plain write, and since then reads and atomics.
class Races {
 public:
  /// Remembers an access of thread `t` of the block, and reports the pairs that it races with, each
  /// pair of places once. An atomic or strong access also passes on what its word's flag holds.
  void access(BlockOrder& block, std::uint32_t t, std::uintptr_t address, std::size_t size_bytes,
              trace::Kind kind, std::uint32_t place);
  /// Memory whose earlier accesses mean nothing any more: shared memory given to another block.
  void forget(std::uintptr_t address, std::size_t size_bytes);

  /// An access to one of these bytes that one of the kind may not run beside: one of the two writes,
  /// and they are not two atomics. Null where there is none.
  const Access* rival_of(std::uintptr_t address, std::size_t size_bytes, trace::Kind kind) const;

  /// They are in the order in which they were found.
  const std::vector<Race>& found() const { return found_; }

 private:
  struct Cell {
    Access write;  ///< none where `place` is 0
    std::vector<Access> others;
    unsigned kinds_of_others = 0;  ///< a bit for each kind that may be among them
    std::size_t prune_at = 64;     ///< entries of `others` at which those that no longer matter go
  };
  static constexpr std::size_t kPageBytes = 4096, kWordBytes = 4;
  /// A cell for each word until an access is smaller, then one for each byte.
  struct Page {
    bool by_byte = false;
    std::vector<Cell> cells{kPageBytes / kWordBytes};
  };

  Page& page_of(std::uintptr_t address);
  void access_cell(Cell& cell, const BlockOrder& block, std::uint32_t t, const Access& access,
                   std::uintptr_t address);
  void compare(const Access& earlier, const Access& later, const BlockOrder& block, std::uint32_t t,
               std::uintptr_t address);

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  std::pair<std::uintptr_t, Page*> last_page_{~std::uintptr_t{0}, nullptr};
  std::unordered_map<std::uintptr_t, Knowledge> flags_;  ///< by the address of the word
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> reported_;
  std::vector<Race> found_;
};

}  // namespace reduce_bench::traced
