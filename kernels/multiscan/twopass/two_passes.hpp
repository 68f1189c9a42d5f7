// twopass/multiscan's kernels and launches.
#pragma once

#include "kernels/shared/arguments.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/warp_table.hpp"

namespace reduce_bench::BACKEND::twopass_multiscan {

/// Chosen on an H200 (docs/kernels/twopass-multiscan.md).
struct Policy90 {
  /// Bytes of values that a lane reads at once: bandwidth against registers.
  static constexpr unsigned kBytesAhead = 32;
  /// With at most so many buckets the second pass reads the labels from bytes that the first one
  /// wrote.
  static constexpr unsigned kMostPackedBuckets = 256;
  /// Shorter chunks, of few inputs, against the tables' traffic: see warp_tables_plan.
  static constexpr double kShare = 64;
};
using Policy = ByCapability<Row<90, Policy90>>;

/// Rows of kWarpSize inputs that a warp reads at once.
template <class T>
inline constexpr unsigned kRows = Policy::kBytesAhead / sizeof(T);

/// The rows that one warp owns.
struct Chunk {
  std::size_t number, first, last;
};
__device__ inline Chunk own_chunk(std::size_t n) {
  const std::size_t rows = (n + kWarpSize - 1) / kWarpSize, warps = blockDim.x / kWarpSize,
                    chunks = warps * gridDim.x,
                    number = warps * blockIdx.x + threadIdx.x / kWarpSize;
  return {number, rows * number / chunks, rows * (number + 1) / chunks};
}

/// The labels of a lane in kRows rows, a byte each.
template <class T>
using PackedLabels = std::conditional_t<kRows<T> == 8, std::uint64_t, std::uint32_t>;
static_assert(kRows<float> == 8 && kRows<double> == 4);

template <class T>
struct Inputs {
  const T* values;
  const Label* labels;
  std::size_t n;
  PackedLabels<T>* packed;  ///< what the first pass keeps of the labels where a byte holds them

  /// Where the packed labels of this lane begin: every chunk has room for its last rows.
  __device__ PackedLabels<T>* packed_of(const Chunk& chunk) const {
    return packed + (chunk.first / kRows<T> + chunk.number) * kWarpSize + threadIdx.x % kWarpSize;
  }
};

/// Which inputs of kRows rows are in the chunk.
template <class T>
struct Presence {
  std::size_t row, last, n;

  __device__ std::size_t place(unsigned k) const {
    return (row + k) * kWarpSize + threadIdx.x % kWarpSize;
  }
  /// Known to be the same for all lanes.
  __device__ bool all() const { return row + kRows<T> <= last && (row + kRows<T>)*kWarpSize <= n; }
  __device__ bool has(unsigned k) const { return row + k < last && place(k) < n; }
};

/// This lane's inputs of some rows.
template <class T>
struct Rows {
  Label label[kRows<T>];
  T value[kRows<T>];
};

/// Reads a chunk, kRows rows at a time; the next ones are always under way. Places beyond the chunk
/// have some label and the neutral element.
template <class T, class Op, bool kPacked>
class Reader {
 public:
  __device__ Reader(const Inputs<T>& inputs, const Chunk& chunk)
      : inputs_(inputs), at_{chunk.first, chunk.last, inputs.n}, packed_(inputs.packed_of(chunk)) {
    load();
  }
  __device__ Rows<T> next() {
    Rows<T> rows = ahead_;
    if constexpr (kPacked) {
#pragma unroll
      for (unsigned k = 0; k < kRows<T>; ++k) rows.label[k] = packed_ahead_ >> 8 * k & 0xff;
    }
    at_.row += kRows<T>;
    load();
    return rows;
  }

 private:
  __device__ void load() {
    if (at_.row >= at_.last) return;
    const bool all = at_.all();
    if constexpr (kPacked) {
      packed_ahead_ = *packed_;
      packed_ += kWarpSize;
    }
#pragma unroll
    for (unsigned k = 0; k < kRows<T>; ++k) {
      const bool present = all || at_.has(k);
      if constexpr (!kPacked) ahead_.label[k] = present ? inputs_.labels[at_.place(k)] : 0;
      ahead_.value[k] = present ? inputs_.values[at_.place(k)] : Op::template identity<T>();
    }
  }

