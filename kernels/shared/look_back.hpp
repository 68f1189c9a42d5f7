// A tile scanned label by label, and decoupled look-back for each label over the tiles before it
// (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016): what
// onepass/multiscan and partition/multiscan share.
#pragma once

#include "kernels/shared/label_sets.hpp"
#include "kernels/shared/warp_table.hpp"

namespace reduce_bench::BACKEND {

/// What a tile has published for a label: nothing, its own total, or the prefix up to and with it.
/// State numbers continue from launch to launch, so that a state left by an earlier launch reads as
/// nothing.
enum Known : std::uint32_t { kNothing, kOwn, kAll, kKinds };

/// Counters that stay in the workspace from launch to launch. Zero before the first.
struct Ledger {
  unsigned next_tile, done, launch;

  /// Gives the calling block the next tile: a tile's predecessors have been taken before it.
  __device__ unsigned take_tile() { return atomicAdd(&next_tile, 1u); }
  /// The number of this launch. Volatile, as the last block counts it up.
  __device__ unsigned launch_number() const {
    return *static_cast<const volatile unsigned*>(&launch);
  }
  /// Every block calls this at its end. The last one prepares the next launch: all others have read
  /// what they need.
  __device__ void leave() {
    if (atomicAdd(&done, 1u) != gridDim.x - 1) return;
    // Atomics, as nothing orders these stores behind what the other blocks did to the same words.
    atomicExch(&next_tile, 0u);
    atomicExch(&done, 0u);
    atomicAdd(&launch, 1u);
  }
};

/// Four bytes of a value and what they are, visible together. A value of eight bytes takes two
/// words, and may be used when both say the same: a tile goes from nothing to its own total to the
/// prefix, never back.
struct alignas(8) StateWord {
  std::uint32_t part;
  std::uint32_t known;
};
template <class T>
inline constexpr unsigned kWords = sizeof(T) / sizeof(std::uint32_t);

/// The states of all tiles and labels: the first words of all, then the second words.
struct States {
  StateWord* words;
  std::size_t stride;      ///< states
  std::uint32_t base = 0;  ///< number of kNothing in this launch

  __device__ States of_launch(unsigned launch) const { return {words, stride, launch * kKinds}; }

  template <class T>
  __device__ void publish(std::size_t at, T value, Known known) const {
    std::uint32_t parts[kWords<T>];
    memcpy(parts, &value, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w)
      store_volatile(words + w * stride + at, StateWord{parts[w], base + known});
  }
  /// Waits until the tile has published something, and returns what.
  template <class T>
  __device__ Known read(std::size_t at, T& value) const {
    for (;;) {
      std::uint32_t parts[kWords<T>];
      std::uint32_t known = base;
      bool agree = true;
#pragma unroll
      for (unsigned w = 0; w < kWords<T>; ++w) {
        const StateWord word = load_volatile(words + w * stride + at);
        parts[w] = word.part;
        if (w == 0) known = word.known;
        agree = agree && word.known == known;
      }
      if (agree && known - base - 1 < kAll) {
        memcpy(&value, parts, sizeof(T));
        return Known{known - base};
      }
      wait_hint();
    }
  }
};

/// A tile and its position in the chain of tiles along which it looks back.
struct Link {
  std::size_t tile;
  bool first, last;
  unsigned sets;  ///< those that warps with inputs have, the first ones of LabelSets
};

/// Scans a tile: `label` and `items` are this thread's, at place_in_tile(j). On return an item is
/// the scan of the values with its label, from the chain's first tile to the item; with it if
/// `inclusive`. All threads of the block must call, after the barrier that follows `sets.clear`.
/// kTurns says whether sets.turns > 1.
template <bool kTurns, class Op, class T>
__device__ void scan_tile(const LabelSets<T>& sets, const States& states, const Link& link,
                          bool inclusive, const Items<Label>& label, Items<T>& items) {
  T* own = sets.own();
  if constexpr (!kTurns) {
#pragma unroll
    for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
      const T before = WarpTable<T>{own}.template add_row<Op>(label[j], items[j]);
      items[j] = inclusive ? Op::combine(before, items[j]) : before;
    }
    __syncthreads();
  } else {  // warps that share a set take turns, after all have scanned their own inputs
    const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    T through[TilePolicy::kItems];  // the combined values of the peers up to this lane
    unsigned last = 0;              // of the items, those that no peer follows
#pragma unroll
    for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
      const unsigned peers = __match_any_sync(kAllLanes, label[j]);
      const T before = scan_peers_before<Op>(peers, items[j]);
      through[j] = Op::combine(before, items[j]);
      items[j] = inclusive ? through[j] : before;
      last |= (peers >> lane == 1 ? 1u : 0u) << j;
    }
    for (unsigned turn = 0; turn < sets.turns; ++turn) {
      if (warp % sets.turns == turn) {
#pragma unroll
        for (unsigned j = 0; j < TilePolicy::kItems; ++j) {
          const T held = own[label[j]];
          items[j] = Op::combine(held, items[j]);
          __syncwarp();
          if ((last >> j & 1) != 0) own[label[j]] = Op::combine(held, through[j]);
          __syncwarp();
        }
      }
      __syncthreads();
    }
  }

  if (link.first && link.last && link.sets == 1) return;  // nothing is before the inputs but these

  // Scans every bucket's sets in the warps' order, and publishes the tile's total.
  const std::size_t own_states = link.tile * sets.buckets;
  for (unsigned b = threadIdx.x; b < sets.buckets; b += blockDim.x) {
    T total = Op::template identity<T>();
    for (unsigned set = 0; set < link.sets; ++set) {
      T& slot = sets.slots[set * sets.row() + b];
      const T of_set = slot;
      slot = total;
      total = Op::combine(total, of_set);
    }
    if (!link.last) states.publish(own_states + b, total, link.first ? kAll : kOwn);
  }
  // Looks back, one thread for each label, and puts what it finds before every set.
  if (!link.first) {
    for (unsigned b = threadIdx.x; b < sets.buckets; b += blockDim.x) {
      T before = Op::template identity<T>(), found, total;
      Known known = kOwn;
      for (std::size_t at = own_states + b; known != kAll;) {
        at -= sets.buckets;
        known = states.read(at, found);
        before = Op::combine(found, before);
      }
      if (!link.last) {
        states.read(own_states + b, total);
        states.publish(own_states + b, Op::combine(before, total), kAll);
      }
      for (unsigned set = 0; set < link.sets; ++set) {
        T& slot = sets.slots[set * sets.row() + b];
        slot = Op::combine(before, slot);
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < TilePolicy::kItems; ++j) items[j] = Op::combine(own[label[j]], items[j]);
}

// ---- host --------------------------------------------------------------------------------------

/// A variant's workspace begins with the ledger and then the states, zero before the first launch.
inline constexpr std::size_t kLedgerBytes = 2 * sizeof(StateWord);
static_assert(sizeof(Ledger) <= kLedgerBytes);
inline std::size_t states_bytes(std::size_t tiles, std::size_t buckets, std::size_t value_bytes) {
  return tiles * buckets * (value_bytes / sizeof(std::uint32_t)) * sizeof(StateWord);
}
template <class T>
States states_in(const Arguments<T>& call, std::size_t tiles, std::size_t buckets) {
  return {call.template scratch<StateWord>(kLedgerBytes), tiles * buckets};
}

}  // namespace reduce_bench::BACKEND
