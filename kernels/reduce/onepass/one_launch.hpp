// onepass/reduce's kernels: whoever launches them says what becomes of the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/reduce/onepass/block_fold.hpp"
#include "kernels/reduce/onepass/chunks.hpp"
#include "kernels/shared/arguments.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/flagged.hpp"
#include "kernels/shared/halves.hpp"

namespace reduce_bench::BACKEND::onepass_reduce {

using flagged::Slot;

/// Chosen on an H200 (docs/kernels/onepass-reduce.md). The limits are the
/// 16-byte loads up to which a launch plan was the fastest seen.
struct Policy90 {
  /// 16-byte loads in flight per thread: bandwidth against registers and short inputs.
  static constexpr unsigned kLoads = 4;
  /// 64 KB. One block has nobody to wait for, many blocks have the whole device's bandwidth.
  static constexpr std::size_t kOneBlockLoads = 1024 * kLoads;
  /// 32 KB. Up to here all blocks load once; beyond, a block takes two chunks: fewer partial
  /// results to wait for.
  static constexpr std::size_t kOneRoundLoadsPerSm = 2048;
  /// 64 KB up to which blocks have 256 threads; larger blocks leave fewer partial results.
  static constexpr std::size_t kSmallBlocksLoadsPerSm = 4096;
  /// 16 KB. The same with types of 8 bytes, whose partial results cost more.
  static constexpr std::size_t kSmallBlocksLoadsPerSm8 = 1024;
  /// 512 KB, 69 MB on an H200. Up to here block 0 stands aside and loads have the L2 cache fetch
  /// ahead; beyond, what counts is that all blocks stream.
  static constexpr std::size_t kLatencyLoadsPerSm = 32768;

  static constexpr std::size_t small_blocks_loads_per_sm(std::size_t element_bytes) {
    return element_bytes == 8 ? kSmallBlocksLoadsPerSm8 : kSmallBlocksLoadsPerSm;
  }
};
using Policy = ByCapability<Row<90, Policy90>>;

/// The chunks of the input, and what this thread has folded of them.
template <class T, class Op, unsigned kBlock, bool kAhead>
struct Tile : Chunks<T, kBlock, Policy::kLoads, kAhead> {
  using Input = Chunks<T, kBlock, Policy::kLoads, kAhead>;
  using Vec = typename Input::Vec;
  using Loads = typename Input::Loads;
  using Folded = Combined<T>;

  Folded sum[Vec::kCount];

  __device__ Tile(const T* values_, std::size_t n_, std::size_t head_) : Input(values_, n_, head_) {
#pragma unroll
    for (Folded& element : sum) element = Op::template identity<Folded>();
  }

  __device__ void load_partial(unsigned chunk, Loads& loads) const {
    Input::load_partial(chunk, loads, Op::template identity<T>());
  }
  __device__ void add(const Loads& loads) {
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k) {
#pragma unroll
      for (unsigned e = 0; e < Vec::kCount; ++e)
        sum[e] = Op::combine(sum[e], combined(loads[k].at[e]));
    }
  }
  __device__ void add_chunk(unsigned chunk) {
    Loads loads;
    this->load(chunk, loads);
    add(loads);
  }
  __device__ void add_partial(unsigned chunk) {
    Loads loads;
    load_partial(chunk, loads);
    add(loads);
  }
  /// The elements before the first vector and behind the last, one per thread.
  __device__ void add_edges() {
    const T* const first = this->values;
    const std::size_t tail = this->tail();
    if (threadIdx.x < this->head) sum[0] = Op::combine(sum[0], combined(first[threadIdx.x]));
    if (threadIdx.x < this->n - tail)
      sum[1] = Op::combine(sum[1], combined(first[tail + threadIdx.x]));
  }
  /// All that this thread has added.
  __device__ Folded fold() const {
    Folded value = sum[0];
#pragma unroll
    for (unsigned e = 1; e < Vec::kCount; ++e) value = Op::combine(value, sum[e]);
    return value;
  }
};

/// What a launch does with its result. The block that will have it calls `begin` first, which may
/// read what lies in device memory if caches are cold, and at the end, with at least its first warp,
/// the operator: each of the warp's lanes has the result.
template <class T>
struct StoreResult {
  T* results;

  struct Early {};
  __device__ Early begin() const { return {}; }
  __device__ void operator()(T total, Early) const {
    if (threadIdx.x == 0) *results = total;
  }
};

/// One block folds everything. It folds neutral elements while its first loads are in flight: with
/// cold caches the instructions come from device memory too, and would be waited for after the
/// data.
template <class T, class Op, unsigned kBlock, class End>
__global__ void __launch_bounds__(kBlock)
    one_block_kernel(const T* values, std::size_t n, std::size_t head,
                     const __grid_constant__ End end) {
  constexpr unsigned kWarps = kBlock / kWarpSize;
  using Input = Tile<T, Op, kBlock, false>;
  using Folded = Combined<T>;
  Folded* memory = dynamic_shared<Folded>();
  Input tile(values, n, head);
  typename Input::Loads first;
  tile.load_partial(0, first);
  const auto early = end.begin();
  tile.add_edges();
  Folded total = Op::template identity<Folded>();
  // Not unrolled: both folds are one piece of code, so that the neutral one fetches it for the
  // other.
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    Folded value = Op::template identity<Folded>();
    if (pass != 0) {
      tile.add(first);
      for (unsigned chunk = 1; std::size_t{chunk} * Input::kChunk < tile.count; ++chunk)
        tile.add_partial(chunk);
      value = tile.fold();
    }
    __syncthreads();  // the fold before has read the memory
    share<Op>(value, memory);
    if (threadIdx.x < kWarpSize) total = fold_shared<Op, kWarps / kRowsAtOnce>(memory, kWarps);
  }
  end(total, early);
}

