// sheffler/shared: spine trees, their records in shared memory
//
// Source: Sheffler (1993), as eilers adapts it: sections 5.4 and 5.4.3, Figure 5.5.
// Idea: as sheffler/global, with the records of a block's segment and buckets in shared memory.
// Fixes: sheffler/global's unpredictable accesses to global memory. The price is fewer threads per
//   SM.
// Launch: a block of T threads for each segment of T * T inputs, or as many blocks as the
//   publication's card has room for on each SM, which take segment after segment; then a scan of
//   each bucket's totals, and a block for each segment, or for each 1024 inputs where there are
//   2^10 buckets or more, or more than a segment has inputs.
// Traffic: n labels and n values read, n results written; labels and results read and results
//   written again; m totals for each segment written and read twice.
// Preconditions: T * T inputs, as many records and one for each bucket fit into a block's shared
//   memory. Order-preserving.
// Deviations: those of sheffler/global, form=as-published among them. The publication puts the
//   records of 62 threads and 256 buckets into 48 KB at 12 bytes a record, which is 48 bytes more
//   than there are and leaves nothing for the inputs. By default as many blocks are resident as
//   there is room for; with 256 buckets the publication has one of 62 threads, or three of 32.

#include <algorithm>

#include "kernels/multiscan/sheffler/spine_tree.hpp"
#include "kernels/shared/residency.hpp"

namespace reduce_bench::BACKEND::sheffler_shared {

/// Records of a multiprocessor's blocks in the publication, which gives 62 threads just 256 buckets.
constexpr std::size_t kPublishedRecords = 62 * 62 + 256;

std::size_t published_blocks_per_sm(const Problem& p) {
  return kPublishedRecords / (sheffler_segments(p).length + p.buckets);
}
unsigned blocks_of(const Problem& p) {
  const std::size_t segments = sheffler_segments(p).count;
  return static_cast<unsigned>(
      has_published_room(p.params)
          ? std::min<std::size_t>(segments, published_blocks_per_sm(p) * p.device.sm_count)
          : segments);
}

struct ShefflerShared {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Segments segments = sheffler_segments(call.problem);
    launch(
        sheffler_kernel<T, Op, true>,
        {blocks_of(call.problem), call.params().number("threads"),
         sheffler_records_bytes(call.problem) + sheffler_inputs_bytes(call.problem), call.stream},
        call.values(), call.labels(), call.n(), static_cast<unsigned>(segments.count),
        static_cast<unsigned>(call.buckets()), call.params().is("form", "corrected"),
        call.inclusive(), static_cast<Spinerec<T>*>(nullptr), call.scratch(), call.results());
    enqueue_add_totals<Op>(call, segments, call.scratch());
  }
};

std::string restriction(const Problem& p) {
  const std::size_t needed = sheffler_records_bytes(p) + sheffler_inputs_bytes(p);
  if (needed > p.device.max_shared_bytes_per_block)
    return std::to_string(needed) +
           " bytes of shared memory are needed for a block's records and inputs, " + "it has " +
           std::to_string(p.device.max_shared_bytes_per_block);
  if (has_published_room(p.params) && published_blocks_per_sm(p) == 0)
    return std::to_string(sheffler_segments(p).length) + " nodes and " + std::to_string(p.buckets) +
           " buckets: the publication's card has room for " + std::to_string(kPublishedRecords) +
           " records";
  return partition_restriction(p, sheffler_segments(p));
}

Variant variant() {
  return {
      .id = "sheffler/shared",
      .title = "spine trees in shared memory",
      .source = "eilers section 5.4.3",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kCorrected,
      .params =
          {scan_axis(),
           sheffler_form(),
           {"threads",
            "32",
            {"32", "62"},
            "threads per block, the side of a segment's square (the publication names 32 and 62)"},
           shared_room_axis()},
      .restriction = restriction,
      .defect = sheffler_defect,
      .depth = depth_of_sheffler,
      .traffic = [](const Problem& p) { return traffic_of_partition(p, sheffler_segments(p)); },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = totals_bytes(p, sheffler_segments(p))};
          },
      .enqueue = instantiate_ordered<ShefflerShared>(),
  };
}

}  // namespace reduce_bench::BACKEND::sheffler_shared
