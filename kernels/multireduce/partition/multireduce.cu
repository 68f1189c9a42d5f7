// partition/multireduce: tiles ordered by bucket range, then one range at a time in shared memory
//
// Source: this project.
// Idea: buckets that do not fit into shared memory together are divided into ranges (partitions)
//   that do. A block orders a tile of inputs by partition in shared memory and writes it back as
//   one piece, with the offset of every partition in it: no histogram over all inputs and no
//   scattered store. Every partition of a tile is filled up to a multiple of four with neutral
//   elements, so that a lane of the second kernel takes four inputs by two loads. That kernel walks
//   through the pieces of one partition in all tiles and combines them in private buckets. Within a
//   partition a label needs 16 bits. A partition with more than its share of the inputs is divided
//   among several blocks by tiles, so skewed labels cost little more than uniform ones. A tile
//   whose labels span few buckets (sorted labels) is not ordered: it is combined at once. Nor is
//   one of runs, where most times four neighbours have one label: equal neighbours are combined,
//   and what is left goes to the results.
// Fixes: the limit of onepass/multireduce to buckets that fit into a block's shared memory; the
//   random updates in the L2 cache of atomic/global.
// Launch: a fill; a block of `block` threads for every tile of 64 bytes of values per thread; then
//   one block of 1024 threads per SM.
// Traffic: n labels and n values read; n 16-bit labels and n values written and read; the offsets
//   of every tile written and read; m results written. For i32 sums 20 bytes per input, which
//   device memory moves in 320 us for 2^26 inputs on an H200: with uniform labels it takes 370 us
//   into 2^16 buckets, 376 into 2^20. Beyond 2^21 the table of a partition fills shared memory, the
//   pieces get shorter, their reads touch more sectors and more of a tile is filled up: 395 us into
//   2^22, 462 into 2^23, 595 into 2^24. Zipf labels take 529 us into 2^16 and 808 into 2^24. Labels
//   in runs of 64 take 142 to 194 us; into 2^20 buckets runs of 16 take 163 us, runs of 4 252 (in a
//   run of their own). Sorted labels take 138 to 181. atomic/global is nearest where its table lies
//   in the L2 (702 us into 2^22, uniform), and into 2^24 buckets with sorted labels (258 us). With
//   these memory binds: results are cleared (61 MB written), and changed when they have left the L2
//   (67 MB read, 74 written); with the inputs 740 MB, 174 us at the read ceiling. 604 MB, were
//   every result touched once, would take 155 us at the rate at which the same kernels read sorted
//   labels of few buckets. Results that were filled, range by range, by the tile that came first
//   took 191 us, as tiles waited for one another; loads marked evict-first changed nothing. Values
//   of 8 bytes move 32 bytes per input: into 2^20 buckets they take 725 us, atomic/global 741; into
//   2^23 1304 and 2428 (in a run of their own).
// Preconditions: at most 2048 partitions; n below 2^32 - 2^16; the operator commutes
//   (partition/multireduce-ordered is the form for those that do not).
// Deviations: none, there is no publication.

#include <algorithm>

#include "kernels/shared/private_table.hpp"
#include "kernels/shared/radix_sort.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Of a thread in a tile: values of 64 bytes. With 16 of 8 bytes the registers do not suffice.
constexpr unsigned items_of(std::size_t value_bytes) {
  return static_cast<unsigned>(64 / value_bytes);
}
inline constexpr unsigned kMostPartitions = 2048;
/// As few as have room: the longer the pieces of a tile, the fewer sectors are read in part. On an
/// H200 a prototype of the second kernel, which took inputs one by one, needed 133 us for 2^26
/// inputs with 64 partitions, pieces of 128; 168 us with 128, 188 us with 256.
inline constexpr unsigned kLog2WantedPartitions = 6;
/// A partition of fewer buckets than 2^kLeastBits would cost more to begin than to fill.
inline constexpr unsigned kLeastBits = 6;
inline constexpr unsigned kFoldBlock = 1024;  ///< at most

/// A label within its partition; and which quad of its tile a partition begins with.
using Short = std::uint16_t;

