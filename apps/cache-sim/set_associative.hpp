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
        mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
        way_shift_(std::has_single_bit(ways) ? std::countr_zero(ways) : kNoShift),
        replacement_(replacement),
        tags_(entries, 0),
        filled_(sets_, 0),
        words_((ways + 63) / 64),
        hints_(ways > kWaysWorthAHint ? std::bit_ceil(2 * entries) : 0, 0) {
    switch (replacement_) {
      case Replacement::kLru: used_.assign(entries, 0); break;
      case Replacement::kApproximateLru: used_bits_.assign(sets_ * words_, 0); break;
    }
  }

  /// Where the entry is, or kNone.
  std::size_t find(Key key) {
    if (!hints_.empty()) {
      const std::size_t hint = hints_[key & (hints_.size() - 1)];
      if (tags_[hint] == key + 1) return hint;
    }
    const std::size_t at = ways_ > kWaysToSearch ? looked_up(key) : searched(key);
    if (at != kNone) remember(key, at);
    return at;
  }

  void use(std::size_t i) {
    switch (replacement_) {
      case Replacement::kLru: used_[i] = ++time_; return;
      case Replacement::kApproximateLru: set_bit(i); return;
    }
  }

  /// Where a key that is not here goes: an empty entry of its set, else the one to replace.
  std::size_t victim(Key key) const {
    const std::size_t set = set_of(key), first = set * ways_;
    if (filled_[set] < ways_) return first + filled_[set];
    switch (replacement_) {
      case Replacement::kLru:
        return static_cast<std::size_t>(std::min_element(&used_[first], &used_[first] + ways_) -
                                        used_.data());
      case Replacement::kApproximateLru: return ways_ == 1 ? first : first + first_unused(set);
    }
    return first;  // unreachable
  }

  bool holds(std::size_t i) const { return tags_[i] != 0; }
  Key key_at(std::size_t i) const { return tags_[i] - 1; }

  /// Puts a key where `victim` said, as used.
  void place(Key key, std::size_t i) {
    if (ways_ > kWaysToSearch) {
      if (holds(i)) index_.erase(key_at(i));
      index_.emplace(key, static_cast<std::uint32_t>(i));
    }
    if (!holds(i)) ++filled_[set_at(i)];
    tags_[i] = key + 1;
    remember(key, i);
    use(i);
  }

 private:
  /// Wider sets are not searched through where a hint is right: which way has a key is random, and
  /// the branch of a search that finds it would go where none expected it.
  static constexpr std::uint64_t kWaysWorthAHint = 2;
  /// A search of the thousands of ways that a TLB without sets has takes microseconds.
  static constexpr std::uint64_t kWaysToSearch = 64;
  using Index = std::unordered_map<Key, std::uint32_t>;
  std::size_t looked_up(Key key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? kNone : found->second;
  }
  std::size_t searched(Key key) const {
    const std::size_t first = set_of(key) * ways_;
    for (std::size_t i = first; i < first + ways_; ++i)
      if (tags_[i] == key + 1) return i;
    return kNone;
  }
  std::size_t set_of(Key key) const { return mask_ != 0 || sets_ == 1 ? key & mask_ : key % sets_; }
  // A division takes longer than the rest of an access.
  std::size_t set_at(std::size_t i) const { return way_shift_ < 0 ? i / ways_ : i >> way_shift_; }
  void set_bit(std::size_t i) {
    const std::size_t set = set_at(i), way = i - set * ways_;
    std::uint64_t& word = used_bits_[set * words_ + way / 64];
    const std::uint64_t bit = std::uint64_t{1} << way % 64;
    if (word & bit) return;
    word |= bit;
    if (first_unused(set) < ways_) return;
    std::fill_n(&used_bits_[set * words_], words_, std::uint64_t{0});
    word = bit;
  }
  /// The first way whose bit is not set; `ways` or more where all are.
  std::size_t first_unused(std::size_t set) const {
    std::size_t word = 0;
    while (word + 1 < words_ && used_bits_[set * words_ + word] == ~std::uint64_t{0}) ++word;
    return 64 * word + static_cast<std::size_t>(std::countr_one(used_bits_[set * words_ + word]));
  }
  void remember(Key key, std::size_t i) {
    if (!hints_.empty()) hints_[key & (hints_.size() - 1)] = static_cast<std::uint32_t>(i);
  }

  static constexpr int kNoShift = -1;

  std::uint64_t ways_, sets_, mask_;
  int way_shift_;
  Replacement replacement_;
  std::uint64_t time_ = 0;
  std::vector<Key> tags_;  ///< key + 1; 0 where empty
  std::vector<std::uint32_t>
      filled_;                       ///< entries of each set, from its first; none is ever emptied
  std::vector<std::uint64_t> used_;  ///< LRU: when
  std::size_t words_;                ///< of 64 bits for each set
  std::vector<std::uint64_t> used_bits_;  ///< approximate LRU
  std::vector<std::uint32_t> hints_;      ///< where a key with these lower bits was last
  Index index_;                           ///< of sets too wide to search: where each key is
};

}  // namespace reduce_bench
