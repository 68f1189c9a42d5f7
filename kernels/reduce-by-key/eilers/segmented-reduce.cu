// eilers/segmented-reduce: Baxter's segmented reduction, in order
//
// Source: eilers sections 3.3 (Figure 3.6) and 4.2, which take it from Baxter's Modern GPU.
// Idea: threads fold consecutive elements, a segmented scan over the block joins what belongs to
//   one segment, and a last launch carries the total of the segment that is open where a block's
//   share ends into the next block's first result. The kernels are in segmented_reduce.hpp.
// Fixes: nothing: it is the last step of the partitioning and of the sort-based algorithms.
// Launch: one that counts the segments in each block's share, so that a block knows where its
//   results go; one that reduces the shares; one block that reduces the carries. 128 threads of 11
//   elements each, at most 16 blocks per SM. Up to 1408 elements, one launch of one block.
// Traffic: n labels read twice and n values once; as many results and labels written as there are
//   segments, counted as n. Of 2^20 segments of 64 inputs an H200 moves 0.61 of these bytes.
// Preconditions: none. Order-preserving.
// Deviations: the thesis calls the library; this is written from its description. Tiles within one
//   segment are folded in order, where the library's tree needs an operator that commutes. A block
//   takes several tiles one after the other, so a second level of carries is never needed. The 128
//   threads and 11 elements per thread are ours.

#include "kernels/shared/segmented_reduce.hpp"

namespace reduce_bench::BACKEND::eilers_segmented_reduce {

struct EilersSegmentedReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return enqueue_fill(call.stream, call.result_count(), 1, 0);
    reduce_segments<Op>(call, call.values(), KeysInMemory{call.labels()}, call.n(),
                        Compacted<T>{call.results(), call.result_labels(), call.result_count()},
                        call.workspace);
  }
};

Variant variant() {
  return {
      .id = "eilers/segmented-reduce",
      .title = "threads fold runs, blocks pass on what is open",
      .source = "eilers sections 3.3 and 4.2, Baxter",
      .operation = Operation::kReduceByKey,
      .fidelity = Fidelity::kCorrected,
      .depth = [](const Problem& p) { return depth_of_segments(p.n, p.device); },
      .traffic =
          [](const Problem& p) {
            const bool counted = segment_plan(p.n, p.device).blocks > 1;
            return Traffic{
                .read_bytes = p.input_bytes() + (counted ? p.arrays().labels.bytes() : 0),
                .written_bytes = p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes =
                                 segment_workspace(p.n, p.element_bytes(), p.device).bytes};
          },
      .enqueue = instantiate_for<EilersSegmentedReduce, BasicAndOrderedOps, std::int32_t,
                                 std::int64_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_segmented_reduce