/// Neighbours in an ordered tile. A partition fills whole quads, the last with neutral elements: so
/// a lane of the second kernel takes four inputs by two loads, whose places it need not check one
/// by one.
inline constexpr unsigned kQuad = 4;
template <class U>
struct alignas(kQuad * sizeof(U)) Quad {
  U at[kQuad];
};
/// Lanes of the second kernel that walk through a piece together, a quad each.
inline constexpr unsigned kWalkers = 8;

/// How the buckets are divided, and where the ordered tiles lie.
struct Partitioning {
  unsigned shift = 0;  ///< partition p has the labels l with l >> shift == p
  unsigned count = 0;
  unsigned tile = 0;  ///< inputs
  unsigned tiles = 0;

  __host__ __device__ std::size_t width() const { return std::size_t{1} << shift; }
  __host__ __device__ std::size_t offsets_at(std::size_t t) const { return t * (count + 1); }
  /// Places in an ordered tile: inputs and what may fill the last quad of every partition, in units
  /// of 16 bytes.
  __host__ __device__ unsigned places() const { return (tile + count * (kQuad - 1) + 7) / 8 * 8; }
};

/// The ordered tiles: `offsets` has for each tile the count + 1 bounds of its partitions, in quads.
template <class T>
struct Tiles {
  T* values;
  Short* labels;
  Short* offsets;
  Count* totals;  ///< of every partition over all tiles
};

/// Adds a quad for each lane that has one. A warp that agrees on one label combines its values
/// first, and so does a lane: updates of one bucket would queue.
template <class Op, class T, class SlotOf>
__device__ void add_quad(bool present, const unsigned (&label)[kQuad], const T (&value)[kQuad],
                         SlotOf&& slot_of) {
  const bool alike = label[0] == label[1] && label[1] == label[2] && label[2] == label[3];
  const T all_four = Op::combine(Op::combine(value[0], value[1]), Op::combine(value[2], value[3]));
  const unsigned first = __shfl_sync(kAllLanes, label[0], 0);
  if (__all_sync(kAllLanes, present && alike && label[0] == first)) {
    const T total = fold_warp<Op>(all_four);
    if (threadIdx.x % kWarpSize == 0) atomic_combine<Op>(slot_of(label[0]), total);
  } else if (present && alike) {
    atomic_combine<Op>(slot_of(label[0]), all_four);
  } else if (present) {
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) atomic_combine<Op>(slot_of(label[e]), value[e]);
  }
}

/// A tile's inputs in registers: four neighbours, then the four that are blockDim.x * 4 behind.
template <class T>
struct Items {
  static constexpr unsigned kCount = items_of(sizeof(T));
  Label label[kCount];
  T value[kCount];

  __device__ static unsigned place(unsigned j) {
    return (j / 4 * blockDim.x + threadIdx.x) * 4 + j % 4;
  }
  __device__ void load(const T* values, const Label* labels, unsigned count, bool whole) {
    if (whole) {
#pragma unroll
      for (unsigned j = 0; j < kCount; j += 4) {
        const auto four = load_ahead(reinterpret_cast<const Sixteen<Label>*>(labels + place(j)));
        for (unsigned e = 0; e < 4; ++e) label[j + e] = four.at[e];
      }
      constexpr unsigned kPerLoad = Sixteen<T>::kCount;
#pragma unroll
      for (unsigned j = 0; j < kCount; j += kPerLoad) {
        const auto some = load_ahead(reinterpret_cast<const Sixteen<T>*>(values + place(j)));
        for (unsigned e = 0; e < kPerLoad; ++e) value[j + e] = some.at[e];
      }
      return;
    }
#pragma unroll
    for (unsigned j = 0; j < kCount; ++j) {
      const bool present = place(j) < count;
      label[j] = present ? labels[place(j)] : labels[0];
      if (present) value[j] = values[place(j)];
    }
  }
};

/// What is left of a tile of runs, where in kThreadsOfFour threads of four or more every quad has
/// one label: combined values and their labels.
template <class T, class Op>
struct Runs {
  T* values;
  Label* labels;
  Count* count;

