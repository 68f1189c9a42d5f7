// cub/sort-reduce-by-key: CUB's radix sort and reduce-by-key
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceRadixSort::SortPairs and
//   cub::DeviceReduce::ReduceByKey of the CUDA Toolkit.
// Idea: sorting by label makes every bucket one run of inputs; a reduction by key turns each run
//   into its result; a last kernel puts the results where their labels say.
// Fixes: atomic/global's contention: the time hardly depends on the labels.
// Launch: the library's kernels, which sort by the bits that labels below m have; a fill of the m
//   results; a scatter of m threads.
// Traffic: n labels and n values read, m results written; not counted: each sorting pass reads and
//   writes labels and values, 16 bytes per input of 4-byte values, and the reduction reads them.
// Preconditions: none. Order-preserving: the sort is stable, and the reduction's operator need not
//   commute.
// Deviations: the library's own operator objects are used, but for the order-sensitive operators.
//   The temporary storage is allocated beforehand. How ReduceByKey groups float sums depends on the
//   order in which its blocks finish, so they differ from run to run.

#include "kernels/multireduce/sorted_runs.hpp"
#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#endif

namespace reduce_bench::BACKEND::cub_sort_reduce_by_key {

#ifdef __CUDACC__
/// Bits in which labels below `buckets` can differ.
int label_bits(const Problem& p) { return std::max(1, static_cast<int>(log2_ceil(p.buckets))); }

template <class T>
__global__ void place_results_kernel(const Label* run_labels, const T* run_values,
                                     const Count* run_count, T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < *run_count) results[run_labels[i]] = run_values[i];
}

template <class T>
std::size_t temporary_bytes(const Problem& p) {
  std::size_t sort_bytes = 0;
  const auto n = static_cast<std::int64_t>(p.n);
  check(cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, static_cast<const Label*>(nullptr),
                                        static_cast<Label*>(nullptr),
                                        static_cast<const Opaque<T>*>(nullptr),
                                        static_cast<Opaque<T>*>(nullptr), n, 0, label_bits(p)),
        "cub::DeviceRadixSort::SortPairs");
  const std::size_t reduce_bytes = most_library_bytes<T>([&](auto op) {
    std::size_t bytes = 0;
    check(cub::DeviceReduce::ReduceByKey(nullptr, bytes, static_cast<Label*>(nullptr),
                                         static_cast<Label*>(nullptr), static_cast<T*>(nullptr),
                                         static_cast<T*>(nullptr), static_cast<Count*>(nullptr), op,
                                         n),
          "cub::DeviceReduce::ReduceByKey");
    return bytes;
  });
  return std::max(sort_bytes, reduce_bytes);
}

std::size_t temporary_bytes_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() { return temporary_bytes<T>(p); });
}

struct CubSortReduceByKey {
  static Workspace workspace(const Problem& p) {
    return {.device_bytes = sorted_runs(p, temporary_bytes_of(p)).end};
  }

  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const SortedRuns at = sorted_runs(call.problem, temporary_bytes_of(call.problem));
    std::size_t bytes = at.end - at.temporary;
    const auto n = static_cast<std::int64_t>(call.n());
    auto* labels = call.template scratch<Label>(at.labels);
    auto* values = call.template scratch<T>(at.values);
    auto* run_labels = call.template scratch<Label>(at.run_labels);
    auto* run_values = call.template scratch<T>(at.run_values);
    auto* run_count = call.template scratch<Count>(at.run_count);
    check(cub::DeviceRadixSort::SortPairs(call.workspace + at.temporary, bytes, call.labels(),
                                          labels, reinterpret_cast<const Opaque<T>*>(call.values()),
                                          reinterpret_cast<Opaque<T>*>(values), n, 0,
                                          label_bits(call.problem), native(call.stream)),
          "cub::DeviceRadixSort::SortPairs");
    check(cub::DeviceReduce::ReduceByKey(call.workspace + at.temporary, bytes, labels, run_labels,
                                         values, run_values, run_count, library_operator<Op>(), n,
                                         native(call.stream)),
          "cub::DeviceReduce::ReduceByKey");
    constexpr unsigned kBlock = 256;
    const std::size_t runs = std::min(call.n(), call.buckets());
    launch(place_results_kernel<T>,
           {static_cast<unsigned>(ceil_div(runs, kBlock)), kBlock, 0, call.stream}, run_labels,
           run_values, run_count, call.results());
  }
};
#else
struct CubSortReduceByKey;
#endif

Variant variant() {
  return {
      .id = "cub/sort-reduce-by-key",
      .title = "CUB radix sort and ReduceByKey",
      .source = "CUDA Toolkit, CUB",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      // Partial results of tiles are joined along a chain of tiles, so one bucket may be one chain.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace = workspace_of<CubSortReduceByKey>(),
      .enqueue = instantiate<CubSortReduceByKey, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_sort_reduce_by_key