  Inputs<T> inputs_;
  Presence<T> at_;
  const PackedLabels<T>* packed_;
  PackedLabels<T> packed_ahead_ = 0;
  Rows<T> ahead_;
};

/// The table of this thread's warp.
template <class T>
__device__ WarpTable<T> own_table(unsigned buckets) {
  return {held_shared(dynamic_shared<T>() + threadIdx.x / kWarpSize * buckets)};
}

/// Whether one atomic for an input, in any order, does for the first pass.
template <class T, class Op>
inline constexpr bool kByAtomics =
    std::is_integral_v<T> &&
    (std::is_same_v<Op, Sum> || std::is_same_v<Op, Min> || std::is_same_v<Op, Max>);

/// The first pass: combines every chunk by label. Stores for each chunk what its block has before
/// it, and for each block what it has in all; with kPacked the labels, too.
template <class T, class Op, bool kPacked>
__global__ void __launch_bounds__(kWarpSize* WarpTablePolicy::kMostWarps)
    combine_chunks_kernel(Inputs<T> inputs, unsigned buckets, T* tables, T* block_totals) {
  let_next_launch_begin();
  const Chunk chunk = own_chunk(inputs.n);
  Reader<T, Op, false> reader(inputs, chunk);
  PackedLabels<T>* packed = inputs.packed_of(chunk);
  const WarpTable<T> table = own_table<T>(buckets);
  for (unsigned b = threadIdx.x % kWarpSize; b < buckets; b += kWarpSize)
    table.slots[b] = Op::template identity<T>();
  __syncwarp();
  Label run = 0;
  T of_run = Op::template identity<T>();
  for (std::size_t row = chunk.first; row < chunk.last; row += kRows<T>) {
    const Rows<T> rows = reader.next();
    if constexpr (kPacked) {
      PackedLabels<T> labels = 0;
#pragma unroll
      for (unsigned k = 0; k < kRows<T>; ++k) labels |= PackedLabels<T>{rows.label[k]} << 8 * k;
      *packed = labels;
      packed += kWarpSize;
    }
    if constexpr (kByAtomics<T, Op>) {
#pragma unroll
      for (unsigned k = 0; k < kRows<T>; ++k) {
        if (rows.label[k] == run) {
          of_run = Op::combine(of_run, rows.value[k]);
        } else {
          atomic_combine_shared<Op>(&table.slots[run], of_run);
          run = rows.label[k];
          of_run = rows.value[k];
        }
      }
    } else {
      T before[kRows<T>];
      table.template add_rows<Op>(rows.label, rows.value, before);
    }
  }
  if constexpr (kByAtomics<T, Op>) atomic_combine_shared<Op>(&table.slots[run], of_run);
  __syncthreads();
  const unsigned warps = blockDim.x / kWarpSize;
  const std::size_t first_chunk = std::size_t{blockIdx.x} * warps;
  for (unsigned b = threadIdx.x; b < buckets; b += blockDim.x) {
    T total = Op::template identity<T>();
    for (unsigned w = 0; w < warps; ++w) {
      tables[(first_chunk + w) * buckets + b] = total;
      total = Op::combine(total, dynamic_shared<T>()[w * buckets + b]);
    }
    block_totals[std::size_t{blockIdx.x} * buckets + b] = total;
  }
}

/// Runs between the passes: replaces each block's total of a bucket by what all blocks before have.
/// Lane l of this block's warps has bucket l of kWarpSize neighbours, each warp a part of the
/// totals.
template <class T, class Op>
__global__ void __launch_bounds__(kWarpSize* kWarpSize)
    scan_blocks_kernel(T* block_totals, unsigned blocks, unsigned buckets) {
  let_next_launch_begin();
  wait_for_launch_before();
  T* of_warps = dynamic_shared<T>();
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const unsigned bucket = blockIdx.x * kWarpSize + lane;
  const unsigned first = blocks * warp / kWarpSize,
                 last = bucket < buckets ? blocks * (warp + 1) / kWarpSize : first;
  T total = Op::template identity<T>();
  for (unsigned block = first; block < last; ++block)
    total = Op::combine(total, block_totals[std::size_t{block} * buckets + bucket]);
  of_warps[threadIdx.x] = total;
  __syncthreads();
  T before = Op::template identity<T>();
  for (unsigned w = 0; w < warp; ++w) before = Op::combine(before, of_warps[w * kWarpSize + lane]);
  for (unsigned block = first; block < last; ++block) {
    T& of_block = block_totals[std::size_t{block} * buckets + bucket];
    const T own = of_block;
    of_block = before;
    before = Op::combine(before, own);
  }
}

/// The second pass: goes through every chunk with what is before it in its table.
template <class T, class Op, bool kPacked>
__global__ void __launch_bounds__(kWarpSize* WarpTablePolicy::kMostWarps)
    scan_chunks_kernel(Inputs<T> inputs, unsigned buckets, bool inclusive, const T* tables,
                       const T* before_blocks, T* results) {
  wait_for_launch_before();
  const Chunk chunk = own_chunk(inputs.n);
  Reader<T, Op, kPacked> reader(inputs, chunk);
  const WarpTable<T> table = own_table<T>(buckets);
  const T *before_block = before_blocks + std::size_t{blockIdx.x} * buckets,
          *before_chunk = tables + chunk.number * buckets;
  for (unsigned b = threadIdx.x % kWarpSize; b < buckets; b += kWarpSize)
    table.slots[b] = Op::combine(before_block[b], before_chunk[b]);
  __syncwarp();
  Presence<T> at{chunk.first, chunk.last, inputs.n};
  for (; at.row < at.last; at.row += kRows<T>) {
    const Rows<T> rows = reader.next();
    T result[kRows<T>];
    table.template add_rows<Op>(rows.label, rows.value, result);
    const bool all = at.all();
#pragma unroll
    for (unsigned k = 0; k < kRows<T>; ++k) {
      if (inclusive) result[k] = Op::combine(result[k], rows.value[k]);
      if (all || at.has(k)) results[at.place(k)] = result[k];
    }
  }
}

/// A warp for every chunk.
struct LaunchPlan {
  std::size_t table_bytes, packed_bytes;
  WarpTablesPlan grid;

