// thrust/sort-reduce-by-key: Thrust's sort, reduction by key and scatter
//
// Source: no publication; what a CUDA programmer would call: thrust::stable_sort_by_key,
//   thrust::reduce_by_key and thrust::scatter of CCCL.
// Idea: sorting by label makes every bucket one run of inputs; a reduction by key turns each run
//   into its result; a scatter puts the results where their labels say.
// Fixes: atomic/global's contention: the time hardly depends on the labels.
// Launch: the library's kernels: two copies, a radix sort by all 32 bits of the labels, the
//   reduction, a fill of the m results, the scatter.
// Traffic: n labels and n values read, m results written; not counted: the copies, each sorting
//   pass and the reduction, which read or write labels and values again. With m = 256 and n = 2^26
//   an H200 moves 12 times the first three.
// Preconditions: none. Order-preserving: the sort is stable, and the reduction's operator need not
//   commute.
// Deviations: the library sorts in place and the inputs are not to be changed, hence the copies.
//   The library's own operator objects are used, but for the order-sensitive operators. Temporary
//   memory is allocated beforehand and handed out by the allocator that Thrust is given; the bare
//   calls include a cudaMalloc and a cudaFree each. The reduction returns only when its results are
//   there, so the time includes the launch latency. Float sums may differ from run to run.
// Choice: the interface cannot say how many bits the labels have, nor sort into another array.
//   Thrust itself takes 32-bit offsets where n allows. With par_nosync the copies, the sort and the
//   scatter do not wait; reduce_by_key does, as it returns an iterator. On one H100, 16 labels,
//   sort and reduction alone of 2^16, 2^20 and 2^26 inputs take 72, 95 and 2206 us, with par 82,
//   104 and 2219, and called bare 220, 242 and 2761.

#include "kernels/shared/library.hpp"
#include "kernels/shared/sorted_runs.hpp"

#ifdef __CUDACC__
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/reduce.h>
#include <thrust/scatter.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

#include <cuda/std/functional>
#endif

namespace reduce_bench::BACKEND::thrust_sort_reduce_by_key {

/// The sort needs room for a copy of labels and values besides.
std::size_t thrust_bytes(const Problem& p) {
  return p.input_bytes() + thrust_keyed_temporary_bytes(p.n);
}

#ifdef __CUDACC__
struct ThrustSortReduceByKey {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const SortedRuns at = sorted_runs(call.problem, thrust_bytes(call.problem));
    std::byte* temporary = call.workspace + at.temporary;
    // Each step may overwrite the temporaries of the one before.
    WorkspaceAllocator sort_allocator(temporary, at.end - at.temporary);
    WorkspaceAllocator allocator(temporary, at.end - at.temporary);
    const auto sort_policy = thrust::cuda::par_nosync(sort_allocator).on(native(call.stream));
    const auto policy = thrust::cuda::par_nosync(allocator).on(native(call.stream));
    auto* labels = call.template scratch<Label>(at.labels);
    auto* values = call.template scratch<T>(at.values);
    auto* run_labels = call.template scratch<Label>(at.run_labels);
    auto* run_values = call.template scratch<T>(at.run_values);

    thrust::copy_n(sort_policy, call.labels(), call.n(), labels);
    thrust::copy_n(sort_policy, reinterpret_cast<const Opaque<T>*>(call.values()), call.n(),
                   reinterpret_cast<Opaque<T>*>(values));
    thrust::stable_sort_by_key(sort_policy, labels, labels + call.n(),
                               reinterpret_cast<Opaque<T>*>(values));
    const auto end =
        thrust::reduce_by_key(policy, labels, labels + call.n(), values, run_labels, run_values,
                              ::cuda::std::equal_to<Label>{}, library_operator<Op>());
    thrust::fill_n(policy, call.results(), call.buckets(), Op::template identity<T>());
    thrust::scatter(policy, run_values, end.second, run_labels, call.results());
  }
};
#else
struct ThrustSortReduceByKey;
#endif

Variant variant() {
  return {
      .id = "thrust/sort-reduce-by-key",
      .title = "thrust::stable_sort_by_key and reduce_by_key",
      .source = "CCCL, Thrust",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      .synchronous = true,
      // Partial results of tiles are joined along a chain of tiles, so one bucket may be one chain.
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = sorted_runs(p, thrust_bytes(p)).end};
          },
      .count_bits = library_count_bits,
      .enqueue = instantiate_ordered<ThrustSortReduceByKey>(),
  };
}

}  // namespace reduce_bench::BACKEND::thrust_sort_reduce_by_key
