// A tile scanned label by label, and decoupled look-back for each label over the tiles before it
// (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016): what
// this project's multiscans share.
#pragma once

#include "kernels/shared/label_sets.hpp"
#include "kernels/shared/peers.hpp"

namespace reduce_bench::BACKEND {

/// How far a tile knows a label: nothing, what it holds itself, that and all before it. Counted on
/// from launch to launch, so that what the last one left is as good as nothing.
enum Known : std::uint32_t { kNothing, kOwn, kAll, kKinds };

/// What launches hand on. Zero before the first.
struct Ledger {
  unsigned next_tile, done, launch;

  /// The block's tile.
  __device__ unsigned take_tile() { return atomicAdd(&next_tile, 1u); }
  /// The last block of a launch gets here when all others have read what they need.
  __device__ void leave() {
    if (atomicAdd(&done, 1u) != gridDim.x - 1) return;
    next_tile = done = 0;
    ++launch;
  }
};

/// Four bytes of a value that become visible together with how much they stand for. A value of
/// eight bytes takes two, and is known when both agree: what a tile knows only grows.
struct alignas(8) StateWord {
  std::uint32_t part;
  std::uint32_t known;
};
template <class T>
inline constexpr unsigned kWords = sizeof(T) / sizeof(std::uint32_t);

/// One word of every tile and label, then the next.
struct States {
  StateWord* words;
  std::size_t stride;
  std::uint32_t base = 0;  ///< kNothing of this launch

  __device__ States of_launch(unsigned launch) const { return {words, stride, launch * kKinds}; }

  template <class T>
  __device__ void publish(std::size_t at, T value, Known known) const {
    std::uint32_t parts[kWords<T>];
    memcpy(parts, &value, sizeof(T));
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w)
      store_volatile(words + w * stride + at, StateWord{parts[w], base + known});
  }
  /// Waits until something is known.
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

/// A tile's place in the chain of those that look back.
struct Link {
  std::size_t tile;
  bool first, last;
};

/// Scans a tile: `label` and `items` are this thread's, at place_in_tile(j). On return an item
/// stands for all inputs with its label in the tiles of the chain up to its own. All threads of the
/// block must call, after a barrier behind `sets.clear`; kTurns says whether sets.turns > 1.
template <bool kTurns, class Op, class T>
__device__ void scan_tile(const LabelSets<T>& sets, const States& states, const Link& link,
                          bool inclusive, const Label (&label)[kItems], T (&items)[kItems]) {
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  T* own = sets.own();
  // In the input's order: what the set holds of a label is before the item. `last` is the item that
  // has all the warp's 32 hold of its label.
  const auto add_to_set = [&](unsigned j, T all, bool last) {
    const T held = own[label[j]];
    items[j] = Op::combine(held, items[j]);
    __syncwarp();
    if (last) own[label[j]] = Op::combine(held, all);
    __syncwarp();
  };
  T later[kTurns ? kItems : 1];
  unsigned last_items = 0;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned peers = __match_any_sync(kAllLanes, label[j]);
    T before;
    const T all = scan_peers<Op>(peers, items[j], &before);
    items[j] = inclusive ? all : before;
    const bool last = peers >> lane == 1;
    if constexpr (kTurns) {
      later[j] = all;
      last_items |= (last ? 1u : 0u) << j;
    } else {
      add_to_set(j, all, last);
    }
  }
  if constexpr (kTurns) {
    for (unsigned turn = 0; turn < sets.turns; ++turn) {
      if (warp % sets.turns == turn) {
#pragma unroll
        for (unsigned j = 0; j < kItems; ++j) add_to_set(j, later[j], (last_items >> j & 1) != 0);
      }
      __syncthreads();
    }
  } else {
    __syncthreads();
  }

  const std::size_t own_states = link.tile * sets.buckets;
  for (unsigned b = threadIdx.x; b < sets.buckets; b += blockDim.x) {
    T total = Op::template identity<T>();
    for (unsigned set = 0; set < sets.count(); ++set) {
      T& slot = sets.slots[set * sets.row() + b];
      const T of_set = slot;
      slot = total;
      total = Op::combine(total, of_set);
    }
    if (!link.last) states.publish(own_states + b, total, link.first ? kAll : kOwn);
  }
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
      for (unsigned set = 0; set < sets.count(); ++set) {
        T& slot = sets.slots[set * sets.row() + b];
        slot = Op::combine(before, slot);
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) items[j] = Op::combine(own[label[j]], items[j]);
}

// ---- host --------------------------------------------------------------------------------------

/// What a variant's workspace begins with, zero before the first launch: the ledger, the states.
inline constexpr std::size_t kLedgerBytes = 2 * sizeof(StateWord);
static_assert(sizeof(Ledger) <= kLedgerBytes);
inline std::size_t states_bytes(std::size_t tiles, std::size_t buckets, std::size_t value_bytes) {
  return tiles * buckets * (value_bytes / sizeof(std::uint32_t)) * sizeof(StateWord);
}
template <class T>
States states_in(const TypedCall<T>& call, std::size_t tiles, std::size_t buckets) {
  return {call.template scratch<StateWord>(kLedgerBytes), tiles * buckets};
}

}  // namespace reduce_bench::BACKEND
