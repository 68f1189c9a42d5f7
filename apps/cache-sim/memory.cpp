#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace reduce_bench {

Memory::Memory(const Hierarchy& hierarchy, const Pages& pages)
    : pages_(pages),
      page_shift_(static_cast<unsigned>(std::countr_zero(pages.bytes))),
      memory_latency_ns_(hierarchy.memory_latency_ns) {
  for (const CacheLevel& level : hierarchy.caches) {
    levels_.push_back({.sets = sets_of(level.lines(), level.associativity, level.replacement),
                       .line_shift = static_cast<unsigned>(std::countr_zero(level.line_bytes)),
                       .latency_ns = level.latency_ns,
                       .prefetches = level.prefetch == Prefetch::kNextLine});
  }
  for (const TlbLevel& level : pages.tlb)
    tlb_.push_back({.sets = sets_of(level.entries, level.associativity, level.replacement),
                    .latency_ns = level.latency_ns});
  if (hierarchy.overlap) {
    slot_free_ns_.assign(hierarchy.overlap->misses, 0);
    access_ns_ = hierarchy.overlap->access_ns;
  }
}

/// The sets that are searched fastest. Of fewer than four ways, most of what a search compares
/// would be empty.
Memory::AnySets Memory::sets_of(std::uint64_t entries, std::uint64_t ways,
                                Replacement replacement) {
  if (ways < 4 || ways > 48 || replacement != Replacement::kApproximateLru)
    return IndexedSets(entries, ways, replacement);
  if (ways > 16) return SearchedSets<48>(entries, ways);
  if (ways > 8) return SearchedSets<16>(entries, ways);
  return SearchedSets<8>(entries, ways);
}

/// No level decides what a nearer one does, so each serves all requests of the batch before the
/// next level begins: which sets it needs is known ahead, and levels do not wait for one another.
void Memory::simulate_batch() {
  const std::span<const Request> accesses(batch_.data(), std::exchange(waiting_, 0));
  translate(accesses);
  std::span<const Request> requests = accesses;
  for (Level& level : levels_)
    requests = std::visit([&](auto& sets) { return serve(level, sets, requests); }, level.sets);
  std::uint64_t writes = 0;
  for (const Request request : requests) {
    writes += request.kind() == Kind::kWriteBack;
    if (request.kind() == Kind::kRead) found_ns_[request.access()] = memory_latency_ns_;
  }
  memory_writes_ += writes;
  memory_reads_ += requests.size() - writes;
  if (!slot_free_ns_.empty()) advance(accesses);
}

void Memory::translate(std::span<const Request> accesses) {
  std::fill_n(translation_ns_.begin(), accesses.size(), tlb_.empty() ? 0 : pages_.walk_ns);
  std::iota(untranslated_.begin(), untranslated_.begin() + accesses.size(), 0u);
  std::span wanted(untranslated_.data(), accesses.size());
  for (Tlb& level : tlb_)
    wanted =
        std::visit([&](auto& sets) { return look_up(level, sets, accesses, wanted); }, level.sets);
}

/// The accesses among `wanted`, overwritten, whose pages the level does not have.
template <class Sets>
std::span<unsigned> Memory::look_up(Tlb& level, Sets& sets, std::span<const Request> accesses,
                                    std::span<unsigned> wanted) {
  std::size_t misses = 0;
  for (const unsigned access : wanted) {
    const Key page = static_cast<Key>(accesses[access].address() >> page_shift_);
    const typename Sets::Entry found = sets.find(page);
    if (found) [[likely]] {
      sets.use(found);
      translation_ns_[access] = level.latency_ns;
    } else {
      sets.place(page, sets.victim(found), false, false);
      wanted[misses++] = access;
    }
  }
  level.counts.hits += wanted.size() - misses;
  level.counts.misses += misses;
  return wanted.first(misses);
}

/// Serves the requests and returns what the level asks of the next: at most four for each request.
/// Where one may be needed it is written without a branch, which would be mispredicted, and the
/// next overwrites it if it was not.
template <class Sets>
std::span<const Memory::Request> Memory::serve(Level& level, Sets& sets,
                                               std::span<const Request> requests) {
  // The sets of the first level stay in the processor's own cache: nothing is fetched ahead.
  const std::size_t ahead = &level == &levels_.front() ? requests.size() : kAhead;
  if (level.asked.size() < 4 * requests.size()) level.asked.resize(4 * requests.size());
  Request* next = level.asked.data();
  LevelCounts counts;
  const unsigned line_shift = level.line_shift;
  const auto put = [&](Key line, typename Sets::Entry not_found, bool dirty, bool prefetched) {
    const typename Sets::Entry victim = sets.victim(not_found);
    const bool changed = sets.dirty(victim);
    *next = {std::uint64_t{sets.key_at(victim)} << line_shift, 0, Kind::kWriteBack};
    next += changed;
    counts.write_backs += changed;
    sets.place(line, victim, dirty, prefetched);
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i + ahead < requests.size())
      sets.fetch(static_cast<Key>(requests[i + ahead].address() >> line_shift));
    const Request request = requests[i];
    const std::uint64_t address = request.address();
    const Kind kind = request.kind();
    const bool demand = kind <= Kind::kWrite, write_back = kind == Kind::kWriteBack;
    const bool dirty = kind == Kind::kWrite || write_back;
    const Key line = static_cast<Key>(address >> line_shift);
    const typename Sets::Entry found = sets.find(line);
    if (found) [[likely]] {
      sets.make_dirty(found, dirty);
      if (!write_back) sets.use(found);
      if (!demand) continue;
      ++counts.hits;
      found_ns_[request.access()] = level.latency_ns;
      if (!sets.prefetched(found)) continue;
      sets.clear_prefetched(found);
    } else {
      *next = {address, request.access(), demand ? Kind::kRead : Kind::kPrefetch};
      next += !write_back;
      put(line, found, dirty, false);
      if (!demand) continue;
      ++counts.misses;
    }
    // Prefetches the line that follows, into the farther levels as well that do not have it.
    const std::uint64_t after = (std::uint64_t{line} + 1) << line_shift;
    if (!level.prefetches || after >> page_shift_ != address >> page_shift_) continue;
    const Key line_after = line + 1;
    const typename Sets::Entry there = sets.find(line_after);
    if (there) continue;
    ++counts.prefetches;
    *next++ = {after, 0, Kind::kPrefetch};
    put(line_after, there, false, true);
  }
  level.counts.hits += counts.hits;
  level.counts.misses += counts.misses;
  level.counts.prefetches += counts.prefetches;
  level.counts.write_backs += counts.write_backs;
  return {level.asked.data(), next};
}

std::vector<LevelCounts> Memory::caches() {
  simulate_batch();
  std::vector<LevelCounts> counts;
  for (const Level& level : levels_) counts.push_back(level.counts);
  return counts;
}

std::vector<TlbCounts> Memory::tlb() {
  simulate_batch();
  std::vector<TlbCounts> counts;
  for (const Tlb& level : tlb_) counts.push_back(level.counts);
  return counts;
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
  for (const Tlb& level : tlb_)
    total_ns += static_cast<double>(level.counts.hits) * level.latency_ns;
  if (!tlb_.empty()) total_ns += static_cast<double>(tlb_.back().counts.misses) * pages_.walk_ns;
  return total_ns;
}

std::optional<double> Memory::pipelined_ns() {
  simulate_batch();
  if (slot_free_ns_.empty()) return std::nullopt;
  return std::max(now_ns_, last_end_ns_);
}

/// Takes the slot that is free first and returns when the access can begin. The ring of slots is
/// sorted by when they become free, from `first_slot_` on. What begins last mostly ends last, so
/// that few slots move.
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

void Memory::advance(std::span<const Request> accesses) {
  const double first_ns = levels_.front().latency_ns;
  // These are in registers rather than members, since each access waits for the result of the last.
  double now_ns = now_ns_, last_end_ns = last_end_ns_;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const bool chained = accesses[i].kind() == Kind::kChainedRead;
    const double latency_ns = found_ns_[i] + translation_ns_[i];
    double begin_ns = now_ns;
    if (chained) begin_ns = std::max(begin_ns, chain_end_ns_);
    if (latency_ns > first_ns) begin_ns = take_slot(begin_ns, latency_ns);
    const double end_ns = begin_ns + latency_ns;
    if (chained) chain_end_ns_ = end_ns;
    last_end_ns = std::max(last_end_ns, end_ns);
    now_ns = begin_ns + access_ns_;
  }
  now_ns_ = now_ns;
  last_end_ns_ = last_end_ns;
}

}  // namespace reduce_bench
