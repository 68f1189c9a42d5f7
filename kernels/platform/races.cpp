#include "kernels/platform/races.hpp"

#include <algorithm>
#include <array>

namespace reduce_bench::traced {
namespace {

using trace::Kind;
constexpr unsigned kKinds = static_cast<unsigned>(Kind::kAtomic) + 1;

constexpr bool writes(Kind kind) {
  return kind == Kind::kWrite || kind == Kind::kVolatileWrite || kind == Kind::kStrongWrite ||
         kind == Kind::kAtomic;
}
constexpr bool is_strong(Kind kind) {
  return kind == Kind::kStrongRead || kind == Kind::kStrongWrite || kind == Kind::kAtomic;
}
bool is_plain_write(Kind kind) { return kind == Kind::kWrite || kind == Kind::kVolatileWrite; }

/// Whether accesses of these kinds may race at all where nothing orders them.
constexpr bool conflict(Kind a, Kind b) {
  if (!writes(a) && !writes(b)) return false;
  if (is_strong(a) && is_strong(b)) return false;
  // A volatile load is a single instruction, which sees a strong store or not.
  return !(a == Kind::kVolatileRead && is_strong(b)) && !(b == Kind::kVolatileRead && is_strong(a));
}
bool conflict(const Access& a, const Access& b) {
  if (!conflict(a.kind, b.kind)) return false;
  // One volatile store that several threads execute: one thread's value stays (PTX ISA, memory
  // consistency model: volatile is relaxed), which is what such code is written for.
  return a.kind != Kind::kVolatileWrite || b.kind != Kind::kVolatileWrite || a.place != b.place;
}

unsigned bit_of(Kind kind) { return 1u << static_cast<unsigned>(kind); }
/// The kinds that `kind` may race with, a bit for each.
unsigned rivals_of(Kind kind) {
  static constexpr auto kRivals = [] {
    std::array<unsigned, kKinds> rivals{};
    for (unsigned a = 0; a < kKinds; ++a)
      for (unsigned b = 0; b < kKinds; ++b)
        rivals[a] |= unsigned{conflict(static_cast<Kind>(a), static_cast<Kind>(b))} << b;
    return rivals;
  }();
  return kRivals[static_cast<unsigned>(kind)];
}

/// Whether whatever races with `old` races with `next`, which comes after it, too.
bool covers(const Access& next, const Access& old) {
  return next.kind == old.kind || (writes(next.kind) && !is_strong(next.kind)) ||
         (next.kind == Kind::kRead && !writes(old.kind));
}

}  // namespace

Races::Page& Races::page_of(std::uintptr_t address) {
  const std::uintptr_t number = address / kPageBytes;
  if (last_page_.first != number) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    last_page_ = {number, page.get()};
  }
  return *last_page_.second;
}

void Races::compare(const Access& earlier, const Access& later, const BlockOrder& block,
                    std::uint32_t t, std::uintptr_t address) {
  if (!conflict(earlier, later) || block.is_before(earlier.stamp, t)) return;
  bool& reported = reported_[std::minmax(earlier.place, later.place)];
  if (std::exchange(reported, true)) return;
  found_.push_back({earlier, later, address});
}

void Races::access_cell(Cell& cell, const BlockOrder& block, std::uint32_t t, const Access& access,
                        std::uintptr_t address) {
  if (cell.write.place != 0) compare(cell.write, access, block, t, address);
  if ((cell.kinds_of_others & rivals_of(access.kind)) != 0)
    for (const Access& other : cell.others) compare(other, access, block, t, address);
  if (is_plain_write(access.kind)) {
    cell.write = access;
    cell.others.clear();
    cell.kinds_of_others = 0;
    return;
  }
  if (!cell.others.empty()) {
    const Access& last = cell.others.back();
    if (last.stamp.thread == access.stamp.thread && last.stamp.epoch == access.stamp.epoch &&
        last.stamp.phase == access.stamp.phase && last.kind == access.kind)
      return;
  }
  if (cell.others.size() >= cell.prune_at) {
    std::erase_if(cell.others, [&](const Access& other) {
      return covers(access, other) && block.is_before(other.stamp, t);
    });
    cell.prune_at = std::max<std::size_t>(64, 2 * cell.others.size());
  }
  cell.others.push_back(access);
  cell.kinds_of_others |= bit_of(access.kind);
}

void Races::access(BlockOrder& block, std::uint32_t t, std::uintptr_t address,
                   std::size_t size_bytes, Kind kind, std::uint32_t place) {
  const Access access{block.stamp(t), place, kind};
  for (std::size_t done = 0; done < size_bytes;) {
    const std::uintptr_t at = address + done;
    Page& page = page_of(at);
    if (!page.by_byte && (at % kWordBytes != 0 || size_bytes - done < kWordBytes)) {
      std::vector<Cell> bytes(kPageBytes);
      for (std::size_t i = 0; i < kPageBytes; ++i) bytes[i] = page.cells[i / kWordBytes];
      page.cells = std::move(bytes);
      page.by_byte = true;
    }
    const std::size_t cell_bytes = page.by_byte ? 1 : kWordBytes;
    access_cell(page.cells[at % kPageBytes / cell_bytes], block, t, access, at);
    done += cell_bytes;
  }
  if (!is_strong(kind)) return;
  Knowledge& flag = flags_[address];
  if (kind != Kind::kStrongWrite) block.load(t, flag);
  if (kind != Kind::kStrongRead) block.store(t, flag, kind == Kind::kStrongWrite);
}

const Access* Races::rival_of(std::uintptr_t address, std::size_t size_bytes, Kind kind) const {
  const auto is_rival = [&](const Access& access) {
    return access.place != 0 && (writes(access.kind) || writes(kind)) &&
           (access.kind != Kind::kAtomic || kind != Kind::kAtomic);
  };
  for (std::uintptr_t at = address; at < address + size_bytes; ++at) {
    const auto found = pages_.find(at / kPageBytes);
    if (found == pages_.end()) continue;
    const Page& page = *found->second;
    const Cell& cell = page.cells[at % kPageBytes / (page.by_byte ? 1 : kWordBytes)];
    if (is_rival(cell.write)) return &cell.write;
    for (const Access& other : cell.others)
      if (is_rival(other)) return &other;
  }
  return nullptr;
}

void Races::forget(std::uintptr_t address, std::size_t size_bytes) {
  for (std::size_t done = 0; done < size_bytes;) {
    const std::uintptr_t at = address + done;
    const auto found = pages_.find(at / kPageBytes);
    const std::size_t rest = std::min(size_bytes - done, kPageBytes - at % kPageBytes);
    if (found != pages_.end()) {
      Page& page = *found->second;
      const std::size_t cell_bytes = page.by_byte ? 1 : kWordBytes;
      for (std::size_t i = at % kPageBytes / cell_bytes;
           i < (at % kPageBytes + rest + cell_bytes - 1) / cell_bytes; ++i)
        page.cells[i] = {};
    }
    done += rest;
  }
  std::erase_if(flags_, [&](const auto& flag) { return flag.first - address < size_bytes; });
}

}  // namespace reduce_bench::traced
