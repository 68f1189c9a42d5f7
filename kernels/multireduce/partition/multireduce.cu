// partition/multireduce: tiles ordered by bucket range, then one range at a time in shared memory
//
// Source: this project.
// Idea: buckets that do not fit into shared memory together are divided into ranges (partitions)
//   that do. A block orders a tile of inputs by partition in shared memory and writes it back as
//   one piece, with the offset of every partition in it: no histogram over all inputs and no
//   scattered store. The second kernel walks through the pieces of one partition in all tiles, four
//   inputs per load, and combines them in private buckets. Within a partition a label needs 16
//   bits. A partition with more than its share of the inputs is divided among several blocks by
//   tiles, so skewed labels cost little more than uniform ones. Two kinds of tiles are not ordered
//   but combined at once: those whose labels span few buckets (sorted labels), and those of runs.
// Fixes: the limit of onepass/multireduce to buckets that fit into a block's shared memory; the
//   random updates in the L2 cache of atomic/global.
// Launch: a fill; a block of `block` threads for every tile of 64 bytes of values per thread; then
//   one block of 1024 threads per SM. With few inputs for each bucket these would take longer than
//   atomics: then the one kernel of kernels/shared/cached_atomics.hpp, unless launch=partitioned.
// Traffic: n labels and n values read; n 16-bit labels and n values written and read; the offsets
//   of every tile written and read; m results written. Tiles that are combined at once leave out
//   the second: with m = 256 all, so that an H200 moves 0.40 of these bytes. For i32 sums 20 bytes
//   per input, which device memory moves in 320 us for 2^26 inputs on an H200: with uniform labels
//   it takes 370 us into 2^16 buckets. Other labels and more buckets:
//   docs/kernels/partition-multireduce.md
// Preconditions: at most 2048 partitions; n below 2^32 - 2^16; the operator commutes
//   (partition/multireduce-ordered takes those that do not).
// Deviations: none, there is no publication.

#include <algorithm>
#include <string>

#include "kernels/multireduce/partition/fold_partitions.hpp"
#include "kernels/multireduce/partition/near_labels.hpp"
#include "kernels/multireduce/partition/order_tile.hpp"
#include "kernels/multireduce/partition/runs.hpp"
#include "kernels/shared/cached_atomics.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Clears the results, and the partitions' totals: there are no more of these than of buckets.
template <class T>
__global__ void clear_kernel(T* results, std::size_t n, T neutral, Count* totals, unsigned count) {
  fill_tile(results, n, neutral);
  fill_tile(totals, count, Count{0});
}

/// A block for every tile combines it at once where its labels are near or in runs, and else orders
/// it.
template <class T, class Op>
__global__ void __launch_bounds__(Policy::kOrderBlock, Policy::kOrderBlocksPerSm)
    partition_tiles_kernel(const T* values, const Label* labels, std::size_t n, bool aligned,
                           Partitioning parts, Tiles<T> out, T* results) {
  const Tile<T> tile(values, labels, n, aligned, parts);
  for (unsigned p = threadIdx.x; p < parts.count; p += blockDim.x) tile.starts[p] = 0;
  const auto leave_no_pieces = [&] {
    Short* offsets = out.offsets + parts.offsets_at(blockIdx.x);
    for (unsigned p = threadIdx.x; p <= parts.count; p += blockDim.x) offsets[p] = 0;
  };
  const Window window = window_around_ends(tile, labels, parts);
  if (labels_are_in(window, tile)) {
    leave_no_pieces();
    combine_in_window<Op>(window, tile, results);
  } else if (is_in_runs(tile, parts)) {
    leave_no_pieces();
    combine_runs<Op>(tile, results);
  } else {
    order_tile<Op>(tile, parts, out);
  }
}

/// Shared memory of the first kernel's block.
std::size_t order_shared_bytes(const Partitioning& parts, std::size_t value_bytes) {
  return places_of(parts) * (value_bytes + sizeof(Short)) + (parts.count + 1) * sizeof(Count);
}

/// Shared memory of a block of the second kernel, for its table alone.
std::size_t most_fold_bytes(const Problem& p) {
  return p.device.max_shared_bytes_per_block - starts_bytes(Policy::kMostPartitions);
}

Partitioning partitioning(const Problem& p) {
  const std::size_t most_buckets = most_fold_bytes(p) / p.element_bytes();
  unsigned most_bits = 16;
  while ((std::size_t{1} << most_bits) > most_buckets) --most_bits;
  const unsigned bits = log2_ceil(std::max<std::size_t>(p.buckets, 1));
  const unsigned wanted =
      bits > Policy::kLog2WantedPartitions ? bits - Policy::kLog2WantedPartitions : 0u;
  return divide(p, std::min(most_bits, std::max(Policy::kLeastBits, wanted)),
                p.params.number("block") * Policy::items(p.element_bytes()));
}

/// Whether ordering tiles would take longer than atomics.
bool is_direct(const Problem& p) {
  return p.params.is("launch", "auto") && CachedAtomicsPolicy::serves(p.n, p.buckets);
}

