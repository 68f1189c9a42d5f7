// cpu/gather-parallel: a share of the labels for each core
//
// Source: no publication; what a CPU programmer would write with OpenMP.
// Idea: every thread runs the sequential loop over its share of the labels.
// Fixes: cpu/gather's single core: as many fetches are in flight as all cores together can keep.
// Launch: one OpenMP thread per logical core (OMP_NUM_THREADS and OMP_PROC_BIND apply).
// Traffic: n labels and the values that they name read, n results written.
// Preconditions: none.
// Deviations: none.

#include <omp.h>

#include "kernels/gather/cpu/gather.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_gather_parallel {

struct CpuGatherParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const std::size_t n = call.n(), shares = static_cast<std::size_t>(omp_get_max_threads());
#pragma omp parallel for schedule(static)
    for (std::size_t share = 0; share < shares; ++share) {
      const std::size_t first = n * share / shares, end = n * (share + 1) / shares;
      gather<T>(end - first, call.labels() + first, call.values(), call.results() + first);
    }
  }
};

Variant variant() {
  return {
      .id = "cpu/gather-parallel",
      .title = "a share of the labels for each core",
      .source = "OpenMP",
      .operation = Operation::kGather,
      .fidelity = Fidelity::kBaseline,
      .enqueue = instantiate<CpuGatherParallel, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_gather_parallel
