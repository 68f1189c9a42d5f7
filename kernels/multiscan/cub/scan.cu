// cub/scan: CUB's scan
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceScan of CCCL.
// Idea: one pass over tiles; by look-back a tile obtains the total of all tiles before it.
// Fixes: blelloch/scan's levels, each of which reads and writes again. It reads no labels and has
//   one bucket.
// Launch: chosen by the library for the device, the type and the operator.
// Traffic: n values read, n results written.
// Preconditions: m = 1. Order-preserving: the library's operator need not commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How the library groups float sums depends on the
//   order in which its blocks finish, so they differ from run to run.
// Choice: counts have 32 bits where n allows, as of any user who passes an int. ExclusiveSum and
//   InclusiveSum would be the same kernels. On one H200, 2^26 i32: 184 us with counts of either
//   width.

#include "kernels/multiscan/plain_scan.hpp"
#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_scan.cuh>
#endif

namespace reduce_bench::BACKEND::cub_scan {

#ifdef __CUDACC__
template <class T, class Operator>
void scan(void* temporary, std::size_t& temporary_bytes, const T* values, T* results, Operator op,
          T neutral, bool inclusive, std::size_t n, cudaStream_t stream) {
  with_library_count(n, [&](auto count) {
    if (inclusive)
      check(cub::DeviceScan::InclusiveScan(temporary, temporary_bytes, values, results, op, count,
                                           stream),
            "cub::DeviceScan::InclusiveScan");
    else
      check(cub::DeviceScan::ExclusiveScan(temporary, temporary_bytes, values, results, op, neutral,
                                           count, stream),
            "cub::DeviceScan::ExclusiveScan");
  });
}

std::size_t scan_bytes(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() {
    return most_library_bytes<T, sizeof(T) == 4>([&](auto op) {
      std::size_t bytes = 0;
      scan<T>(nullptr, bytes, nullptr, nullptr, op, T{}, is_inclusive(p.params), p.n, nullptr);
      return bytes;
    });
  });
}

struct CubScan {
  static Workspace workspace(const Problem& p) { return {.device_bytes = scan_bytes(p)}; }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    std::size_t bytes = scan_bytes(call.problem);
    scan<T>(call.workspace, bytes, call.values(), call.results(), library_operator<Op>(),
            Op::template identity<T>(), call.inclusive(), call.n(), native(call.stream));
  }
};
#else
struct CubScan;
#endif

Variant variant() {
  return {
      .id = "cub/scan",
      .title = "CUB scan (one bucket)",
      .source = "CCCL, CUB",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBaseline,
      .params = {scan_axis()},
      .restriction = plain_scan_restriction,
      // Partial results of tiles are joined along a chain of tiles.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .traffic = traffic_of_plain_scan,
      .workspace = workspace_of<CubScan>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate_ordered<CubScan>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_scan
