// partition/multireduce: tiles ordered by bucket range, then one range at a time in shared memory
//
// Source: this project.
// Idea: buckets that do not fit into shared memory together are divided into ranges (partitions)
//   that do. A block orders a tile of inputs by partition in shared memory and writes it back as
//   one piece, with the offset of every partition in it: no histogram over all inputs and no
//   scattered store. The second kernel walks through the pieces of one partition in all tiles, and
//   combines them in private buckets (fold_partitions.hpp). Within a partition a label needs 16
//   bits. A partition with more than its share of the inputs is divided among several blocks by
//   tiles. A piece is read by as many lanes as have something to load, so that of short pieces
//   more are in flight. Shares are unequal: 2^26 Zipf and normal labels take up to 1.23 times as
//   long as uniform ones on an H200, and labels that go from 0 to m-1 again and again 2.0 times.
//   Tiles whose labels span few buckets (sorted labels, a few of which may be astray), come in
//   runs or are sorted and far apart are combined at once. Where few copies of a bucket fit, f32
//   sums are in fixed point (fixed_table.hpp), and those of f64, and of f32 beyond, have an
//   accumulator for each lane for labels that are frequent (sampled_table.hpp); i64 sums are added
//   in halves (atomic_combine_shared).
// Fixes: the limit of onepass/multireduce to buckets that fit into a block's shared memory; the
//   random updates in the L2 cache of atomic/global.
// Launch: a fill; a block of `block` threads for every tile of 64 bytes of values per thread; then
//   one block of 1024 threads per SM, which takes shares of partitions until none are left. Each
//   launch may begin while the one before ends. With few inputs these would take longer than
//   atomics: then a fill and the kernel of kernels/shared/cached_atomics.hpp, unless
//   launch=partitioned.
// Traffic: n labels and n values read; n 16-bit labels and n values written and read; the offsets
//   of every tile written and read; m results written. Tiles that are combined at once leave out
//   the second: with m = 256 all, so that an H200 moves 0.40 of these bytes. On an H200 latency
//   binds, of integers of up to 2^22 uniform labels with the L2 cache, which is busy for up to
//   0.88 of the time; of sorted labels of 8-byte values L2: docs/kernels/partition-multireduce.md
// Preconditions: unless inputs are few, at most 2048 partitions of as many buckets as fit into
//   shared memory, 2^16 at most; n below 2^32 - 2^16; the operator commutes
//   (partition/multireduce-ordered takes those that do not).
// Deviations: none, there is no publication. Of float sums in fixed point, values that are far
//   smaller or larger than a sample of their partition's are added to the results one by one.

#include <string>

#include "kernels/multireduce/partition/partition_launch.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

Tuning tuning_of(const Problem& p) {
  return {.block = p.params.is("block", "auto") ? 0 : p.params.number("block"),
          .always_partitioned = p.params.is("launch", "partitioned"),
          .float_sums = p.type == Type::kF32 && p.op == Op::kSum};
}

std::string restriction(const Problem& p) {
  const Tuning tuning = tuning_of(p);
  if (serves(p, tuning)) return {};
  if (p.n > kMostInputs)
    return std::to_string(p.n) + " inputs: their places are counted in 32 bits";
  const Partitioning parts = partitioning(p, tuning);
  if (parts.count > Policy::kMostPartitions)
    return std::to_string(parts.count) + " partitions of " + std::to_string(parts.width()) +
           " buckets each, as many as fit into shared memory, are too many: at most " +
           std::to_string(Policy::kMostPartitions);
  return "a tile needs " + std::to_string(order_shared_bytes(parts, p.element_bytes())) +
         " bytes of the " + std::to_string(p.device.max_shared_bytes_per_block) +
         " bytes of shared memory that a block gets";
}

struct PartitionMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    partition_multireduce::enqueue<Op>(arguments_of(call), tuning_of(call.problem));
  }
};

Variant variant() {
  return {
      .id = "partition/multireduce",
      .title = "tiles ordered by bucket range, then private buckets",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = {{"block",
                  "auto",
                  {"auto", "256", "512"},
                  "threads that order a tile; auto: 512, or 256 where their tile has no room"},
                 partitioned_axis()},
      .restriction = restriction,
      // All of a bucket's inputs in one slot; then the copies and the shares.
      .depth = [](const Problem& p) -> std::uint64_t {
        return p.n + 2 * kWarpSize + p.device.sm_count;
      },
      .traffic =
          [](const Problem& p) {
            if (is_direct(p, tuning_of(p)))
              return Traffic{.read_bytes = p.input_bytes(),
                             .written_bytes = p.arrays().output_bytes()};
            const Partitioning parts = partitioning(p, tuning_of(p));
            const std::size_t moved = p.n * (p.element_bytes() + sizeof(Short)) +
                                      parts.offsets_at(parts.tiles) * sizeof(Short);
            return Traffic{.read_bytes = p.input_bytes() + moved,
                           .written_bytes = moved + p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            const Tuning tuning = tuning_of(p);
            if (is_direct(p, tuning)) return Workspace{};
            return Workspace{.device_bytes =
                                 layout(partitioning(p, tuning), p.element_bytes()).bytes};
          },
      .enqueue = instantiate<PartitionMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
