// onepass/multireduce: lane-private buckets in the whole of an SM's shared memory
//
// Source: this project.
// Idea: one block per SM keeps as many copies of the buckets as its shared memory holds, up to one
//   for each lane, bucket by bucket, so that the lanes of a warp meet in no bank. Inputs are read
//   by 16-byte loads; a thread keeps its latest bucket in registers until another label comes. So
//   runs, sorted labels and one label for all cost fewer updates than random ones, not more.
//   (Inputs that do not begin at a multiple of 16 bytes are read one by one, a grid apart.)
// Fixes: sorting (cub/sort-reduce-by-key moves every input several times), the thesis's limit of
//   256 buckets, and contention on skewed labels (atomic/global).
// Launch: one block of 1024 threads per SM. The first eight clear the results meanwhile. Where
//   there is room for one copy only, the blocks form clusters of two (sm_90 and later).
// Traffic: n labels and n values read, m results written. The blocks' tables, or those of pairs,
//   are combined by atomics in the L2 cache. On an H200 device memory binds for integers; for f32
//   sums beyond 1024 buckets the compare-and-swap loops do: docs/kernels/onepass-multireduce.md
// Preconditions: m buckets fit into a block's shared memory; the operator commutes.
// Deviations: none, there is no publication.

#include "kernels/shared/private_table.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce {

/// Chosen on an H200 (docs/kernels/onepass-multireduce.md), beside TablePolicy.
struct Policy {
  /// 16-byte loads of labels in flight per thread, beside two of values: bandwidth against
  /// registers. Four loads of 8-byte values do not fit into these.
  static constexpr unsigned label_loads(std::size_t value_bytes) {
    return 8 / static_cast<unsigned>(value_bytes);
  }

  // Where updates are compare-and-swap loops of float sums:
  /// Warps queue for a lane's copy, too. So there are up to 2^kLog2MostCopies copies of a bucket,
  /// while these take no more than kMostBytesOfCopies, which are cleared and added up again.
  static constexpr unsigned kLog2MostCopies = 8;
  static constexpr std::size_t kMostBytesOfCopies = 64 * 1024;
  /// Labels that a block looks at before it begins to find the hot ones.
  static constexpr unsigned kSamplesPerThread = 4;
  /// Labels that get an accumulator for each lane, at most: shared memory that copies lack.
  static constexpr unsigned kMostHot = 64;
  /// A label is hot if it has more samples than the sum of two limits: one in kHotShare of all
  /// samples, and kUniformShares times its part of them if labels were uniform.
  static constexpr unsigned kHotShare = 512, kUniformShares = 4;
};

inline constexpr unsigned kPerLoad = Vector16<Label>::kCount;
/// Inputs that a warp loads at once.
constexpr std::size_t tile_inputs(std::size_t value_bytes) {
  return std::size_t{kWarpSize} * kPerLoad * Policy::label_loads(value_bytes);
}

/// Whether an update in shared memory is a loop of compare-and-swap.
template <class T, class Op>
inline constexpr bool kLoops =
    std::is_floating_point_v<T> || (sizeof(T) == 8 && std::is_same_v<Op, Sum>);

/// The loops of float sums queue for a bucket that many threads update at once. Labels that are
/// frequent in a sample of a block's inputs, the hot ones, get an accumulator for each lane; their
/// buckets hold a mark instead of a sum.
template <class T, class Op>
inline constexpr bool kQueues = std::is_floating_point_v<T> && std::is_same_v<Op, Sum>;

template <class T, class Op>
struct HotTable : PrivateTable<T, Op> {
  using Word = detail::Word<T>;
  using Table = PrivateTable<T, Op>;
  /// A signalling NaN, which no sum ever is; its low byte is the number of the hot label.
  static constexpr Word kMark =
      sizeof(T) == 4 ? 0xffa50000u : static_cast<Word>(0xfff4a500'00000000u);

  T* lanes;         ///< [hot label][lane]
  Label* hot;       ///< the hot labels
  unsigned* count;  ///< labels found hot, of which kMostHot have room

  static std::size_t bytes() {
    return Policy::kMostHot * (kWarpSize * sizeof(T) + sizeof(Label)) + sizeof(unsigned);
  }
  __device__ HotTable(const Table& table)
      : Table(table),
        lanes(this->slots + this->size()),
        hot(reinterpret_cast<Label*>(lanes + Policy::kMostHot * kWarpSize)),
        count(hot + Policy::kMostHot) {}

  /// Clears the table and marks the labels that are hot among the block's own, labels[0 ... n) with
  /// n > 0. All threads must call this, and `add_to` too.
  __device__ void clear(const Label* labels, std::size_t n) const {
    const unsigned samples = blockDim.x * Policy::kSamplesPerThread;
    if (n < 4 * samples) {  // too few inputs for queues
      if (threadIdx.x == 0) *count = 0;
      return Table::clear();
    }
    auto* seen = reinterpret_cast<unsigned*>(this->slots);
    for (std::size_t b = threadIdx.x; b < this->buckets; b += blockDim.x) seen[b] = 0;
    if (threadIdx.x == 0) *count = 0;
    __syncthreads();
    for (unsigned s = threadIdx.x; s < samples; s += blockDim.x)
      atomicAdd(&seen[labels[n * s / samples]], 1u);
    __syncthreads();
    const std::size_t often =
        samples / Policy::kHotShare + Policy::kUniformShares * samples / this->buckets;
    for (std::size_t b = threadIdx.x; b < this->buckets; b += blockDim.x) {
      if (seen[b] <= often) continue;
      const unsigned h = atomicAdd(count, 1u);
      if (h < Policy::kMostHot) hot[h] = static_cast<Label>(b);
    }
    __syncthreads();
    Table::clear();
    for (unsigned i = threadIdx.x; i < Policy::kMostHot * kWarpSize; i += blockDim.x)
      lanes[i] = Op::template identity<T>();
    for (unsigned i = threadIdx.x; i < hot_count() << this->log2_copies; i += blockDim.x)
      copy_of(i) = detail::bits_to<T>(static_cast<Word>(kMark | (i >> this->log2_copies)));
    __syncthreads();
  }
  __device__ void add(unsigned bucket, T value) const {
    T* slot = &this->slots[this->slot_of(bucket)];
    const Word seen = *reinterpret_cast<volatile Word*>(slot);
    if ((seen & ~Word{0xff}) == kMark)
      slot = &lanes[(seen & 0xff) * kWarpSize + threadIdx.x % kWarpSize];
    atomic_combine<Op>(slot, value);
  }
  template <bool kPairs>
  __device__ void add_to(T* results) const {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < hot_count() << this->log2_copies; i += blockDim.x) {
      T sum = Op::template identity<T>();
      if ((i & ((1u << this->log2_copies) - 1)) == 0)
        for (unsigned lane = 0; lane < kWarpSize; ++lane)
          sum = Op::combine(sum, lanes[(i >> this->log2_copies) * kWarpSize + lane]);
      copy_of(i) = sum;
    }
    Table::template add_to<kPairs>(results);
  }

