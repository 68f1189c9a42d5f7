// Sets of entries with a replacement policy: a cache's lines, or a TLB's translations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <experimental/simd>
#include <vector>

#include "hierarchy.hpp"

namespace reduce_bench {

/// The number of a line or page. It has 32 bits to keep the simulator's tables small: it spends
/// most of its time waiting for them.
using Key = std::uint32_t;
inline constexpr Key kMostKeys = ~Key{0};

/// key % sets by two multiplications (Lemire, Kaser, Kurz 2019: exact for 32 bits), since a
/// division takes longer than a search.
class SetOf {
 public:
  explicit SetOf(std::uint64_t sets) : sets_(sets), reciprocal_(~std::uint64_t{0} / sets + 1) {}
  std::size_t operator()(Key key) const {
    return static_cast<std::size_t>(static_cast<unsigned __int128>(reciprocal_ * key) * sets_ >>
                                    64);
  }

 private:
  std::uint64_t sets_, reciprocal_;
};

/// Approximate LRU and two to `kWays` ways, as most caches have: a search compares all tags of a
/// set at once. All data of a set lie together, since each set that is touched costs a miss or two
/// of the processor's own caches.
template <std::size_t kWays>
class SearchedSets {
 public:
  struct Entry {
    std::size_t set;
    std::uint64_t bit;  ///< of its way; 0: the set does not have the key
    explicit operator bool() const { return bit != 0; }
  };

  SearchedSets(std::uint64_t entries, std::uint64_t ways)
      : all_used_(~std::uint64_t{0} >> (64 - ways)),
        set_of_(entries / ways),
        sets_(entries / ways) {}

  Entry find(Key key) const {
    namespace stdx = std::experimental;
    constexpr std::size_t kAtOnce = std::min(kWays, std::size_t{16});
    using Tags = stdx::fixed_size_simd<Key, kAtOnce>;
    Entry found{.set = set_of_(key), .bit = 0};
    const Key* const tags = sets_[found.set].tags;
    for (std::size_t way = 0; way < kWays; way += kAtOnce) {
      const auto same = Tags(tags + way, stdx::element_aligned) == key + 1;
      if (stdx::any_of(same)) found.bit = std::uint64_t{1} << way << stdx::find_first_set(same);
    }
    return found;
  }

  /// Fetches what a later search for the key reads, and what a use changes.
  void fetch(Key key) const {
    const auto* set = reinterpret_cast<const std::byte*>(&sets_[set_of_(key)]);
    for (std::size_t at = 0; at < sizeof(Set); at += kHostLineBytes) __builtin_prefetch(set + at);
  }

  void use(Entry entry) {
    std::uint64_t& used = sets_[entry.set].used;
    used = (used | entry.bit) == all_used_ ? entry.bit : used | entry.bit;
  }

  /// Where a key that was not found goes: the first empty entry of its set, else the one to
  /// replace. Empty entries need no case of their own: their bits are clear. At least one bit of a
  /// set always is.
  Entry victim(Entry not_found) const {
    const std::uint64_t used = sets_[not_found.set].used;
    return {not_found.set, ~used & (used + 1)};
  }

  Key key_at(Entry entry) const { return sets_[entry.set].tags[std::countr_zero(entry.bit)] - 1; }
  bool dirty(Entry entry) const { return sets_[entry.set].dirty & entry.bit; }
  void make_dirty(Entry entry, bool dirty) { sets_[entry.set].dirty |= dirty ? entry.bit : 0; }
  /// Whether it was prefetched and no access has asked for it yet.
  bool prefetched(Entry entry) const { return sets_[entry.set].prefetched & entry.bit; }
  void clear_prefetched(Entry entry) { sets_[entry.set].prefetched &= ~entry.bit; }

  /// Puts a key where `victim` said, and marks it as used.
  void place(Key key, Entry entry, bool dirty, bool prefetched) {
    Set& set = sets_[entry.set];
    set.tags[std::countr_zero(entry.bit)] = key + 1;
    set.dirty = (set.dirty & ~entry.bit) | (dirty ? entry.bit : 0);
    set.prefetched = (set.prefetched & ~entry.bit) | (prefetched ? entry.bit : 0);
    use(entry);
  }

 private:
  static constexpr std::size_t kHostLineBytes = 64;
  struct alignas(kHostLineBytes) Set {
    Key tags[kWays] = {};  ///< key + 1; 0 where empty
    std::uint64_t used = 0, dirty = 0, prefetched = 0;
  };
  std::uint64_t all_used_;  ///< a bit for each way
  SetOf set_of_;
  std::vector<Set> sets_;
};

/// Any number of ways and any policy. Keys are found by a table of all keys, which are dense, since
/// arrays lie one after another: searching the thousands of ways of a TLB without sets would take
/// microseconds.
class IndexedSets {
 public:
  struct Entry {
    std::size_t set, i;  ///< of all entries; kNone: the set does not have the key
    explicit operator bool() const { return i != kNone; }
  };