  static constexpr unsigned kThreadsOfFour = 3;
  __device__ static bool are_in(int threads) {
    return threads >= static_cast<int>(blockDim.x / 4 * kThreadsOfFour);
  }
  /// These threads have a run for a quad, the others up to four.
  __device__ static unsigned most() {
    constexpr unsigned kOfFour = kThreadsOfFour + (4 - kThreadsOfFour) * kQuad;
    return blockDim.x * (Items<T>::kCount / kQuad) * kOfFour / 4;
  }

  /// Combines the neighbours of equal labels in the warp's quads. All lanes must call.
  __device__ void take_quad(const Label* label, const T* value) const {
    const unsigned lane = threadIdx.x % kWarpSize;
    T head = value[0], tail = value[kQuad - 1];  // of the quad's first run and last
    bool in_head[kQuad] = {true}, in_tail[kQuad] = {};
    in_tail[kQuad - 1] = true;
#pragma unroll
    for (unsigned e = 1; e < kQuad; ++e) {
      in_head[e] = in_head[e - 1] && label[e] == label[0];
      if (in_head[e]) head = Op::combine(head, value[e]);
    }
#pragma unroll
    for (unsigned e = kQuad - 1; e-- > 0;) {
      in_tail[e] = in_tail[e + 1] && label[e] == label[kQuad - 1];
      if (in_tail[e]) tail = Op::combine(value[e], tail);
    }
    const bool one = in_head[kQuad - 1];
    const Label before = __shfl_up_sync(kAllLanes, label[kQuad - 1], 1);
    const bool goes_on = lane > 0 && label[0] == before;
    // All of the last run up to here.
    T run = tail;
    unsigned open = one && goes_on;
#pragma unroll
    for (unsigned offset = 1; offset < kWarpSize; offset *= 2) {
      const T earlier = __shfl_up_sync(kAllLanes, run, offset);
      const unsigned earlier_open = __shfl_up_sync(kAllLanes, open, offset);
      if (!open) continue;
      run = Op::combine(earlier, run);
      open = earlier_open;
    }
    const T run_before = __shfl_up_sync(kAllLanes, run, 1);
    const bool next_goes_on = __shfl_down_sync(kAllLanes, unsigned{goes_on}, 1);
    push(lane == kWarpSize - 1 || !next_goes_on, label[kQuad - 1], run);
    if (!__any_sync(kAllLanes, !one)) return;
    push(!one, label[0], goes_on ? Op::combine(run_before, head) : head);
#pragma unroll
    for (unsigned e = 1; e + 1 < kQuad; ++e) push(!in_head[e] && !in_tail[e], label[e], value[e]);
  }

 private:
  __device__ void push(bool present, Label label, T value) const {
    const unsigned all = __ballot_sync(kAllLanes, present);
    if (all == 0) return;
    const unsigned lane = threadIdx.x % kWarpSize;
    Count first = 0;
    if (lane == 0) first = atomicAdd(count, static_cast<Count>(__popc(all)));
    first = __shfl_sync(kAllLanes, first, 0);
    if (!present) return;
    const unsigned at = first + static_cast<unsigned>(__popc(all & ((1u << lane) - 1)));
    values[at] = value;
    labels[at] = label;
  }
};

std::size_t order_shared_bytes(const Partitioning& parts, std::size_t value_bytes) {
  return parts.places() * (value_bytes + sizeof(Short)) + (parts.count + 1) * sizeof(Count);
}

/// The results, and the partitions' totals: there are no more of these.
template <class T>
__global__ void clear_kernel(T* results, std::size_t n, T neutral, Count* totals, unsigned count) {
  fill_tile(results, n, neutral);
  fill_tile(totals, count, Count{0});
}

/// A tile of shared memory to global memory, sixteen bytes at a time.
template <class U>
__device__ void store_tile(const U* from, U* to, unsigned count) {
  const auto* vectors = reinterpret_cast<const Sixteen<U>*>(from);
  for (unsigned i = threadIdx.x; i < count / Sixteen<U>::kCount; i += blockDim.x)
    reinterpret_cast<Sixteen<U>*>(to)[i] = vectors[i];
}

