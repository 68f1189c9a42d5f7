#include "kernels/platform/order.hpp"

#include <algorithm>

namespace reduce_bench::traced {

std::uint32_t Known::at(const Entries& entries, std::uint32_t key) {
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  return found != entries.end() && found->first == key ? found->second : 0;
}

void Known::join(Entries& into, const Entries& from) {
  if (from.empty()) return;
  Entries both;
  both.reserve(into.size() + from.size());
  auto a = into.begin();
  for (const auto& entry : from) {
    while (a != into.end() && a->first < entry.first) both.push_back(*a++);
    if (a != into.end() && a->first == entry.first)
      both.emplace_back(entry.first, std::max(entry.second, (a++)->second));
    else both.push_back(entry);
  }
  both.insert(both.end(), a, into.end());
  into = std::move(both);
}

Knowledge joined(const Knowledge& a, const Knowledge& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  auto both = std::make_shared<Known>(*a);
  both->join(*b);
  return both;
}

BlockOrder::BlockOrder(std::uint32_t index, std::uint32_t thread_count)
    : block(index), threads(thread_count) {
  for (std::uint32_t t = 0; t < thread_count; ++t) threads[t].thread = index * thread_count + t;
}

bool BlockOrder::is_before(const Stamp& earlier, std::uint32_t t) const {
  const ThreadOrder& thread = threads[t];
  if (earlier.thread == thread.thread) return true;
  if (earlier.block == block && earlier.phase < phase) return true;
  const auto is_in = [&](const Knowledge& known) {
    return known != nullptr && (Known::at(known->phases, earlier.block) > earlier.phase ||
                                Known::at(known->epochs, earlier.thread) >= earlier.epoch);
  };
  return is_in(thread.own) || is_in(all);
}

void BlockOrder::barrier() {
  const Knowledge* last = nullptr;
  for (ThreadOrder& thread : threads) {
    // Threads of a warp often share what they know.
    if (last == nullptr || thread.own != *last) all = joined(all, thread.own);
    last = &thread.own;
  }
  for (ThreadOrder& thread : threads) thread.own = nullptr;
  ++phase;
  if (all == nullptr) return;
  // The entries of its own threads go: the phase orders those more precisely.
  const auto is_own = [&](const auto& entry) {
    return entry.first - threads.front().thread < threads.size();
  };
  if (std::any_of(all->epochs.begin(), all->epochs.end(), is_own)) {
    auto others = std::make_shared<Known>(*all);
    std::erase_if(others->epochs, is_own);
    all = others->epochs.empty() && others->phases.empty() ? nullptr : others;
  }
}

void BlockOrder::warp_barrier(std::uint32_t first, std::uint32_t mask) {
  Knowledge known;
  auto lanes = std::make_shared<Known>();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    ThreadOrder& thread = threads[first + lane];
    known = joined(known, thread.own);
    lanes->epochs.emplace_back(thread.thread, thread.epoch++);
  }
  known = joined(known, lanes);
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1u) != 0) threads[first + lane].own = known;
}

Knowledge BlockOrder::release(std::uint32_t t) {
  ThreadOrder& thread = threads[t];
  auto known = std::make_shared<Known>();
  if (all != nullptr) known->join(*all);
  if (thread.own != nullptr) known->join(*thread.own);
  Known self;
  self.phases.emplace_back(block, phase);
  self.epochs.emplace_back(thread.thread, thread.epoch++);
  known->join(self);
  return known;
}

void BlockOrder::acquire(std::uint32_t t, const Knowledge& released) {
  threads[t].own = joined(threads[t].own, released);
}

void BlockOrder::fence(std::uint32_t t) {
  acquire(t, std::exchange(threads[t].pending, nullptr));
  threads[t].released = release(t);
}

void BlockOrder::store(std::uint32_t t, Knowledge& flag, bool replaces) {
  flag = replaces ? threads[t].released : joined(flag, threads[t].released);
}

void BlockOrder::load(std::uint32_t t, const Knowledge& flag) {
  threads[t].pending = joined(threads[t].pending, flag);
}

}  // namespace reduce_bench::traced
