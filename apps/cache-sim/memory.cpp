#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace reduce_bench {

Memory::Memory(const Hierarchy& hierarchy, const Pages& pages)
    : pages_(pages),
      page_shift_(static_cast<unsigned>(std::countr_zero(pages.bytes))),
      tlb_counts_(pages.tlb.size()),
      memory_latency_ns_(hierarchy.memory_latency_ns) {
  for (const CacheLevel& level : hierarchy.caches) {
    levels_.push_back({.entries = {level.lines(), level.associativity, level.replacement},
                       .line_shift = static_cast<unsigned>(std::countr_zero(level.line_bytes)),
                       .latency_ns = level.latency_ns,
                       .prefetches = level.prefetch == Prefetch::kNextLine});
    levels_.back().state.assign(levels_.back().entries.slots(), 0);
  }
  for (const TlbLevel& level : pages.tlb)
    tlb_.emplace_back(level.entries, level.associativity, level.replacement);
  if (hierarchy.overlap) {
    slot_free_ns_.assign(hierarchy.overlap->misses, 0);
    access_ns_ = hierarchy.overlap->access_ns;
  }
}

void Memory::simulate_batch() {
  const std::span<const Access> accesses(batch_.data(), std::exchange(waiting_, 0));
  for (const Access& access : accesses) simulate(access.address, access.kind);
}

inline void Memory::simulate(std::uint64_t address, Kind kind) {
  const bool write = kind == Kind::kWrite;
  const double translation_ns = translate(address);
  Level& first = levels_.front();
  const std::size_t at = first.entries.find(first.line_of(address));
  double latency_ns = first.latency_ns;
  if (at != SetAssociative::kNone) [[likely]] {
    ++first.counts.hits;
    first.entries.use(at);
    std::uint8_t& state = first.state[at];
    state |= write ? kDirty : std::uint8_t{0};
    if (state & kPrefetched) {
      state &= static_cast<std::uint8_t>(~kPrefetched);
      prefetch_after(0, address);
    }
  } else {
    latency_ns = miss(address, write);
  }
  advance(latency_ns + translation_ns, kind);
}