template <class T, class Op>
__global__ void __launch_bounds__(512, 2)
    partition_tiles_kernel(const T* values, const Label* labels, std::size_t n, bool aligned,
                           Partitioning parts, Tiles<T> out, T* results) {
  constexpr unsigned kItems = Items<T>::kCount;
  T* tile_values = dynamic_shared<T>();
  auto* tile_labels = reinterpret_cast<Short*>(tile_values + parts.places());
  auto* starts = reinterpret_cast<Count*>(tile_labels + parts.places());
  const std::size_t tile = std::size_t{blockIdx.x} * parts.tile;
  const unsigned count = n - tile < parts.tile ? static_cast<unsigned>(n - tile) : parts.tile;
  Items<T> items;
  items.load(values + tile, labels + tile, count, aligned && count == parts.tile);
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) starts[p] = 0;

  Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
  const unsigned lane = threadIdx.x % kWarpSize;
  const auto leave_no_pieces = [&] {
    for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) offsets[p] = 0;
  };
  // Neighbours with neighbouring labels (sorted, few buckets) need no order: those from `least` on
  // have a place in the tile's own table.
  const unsigned reach = parts.tile / 4;
  const Label one_end = labels[tile], other_end = labels[tile + count - 1];
  const Label low = one_end < other_end ? one_end : other_end;
  const Label least = low < reach / 2 ? 0 : low - reach / 2;
  bool near = true;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) near = near && items.label[j] - least < 2 * reach;
  if (__syncthreads_and(near)) {
    for (unsigned i = threadIdx.x; i < 2 * reach; i += blockDim.x)
      tile_values[i] = Op::template identity<T>();
    leave_no_pieces();
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < kItems; j += kQuad) {
      unsigned label[kQuad];
      T value[kQuad];
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) {
        const bool present = Items<T>::place(j + e) < count;
        label[e] = items.label[j + e] - least;
        value[e] = present ? items.value[j + e] : Op::template identity<T>();
      }
      add_quad<Op>(true, label, value, [&](unsigned l) { return tile_values + l; });
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 2 * reach; i += blockDim.x)
      if (tile_values[i] != Op::template identity<T>())
        atomic_combine<Op>(&results[least + i], tile_values[i]);
    return;
  }

  // Nor do runs: what is left of them, when equal neighbours are combined, is added at once.
  bool in_runs = count == parts.tile;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j)
    in_runs = in_runs && items.label[j] == items.label[j / kQuad * kQuad];
  if (Runs<T, Op>::are_in(__syncthreads_count(in_runs))) {
    leave_no_pieces();
    const Runs<T, Op> runs{tile_values, reinterpret_cast<Label*>(tile_values + Runs<T, Op>::most()),
                           &starts[0]};
#pragma unroll
    for (unsigned j = 0; j < kItems; j += kQuad) runs.take_quad(&items.label[j], &items.value[j]);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < starts[0]; i += blockDim.x)
      atomic_combine<Op>(&results[runs.labels[i]], runs.values[i]);
    return;
  }

  Short rank[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; j += 4) {
    const unsigned p = items.label[j] >> parts.shift;
    bool same = Items<T>::place(j + 3) < count;
#pragma unroll
    for (unsigned e = 1; e < 4; ++e) same = same && items.label[j + e] >> parts.shift == p;
    // A warp that agrees on the partition, as in runs, would queue for its counter.
    const unsigned first = __shfl_sync(kAllLanes, p, 0);
    if (__all_sync(kAllLanes, same && p == first)) {
      Count before = 0;
      if (lane == 0) before = atomicAdd(&starts[p], 4 * kWarpSize);
      before = __shfl_sync(kAllLanes, before, 0) + 4 * lane;
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) rank[j + e] = static_cast<Short>(before + e);
    } else {
#pragma unroll
      for (unsigned e = 0; e < 4; ++e)
        if (Items<T>::place(j + e) < count)
          rank[j + e] =
              static_cast<Short>(atomicAdd(&starts[items.label[j + e] >> parts.shift], 1u));
    }
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    const Count own = starts[p];
    if (own > 0) atomicAdd(&out.totals[p], own);
    starts[p] = static_cast<Count>(ceil_div(own, kQuad) * kQuad);
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const Count all = warp_exclusive_sums(starts, parts.count);
    if (lane == 0) starts[parts.count] = all;
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) {
    offsets[p] = static_cast<Short>(starts[p] / kQuad);
    if (p == parts.count || starts[p] == starts[p + 1]) continue;
    // The last quad; its inputs, one at least, come over it.
    for (unsigned e = 1; e < kQuad; ++e) {
      tile_values[starts[p + 1] - e] = Op::template identity<T>();
      tile_labels[starts[p + 1] - e] = 0;
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    if (Items<T>::place(j) >= count) continue;
    const unsigned at = starts[items.label[j] >> parts.shift] + rank[j];
    tile_values[at] = items.value[j];
    tile_labels[at] = static_cast<Short>(items.label[j] & (parts.width() - 1));
  }
  __syncthreads();
  // With what is behind the last quad: sixteen bytes at a time.
  const unsigned filled = (starts[parts.count] + 7) / 8 * 8;
  const std::size_t ordered = std::size_t{blockIdx.x} * parts.places();
  store_tile(tile_values, out.values + ordered, filled);
  store_tile(tile_labels, out.labels + ordered, filled);
}

