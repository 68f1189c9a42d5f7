// A tile of runs is not ordered, as one of near labels is not: equal neighbours are combined, and
// what is left of them is added to the results.
#pragma once

#include "kernels/multireduce/partition/tile.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Whether the quads of most threads have one label each. A barrier of the block.
template <class T>
__device__ bool is_in_runs(const Tile<T>& tile, const Partitioning& parts) {
  bool in_runs = tile.count == parts.tile;
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; ++j)
    in_runs = in_runs && tile.label[j] == tile.label[j / kQuad * kQuad];
  return __syncthreads_count(in_runs) >= static_cast<int>(blockDim.x / 4 * Policy::kQuartersInRuns);
}

/// What is left of a tile when equal neighbours are combined: values and their labels, in shared
/// memory.
template <class T, class Op>
struct Runs {
  T* values;
  Label* labels;
  Count* count;

  /// Room for a run per quad of the threads in runs, and up to kQuad per quad of the others.
  __device__ static unsigned most() {
    constexpr unsigned kRunsOfFourThreads =
        Policy::kQuartersInRuns + (4 - Policy::kQuartersInRuns) * kQuad;
    return blockDim.x * (Tile<T>::kItems / kQuad) * kRunsOfFourThreads / 4;
  }

  /// Takes a quad of every lane: combines neighbours with one label, also across lanes, and appends
  /// the runs. All lanes must call.
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
    // The lane's last run, with what earlier lanes have of it.
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
    // Last runs that end here, first runs of quads with several labels, and the runs in between.
    append(lane == kWarpSize - 1 || !next_goes_on, label[kQuad - 1], run);
    if (!__any_sync(kAllLanes, !one)) return;
    append(!one, label[0], goes_on ? Op::combine(run_before, head) : head);
#pragma unroll
    for (unsigned e = 1; e + 1 < kQuad; ++e) append(!in_head[e] && !in_tail[e], label[e], value[e]);
  }

 private:
  __device__ void append(bool present, Label label, T value) const {
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

/// Combines the tile's runs and adds them to the results. tile.starts[0] must be zero, behind a
/// barrier.
template <class Op, class T>
__device__ void combine_runs(const Tile<T>& tile, T* results) {
  const Runs<T, Op> runs{tile.shared_values,
                         reinterpret_cast<Label*>(tile.shared_values + Runs<T, Op>::most()),
                         &tile.starts[0]};
#pragma unroll
  for (unsigned j = 0; j < Tile<T>::kItems; j += kQuad)
    runs.take_quad(&tile.label[j], &tile.value[j]);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < *runs.count; i += blockDim.x)
    atomic_combine<Op>(&results[runs.labels[i]], runs.values[i]);
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
