// A tile of inputs as a block of partition/multireduce holds it, and its inputs four by four.
#pragma once

#include "kernels/multireduce/partition/rank_counters.hpp"
#include "kernels/shared/atomics.hpp"
#include "kernels/shared/partitioning.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Inputs that are neighbours. A partition fills whole quads of an ordered tile, the last with
/// neutral elements: so a lane of the second kernel takes four inputs by two loads, of 8-byte
/// values three, and need not check them one by one.
inline constexpr unsigned kQuad = 4;
template <class U>
struct alignas(kQuad * sizeof(U)) Quad {
  U at[kQuad];
};

/// Adds a quad for each lane that has one. A lane that has one label combines its values first, and
/// so does a warp unless its lanes have buckets of their own: updates of one bucket would queue.
template <class Op, class T, class Add>
__device__ void add_quad(bool present, const unsigned (&label)[kQuad], const T (&value)[kQuad],
                         Add&& add, bool lanes_meet = true) {
  const bool alike = label[0] == label[1] && label[1] == label[2] && label[2] == label[3];
  const T all_four = Op::combine(Op::combine(value[0], value[1]), Op::combine(value[2], value[3]));
  const unsigned first = __shfl_sync(kAllLanes, label[0], 0);
  if (lanes_meet && __all_sync(kAllLanes, present && alike && label[0] == first)) {
    const T total = fold_warp<Op>(all_four);
    if (threadIdx.x % kWarpSize == 0) add(label[0], total);
  } else if (present && alike) {
    add(label[0], all_four);
  } else if (present) {
    if constexpr (requires { add.each(label, value); }) {
      add.each(label, value);
    } else {
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) add(label[e], value[e]);
    }
  }
}

/// Places in an ordered tile: its inputs and what may fill the last quad of every partition, in
/// units of 16 bytes.
__host__ __device__ inline unsigned places_of(const Partitioning& parts) {
  return (parts.tile + parts.count * (kQuad - 1) + 7) / 8 * 8;
}

/// A block's tile: its inputs in registers, and the shared memory in which they are combined or
/// ordered. A thread holds quads that lie blockDim.x quads apart.
template <class T>
struct Tile {
  static constexpr unsigned kItems = Policy::items(sizeof(T));

  std::size_t first;  ///< the tile's first input
  unsigned count;     ///< inputs
  Label label[kItems];
  T value[kItems];

  // Shared memory.
  T* shared_values;      ///< [place]
  Short* shared_labels;  ///< [place]
  Count* starts;         ///< of every partition, and the end of the last
  RankCounters counters;

  /// Loads the block's tile of `n` inputs. `aligned`: whether both arrays begin at a multiple of 16
  /// bytes.
  __device__ Tile(const T* values, const Label* labels, std::size_t n, bool aligned,
                  const Partitioning& parts)
      : first(std::size_t{blockIdx.x} * parts.tile),
        count(n - first < parts.tile ? static_cast<unsigned>(n - first) : parts.tile),
        shared_values(dynamic_shared<T>()),
        shared_labels(reinterpret_cast<Short*>(shared_values + places_of(parts))),
        starts(reinterpret_cast<Count*>(shared_labels + places_of(parts))),
        counters(starts + parts.count + 1, parts.count) {
    if (aligned && count == parts.tile) load_whole(values + first, labels + first);
    else load_each(values + first, labels + first);
  }

  /// The place in the tile of this thread's item j.
  __device__ static unsigned place(unsigned j) {
    return (j / kQuad * blockDim.x + threadIdx.x) * kQuad + j % kQuad;
  }
  __device__ bool has(unsigned j) const { return place(j) < count; }

 private:
  __device__ void load_whole(const T* values, const Label* labels) {
#pragma unroll
    for (unsigned j = 0; j < kItems; j += kQuad) {
      const auto quad = load_ahead(reinterpret_cast<const Vector16<Label>*>(labels + place(j)));
      for (unsigned e = 0; e < kQuad; ++e) label[j + e] = quad.at[e];
    }
    constexpr unsigned kPerLoad = Vector16<T>::kCount;
#pragma unroll
    for (unsigned j = 0; j < kItems; j += kPerLoad) {
      const auto some = load_ahead(reinterpret_cast<const Vector16<T>*>(values + place(j)));
      for (unsigned e = 0; e < kPerLoad; ++e) value[j + e] = some.at[e];
    }
  }
  /// Items beyond the input get the label in the tile's middle, which lies between the ends of sorted
  /// ones, and no value.
  __device__ void load_each(const T* values, const Label* labels) {
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      label[j] = has(j) ? labels[place(j)] : labels[count / 2];
      if (has(j)) value[j] = values[place(j)];
    }
  }
};

}  // namespace reduce_bench::BACKEND::partition_multireduce