/// How block 0 ends: it takes the partial results of all other blocks, of which there is one at
/// least, and ends with the result. `value` is the thread's own part, neutral from thread
/// max(own, kRowsAtOnce * kWarpSize) on.
template <class Op, unsigned kBlock, class T, class End>
__device__ void finish(T value, unsigned own, Slot<T>* slots, const End& end,
                       typename End::Early early, T* memory) {
  const unsigned others = gridDim.x - 1;
  for (unsigned i = threadIdx.x; i < others; i += kBlock)
    value = Op::combine(value, flagged::take(slots + 1 + i));
  share<Op>(value, memory);
  if (threadIdx.x >= kWarpSize) return;
  // Rows of neutral elements alone need not be read.
  constexpr unsigned kThreadsAtOnce = kRowsAtOnce * kWarpSize;
  unsigned warps =
      ((own > others ? own : others) + kThreadsAtOnce - 1) / kThreadsAtOnce * kRowsAtOnce;
  if (warps > kBlock / kWarpSize) warps = kBlock / kWarpSize;
  end(fold_shared<Op, 1>(memory, warps), early);
}

/// Suits a few rounds of loads, where latency counts. Block 0 stands aside: it reads only what
/// whole chunks leave over, then waits for the others' partial results. So the others' code is
/// short, and only the first warp of a block outlives its barrier.
template <class T, class Op, unsigned kBlock, class End>
__global__ void __launch_bounds__(kBlock)
    latency_kernel(const T* values, std::size_t n, std::size_t head,
                   const __grid_constant__ End end, Slot<Combined<T>>* slots) {
  constexpr unsigned kWarps = kBlock / kWarpSize;
  using Input = Tile<T, Op, kBlock, true>;
  using Folded = Combined<T>;
  Folded* memory = dynamic_shared<Folded>();
  Input tile(values, n, head);
  if (blockIdx.x == 0) {
    const auto early = end.begin();
    tile.add_partial(tile.chunks);
    tile.add_edges();
    const auto own = static_cast<unsigned>(tile.count - std::size_t{tile.chunks} * Input::kChunk);
    finish<Op, kBlock>(tile.fold(), own, slots, end, early, memory);
    return;
  }
  for (unsigned chunk = blockIdx.x - 1; chunk < tile.chunks; chunk += gridDim.x - 1)
    tile.add_chunk(chunk);
  share<Op>(tile.fold(), memory);
  if (threadIdx.x >= kWarpSize) return;
  const Folded total = fold_shared<Op, kWarps / kRowsAtOnce>(memory, kWarps);
  if (threadIdx.x == 0) flagged::publish(slots + blockIdx.x, total);
}

/// Suits many rounds of loads, where bandwidth counts: block 0 streams like the others, then waits
/// for their partial results.
template <class T, class Op, unsigned kBlock, class End>
__global__ void __launch_bounds__(kBlock)
    bandwidth_kernel(const T* values, std::size_t n, std::size_t head,
                     const __grid_constant__ End end, Slot<Combined<T>>* slots) {
  constexpr unsigned kWarps = kBlock / kWarpSize;
  using Folded = Combined<T>;
  Folded* memory = dynamic_shared<Folded>();
  Tile<T, Op, kBlock, false> tile(values, n, head);
  typename End::Early early{};
  if (blockIdx.x == 0) early = end.begin();
  unsigned chunk = blockIdx.x;
  for (; chunk < tile.chunks; chunk += gridDim.x) tile.add_chunk(chunk);
  if (chunk == tile.chunks) tile.add_partial(chunk);
  if (blockIdx.x == 0) tile.add_edges();
  share<Op>(tile.fold(), memory);
  Folded total = Op::template identity<Folded>();
  if (threadIdx.x < kWarpSize) total = fold_shared<Op, kWarps / kRowsAtOnce>(memory, kWarps);
  if (blockIdx.x != 0) {
    if (threadIdx.x == 0) flagged::publish(slots + blockIdx.x, total);
    return;
  }
  __syncthreads();  // the first warp has read the memory
  finish<Op, kBlock>(threadIdx.x == 0 ? total : Op::template identity<Folded>(), 0, slots, end,
                     early, memory);
}

/// Which of the kernels.
enum class Regime { kOneBlock, kLatency, kBandwidth };

struct LaunchPlan {
  unsigned block, blocks;
  Regime regime;

  unsigned streaming() const { return regime == Regime::kLatency ? blocks - 1 : blocks; }
};