/// Combines the quads of partition p in the tiles [first, last). kWalkers lanes take kPieces tiles'
/// pieces at a time, then those of the tiles behind all other walkers': the inputs may all lie in
/// neighbouring ones. A thread has kPieces * kSteps quads in flight; a piece should seldom be
/// longer than kSteps * kWalkers quads.
template <unsigned kPieces, unsigned kSteps, class T, class Op>
__device__ void fold_tiles(const PrivateTable<T, Op>& table, const Tiles<T>& in,
                           const Partitioning& parts, unsigned p, unsigned first, unsigned last) {
  constexpr unsigned kTeams = kWarpSize / kWalkers;  // of a warp
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const unsigned teams = blockDim.x / kWalkers;
  const auto slot_of = [&](unsigned label) { return table.slots + table.slot_of(label); };
  // The bounds of the next pieces are on their way while these are combined.
  unsigned next[kPieces], next_end[kPieces];
  const auto load_bounds = [&](unsigned tile) {
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      next[k] = next_end[k] = 0;
      if (tile + k * teams >= last) continue;
      const Short* bounds = in.offsets + parts.offsets_at(tile + k * teams) + p;
      next[k] = bounds[0];
      next_end[k] = bounds[1];
    }
  };
  const unsigned team = lane / kWalkers, walker = lane % kWalkers;
  load_bounds(first + warp * kTeams + team);
#pragma unroll 1
  for (unsigned base = first + warp * kTeams; base < last; base += kPieces * teams) {
    unsigned quad[kPieces], end[kPieces];
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      const unsigned tile = (base + team + k * teams) * (parts.places() / kQuad);
      quad[k] = tile + next[k] + walker;
      end[k] = tile + next_end[k];
    }
    load_bounds(base + team + kPieces * teams);
    for (bool more = true; more;) {
      Quad<Short> labels[kPieces][kSteps];
      Quad<T> values[kPieces][kSteps];
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u) {
          const unsigned at = quad[k] + u * kWalkers;
          if (at >= end[k]) continue;
          labels[k][u] = reinterpret_cast<const Quad<Short>*>(in.labels)[at];
          values[k][u] = reinterpret_cast<const Quad<T>*>(in.values)[at];
        }
      }
      more = false;
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u) {
          const bool present = quad[k] + u * kWalkers < end[k];
          if (!__any_sync(kAllLanes, present)) break;
          unsigned label[kQuad] = {};
          T value[kQuad] = {};
          if (present) {
#pragma unroll
            for (unsigned e = 0; e < kQuad; ++e) {
              label[e] = labels[k][u].at[e];
              value[e] = values[k][u].at[e];
            }
          }
          add_quad<Op>(present, label, value, slot_of);
        }
        quad[k] += kSteps * kWalkers;
        more = more || quad[k] < end[k];
      }
      more = __any_sync(kAllLanes, more);
    }
  }
}

