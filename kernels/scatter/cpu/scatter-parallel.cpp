// cpu/scatter-parallel: a private copy of the buckets for each core
//
// Source: no publication; what a CPU programmer would write with OpenMP.
// Idea: every thread runs the sequential loop over its share of the inputs, on buckets of its own
//   that hold the input's position; then the threads divide the buckets among themselves, and the
//   last copy of a bucket that has a position names the value that stays.
// Fixes: cpu/scatter's single core.
// Launch: one OpenMP thread per logical core (OMP_NUM_THREADS and OMP_PROC_BIND apply).
// Traffic: n labels and n values read, as many results written as labels occur; the copies, m
//   positions for each thread, are not counted.
// Preconditions: n < 2^32.
// Deviations: none. Threads that each take a share of the buckets would need no copies, but each
//   would read all labels, with a branch on whether a bucket is its own that goes either way at
//   random.

#include <omp.h>

#include <algorithm>
#include <string>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_scatter_parallel {

constexpr Count kNone = ~Count{0};

std::size_t threads() { return static_cast<std::size_t>(omp_get_max_threads()); }

std::string restriction(const Problem& p) {
  if (p.n < kNone) return {};
  return std::to_string(p.n) + " inputs: their positions are counted in 32 bits";
}

struct CpuScatterParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.values();
    const Label* labels = call.labels();
    T* results = call.results();
    auto* copies = call.template scratch<Count>();
    const std::size_t n = call.n(), m = call.buckets(), shares = threads();
#pragma omp parallel
    {
      // The loop is over shares, not threads: the system may grant fewer threads than shares.
#pragma omp for schedule(static)
      for (std::size_t share = 0; share < shares; ++share) {
        Count* own = copies + share * m;
        std::fill_n(own, m, kNone);
        for (std::size_t i = n * share / shares; i < n * (share + 1) / shares; ++i)
          own[labels[i]] = static_cast<Count>(i);
      }
#pragma omp for schedule(static)
      for (std::size_t bucket = 0; bucket < m; ++bucket)
        for (std::size_t share = shares; share-- > 0;) {
          const Count last = copies[share * m + bucket];
          if (last == kNone) continue;
          results[bucket] = values[last];
          break;
        }
    }
  }
};

Variant variant() {
  return {
      .id = "cpu/scatter-parallel",
      .title = "private buckets for each core",
      .source = "OpenMP",
      .operation = Operation::kScatter,
      .fidelity = Fidelity::kBaseline,
      .restriction = restriction,
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = threads() * p.buckets * sizeof(Count)};
          },
      .enqueue = instantiate<CpuScatterParallel, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_scatter_parallel
