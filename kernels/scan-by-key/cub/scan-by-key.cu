// cub/scan-by-key: CUB's scan by key
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceScan's scans by key of
//   CCCL.
// Idea: one pass over tiles; by look-back over the tiles before it a tile obtains the total of the
//   segment that is open where it begins.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device, the types and the operator; a kernel of its own
//   first copies the last key of every tile.
// Traffic: n labels and n values read, n results written.
// Preconditions: none. Order-preserving: the library's operator need not commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How the library groups float sums depends on the
//   order in which its blocks finish, so they differ from run to run.
// Choice: counts have 32 bits where n allows, as of any user who passes an int. On one H200, 2^26
//   inputs: 277 us with counts of either width, on labels of every kind.

#include "kernels/shared/cub_scan_by_key.hpp"

namespace reduce_bench::BACKEND::cub_scan_by_key {

#ifdef __CUDACC__
std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() {
    return cub_scan_by_key_bytes<T>(static_cast<const T*>(nullptr), static_cast<T*>(nullptr),
                                    is_inclusive(p.params), p.n);
  });
}

struct CubScanByKey {
  static Workspace workspace(const Problem& p) { return {.device_bytes = temporary_bytes_of(p)}; }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    std::size_t bytes = temporary_bytes_of(call.problem);
    run_cub_scan_by_key<T>(call.workspace, bytes, call.labels(), call.values(), call.results(),
                           library_operator<Op>(), Op::template identity<T>(), call.inclusive(),
                           call.n(), native(call.stream));
  }
};
#else
struct CubScanByKey;
#endif

Variant variant() {
  return {
      .id = "cub/scan-by-key",
      .title = "CUB scan by key",
      .source = "CCCL, CUB",
      .operation = Operation::kScanByKey,
      .fidelity = Fidelity::kBaseline,
      .params = {scan_axis()},
      // Partial results of tiles are joined along a chain of tiles.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = workspace_of<CubScanByKey>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate_ordered<CubScanByKey>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_scan_by_key
