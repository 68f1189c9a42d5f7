// partition/multiscan: tiles ordered by bucket range, each range scanned alone, and back
//
// Source: this project.
// Idea: buckets that do not fit into shared memory together are divided into ranges (partitions)
//   that do. A block orders a tile of inputs by partition, stably, in shared memory, writes it back
//   as one piece, and keeps every input's place in it: no scattered store. What a partition has in
//   all tiles is cut into chunks of one tile's size, whatever the labels, and onepass/multiscan's
//   look-back goes over the chunks of one partition. Last, every tile is put back into the input's
//   order.
// Fixes: the limit of onepass/multiscan to buckets that fit into a block's shared memory, and that
//   a tile publishes a state for every label: here for the labels of one partition.
// Launch: a fill; blocks of 512 threads with 16 inputs per thread for every tile, every chunk and
//   every tile again; others between the first two: docs/kernels/partition-multiscan.md. Each may
//   begin while the one before ends.
// Traffic: n labels and n values read; n values, 16-bit labels and 16-bit places written; labels
//   and values read, results written in place of the values; results and places read, n results
//   written. The offsets of every tile, 2 bytes per partition, written and read twice; 8 bytes per
//   label of a partition (16 for values of 8 bytes) and chunk written twice and read at least once.
//   On an H200 latency binds: warps wait for caches and device memory.
// Preconditions: at most 2048 partitions of as many buckets as fit into shared memory; n below
//   2^32 - 2^13. The workspace is zero before the first launch and belongs to the next.
//   Order-preserving.
// Deviations: none, there is no publication. Float sums are grouped by how far a chunk looks back,
//   so they differ from run to run.

#include "kernels/multiscan/partition/scan_partitions.hpp"

namespace reduce_bench::BACKEND::partition_multiscan {

struct PartitionMultiscan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    partition_multiscan::enqueue<Op>(arguments_of(call), call.inclusive(),
                                     tuning_for(call.problem, tuning_of(call.params())));
  }
};

Variant variant() {
  return {
      .id = "partition/multiscan",
      .title = "tiles ordered by bucket range, each range scanned alone, and back",
      .source = "reduce-bench",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBeyond,
      .params = {scan_axis(),
                 partition_buckets_axis(std::to_string(1u << Policy::kFewBits) +
                                        " where these make at most " +
                                        std::to_string(1u << Policy::kLog2FewPartitions) +
                                        " partitions of many inputs, else ")},
      .restriction = [](const Problem& p) { return partitions_restriction(p, kChunkBytes); },
      // Each item adds the chain of its peers and the warp's set; warps and chunks come on top.
      .depth = [](const Problem& p) -> std::uint64_t {
        return (TilePolicy::kItems + 6) * kWarps +
               most_chunks(partitioning(p, tuning_for(p, tuning_of(p.params)))) + 3;
      },
      .traffic =
          [](const Problem& p) {
            const Tuning tuning = tuning_for(p, tuning_of(p.params));
            const TilesLayout at = layout(p, tuning).tiles;
            const std::size_t places = at.labels_bytes(),  // as many and as large
                moved = at.values_bytes() + at.labels_bytes() + places,
                              states = all_states_bytes(p, tuning);
            return Traffic{.read_bytes = p.input_bytes() + moved + at.values_bytes() +
                                         2 * at.offsets_bytes() + states,
                           .written_bytes = moved + at.values_bytes() + at.offsets_bytes() +
                                            2 * states + p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            const Tuning tuning = tuning_for(p, tuning_of(p.params));
            return Workspace{.device_bytes = layout(p, tuning).bytes,
                             .zeroed_bytes = zeroed_bytes(p, tuning)};
          },
      .enqueue = instantiate_ordered<PartitionMultiscan>(),
  };
}

}  // namespace reduce_bench::BACKEND::partition_multiscan
