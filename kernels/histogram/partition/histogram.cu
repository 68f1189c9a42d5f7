// partition/histogram: tiles of labels ordered by range of bins, then one range at a time
//
// Source: this project.
// Idea: that of partition/multireduce, for counts: bins that do not fit into shared memory
//   together are divided into ranges (partitions) that do. A block orders a tile of labels by
//   partition in shared memory and writes it back as one piece, with the offset of every partition
//   in it. Within its partition a label needs 16 bits, and there is no value beside it. The second
//   kernel walks through the pieces of one partition in all tiles, eight labels per load, and
//   counts in shared memory. Lanes count the labels of a tile in up to eight copies of the
//   partitions' counters, so that skewed labels do not queue. A piece is read by as many lanes as
//   have something to load. Tiles whose labels span few bins (sorted labels, a few of which may be
//   astray) are counted at once, and so are those of runs and of sorted labels that are far apart.
// Fixes: the limit of onepass/histogram-split to the bins that some blocks' shared memory holds,
//   and the random updates in the L2 cache of atomic/histogram and cub/histogram.
// Launch: a fill; a block of `block` threads for every tile of 32 labels per thread; then one
//   block of 1024 threads per SM, which takes shares of partitions until none are left. Each
//   launch may begin while the one before ends. With few labels these would take longer than
//   atomics: then a fill and the kernel of kernels/shared/cached_atomics.hpp, unless
//   launch=partitioned.
// Traffic: n labels read; n labels of 16 bits written and read; the offsets of every tile written
//   and read; m counts written. Tiles that are counted at once leave out the second. With uniform
//   labels these are 8 bytes per label, of which an H200 moves 1.1 times as many with 2^16 to 2^20
//   bins. Latency binds there, while the L2 cache and shared memory are busy for three quarters of
//   the time: docs/kernels/partition-histogram.md
// Preconditions: labels of 32 bits, n below 2^32 - 2^16; unless they are few, at most 512
//   partitions, of 2^15 bins each where a block has room for 128 KB.
// Deviations: none, there is no publication.

#include <string>

#include "kernels/histogram/partition/partition_launch.hpp"

namespace reduce_bench::BACKEND::partition_histogram {

Tuning tuning_of(const Params& params) {
  return {.block = params.is("block", "auto") ? 0 : params.number("block"),
          .always_partitioned = params.is("launch", "partitioned")};
}

std::string restriction(const Problem& p) {
  const Tuning tuning = tuning_of(p.params);
  if (serves(p, tuning)) return {};
  if (p.n > kMostInputs)
    return std::to_string(p.n) + " labels: those of a partition are counted in 32 bits";
  const Partitioning parts = partitioning(p, tuning);
  return std::to_string(parts.count) + " partitions of " + std::to_string(parts.width()) +
         " bins each, as many as fit into shared memory, are too many: at most " +
         std::to_string(Policy::kMostPartitions);
}

struct PartitionHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    partition_histogram::enqueue(arguments_of(call), tuning_of(call.params()));
  }
};

Variant variant() {
  return {
      .id = "partition/histogram",
      .title = "tiles of labels ordered by range of bins, then private counters",
      .source = "reduce-bench",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBeyond,
      .params = {{"block",
                  "auto",
                  {"auto", "64", "256", "512"},
                  "threads that order a tile; auto: 256 for few labels, else 512"},
                 partitioned_axis()},
      .restriction = restriction,
      .borders = [](const Problem& p) -> std::vector<std::size_t> {
        return {std::size_t{Policy::kOrderBlock} * Policy::kItems * Policy::kLeastTilesPerSm *
                    p.device.sm_count -
                1};
      },
      .traffic =
          [](const Problem& p) {
            const Tuning tuning = tuning_of(p.params);
            if (is_direct(p, tuning))
              return Traffic{.read_bytes = p.input_bytes(),
                             .written_bytes = p.arrays().output_bytes()};
            const Partitioning parts = partitioning(p, tuning);
            const std::size_t moved = (p.n + parts.offsets_at(parts.tiles)) * sizeof(Short);
            return Traffic{.read_bytes = p.input_bytes() + moved,
                           .written_bytes = moved + p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            const Tuning tuning = tuning_of(p.params);
            if (is_direct(p, tuning)) return Workspace{};
            return Workspace{.device_bytes = layout(partitioning(p, tuning)).bytes};
          },
      .enqueue = instantiate_for<PartitionHistogram, NoOps, std::uint32_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::partition_histogram