struct Tuning {
  unsigned block = 0;  ///< threads; 0: by size
  unsigned blocks_per_sm = 4;
};

inline LaunchPlan plan_of(const Sizes& sizes, const Tuning& tuning) {
  const DeviceTraits& device = sizes.device;
  const std::size_t loads = ceil_div(sizes.n * sizes.value_bytes, 16);
  const std::size_t loads_per_sm = ceil_div(loads, device.sm_count);
  unsigned block = tuning.block;
  if (block == 0) {
    if (loads <= Policy::kOneBlockLoads / 4) block = 256;
    else if (loads <= Policy::kOneBlockLoads / 2) block = 512;
    else if (loads <= Policy::kOneBlockLoads) block = 1024;
    else block = loads_per_sm <= Policy::small_blocks_loads_per_sm(sizes.value_bytes) ? 256 : 512;
  }
  const bool latency = loads_per_sm <= Policy::kLatencyLoadsPerSm;
  const std::size_t rounds = latency && loads_per_sm > Policy::kOneRoundLoadsPerSm ? 2 : 1;
  const std::size_t most = std::size_t{device.sm_count} *
                           std::min(tuning.blocks_per_sm, device.max_threads_per_sm / block);
  const std::size_t useful = loads / (block * Policy::kLoads * rounds);
  if (useful <= 1 || most <= 2) return {block, 1, Regime::kOneBlock};
  if (!latency) return {block, static_cast<unsigned>(std::min(useful, most)), Regime::kBandwidth};
  return {block, static_cast<unsigned>(std::min(useful + 1, most)), Regime::kLatency};
}

/// The launch's kernel with threads of a block and an `End`.
template <class T, class Op, unsigned kBlock, class End>
auto* streaming_kernel(const LaunchPlan& plan) {
  return plan.regime == Regime::kLatency ? latency_kernel<T, Op, kBlock, End>
                                         : bandwidth_kernel<T, Op, kBlock, End>;
}

inline std::size_t slots_bytes(const LaunchPlan& plan, std::size_t value_bytes) {
  return plan.blocks * value_bytes * 2;
}

/// Puts the reduction on the stream. The workspace has the slots, zero before the first call and left
/// zero.
template <class Op, class T>
void enqueue(const Arguments<T>& call, const Tuning& tuning) {
  const LaunchPlan plan = plan_of(call.sizes, tuning);
  const std::size_t head = head_of(call.values, call.n());
  using Folded = Combined<T>;
  using End = StoreResult<Folded>;
  const End end{call.results};
  with_value<256, 512, 1024>(plan.block, [&]<unsigned kBlock>() {
    const LaunchShape grid{plan.blocks, kBlock, kBlock * sizeof(Folded), call.stream};
    if (plan.regime == Regime::kOneBlock)
      return launch(one_block_kernel<T, Op, kBlock, End>, grid, call.values, call.n(), head, end);
    launch(streaming_kernel<T, Op, kBlock, End>(plan), grid, call.values, call.n(), head, end,
           call.template scratch<Slot<Folded>>());
  });
}

/// The parts of the declarations that follow from the launch.
inline Tuning tuning_of(const Params& params) {
  return {.block = params.is("block", "auto") ? 0 : params.number("block"),
          .blocks_per_sm = params.number("blocks_per_sm")};
}
inline LaunchPlan plan_of(const Problem& p) { return plan_of(p, tuning_of(p.params)); }
inline std::vector<ParamSpec> launch_params() {
  return {{"block", "auto", {"auto", "256", "512", "1024"}, "threads; auto: by size"},
          {"blocks_per_sm", "4", {"1", "2", "4", "8"}, "blocks per SM at most"}};
}
inline std::vector<std::size_t> launch_borders(const Problem& p) {
  const std::size_t per_load = 16 / p.element_bytes(), sms = p.device.sm_count;
  return {Policy::kOneBlockLoads / 4 * per_load,
          Policy::kOneBlockLoads / 2 * per_load,
          Policy::kOneBlockLoads * per_load,
          Policy::kOneRoundLoadsPerSm * sms * per_load,
          Policy::small_blocks_loads_per_sm(p.element_bytes()) * sms * per_load,
          Policy::kLatencyLoadsPerSm * sms * per_load};
}
inline std::uint64_t launch_depth(const Problem& p) {
  const LaunchPlan plan = plan_of(p);
  const std::size_t per_load = 16 / p.element_bytes();
  const std::size_t per_sum =
      ceil_div(p.n, std::size_t{plan.block} * plan.streaming() * per_load) + 4;
  // The rows of a column, 2 for 4 columns, 3 for 8 values, 2 shuffles.
  const std::size_t fold = plan.block / (kRowsAtOnce * kWarpSize) + 6;
  // A thread's sums and their fold; a block's fold; the others' partials and block 0's fold.
  return per_sum + per_load + fold +
         (plan.blocks > 1 ? ceil_div(plan.blocks - 1, plan.block) + fold : 0);
}
inline std::size_t slots_bytes(const Problem& p) {
  return slots_bytes(plan_of(p), p.combined_bytes());
}

}  // namespace reduce_bench::BACKEND::onepass_reduce
