// cpu/parallel: all cores, vector instructions
//
// Source: no publication; what a CPU programmer would write with OpenMP.
// Idea: the threads divide the chunks of the input among themselves; within a chunk the lanes of
//   the vector unit fold side by side; at the end the results of chunks and threads are combined.
// Fixes: cpu/sequential's single core and, for floats, its single chain of dependent operations.
// Launch: one OpenMP thread per logical core (OMP_NUM_THREADS and OMP_PROC_BIND apply).
// Traffic: n elements read, one written.
// Preconditions: a commutative operator.
// Deviations: none.

#include "kernels/reduce/cpu/parallel.hpp"

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_parallel {

struct CpuParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    *call.results() = reduce_in_parallel<T, Op>(call.values(), call.n());
  }
};

Variant variant() {
  return {
      .id = "cpu/parallel",
      .title = "OpenMP threads and vector lanes",
      .source = "OpenMP",
      .fidelity = Fidelity::kBaseline,
      .depth = [](const Problem& p) { return depth_of_parallel_reduce(p.n); },
      .enqueue = instantiate<CpuParallel, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_parallel
