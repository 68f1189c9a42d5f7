// sheffler/global: spine trees, their records in global memory
//
// Source: Sheffler, "Implementing the multiprefix operation on parallel and vector computers"
//   (1993), as eilers adapts it: sections 5.4 and 5.4.2, Figures 5.3 and 5.4.
// Idea: a segment of T * T inputs is a square of T rows. From the top row down, the nodes of a row
//   point to one node of their label in the row above (arbitrary writes choose it), which links
//   the rows of every label into a spine. Row sums go to spine elements column by column, along
//   the spines row by row, and column by column to the results: four phases of T steps without
//   conflicts. The partitioning joins the segments.
// Fixes: the sequential algorithm's depth n, which becomes its square root at O(n) work; no other
//   published parallel multiscan does as little.
// Launch: a block of T threads for each segment, or with records=block 32 for each SM; then a scan
//   of each bucket's totals, and a block for each segment, or for each 1024 inputs where there are
//   2^10 buckets or more, or more than a segment has inputs.
// Traffic: n labels and n values read, n results written; labels and results read and results
//   written again; m totals for each segment written and read twice; a record for each input and
//   for each bucket of each segment written, with records=block of as many segments as there are
//   blocks. Not declared: the phases' accesses to the records, as far as caches do not hold them.
//   Of n = 2^26 and m = 64, with records for all segments, an H200 writes 1.03 times what is
//   declared, an H100, whose L2 is a sixth smaller, 1.15 times, which makes 1.11 of all bytes.
// Preconditions: T * T inputs fit into a block's shared memory. Order-preserving.
// Deviations: as published (form=as-published) a node counts as a spine element where its row sum
//   differs from the neutral element. That loses what is below a row whose values are neutral, as
//   the thesis says, or cancel, as +5 and -5 do; the corrected form sets a flag in the parent. In
//   both forms the loop over spine sums ascends (the listing's descends, its text does not), all
//   records are initialised, spine sums among them, a bucket points to itself, and records refer
//   to each other by number. The record has four fields as Listing 5.1 prints, 16 bytes for 4-byte
//   values where the text counts 12, but with a flag in place of its multisum, which is the result
//   itself. `spinesum` is combined by the operator, not by +. The arbitrary write is a plain store
//   by several threads, one of which lasts. The thesis gives every block its own records and does
//   not say how many blocks there are. By default every segment is a block, so that there are
//   records for all segments at once; with records=block the next segment uses those of the one
//   before again, which caches may hold. Totals are added from shared memory below 2^10 buckets,
//   as in the thesis, but only where a segment has as many inputs as there are buckets.

#include <algorithm>

#include "kernels/multiscan/sheffler/spine_tree.hpp"

namespace reduce_bench::BACKEND::sheffler_global {

/// Where the records begin in the workspace: after the totals.
std::size_t records_offset(const Problem& p) {
  return ceil_div(totals_bytes(p, sheffler_segments(p)), 256) * 256;
}
/// Blocks, each with records of its own: with records=block as many as SMs may have at once, on any
/// card.
std::size_t blocks_of(const Problem& p) {
  constexpr std::size_t kBlocksPerSm = 32;
  const std::size_t segments = sheffler_segments(p).count;
  return p.params.is("records", "segment") ? segments
                                           : std::min(segments, kBlocksPerSm * p.device.sm_count);
}
std::size_t all_records_bytes(const Problem& p) { return blocks_of(p) * sheffler_records_bytes(p); }

struct ShefflerGlobal {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Segments segments = sheffler_segments(call.problem);
    launch(sheffler_kernel<T, Op, false>,
           {static_cast<unsigned>(blocks_of(call.problem)), call.params().number("threads"),
            sheffler_inputs_bytes(call.problem), call.stream},
           call.values(), call.labels(), call.n(), static_cast<unsigned>(segments.count),
           static_cast<unsigned>(call.buckets()), call.params().is("form", "corrected"),
           call.inclusive(), call.template scratch<Spinerec<T>>(records_offset(call.problem)),
           call.scratch(), call.results());
    enqueue_add_totals<Op>(call, segments, call.scratch());
  }
};

std::string restriction(const Problem& p) {
  const std::size_t needed = sheffler_inputs_bytes(p);
  if (needed > p.device.max_shared_bytes_per_block)
    return std::to_string(needed) + " bytes of shared memory are needed for a block's inputs, " +
           "it has " + std::to_string(p.device.max_shared_bytes_per_block);
  return partition_restriction(p, sheffler_segments(p));
}

Variant variant() {
  return {
      .id = "sheffler/global",
      .title = "spine trees in global memory",
      .source = "eilers section 5.4.2",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kCorrected,
      .params =
          {scan_axis(),
           sheffler_form(),
           {"threads",
            "16",
            {"16", "32", "64"},
            "threads per block, the side of a segment's square (16 is the publication's fastest)"},
           {"records",
            "segment",
            {"segment", "block"},
            "a block and its records for each segment, or for as many as run at once, which take "
            "one segment after the other"}},
      .restriction = restriction,
      .defect = sheffler_defect,
      .depth = depth_of_sheffler,
      .traffic =
          [](const Problem& p) {
            Traffic traffic = traffic_of_partition(p, sheffler_segments(p));
            traffic.written_bytes += all_records_bytes(p);
            return traffic;
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = records_offset(p) + all_records_bytes(p)};
          },
      .enqueue = instantiate_ordered<ShefflerGlobal>(),
  };
}

}  // namespace reduce_bench::BACKEND::sheffler_global