std::string restriction(const Problem& p) {
  if (is_direct(p)) return {};
  if (p.n > ~Count{0} - (1u << 16))
    return std::to_string(p.n) + " inputs: their places are counted in 32 bits";
  const Partitioning parts = partitioning(p);
  if (parts.count > Policy::kMostPartitions)
    return std::to_string(parts.count) + " partitions of " + std::to_string(parts.width()) +
           " buckets each, as many as fit into shared memory, are too many: at most " +
           std::to_string(Policy::kMostPartitions);
  const std::size_t needed = order_shared_bytes(parts, p.element_bytes());
  if (needed > p.device.max_shared_bytes_per_block)
    return "a tile needs " + std::to_string(needed) + " bytes of the " +
           std::to_string(p.device.max_shared_bytes_per_block) +
           " bytes of shared memory that a block gets";
  return {};
}

struct Layout {
  TilesLayout tiles;
  std::size_t bytes;
};
Layout layout(const Problem& p) {
  const Partitioning parts = partitioning(p);
  Layout at{};
  at.tiles = place_tiles(p, parts, places_of(parts), at.bytes);
  return at;
}

/// Every bucket has as many copies, up to one per lane, as fit beside each other.
unsigned log2_copies_of(const Problem& p, std::size_t table_bytes) {
  unsigned log2_copies = 0;
  while ((1u << log2_copies) < kWarpSize &&
         (table_bytes << (log2_copies + 1)) <= most_fold_bytes(p))
    ++log2_copies;
  return log2_copies;
}

template <class T, class Op>
auto fold_kernel_for(unsigned inputs_of_a_piece) {
  constexpr unsigned kMostSteps = Policy::most_steps(sizeof(T));
  if (inputs_of_a_piece >= Policy::kLongPiece) return fold_partitions_kernel<1, kMostSteps, T, Op>;
  if (inputs_of_a_piece >= Policy::kMediumPiece) return fold_partitions_kernel<1, 3, T, Op>;
  if (inputs_of_a_piece >= Policy::kShortPiece) return fold_partitions_kernel<2, 2, T, Op>;
  return fold_partitions_kernel<3, 1, T, Op>;
}

struct PartitionMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    constexpr T kNeutral = Op::template identity<T>();
    if (call.n() == 0) return enqueue_fill(call.stream, call.results(), call.buckets(), kNeutral);
    const Problem& p = call.problem;
    if (is_direct(p)) return enqueue_cached_atomics<T, Op>(call);
    const Partitioning parts = partitioning(p);
    const Tiles<T> tiles = layout(p).tiles.in(call);
    launch(clear_kernel<T>,
           fill_shape(std::max<std::size_t>(call.buckets(), parts.count), call.stream),
           call.results(), call.buckets(), kNeutral, tiles.totals, parts.count);
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const bool aligned = address(call.values()) % 16 == 0 && address(call.labels()) % 16 == 0;
    launch(partition_tiles_kernel<T, Op>,
           {parts.tiles, parts.tile / Tile<T>::kItems, order_shared_bytes(parts, sizeof(T)),
            call.stream},
           call.values(), call.labels(), call.n(), aligned, parts, tiles, call.results());

    const std::size_t table_bytes = sizeof(T) * parts.width();
    const unsigned log2_copies = log2_copies_of(p, table_bytes);
    launch(fold_kernel_for<T, Op>(parts.tile / parts.count),
           {p.device.sm_count, std::min(Policy::kFoldBlock, p.device.max_threads_per_sm / 2),
            (table_bytes << log2_copies) + starts_bytes(parts.count), call.stream},
           tiles, call.n(), parts, log2_copies, call.buckets(), call.results());
  }
};

Variant variant() {
  return {
      .id = "partition/multireduce",
      .title = "tiles ordered by bucket range, then private buckets",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params =
          {{"block", "512", {"256", "512"}, "threads that order a tile"},
           {"launch",
            "auto",
            {"auto", "partitioned"},
            "the kernels: by the numbers of inputs and buckets, or always those that order tiles"}},
      .restriction = restriction,
      // All of a bucket's inputs in one slot; then the copies and the shares.
      .depth = [](const Problem& p) -> std::uint64_t {
        return p.n + 2 * kWarpSize + p.device.sm_count;
      },
      .traffic =
          [](const Problem& p) {
            if (is_direct(p))
              return Traffic{.read_bytes = p.input_bytes(),
                             .written_bytes = p.arrays().output_bytes()};
            const Partitioning parts = partitioning(p);
            const std::size_t moved = p.n * (p.element_bytes() + sizeof(Short)) +
                                      parts.offsets_at(parts.tiles) * sizeof(Short);
            return Traffic{.read_bytes = p.input_bytes() + moved,
                           .written_bytes = moved + p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            if (is_direct(p)) return Workspace{};
            return Workspace{.device_bytes = layout(p).bytes};
          },
      .enqueue = instantiate<PartitionMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