template <unsigned kPieces, unsigned kSteps, class T, class Op>
__global__ void __launch_bounds__(kFoldBlock)
    fold_partitions_kernel(Tiles<T> in, std::size_t n, Partitioning parts, unsigned log2_copies,
                           std::size_t buckets, T* results) {
  auto* slots = dynamic_shared<T>();
  // starts[p]: the first share of partition p; starts[count] is how many there are.
  auto* starts = reinterpret_cast<Count*>(slots + (parts.width() << log2_copies));
  // A partition has about as many shares as it has times a block's part of the inputs; none where
  // all its inputs, if any, were in tiles that needed no order. Partitions of as many shares go
  // through the tiles side by side, so that neighbouring pieces are read together.
  const std::size_t part = ceil_div(n, gridDim.x);
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) {
    const auto shares = static_cast<Count>((in.totals[p] + part / 2) / part);
    starts[p] = shares > 0 ? shares : in.totals[p] > 0;
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    const Count all = warp_exclusive_sums(starts, parts.count);
    if (threadIdx.x == 0) starts[parts.count] = all;
  }
  __syncthreads();

  for (Count share = blockIdx.x; share < starts[parts.count]; share += gridDim.x) {
    unsigned p = 0;  // the last partition that starts at this share or before: it has shares
    for (unsigned after = parts.count; after - p > 1;) {
      const unsigned middle = (p + after) / 2;
      (starts[middle] <= share ? p : after) = middle;
    }
    const Count shares = starts[p + 1] - starts[p], own = share - starts[p];
    const std::size_t base = p * parts.width(), left = buckets - base;
    const PrivateTable<T, Op> table{
        slots, static_cast<unsigned>(left < parts.width() ? left : parts.width()), log2_copies};
    table.clear();
    const auto tile_at = [&](Count share_of) {
      return static_cast<unsigned>(std::size_t{parts.tiles} * share_of / shares);
    };
    fold_tiles<kPieces, kSteps>(table, in, parts, p, tile_at(own), tile_at(own + 1));
    table.add_to(results + base);
    __syncthreads();
  }
}

/// Shared memory of a block of the second kernel, for its table alone.
std::size_t most_fold_bytes(const Problem& p) {
  return p.device.max_shared_bytes_per_block - (kMostPartitions + 1) * sizeof(Count);
}

Partitioning partitioning(const Problem& p) {
  const std::size_t most_buckets = most_fold_bytes(p) / p.element_bytes();
  const unsigned bits = log2_ceil(std::max<std::size_t>(p.buckets, 1));
  Partitioning parts;
  unsigned most_bits = 16;
  while ((std::size_t{1} << most_bits) > most_buckets) --most_bits;
  const unsigned wanted = bits > kLog2WantedPartitions ? bits - kLog2WantedPartitions : 0u;
  parts.shift = std::min(most_bits, std::max(kLeastBits, wanted));
  parts.count = static_cast<unsigned>(ceil_div(p.buckets, parts.width()));
  parts.tile = p.params.number("block") * items_of(p.element_bytes());
  parts.tiles = static_cast<unsigned>(ceil_div(p.n, parts.tile));
  return parts;
}

std::string restriction(const Problem& p) {
  if (p.n > ~Count{0} - (1u << 16))
    return std::to_string(p.n) + " inputs: their places are counted in 32 bits";
  const Partitioning parts = partitioning(p);
  if (parts.count > kMostPartitions)
    return std::to_string(parts.count) + " partitions of " + std::to_string(parts.width()) +
           " buckets each, as many as fit into shared memory, are too many: at most " +
           std::to_string(kMostPartitions);
  const std::size_t needed = order_shared_bytes(parts, p.element_bytes());
  if (needed > p.device.max_shared_bytes_per_block)
    return "a tile needs " + std::to_string(needed) + " bytes of the " +
           std::to_string(p.device.max_shared_bytes_per_block) +
           " bytes of shared memory that a block gets";
  return {};
}