  IndexedSets(std::uint64_t entries, std::uint64_t ways, Replacement replacement)
      : ways_(ways),
        words_((ways + 63) / 64),
        all_used_(~std::uint64_t{0} >> (64 * words_ - ways)),
        replacement_(replacement),
        set_of_(entries / ways),
        entries_(entries) {
    switch (replacement_) {
      case Replacement::kLru: used_at_.assign(entries, 0); break;
      case Replacement::kApproximateLru:
        used_bits_.assign(entries / ways * words_, 0);
        full_words_.assign(entries / ways, 0);
        break;
    }
  }

  Entry find(Key key) const {
    return {.set = set_of_(key), .i = key < index_.size() ? std::size_t{index_[key]} - 1 : kNone};
  }
  void fetch(Key key) const {
    if (key < index_.size()) __builtin_prefetch(&index_[key]);
  }

  void use(Entry entry) {
    switch (replacement_) {
      case Replacement::kLru: used_at_[entry.i] = ++time_; return;
      case Replacement::kApproximateLru: set_bit(entry); return;
    }
  }

  /// Empty entries need no case of their own: their times are the least, and their bits are clear.
  Entry victim(Entry not_found) const {
    const std::size_t set = not_found.set, first = set * ways_;
    switch (replacement_) {
      case Replacement::kLru: {
        const auto times = used_at_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto least = std::min_element(times, times + static_cast<std::ptrdiff_t>(ways_));
        return {set, first + static_cast<std::size_t>(least - times)};
      }
      case Replacement::kApproximateLru: return {set, first + first_unused(set)};
    }
    return not_found;  // unreachable
  }

  Key key_at(Entry entry) const { return entries_[entry.i].tag - 1; }
  bool dirty(Entry entry) const { return entries_[entry.i].dirty; }
  void make_dirty(Entry entry, bool dirty) { entries_[entry.i].dirty |= dirty; }
  bool prefetched(Entry entry) const { return entries_[entry.i].prefetched; }
  void clear_prefetched(Entry entry) { entries_[entry.i].prefetched = false; }

  void place(Key key, Entry entry, bool dirty, bool prefetched) {
    if (entries_[entry.i].tag != 0) index_[key_at(entry)] = 0;
    if (key >= index_.size()) index_.resize(std::size_t{key} + 1, 0);
    index_[key] = static_cast<std::uint32_t>(entry.i) + 1;
    entries_[entry.i] = {key + 1, dirty, prefetched};
    use(entry);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct State {
    Key tag = 0;  ///< key + 1; 0 where empty
    bool dirty = false, prefetched = false;
  };
  void set_bit(Entry entry) {
    const std::size_t way = entry.i - entry.set * ways_;
    std::uint64_t* const words = &used_bits_[entry.set * words_];
    const std::uint64_t bit = std::uint64_t{1} << way % 64;
    if (words[way / 64] & bit) return;
    words[way / 64] |= bit;
    std::uint32_t& full = full_words_[entry.set];
    while (full + 1 < words_ && words[full] == ~std::uint64_t{0}) ++full;
    if (full + 1 < words_ || words[full] != all_used_) return;
    std::fill_n(words, words_, std::uint64_t{0});
    full = 0;
    words[way / 64] = bit;
  }
  /// The first way whose bit is clear; in a set of one way that way, whose bit stays set.
  std::size_t first_unused(std::size_t set) const {
    if (ways_ == 1) return 0;
    const std::size_t word = full_words_[set];
    return 64 * word + static_cast<std::size_t>(std::countr_one(used_bits_[set * words_ + word]));
  }

  std::uint64_t ways_;
  std::size_t words_;       ///< of 64 bits, for the ways of each set
  std::uint64_t all_used_;  ///< the last word of a set whose ways were all used
  Replacement replacement_;
  SetOf set_of_;
  std::uint64_t time_ = 0;
  std::vector<State> entries_;
  std::vector<std::uint64_t> used_at_;     ///< LRU: when each entry was used last
  std::vector<std::uint64_t> used_bits_;   ///< approximate LRU: a bit for each entry
  std::vector<std::uint32_t> full_words_;  ///< words at the beginning of a set that are all ones
  std::vector<std::uint32_t> index_;       ///< 1 + the entry of each key; 0: none
};

}  // namespace reduce_bench