inline double Memory::translate(std::uint64_t address) {
  if (tlb_.empty()) return 0;
  const auto page = static_cast<SetAssociative::Key>(address >> page_shift_);
  const std::size_t at = tlb_.front().find(page);
  if (at == SetAssociative::kNone) return translate_slowly(page);
  ++tlb_counts_.front().hits;
  tlb_.front().use(at);
  return pages_.tlb.front().latency_ns;
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

/// Brings a line into the first level, which does not have it.
double Memory::miss(std::uint64_t address, bool write) {
  ++levels_.front().counts.misses;
  std::size_t found = 1;
  double latency_ns = memory_latency_ns_;
  for (; found < levels_.size(); ++found) {
    Level& level = levels_[found];
    const std::size_t at = level.entries.find(level.line_of(address));
    if (at == SetAssociative::kNone) {
      ++level.counts.misses;
      continue;
    }
    ++level.counts.hits;
    level.entries.use(at);
    latency_ns = level.latency_ns;
    if (level.state[at] & kPrefetched) {
      level.state[at] &= static_cast<std::uint8_t>(~kPrefetched);
      prefetch_after(found, address);
    }
    break;
  }
  if (found == levels_.size()) ++memory_reads_;
  while (found-- > 0) {
    put(found, address, write && found == 0 ? kDirty : std::uint8_t{0});
    prefetch_after(found, address);
  }
  return latency_ns;
}

void Memory::put(std::size_t level, std::uint64_t address, std::uint8_t state) {
  Level& here = levels_[level];
  const SetAssociative::Key line = here.line_of(address);
  const std::size_t at = here.entries.victim(line);
  if (here.state[at] & kDirty) {
    ++here.counts.write_backs;
    write_back(level + 1, std::uint64_t{here.entries.key_at(at)} << here.line_shift);
  }
  here.entries.place(line, at);
  here.state[at] = state;
}

/// A changed line arrives from the level before.
inline void Memory::write_back(std::size_t level, std::uint64_t address) {
  if (level == levels_.size()) {
    ++memory_writes_;
    return;
  }
  Level& here = levels_[level];
  const std::size_t at = here.entries.find(here.line_of(address));
  if (at != SetAssociative::kNone) here.state[at] |= kDirty;
  else put(level, address, kDirty);
}

/// Brings the next line into a level, and those after it that do not have it either.
void Memory::prefetch_after(std::size_t level, std::uint64_t address) {
  Level& here = levels_[level];
  if (!here.prefetches) return;
  const std::uint64_t next = ((address >> here.line_shift) + 1) << here.line_shift;
  if (next >> page_shift_ != address >> page_shift_) return;
  if (here.entries.find(here.line_of(next)) != SetAssociative::kNone) return;
  ++here.counts.prefetches;
  std::size_t found = level + 1;
  for (; found < levels_.size(); ++found) {
    SetAssociative& entries = levels_[found].entries;
    const std::size_t at = entries.find(levels_[found].line_of(next));
    if (at == SetAssociative::kNone) continue;
    entries.use(at);
    break;
  }
  if (found == levels_.size()) ++memory_reads_;
  while (found-- > level) put(found, next, found == level ? kPrefetched : std::uint8_t{0});
}

std::vector<LevelCounts> Memory::caches() {
  simulate_batch();
  std::vector<LevelCounts> counts;
  for (const Level& level : levels_) counts.push_back(level.counts);
  return counts;
}

const std::vector<TlbCounts>& Memory::tlb() {
  simulate_batch();
  return tlb_counts_;
}

std::uint64_t Memory::accesses() {
  simulate_batch();
  return levels_.front().counts.hits + levels_.front().counts.misses;
}

std::uint64_t Memory::memory_reads() {
  simulate_batch();
  return memory_reads_;
}

std::uint64_t Memory::memory_writes() {
  simulate_batch();
  return memory_writes_;
}

double Memory::sequential_ns() {
  simulate_batch();
  double total_ns = 0;
  for (const Level& level : levels_)
    total_ns += static_cast<double>(level.counts.hits) * level.latency_ns;
  total_ns += static_cast<double>(levels_.back().counts.misses) * memory_latency_ns_;
  for (std::size_t i = 0; i < tlb_.size(); ++i)
    total_ns += static_cast<double>(tlb_counts_[i].hits) * pages_.tlb[i].latency_ns;
  if (!tlb_.empty()) total_ns += static_cast<double>(tlb_counts_.back().misses) * pages_.walk_ns;
  return total_ns;
}

std::optional<double> Memory::pipelined_ns() {
  simulate_batch();
  if (slot_free_ns_.empty()) return std::nullopt;
  return std::max(now_ns_, last_end_ns_);
}

/// The ring of slots is sorted from the one that is free first on; what begins last mostly ends
/// last.
inline double Memory::take_slot(double begin_ns, double latency_ns) {
  const std::size_t slots = slot_free_ns_.size();
  std::size_t at = first_slot_;
  first_slot_ = at + 1 == slots ? 0 : at + 1;
  begin_ns = std::max(begin_ns, slot_free_ns_[at]);
  while (at != first_slot_) {
    const std::size_t before = at == 0 ? slots - 1 : at - 1;
    if (slot_free_ns_[before] <= begin_ns + latency_ns) break;
    slot_free_ns_[at] = slot_free_ns_[before];
    at = before;
  }
  slot_free_ns_[at] = begin_ns + latency_ns;
  return begin_ns;
}

inline void Memory::advance(double latency_ns, Kind kind) {
  if (slot_free_ns_.empty()) return;
  double begin_ns = now_ns_;
  if (kind == Kind::kChainedRead) begin_ns = std::max(begin_ns, chain_end_ns_);
  if (latency_ns > levels_.front().latency_ns) begin_ns = take_slot(begin_ns, latency_ns);
  const double end_ns = begin_ns + latency_ns;
  if (kind == Kind::kChainedRead) chain_end_ns_ = end_ns;
  last_end_ns_ = std::max(last_end_ns_, end_ns);
  now_ns_ = begin_ns + access_ns_;
}

}  // namespace reduce_bench
