// cub/reduce-by-key: CUB's reduction by key
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceReduce::ReduceByKey of
//   CCCL.
// Idea: one pass over tiles; by look-back over the tiles before it a tile obtains how many segments
//   end before it and the total of the one that is open.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device and the types.
// Traffic: n labels and n values read; as many results and labels written as there are segments,
//   counted as n.
// Preconditions: none. Order-preserving: the library's operator need not commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How the library groups float sums depends on the
//   order in which its blocks finish, so they differ from run to run.
// Choice: counts have 32 bits where n allows. On one H200, 2^26 inputs, it takes 207 us on sorted
//   labels, 218 on runs of 16 and 360 on uniform ones; with a 64-bit count 285, 297 and 402.

#include "kernels/shared/cub_reduce_by_key.hpp"

namespace reduce_bench::BACKEND::cub_reduce_by_key {

#ifdef __CUDACC__
std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() { return cub_reduce_by_key_bytes<T>(p.n); });
}

struct CubReduceByKey {
  static Workspace workspace(const Problem& p) { return {.device_bytes = temporary_bytes_of(p)}; }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return enqueue_fill(call.stream, call.result_count(), 1, 0);
    std::size_t bytes = temporary_bytes_of(call.problem);
    run_cub_reduce_by_key(call.workspace, bytes, call.labels(), call.result_labels(), call.values(),
                          call.results(), call.result_count(), library_operator<Op>(), call.n(),
                          native(call.stream));
  }
};
#else
struct CubReduceByKey;
#endif

Variant variant() {
  return {
      .id = "cub/reduce-by-key",
      .title = "CUB ReduceByKey",
      .source = "CCCL, CUB",
      .operation = Operation::kReduceByKey,
      .fidelity = Fidelity::kBaseline,
      // Partial results of tiles are joined along a chain of tiles.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = workspace_of<CubReduceByKey>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate<CubReduceByKey, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_reduce_by_key
