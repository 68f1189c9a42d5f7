// Sets of entries with a replacement policy: a cache's lines, or a TLB's translations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hierarchy.hpp"

namespace reduce_bench {

class SetAssociative {
 public:
  /// Number of a line or page. 32 bits, as the simulator waits for its own tables above all.
  using Key = std::uint32_t;
  static constexpr Key kMostKeys = ~Key{0};
  static constexpr std::size_t kNone = ~std::size_t{0};

  SetAssociative(std::uint64_t entries, std::uint64_t ways, Replacement replacement)
      : ways_(ways),
        sets_(entries / ways),
        reciprocal_(~std::uint64_t{0} / sets_ + 1),
        set_shift_(std::countr_zero(std::bit_ceil(ways))),
        replacement_(replacement),
        tags_(slots() + kAtOnce, 0),
        words_((ways + 63) / 64),
        all_used_(~std::uint64_t{0} >> (64 * words_ - ways)),
        hints_(ways > kAtOnce || entries <= kEntriesWorthHints ? std::bit_ceil(2 * entries) : 0,
               0) {
    switch (replacement_) {
      case Replacement::kLru: used_.assign(slots(), 0); break;
      case Replacement::kApproximateLru: used_bits_.assign(sets_ * words_, 0); break;
    }
  }

  /// Entries are numbered up to here. A set begins at a multiple of a power of two, so that shifts
  /// tell sets and ways; what lies between its last way and the next set stays empty.
  std::size_t slots() const { return sets_ << set_shift_; }

  /// Where the entry is, or kNone.
  std::size_t find(Key key) {
    if (hints_.empty()) return searched(key);
    const std::size_t hint = hints_[key & (hints_.size() - 1)];
    if (tags_[hint] == key + 1) return hint;
    const std::size_t at = ways_ > kWaysWithoutIndex ? looked_up(key) : searched(key);
    if (at != kNone) remember(key, at);
    return at;
  }

  void use(std::size_t i) {
    switch (replacement_) {
      case Replacement::kLru: used_[i] = ++time_; return;
      case Replacement::kApproximateLru: set_bit(i); return;
    }
  }

  /// Where a key that is not here goes: the first empty entry of its set, else the one to replace.
  /// Empty entries need no case of their own: their times are the least, and their bits not set.
  std::size_t victim(Key key) const {
    const std::size_t set = set_of(key), first = set << set_shift_;
    switch (replacement_) {
      case Replacement::kLru:
        return static_cast<std::size_t>(std::min_element(&used_[first], &used_[first] + ways_) -
                                        used_.data());
      case Replacement::kApproximateLru: return first + first_unused(set);
    }
    return first;  // unreachable
  }

  bool holds(std::size_t i) const { return tags_[i] != 0; }
  Key key_at(std::size_t i) const { return tags_[i] - 1; }

  /// Puts a key where `victim` said, as used.
  void place(Key key, std::size_t i) {
    if (ways_ > kWaysWithoutIndex) {
      if (holds(i)) index_.erase(key_at(i));
      index_.emplace(key, static_cast<std::uint32_t>(i));
    }
    tags_[i] = key + 1;
    if (!hints_.empty()) remember(key, i);
    use(i);
  }

 private:
  /// Hints save the search of wide sets, and of a cache that most accesses hit. Those of a larger
  /// one would miss the processor's caches, where what a search reads lies in a line or two.
  static constexpr std::uint64_t kEntriesWorthHints = 2048;
  /// A search of the thousands of ways that a TLB without sets has takes microseconds.
  static constexpr std::uint64_t kWaysWithoutIndex = 64;
  using Index = std::unordered_map<Key, std::uint32_t>;
  std::size_t looked_up(Key key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? kNone : found->second;
  }
  std::size_t searched(Key key) const {
    const std::size_t first = set_of(key) << set_shift_, end = first + ways_;
    for (std::size_t i = first; i < end; i += kAtOnce) {
      // Which way has a key is random: there is no branch for each, but a form that compilers make
      // vectors of (GCC unless it unrolls first). What follows the set does not have the key.
      const Key* const tags = &tags_[i];
      std::uint32_t found = 0;
#pragma GCC unroll 1
      for (std::uint32_t j = 0; j < kAtOnce; ++j) found |= tags[j] == key + 1 ? j + 1 : 0;
      if (found != 0) return i + found - 1;
    }
    return kNone;
  }
  static constexpr std::uint32_t kAtOnce = 16;
  /// key % sets by two multiplications (Lemire, Kaser, Kurz 2019: exact for 32 bits), as a division
  /// takes longer than the search.
  std::size_t set_of(Key key) const {
    return static_cast<std::size_t>(static_cast<unsigned __int128>(reciprocal_ * key) * sets_ >>
                                    64);
  }
  void set_bit(std::size_t i) {
    const std::size_t set = i >> set_shift_, way = i - (set << set_shift_);
    const std::uint64_t bit = std::uint64_t{1} << way % 64;
    if (words_ == 1) {
      const std::uint64_t used = used_bits_[set] | bit;
      used_bits_[set] = used == all_used_ ? bit : used;
      return;
    }
    std::uint64_t& word = used_bits_[set * words_ + way / 64];
    if (word & bit) return;
    word |= bit;
    if (first_unused(set) < ways_) return;
    std::fill_n(&used_bits_[set * words_], words_, std::uint64_t{0});
    word = bit;
  }
  /// The first way whose bit is not set; `ways` where all are.
  std::size_t first_unused(std::size_t set) const {
    // All but the last: then it is that one, also where it is the only one, whose bit stays set.
    if (words_ == 1)
      return static_cast<std::size_t>(std::countr_one(used_bits_[set] & all_used_ >> 1));
    std::size_t word = 0;
    while (word + 1 < words_ && used_bits_[set * words_ + word] == ~std::uint64_t{0}) ++word;
    return 64 * word + static_cast<std::size_t>(std::countr_one(used_bits_[set * words_ + word]));
  }
  void remember(Key key, std::size_t i) {
    hints_[key & (hints_.size() - 1)] = static_cast<std::uint32_t>(i);
  }

  std::uint64_t ways_, sets_, reciprocal_;
  int set_shift_;
  Replacement replacement_;
  std::uint64_t time_ = 0;
  std::vector<Key> tags_;                 ///< key + 1; 0 where empty
  std::vector<std::uint64_t> used_;       ///< LRU: when
  std::size_t words_;                     ///< of 64 bits for each set
  std::uint64_t all_used_;                ///< the last word of a set whose ways were all used
  std::vector<std::uint64_t> used_bits_;  ///< approximate LRU
  std::vector<std::uint32_t> hints_;      ///< where a key with these lower bits was last
  Index index_;                           ///< of sets too wide to search: where each key is
};

}  // namespace reduce_bench
