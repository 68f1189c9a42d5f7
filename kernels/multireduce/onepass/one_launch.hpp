// onepass/multireduce's kernel and launch.
#pragma once

#include "kernels/multireduce/onepass/hot_table.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/cached_atomics.hpp"
#include "kernels/shared/quads.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce {

/// Chosen on an H200 (docs/kernels/onepass-multireduce.md), beside TablePolicy.
struct Policy90 {
  /// 16-byte loads of labels in flight per thread, beside two of values: bandwidth against
  /// registers. Four loads of 8-byte values do not fit into these.
  static constexpr unsigned label_loads(std::size_t value_bytes) {
    return 8 / static_cast<unsigned>(value_bytes);
  }

  /// Where updates are compare-and-swap loops of float sums, warps queue for a lane's copy, too. So
  /// there are up to 2^kLog2MostCopies copies of a bucket, while these take no more than
  /// kMostBytesOfCopies, which are cleared and added up again.
  static constexpr unsigned kLog2MostCopies = 8;
  static constexpr std::size_t kMostBytesOfCopies = 64 * 1024;

  /// With so few copies of a bucket, lanes whose inputs are of one run would queue for them: runs
  /// are combined across lanes first, and the swaps of a thread's four inputs overlap. With more copies
  /// than two it is these that gain.
  static constexpr unsigned kLog2MostCopiesForRuns = 3;
};
using Policy = ByCapability<Row<90, Policy90>>;

inline constexpr unsigned kPerLoad = Vector16<Label>::kCount;
/// Inputs that a warp loads at once.
constexpr std::size_t tile_inputs(std::size_t value_bytes) {
  return std::size_t{kWarpSize} * kPerLoad * Policy::label_loads(value_bytes);
}

/// Adds inputs to a table of all buckets.
template <class T, class Table>
struct PutAll {
  const Table& table;
  __device__ void operator()(bool present, Label label, T value) const {
    if (present) table.add(label, value);
  }
  __device__ void each(const Label (&label)[kQuad], const T (&value)[kQuad]) const {
    constexpr bool kAll[kQuad] = {true, true, true, true};
    table.add_each(label, value, kAll);
  }
};

template <class T, class Op, bool kHot, bool kCopyPerLane, bool kPairs, bool kRuns = false>
__global__ void __launch_bounds__(1024)
    kernel(const T* __restrict__ values, const Label* __restrict__ labels, std::size_t n,
           bool aligned, unsigned buckets, unsigned log2_copies, Clearing* clearing, T* results) {
  constexpr unsigned kLoads = Policy::label_loads(sizeof(T));
  constexpr std::size_t kTile = tile_inputs(sizeof(T));
  using Values = Vector16<T>;
  using Plain = PrivateTable<T, Op, kCopyPerLane>;
  using Table = std::conditional_t<kHot, HotTable<T, Op>, Plain>;
  constexpr unsigned kValueLoads = kPerLoad / Values::kCount;
  const unsigned lane = threadIdx.x % kWarpSize;
  const auto tiles = static_cast<unsigned>(aligned ? n / kTile : 0);
  // Where lanes meet in many steps, fewer updates are worth more than the order of reading: with
  // sorted labels a thread's next tile has the same label.
  const bool in_stretch =
      kHot || (kManySteps<T, Op> && !kCopyPerLane && log2_copies < kLog2WarpSize);
  auto [tile, end, step] = in_stretch ? tiles_in_stretch(tiles) : tiles_in_rounds(tiles);
  // The next tile is loaded while one is combined. Initialised, as g++ does not see that the loop
  // is entered only after a load.
  Vector16<Label> next_labels[kLoads] = {};
  Values next_values[kLoads][kValueLoads] = {};
  const auto load_next = [&] {
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const std::size_t at = tile * kTile + (k * kWarpSize + lane) * kPerLoad;
      next_labels[k] = *reinterpret_cast<const Vector16<Label>*>(labels + at);
#pragma unroll
      for (unsigned part = 0; part < kValueLoads; ++part)
        next_values[k][part] = reinterpret_cast<const Values*>(values + at)[part];
    }
  };
  if (tile < end) load_next();
  Table table{Plain{dynamic_shared<T>(), buckets, log2_copies}};
  clearing->begin(results, buckets, Op::template identity<T>());
  if constexpr (kHot) {
    const std::size_t first = n * blockIdx.x / gridDim.x,
                      own = n * (blockIdx.x + 1) / gridDim.x - first;
    table.clear(own,
                [&](std::size_t s, unsigned samples) { return labels[first + own * s / samples]; });
  } else {
    table.clear();
  }

  Run<Table> run(table);
  while (tile < end) {
    // Compare-and-swap loops leave a warp diverged.
    __syncwarp();
    Vector16<Label> l[kLoads];
    Values v[kLoads][kValueLoads];
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      l[k] = next_labels[k];
#pragma unroll
      for (unsigned part = 0; part < kValueLoads; ++part) v[k][part] = next_values[k][part];
    }
    tile += step;
    if (tile < end) load_next();
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      T value[kPerLoad];
#pragma unroll
      for (unsigned e = 0; e < kPerLoad; ++e)
        value[e] = v[k][e / Values::kCount].at[e % Values::kCount];
      if constexpr (kRuns) {
        put_quads<Op>(l[k].at, value, PutAll<T, Table>{table});
      } else {
#pragma unroll
        for (unsigned e = 0; e < kPerLoad; ++e) run.add(l[k].at[e], value[e]);
      }
    }
  }
  for (std::size_t i = tiles * kTile + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    run.add(labels[i], values[i]);
  run.end();
  clearing->wait();
  table.template add_to<kPairs>(results);
}

