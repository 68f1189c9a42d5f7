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

#include "kernels/multireduce/cpu/parallel.hpp"

#include <omp.h>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_multireduce_parallel {

std::size_t threads() { return static_cast<std::size_t>(omp_get_max_threads()); }

struct CpuMultireduceParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    multireduce_in_parallel<Op>(call.values(), call.labels(), call.n(), call.buckets(), threads(),
                                call.scratch(), call.results());
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
