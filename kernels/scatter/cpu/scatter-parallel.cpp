// cpu/scatter-parallel: a share of the buckets for each core
//
// Source: what a CPU user would take: OpenMP.
// Idea: every thread reads all labels in their order and stores the values of those that are in its
//   share of the buckets: nobody else stores there, so the last of equal labels stays.
// Fixes: cpu/scatter's single core: its stores miss in the caches of all cores at one time, and
//   each core's caches hold a share of the buckets.
// Launch: one OpenMP thread per logical core (OMP_NUM_THREADS and OMP_PROC_BIND apply).
// Traffic: n labels and n values read, as many results written as labels occur; not counted: every
//   thread but one reads the labels once more.
// Preconditions: none.
// Deviations: none.

#include <omp.h>

#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {
namespace {

struct CpuScatterParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.in();
    const Label* labels = call.labels();
    T* results = call.out();
    const std::size_t n = call.n(), m = call.buckets(),
                      shares = static_cast<std::size_t>(omp_get_max_threads());
#pragma omp parallel for schedule(static)
    for (std::size_t share = 0; share < shares; ++share) {
      const std::size_t first = m * share / shares, width = m * (share + 1) / shares - first;
      for (std::size_t i = 0; i < n; ++i) {
        const Label label = labels[i];
        if (label - first < width) results[label] = values[i];  // one below wraps to far beyond
      }
    }
  }
};

}  // namespace

Variant cpu_scatter_parallel() {
  return {
      .id = "cpu/scatter-parallel",
      .title = "a share of the buckets for each core",
      .source = "OpenMP",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kBaseline,
      .enqueue = instantiate<CpuScatterParallel, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND
