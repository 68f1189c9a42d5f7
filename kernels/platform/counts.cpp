#include "kernels/platform/counts.hpp"

#include <algorithm>
#include <set>

#include "kernels/platform/warp.hpp"

namespace reduce_bench::traced {
namespace {

using trace::Kind;

constexpr std::uintptr_t kSectorBytes = 32, kBankBytes = 4, kBanks = 32;

/// Lanes that shared memory serves together.
std::uint32_t lanes_at_once(std::size_t size_bytes) {
  return static_cast<std::uint32_t>(kWarpSize * kBankBytes / std::max(size_bytes, kBankBytes));
}

}  // namespace

unsigned wavefronts_of(std::size_t size_bytes, const std::vector<LaneAccess>& lanes) {
  const std::uint32_t at_once = lanes_at_once(size_bytes);
  unsigned wavefronts = 0;
  for (std::uint32_t first = 0; first < kWarpSize; first += at_once) {
    std::array<std::set<std::uintptr_t>, kBanks> words;
    std::size_t most = 0;
    for (const LaneAccess& lane : lanes) {
      if (lane.lane - first >= at_once) continue;
      const std::uintptr_t last = (lane.address + lane.size_bytes - 1) / kBankBytes;
      for (std::uintptr_t word = lane.address / kBankBytes; word <= last; ++word) {
        auto& of_bank = words[word % kBanks];
        of_bank.insert(word);
        most = std::max(most, of_bank.size());
      }
    }
    wavefronts += static_cast<unsigned>(most);
  }
  return wavefronts;
}

unsigned least_wavefronts_of(std::size_t size_bytes, const std::vector<LaneAccess>& lanes) {
  const std::uint32_t at_once = lanes_at_once(size_bytes);
  unsigned groups = 0;
  for (std::uint32_t first = 0; first < kWarpSize; first += at_once)
    groups += std::any_of(lanes.begin(), lanes.end(),
                          [&](const LaneAccess& lane) { return lane.lane - first < at_once; });
  return groups;
}

unsigned sectors_of(const std::vector<LaneAccess>& lanes) {
  std::set<std::uintptr_t> sectors;
  for (const LaneAccess& lane : lanes)
    for (std::uintptr_t sector = lane.address / kSectorBytes;
         sector <= (lane.address + lane.size_bytes - 1) / kSectorBytes; ++sector)
      sectors.insert(sector);
  return static_cast<unsigned>(sectors.size());
}

void LaunchCounts::add(Metric what, std::uint32_t place, std::uint64_t times) {
  by_place_[place][index_of(what)] += times;
}

void LaunchCounts::access(std::uint32_t block, std::uint32_t warp, const LaneAccess& access) {
  pending_[block][warp].push_back(access);
}

void LaunchCounts::meet(std::uint32_t block, std::uint32_t warp) {
  const auto of_block = pending_.find(block);
  if (of_block == pending_.end()) return;
  if (const auto accesses = of_block->second.find(warp); accesses != of_block->second.end())
    count(block, accesses->second);
}

void LaunchCounts::end_block(std::uint32_t block) {
  const auto of_block = pending_.find(block);
  if (of_block == pending_.end()) return;
  for (auto& [unused, accesses] : of_block->second) count(block, accesses);
  pending_.erase(of_block);
}

void LaunchCounts::count(std::uint32_t block, std::vector<LaneAccess>& accesses) {
  // Each lane's accesses at one place stay in their order: the k-th of all lanes are one request.
  std::stable_sort(accesses.begin(), accesses.end(), [](const LaneAccess& a, const LaneAccess& b) {
    return std::pair(a.place, a.kind) < std::pair(b.place, b.kind);
  });
  for (auto first = accesses.begin(); first != accesses.end();) {
    const auto last = std::find_if(first, accesses.end(), [&](const LaneAccess& access) {
      return access.place != first->place || access.kind != first->kind;
    });
    std::array<std::size_t, kWarpSize> executed{};
    std::vector<std::vector<LaneAccess>> requests;
    for (auto access = first; access != last; ++access) {
      const std::size_t k = executed[access->lane]++;
      if (requests.size() <= k) requests.emplace_back();
      requests[k].push_back(*access);
    }
    for (const auto& request : requests) count_request(block, request);
    first = last;
  }
  accesses.clear();
}

void LaunchCounts::count_request(std::uint32_t block, const std::vector<LaneAccess>& lanes) {
  const LaneAccess& one = lanes.front();
  Counts& counts = by_place_[one.place];
  const auto add_to = [&](Metric what, std::uint64_t times) { counts[index_of(what)] += times; };
  add_to(Metric::kRequests, 1);
  add_to(Metric::kActiveLanes, lanes.size());
  if (one.kind == Kind::kAtomic) {
    add_to(one.shared ? Metric::kSharedAtomics : Metric::kGlobalAtomics, lanes.size());
    std::uint64_t& most = counts[index_of(Metric::kMostAtomicsOnOneAddress)];
    for (const LaneAccess& lane : lanes)
      most = std::max(most, ++atomics_at_[{lane.shared ? block + 1 : 0, lane.address}]);
    return;
  }
  const bool load =
      one.kind == Kind::kRead || one.kind == Kind::kVolatileRead || one.kind == Kind::kStrongRead;
  if (one.shared) {
    const unsigned wavefronts = wavefronts_of(one.size_bytes, lanes);
    add_to(load ? Metric::kSharedLoadRequests : Metric::kSharedStoreRequests, 1);
    add_to(load ? Metric::kSharedLoadWavefronts : Metric::kSharedStoreWavefronts, wavefronts);
    add_to(Metric::kBankConflicts, wavefronts - least_wavefronts_of(one.size_bytes, lanes));
  } else {
    add_to(load ? Metric::kGlobalLoadRequests : Metric::kGlobalStoreRequests, 1);
    add_to(load ? Metric::kGlobalLoadSectors : Metric::kGlobalStoreSectors, sectors_of(lanes));
  }
}

}  // namespace reduce_bench::traced
