// The simulated memory: what every access finds where, and how long it takes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
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
  /// All addresses are below this, so that the number of a line of the least length fits a key.
  static constexpr std::uint64_t kMostBytes = kMostKeys * kLeastLineBytes;

  Memory(const Hierarchy& hierarchy, const Pages& pages);

  /// The program's accesses, then what a level asks of the next.
  enum class Kind : std::uint8_t { kRead, kChainedRead, kWrite, kPrefetch, kWriteBack };

  /// Nothing that is simulated decides what the program does next: accesses wait, and are simulated
  /// in their order when there are enough, or when a count or time is asked for. So the program's
  /// own misses overlap, rather than each waiting for the simulation of the access before.
  void access(std::uint64_t address, Kind kind) {
    batch_[waiting_] = Request(address, waiting_, kind);
    if (++waiting_ == kBatch) simulate_batch();
  }

  std::vector<LevelCounts> caches();
  std::vector<TlbCounts> tlb();
  std::uint64_t accesses();
  std::uint64_t memory_reads();
  std::uint64_t memory_writes();
  double sequential_ns();
  /// The time of the pipelined model; nothing where the hierarchy does not say what overlaps.
  std::optional<double> pipelined_ns();

 private:
  /// An access, or what a level asks of the next. It is one word, so that noting an access is one
  /// store.
  class Request {
   public:
    Request() = default;
    Request(std::uint64_t address, std::uint64_t access, Kind kind)
        : word_(address << 16 | access << 3 | static_cast<std::uint64_t>(kind)) {}
    std::uint64_t address() const { return word_ >> 16; }
    std::size_t access() const { return word_ >> 3 & (kBatch - 1); }  ///< which of the batch
    Kind kind() const { return static_cast<Kind>(word_ & 7); }

   private:
    std::uint64_t word_;
  };

  using AnySets = std::variant<SearchedSets<8>, SearchedSets<16>, SearchedSets<48>, IndexedSets>;

  struct Level {
    AnySets sets;
    unsigned line_shift;
    double latency_ns;
    bool prefetches;
    LevelCounts counts;
    std::vector<Request> asked;  ///< of the next level
  };

  struct Tlb {
    AnySets sets;
    double latency_ns;
    TlbCounts counts;
  };

  static AnySets sets_of(std::uint64_t entries, std::uint64_t ways, Replacement replacement);
  void simulate_batch();
  void translate(std::span<const Request> accesses);
  template <class Sets>
  std::span<unsigned> look_up(Tlb& level, Sets& sets, std::span<const Request> accesses,
                              std::span<unsigned> wanted);
  template <class Sets>
  std::span<const Request> serve(Level& level, Sets& sets, std::span<const Request> requests);

  void advance(std::span<const Request> accesses);
  double take_slot(double begin_ns, double latency_ns);

  /// Enough that where a batch begins does not matter, and few enough to stay in the first cache.
  static constexpr std::size_t kBatch = 1024;
  /// Far enough for the processor to fetch a set before it is needed.
  static constexpr std::size_t kAhead = 8;
  std::array<Request, kBatch> batch_;
  std::array<double, kBatch> found_ns_, translation_ns_;  ///< of each access
  std::array<unsigned, kBatch> untranslated_;  ///< accesses: no TLB level so far had the page
  std::size_t waiting_ = 0;

  Pages pages_;
  unsigned page_shift_;
  std::vector<Level> levels_;
  std::vector<Tlb> tlb_;
  double memory_latency_ns_;
  std::uint64_t memory_reads_ = 0, memory_writes_ = 0;

  /// When each slot becomes free, from `first_slot_` on in ascending order; empty: not modelled.
  std::vector<double> slot_free_ns_;
  std::size_t first_slot_ = 0;
  double access_ns_ = 0, now_ns_ = 0, chain_end_ns_ = 0, last_end_ns_ = 0;
};

}  // namespace reduce_bench