/// Where the arrays of `Tiles` begin in the workspace.
struct Layout {
  std::size_t labels, offsets, totals, bytes;
};
Layout layout(const Problem& p) {
  const Partitioning parts = partitioning(p);
  const std::size_t padded = std::size_t{parts.tiles} * parts.places();
  Layout at{};
  at.labels = RadixSort::aligned(padded * p.element_bytes());
  at.offsets = at.labels + RadixSort::aligned(padded * sizeof(Short));
  at.totals = at.offsets + RadixSort::aligned(parts.offsets_at(parts.tiles) * sizeof(Short));
  at.bytes = at.totals + parts.count * sizeof(Count);
  return at;
}

struct PartitionMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    constexpr T kNeutral = Op::template identity<T>();
    if (call.n() == 0) return enqueue_fill(call.stream, call.results(), call.buckets(), kNeutral);
    const Problem& p = call.problem;
    const Partitioning parts = partitioning(p);
    const Layout at = layout(p);
    const Tiles<T> tiles{call.scratch(), call.template scratch<Short>(at.labels),
                         call.template scratch<Short>(at.offsets),
                         call.template scratch<Count>(at.totals)};
    launch(clear_kernel<T>,
           fill_shape(std::max<std::size_t>(call.buckets(), parts.count), call.stream),
           call.results(), call.buckets(), kNeutral, tiles.totals, parts.count);
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const bool aligned = address(call.values()) % 16 == 0 && address(call.labels()) % 16 == 0;
    launch(partition_tiles_kernel<T, Op>,
           {parts.tiles, parts.tile / Items<T>::kCount, order_shared_bytes(parts, sizeof(T)),
            call.stream},
           call.values(), call.labels(), call.n(), aligned, parts, tiles, call.results());

    const std::size_t table_bytes = sizeof(T) * parts.width();
    unsigned log2_copies = 0;
    while ((1u << log2_copies) < kWarpSize &&
           (table_bytes << (log2_copies + 1)) <= most_fold_bytes(p))
      ++log2_copies;
    const std::size_t shared_bytes =
        (table_bytes << log2_copies) + (parts.count + 1) * sizeof(Count);
    const unsigned fold_block = std::min(kFoldBlock, p.device.max_threads_per_sm / 2);
    const unsigned piece = parts.tile / parts.count;         // inputs
    constexpr unsigned kMostSteps = sizeof(T) == 8 ? 3 : 5;  // of what registers hold
    auto* fold = piece >= 80   ? fold_partitions_kernel<1, kMostSteps, T, Op>
                 : piece >= 40 ? fold_partitions_kernel<1, 3, T, Op>
                 : piece >= 20 ? fold_partitions_kernel<2, 2, T, Op>
                               : fold_partitions_kernel<3, 1, T, Op>;
    launch(fold, {p.device.sm_count, fold_block, shared_bytes, call.stream}, tiles, call.n(), parts,
           log2_copies, call.buckets(), call.results());
  }
};

Variant variant() {
  return {
      .id = "partition/multireduce",
      .title = "tiles ordered by bucket range, then private buckets",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = {{"block", "512", {"256", "512"}, "threads that order a tile"}},
      .restriction = restriction,
      // All of a bucket's inputs in one slot, the copies, the shares.
      .depth = [](const Problem& p) -> std::uint64_t {
        return p.n + 2 * kWarpSize + p.device.sm_count;
      },
      .traffic =
          [](const Problem& p) {
            const Partitioning parts = partitioning(p);
            const std::size_t moved = p.n * (p.element_bytes() + sizeof(Short)) +
                                      parts.offsets_at(parts.tiles) * sizeof(Short);
            return Traffic{.read_bytes = p.input_bytes() + moved,
                           .written_bytes = moved + p.arrays().output_bytes()};
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = layout(p).bytes}; },
      .enqueue = instantiate<PartitionMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
