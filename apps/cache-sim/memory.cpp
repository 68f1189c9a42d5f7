#include "memory.hpp"

#include <algorithm>
#include <bit>

namespace reduce_bench {

Memory::Memory(const Hierarchy& hierarchy, const Pages& pages)
    : pages_(pages),
      page_shift_(static_cast<unsigned>(std::countr_zero(pages.bytes))),
      tlb_counts_(pages.tlb.size()),
      memory_latency_ns_(hierarchy.memory_latency_ns) {
  for (const CacheLevel& level : hierarchy.caches)
    levels_.push_back({.entries = {level.lines(), level.associativity, level.replacement},
                       .line_shift = static_cast<unsigned>(std::countr_zero(level.line_bytes)),
                       .latency_ns = level.latency_ns,
                       .prefetches = level.prefetch == Prefetch::kNextLine,
                       .state = std::vector<std::uint8_t>(level.lines(), 0)});
  for (const TlbLevel& level : pages.tlb)
    tlb_.emplace_back(level.entries, level.associativity, level.replacement);
  if (hierarchy.overlap) {
    slot_free_ns_.assign(hierarchy.overlap->misses, 0);
    access_ns_ = hierarchy.overlap->access_ns;
  }
}

double Memory::translate_slowly(SetAssociative::Key page) {
  double added_ns = pages_.walk_ns;
  std::size_t missed = 0;
  for (; missed < tlb_.size(); ++missed) {
    const std::size_t at = tlb_[missed].find(page);
    if (at == SetAssociative::kNone) {
      ++tlb_counts_[missed].misses;
      continue;
    }
    ++tlb_counts_[missed].hits;
    tlb_[missed].use(at);
    added_ns = pages_.tlb[missed].latency_ns;
    break;
  }
  for (std::size_t i = 0; i < missed; ++i) tlb_[i].place(page, tlb_[i].victim(page));
  return added_ns;
}

double Memory::miss(std::uint64_t address, bool write) {
  ++levels_.front().counts.misses;
  const std::size_t found = fetch(0, address, true, write ? kDirty : std::uint8_t{0});
  return found == levels_.size() ? memory_latency_ns_ : levels_[found].latency_ns;
}

/// Brings a line into `level` that it does not have; returns which level had it.
std::size_t Memory::fetch(std::size_t level, std::uint64_t address, bool demanded,
                          std::uint8_t state) {
  const std::size_t next = level + 1;
  std::size_t found = next;
  if (next == levels_.size()) {
    ++memory_reads_;
  } else {
    Level& below = levels_[next];
    const std::size_t at = below.entries.find(below.line_of(address));
    if (at != SetAssociative::kNone) {
      below.entries.use(at);
      if (demanded) {
        ++below.counts.hits;
        if (below.state[at] & kPrefetched) {
          below.state[at] &= static_cast<std::uint8_t>(~kPrefetched);
          prefetch_after(next, address);
        }
      }
    } else {
      if (demanded) ++below.counts.misses;
      found = fetch(next, address, demanded, 0);
    }
  }
  put(level, address, state);
  if (demanded) prefetch_after(level, address);
  return found;
}

void Memory::put(std::size_t level, std::uint64_t address, std::uint8_t state) {
  Level& here = levels_[level];
  const SetAssociative::Key line = here.line_of(address);
  const std::size_t at = here.entries.victim(line);
  if (here.entries.holds(at) && (here.state[at] & kDirty)) {
    ++here.counts.write_backs;
    write_back(level + 1, std::uint64_t{here.entries.key_at(at)} << here.line_shift);
  }
  here.entries.place(line, at);
  here.state[at] = state;
}

/// A changed line arrives from the level before.
void Memory::write_back(std::size_t level, std::uint64_t address) {
  if (level == levels_.size()) {
    ++memory_writes_;
    return;
  }
  Level& here = levels_[level];
  const std::size_t at = here.entries.find(here.line_of(address));
  if (at != SetAssociative::kNone) here.state[at] |= kDirty;
  else put(level, address, kDirty);
}

void Memory::prefetch_after(std::size_t level, std::uint64_t address) {
  Level& here = levels_[level];
  if (!here.prefetches) return;
  const std::uint64_t next = ((address >> here.line_shift) + 1) << here.line_shift;
  if (next >> page_shift_ != address >> page_shift_) return;
  if (here.entries.find(here.line_of(next)) != SetAssociative::kNone) return;
  ++here.counts.prefetches;
  fetch(level, next, false, kPrefetched);
}

const std::vector<LevelCounts> Memory::caches() const {
  std::vector<LevelCounts> counts;
  for (const Level& level : levels_) counts.push_back(level.counts);
  return counts;
}

std::uint64_t Memory::accesses() const {
  return levels_.front().counts.hits + levels_.front().counts.misses;
}

double Memory::sequential_ns() const {
  double total_ns = 0;
  for (const Level& level : levels_)
    total_ns += static_cast<double>(level.counts.hits) * level.latency_ns;
  total_ns += static_cast<double>(levels_.back().counts.misses) * memory_latency_ns_;
  for (std::size_t i = 0; i < tlb_.size(); ++i)
    total_ns += static_cast<double>(tlb_counts_[i].hits) * pages_.tlb[i].latency_ns;
  if (!tlb_.empty()) total_ns += static_cast<double>(tlb_counts_.back().misses) * pages_.walk_ns;
  return total_ns;
}

std::optional<double> Memory::pipelined_ns() const {
  if (slot_free_ns_.empty()) return std::nullopt;
  return std::max(now_ns_, last_end_ns_);
}

double Memory::take_slot(double begin_ns, double latency_ns) {
  double& slot_ns = *std::min_element(slot_free_ns_.begin(), slot_free_ns_.end());
  begin_ns = std::max(begin_ns, slot_ns);
  slot_ns = begin_ns + latency_ns;
  return begin_ns;
}

}  // namespace reduce_bench
