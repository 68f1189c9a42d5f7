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

#include <algorithm>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_parallel {

/// Long enough that a chunk's overhead does not show, short enough that the float error bound of a
/// chunk stays small, which that of a plain `parallel for simd` over 2^30 floats does not.
constexpr std::size_t kChunk = std::size_t{1} << 15;

template <class T, class Op>
T reduce_chunk(const T* values, std::size_t n) {
#pragma omp declare reduction(fold:T : omp_out = Op::combine(omp_out, omp_in)) \
    initializer(omp_priv = Op::template identity<T>())
  T result = Op::template identity<T>();
#pragma omp simd reduction(fold : result)
  for (std::size_t i = 0; i < n; ++i) result = Op::combine(result, values[i]);
  return result;
}

struct CpuParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
#pragma omp declare reduction(fold:T : omp_out = Op::combine(omp_out, omp_in)) \
    initializer(omp_priv = Op::template identity<T>())
    const T* values = call.values();
    const std::size_t n = call.n();
    T result = Op::template identity<T>();
#pragma omp parallel for schedule(static) reduction(fold : result)
    for (std::size_t first = 0; first < n; first += kChunk)
      result =
          Op::combine(result, reduce_chunk<T, Op>(values + first, std::min(kChunk, n - first)));
    *call.results() = result;
  }
};

Variant variant() {
  return {
      .id = "cpu/parallel",
      .title = "OpenMP threads and vector lanes",
      .source = "OpenMP",
      .fidelity = Fidelity::kBaseline,
      // A chunk in one lane at worst, then all chunks one after the other.
      .depth = [](const Problem& p) -> std::uint64_t {
        return std::min(p.n, kChunk) + ceil_div(p.n, kChunk) + 1;
      },
      .enqueue = instantiate<CpuParallel, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_parallel
