// The simulated memory: what every access finds where, and how long it takes.
#pragma once

#include <cstdint>
#include <vector>

#include "hierarchy.hpp"
#include "set_associative.hpp"

namespace reduce_bench {

/// What one level saw. Hits and misses are those of the program's accesses; a prefetch is a line
/// brought in that nobody asked for yet, a write-back a changed line given to the next level.
struct LevelCounts {
  std::uint64_t hits = 0, misses = 0, prefetches = 0, write_backs = 0;
  bool operator==(const LevelCounts&) const = default;
};

struct TlbCounts {
  std::uint64_t hits = 0, misses = 0;
  bool operator==(const TlbCounts&) const = default;
};

/// Write-back caches that allocate on a store, before a memory. A miss fills every level up to the
/// one that had the line; a line may be in one level without being in the next. Caches and TLBs
/// begin empty.
///
/// Two models of time. *Sequential* (the thesis's): an access begins when the one before has
/// ended; it takes the latency of the level that had the line, and what its translation adds.
/// *Pipelined*: an access begins `access_ns` after the one before; one that takes longer than a hit
/// in the first level keeps one of `misses` slots until it ends, and waits for one if all are
/// taken; a read of a chained array begins when the array's last read has ended. Write-backs and
/// prefetches take no time in either.
class Memory {
 public:
  /// Addresses lie below: the number of the shortest line that a hierarchy may have fits a key.
  static constexpr std::uint64_t kMostBytes = SetAssociative::kMostKeys * kLeastLineBytes;

  Memory(const Hierarchy& hierarchy, const Pages& pages);

  enum class Kind { kRead, kChainedRead, kWrite };

  void access(std::uint64_t address, Kind kind) {
    const bool write = kind == Kind::kWrite;
    const double translation_ns = translate(address);
    Level& first = levels_.front();
    const std::size_t at = first.entries.find(first.line_of(address));
    double latency_ns = first.latency_ns;
    if (at != SetAssociative::kNone) [[likely]] {
      ++first.counts.hits;
      first.entries.use(at);
      std::uint8_t& state = first.state[at];
      if (write) state |= kDirty;
      if (state & kPrefetched) {
        state &= static_cast<std::uint8_t>(~kPrefetched);
        prefetch_after(0, address);
      }
    } else {
      latency_ns = miss(address, write);
    }
    advance(latency_ns + translation_ns, kind);
  }

  const std::vector<LevelCounts> caches() const;
  const std::vector<TlbCounts>& tlb() const { return tlb_counts_; }
  std::uint64_t accesses() const;
  std::uint64_t memory_reads() const { return memory_reads_; }
  std::uint64_t memory_writes() const { return memory_writes_; }
  double sequential_ns() const;
  /// Only where the hierarchy says what overlaps.
  std::optional<double> pipelined_ns() const;

 private:
  static constexpr std::uint8_t kDirty = 1, kPrefetched = 2;

  struct Level {
    SetAssociative entries;
    unsigned line_shift;
    double latency_ns;
    bool prefetches;
    std::vector<std::uint8_t> state;  ///< of each entry
    LevelCounts counts;

    SetAssociative::Key line_of(std::uint64_t address) const {
      return static_cast<SetAssociative::Key>(address >> line_shift);
    }
  };

  double translate(std::uint64_t address) {
    if (tlb_.empty()) return 0;
    const auto page = static_cast<SetAssociative::Key>(address >> page_shift_);
    const std::size_t at = tlb_.front().find(page);
    if (at == SetAssociative::kNone) return translate_slowly(page);
    ++tlb_counts_.front().hits;
    tlb_.front().use(at);
    return pages_.tlb.front().latency_ns;
  }
  double translate_slowly(SetAssociative::Key page);
  double miss(std::uint64_t address, bool write);
  std::size_t fetch(std::size_t level, std::uint64_t address, bool demanded, std::uint8_t state);
  void put(std::size_t level, std::uint64_t address, std::uint8_t state);
  void write_back(std::size_t level, std::uint64_t address);
  void prefetch_after(std::size_t level, std::uint64_t address);

  void advance(double latency_ns, Kind kind) {
    if (slot_free_ns_.empty()) return;
    double begin_ns = now_ns_;
    if (kind == Kind::kChainedRead) begin_ns = std::max(begin_ns, chain_end_ns_);
    if (latency_ns > levels_.front().latency_ns) begin_ns = take_slot(begin_ns, latency_ns);
    const double end_ns = begin_ns + latency_ns;
    if (kind == Kind::kChainedRead) chain_end_ns_ = end_ns;
    last_end_ns_ = std::max(last_end_ns_, end_ns);
    now_ns_ = begin_ns + access_ns_;
  }
  double take_slot(double begin_ns, double latency_ns);

  Pages pages_;
  unsigned page_shift_;
  std::vector<Level> levels_;
  std::vector<SetAssociative> tlb_;
  std::vector<TlbCounts> tlb_counts_;
  double memory_latency_ns_;
  std::uint64_t memory_reads_ = 0, memory_writes_ = 0;

  std::vector<double> slot_free_ns_;  ///< when each slot becomes free; empty: not modelled
  double access_ns_ = 0, now_ns_ = 0, chain_end_ns_ = 0, last_end_ns_ = 0;
};

}  // namespace reduce_bench