 private:
  __device__ unsigned hot_count() const {
    return *count < Policy::kMostHot ? *count : Policy::kMostHot;
  }
  /// Slot i of the hot labels, one label's copies behind the other's.
  __device__ T& copy_of(unsigned i) const {
    const unsigned copies = 1u << this->log2_copies;
    return this->slots[(std::size_t{hot[i / copies]} << this->log2_copies) + i % copies];
  }
};

template <class T, class Op, bool kHot, bool kCopyPerLane, bool kPairs>
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
  // Where lanes meet in a loop, fewer updates are worth more than the order of reading: with sorted
  // labels a thread's next tile has the same label.
  const bool in_stretch = kHot || (kLoops<T, Op> && !kCopyPerLane && log2_copies < kLog2WarpSize);
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
  const Table table{Plain{dynamic_shared<T>(), buckets, log2_copies}};
  clearing->begin(results, buckets, Op::template identity<T>());
  if constexpr (kHot) {
    const std::size_t first = n * blockIdx.x / gridDim.x;
    table.clear(labels + first, n * (blockIdx.x + 1) / gridDim.x - first);
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
#pragma unroll
      for (unsigned e = 0; e < kPerLoad; ++e)
        run.add(l[k].at[e], v[k][e / Values::kCount].at[e % Values::kCount]);
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
TablePlan plan_of(const Problem& p, bool& hot) {
  hot = false;
  TablePlan plan = table_plan(p, sizeof(T), tile_inputs(sizeof(T)));
  if constexpr (kQueues<T, Op>) {
    if (p.params.is("copies", "auto"))
      while (plan.log2_copies >= kLog2WarpSize && plan.log2_copies < Policy::kLog2MostCopies &&
             2 * plan.shared_bytes <= std::min(Policy::kMostBytesOfCopies, most_table_bytes(p))) {
        ++plan.log2_copies;
        plan.shared_bytes *= 2;
      }
    if (plan.log2_copies >= kLog2WarpSize) return plan;
    const std::size_t hot_bytes = HotTable<T, Op>::bytes();
    const TablePlan beside = table_plan(p, sizeof(T), tile_inputs(sizeof(T)), hot_bytes);
    hot = beside.shared_bytes + hot_bytes <= most_table_bytes(p);
    if (hot) plan = beside;
    if (hot) plan.shared_bytes += hot_bytes;
  }
  return plan;
}

struct OnepassMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    constexpr T kNeutral = Op::template identity<T>();
    if (call.n() == 0) return enqueue_fill(call.stream, call.results(), call.buckets(), kNeutral);
    bool hot = false;
    const TablePlan plan = plan_of<T, Op>(call.problem, hot);
    auto* chosen = kernel<T, Op, false, false, false>;
    if (plan.pairs) chosen = kernel<T, Op, false, false, true>;
    if (plan.log2_copies == kLog2WarpSize) chosen = kernel<T, Op, false, true, false>;
    if constexpr (kQueues<T, Op>)
      if (hot)
        chosen = plan.pairs ? kernel<T, Op, true, false, true> : kernel<T, Op, true, false, false>;
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const bool aligned = address(call.values()) % 16 == 0 && address(call.labels()) % 16 == 0;
    launch(chosen, plan.on(call.stream), call.values(), call.labels(), call.n(), aligned,
           static_cast<unsigned>(call.buckets()), plan.log2_copies,
           call.template scratch<Clearing>(), call.results());
  }
};

Variant variant() {
  return {
      .id = "onepass/multireduce",
      .title = "lane-private buckets in all of shared memory",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = table_params(),
      .restriction = [](const Problem& p) { return table_restriction(p, p.element_bytes()); },
      // All of a block's inputs in one copy; then the copies and the blocks.
      .depth = [](const Problem& p) -> std::uint64_t {
        const TablePlan plan = table_plan(p, p.element_bytes(), tile_inputs(p.element_bytes()));
        return plan.most_per_warp * (plan.block / kWarpSize) + 2 * kWarpSize + plan.blocks;
      },
      .workspace = [](const Problem&) { return clearing_workspace(); },
      .enqueue = instantiate<OnepassMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_multireduce
