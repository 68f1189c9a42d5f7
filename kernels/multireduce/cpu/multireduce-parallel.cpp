// cpu/multireduce-parallel: a private copy of the buckets for each core
//
// Source: no publication; what a CPU programmer would write with OpenMP.
// Idea: every thread runs the sequential loop over its share of the inputs, on buckets of its own;
//   then the threads divide the buckets among themselves and combine the copies of each.
// Fixes: cpu/multireduce's single core.
// Launch: one OpenMP thread per logical core (OMP_NUM_THREADS and OMP_PROC_BIND apply).
// Traffic: n labels and n values read, m results written; the copies, m for each thread, are not
//   counted.
// Preconditions: none. Order-preserving: shares are contiguous and combined in their order.
// Deviations: none.

#include <omp.h>

#include <algorithm>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_multireduce_parallel {

std::size_t threads() { return static_cast<std::size_t>(omp_get_max_threads()); }

struct CpuMultireduceParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.values();
    const Label* labels = call.labels();
    T* results = call.results();
    T* copies = call.scratch();
    const std::size_t n = call.n(), m = call.buckets(), shares = threads();
#pragma omp parallel
    {
      // By share, not by thread: the system may grant fewer threads than there are shares.
#pragma omp for schedule(static)
      for (std::size_t share = 0; share < shares; ++share) {
        T* own = copies + share * m;
        std::fill_n(own, m, Op::template identity<T>());
        for (std::size_t i = n * share / shares; i < n * (share + 1) / shares; ++i)
          own[labels[i]] = Op::combine(own[labels[i]], values[i]);
      }
#pragma omp for schedule(static)
      for (std::size_t bucket = 0; bucket < m; ++bucket) {
        T total = copies[bucket];
        for (std::size_t share = 1; share < shares; ++share)
          total = Op::combine(total, copies[share * m + bucket]);
        results[bucket] = total;
      }
    }
  }
};

Variant variant() {
  return {
      .id = "cpu/multireduce-parallel",
      .title = "private buckets for each core",
      .source = "OpenMP",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      .depth = [](const Problem& p) -> std::uint64_t {
        return ceil_div(p.n, threads()) + threads();
      },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = threads() * p.buckets * p.element_bytes()};
          },
      .enqueue = instantiate<CpuMultireduceParallel, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_multireduce_parallel