/// The plan, and whether blocks look for hot labels: not where every lane has a copy anyway, and
/// not where the accumulators have no room.
template <class T, class Op>
TablePlan plan_of(const Sizes& sizes, const TableTuning& tuning, bool& hot) {
  hot = false;
  TablePlan plan = table_plan(sizes, tuning, sizeof(T), tile_inputs(sizeof(T)));
  if constexpr (kQueues<T, Op>) {
    const std::size_t most = most_table_bytes(sizes.device, tuning);
    if (tuning.copies == 0)
      while (plan.log2_copies >= kLog2WarpSize && plan.log2_copies < Policy::kLog2MostCopies &&
             2 * plan.shared_bytes <= std::min(Policy::kMostBytesOfCopies, most)) {
        ++plan.log2_copies;
        plan.shared_bytes *= 2;
      }
    if (plan.log2_copies >= kLog2WarpSize) return plan;
    const std::size_t hot_bytes = HotTable<T, Op>::bytes();
    const TablePlan beside =
        table_plan(sizes, tuning, sizeof(T), tile_inputs(sizeof(T)), hot_bytes);
    hot = beside.shared_bytes + hot_bytes <= most;
    if (hot) plan = beside;
    if (hot) plan.shared_bytes += hot_bytes;
  }
  return plan;
}

inline bool is_direct(const Problem& p) { return is_direct(p, tuning_of_table(p.params)); }

/// Puts the multireduce on the stream. The workspace is a Clearing.
template <class Op, class T>
void enqueue(const Arguments<T>& call, const TableTuning& tuning) {
  if (call.n() == 0)
    return enqueue_fill(call.stream, call.results, call.buckets(), Op::template identity<T>());
  if (is_direct(call.sizes, tuning)) return enqueue_cached_atomics<Op>(call);
  bool hot = false;
  const TablePlan plan = plan_of<T, Op>(call.sizes, tuning, hot);
  auto* chosen = kernel<T, Op, false, false, false>;
  if (plan.pairs) chosen = kernel<T, Op, false, false, true>;
  if (plan.log2_copies == kLog2WarpSize) chosen = kernel<T, Op, false, true, false>;
  if constexpr (kQueues<T, Op>) {
    static_assert(TablePolicy::kMostLog2CopiesInPairs <= Policy::kLog2MostCopiesForRuns);
    const bool runs = plan.log2_copies <= Policy::kLog2MostCopiesForRuns;
    if (hot && plan.pairs) chosen = kernel<T, Op, true, false, true, true>;
    else if (hot)
      chosen = runs ? kernel<T, Op, true, false, false, true> : kernel<T, Op, true, false, false>;
  }
  launch(chosen, plan.on(call.stream), call.values, call.labels, call.n(), call.aligned(),
         static_cast<unsigned>(call.buckets()), plan.log2_copies, call.template scratch<Clearing>(),
         call.results);
}

struct OnepassMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    onepass_multireduce::enqueue<Op>(arguments_of(call), tuning_of_table(call.params()));
  }
};

}  // namespace reduce_bench::BACKEND::onepass_multireduce