  explicit LaunchPlan(const Sizes& sizes, unsigned most_warps = WarpTablePolicy::kMostWarps)
      : table_bytes(sizes.buckets * sizes.value_bytes) {
    const auto rows_at_once = static_cast<unsigned>(Policy::kBytesAhead / sizes.value_bytes);
    grid = warp_tables_plan(sizes, table_bytes, rows_at_once, Policy::kShare, most_warps);
    const std::size_t most_packed = sizes.n / (kWarpSize * rows_at_once) + 1 + chunks();
    packed_bytes =
        sizes.buckets <= Policy::kMostPackedBuckets ? most_packed * kWarpSize * rows_at_once : 0;
  }
  std::size_t chunks() const { return grid.tables(); }
  std::size_t tables_bytes() const { return chunks() * table_bytes; }
  std::size_t block_totals_bytes() const { return grid.blocks * table_bytes; }
  std::size_t workspace_bytes() const {
    return packed_bytes + tables_bytes() + block_totals_bytes();
  }
  bool packs() const { return packed_bytes > 0; }
};

/// Puts the multiscan on the stream.
template <class Op, class T>
void enqueue(const Arguments<T>& call, bool inclusive,
             unsigned most_warps = WarpTablePolicy::kMostWarps) {
  if (call.n() == 0) return;
  const LaunchPlan plan(call.sizes, most_warps);
  const auto buckets = static_cast<unsigned>(call.buckets());
  const LaunchShape shape{plan.grid.blocks, kWarpSize * plan.grid.warps,
                          plan.grid.warps * plan.table_bytes, call.stream};
  const Inputs<T> inputs{call.values, call.labels, call.n(),
                         call.template scratch<PackedLabels<T>>()};
  T* tables = call.scratch(plan.packed_bytes);
  T* block_totals = call.scratch(plan.packed_bytes + plan.tables_bytes());
  launch(plan.packs() ? combine_chunks_kernel<T, Op, true> : combine_chunks_kernel<T, Op, false>,
         shape, inputs, buckets, tables, block_totals);
  constexpr unsigned block = kWarpSize * kWarpSize;
  const DeviceTraits& device = call.sizes.device;
  launch(scan_blocks_kernel<T, Op>,
         overlapping({static_cast<unsigned>(ceil_div(buckets, kWarpSize)), block, block * sizeof(T),
                      call.stream},
                     device),
         block_totals, plan.grid.blocks, buckets);
  launch(plan.packs() ? scan_chunks_kernel<T, Op, true> : scan_chunks_kernel<T, Op, false>,
         overlapping(shape, device), inputs, buckets, inclusive, tables, block_totals,
         call.results);
}

}  // namespace reduce_bench::BACKEND::twopass_multiscan
