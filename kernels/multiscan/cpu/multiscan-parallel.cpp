// cpu/multiscan-parallel: a private copy of the buckets for each core
//
// Source: no publication; what a CPU programmer would write with OpenMP.
// Idea: every thread reduces its share of the inputs into buckets of its own; the copies of each
//   bucket are scanned in the order of the shares; then every thread scans its share, starting from
//   what the shares before it hold.
// Fixes: cpu/multiscan's single core.
// Launch: one OpenMP thread per logical core (OMP_NUM_THREADS and OMP_PROC_BIND apply).
// Traffic: n labels and n values read, n results written; not counted: the inputs are read twice,
//   and the copies, m for each thread.
// Preconditions: none. Order-preserving: shares are contiguous and combined in their order.
// Deviations: none.

#include <omp.h>

#include <algorithm>

#include "kernels/multiscan/one_loop.hpp"

namespace reduce_bench::BACKEND::cpu_multiscan_parallel {

std::size_t threads() { return static_cast<std::size_t>(omp_get_max_threads()); }

struct CpuMultiscanParallel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.values();
    const Label* labels = call.labels();
    T* copies = call.scratch();
    const std::size_t n = call.n(), m = call.buckets(), shares = threads();
#pragma omp parallel
    {
      // The loop is over shares, not threads: the system may grant fewer threads than shares.
#pragma omp for schedule(static)
      for (std::size_t share = 0; share < shares; ++share) {
        T* own = copies + share * m;
        std::fill_n(own, m, Op::template identity<T>());
        for (std::size_t i = n * share / shares; i < n * (share + 1) / shares; ++i)
          own[labels[i]] = Op::combine(own[labels[i]], values[i]);
      }
#pragma omp for schedule(static)
      for (std::size_t bucket = 0; bucket < m; ++bucket) {
        T total = Op::template identity<T>();
        for (std::size_t share = 0; share < shares; ++share) {
          T& copy = copies[share * m + bucket];
          const T next = Op::combine(total, copy);
          copy = total;
          total = next;
        }
      }
#pragma omp for schedule(static)
      for (std::size_t share = 0; share < shares; ++share)
        scan_in_order<Op, T>(copies + share * m, labels, values, n * share / shares,
                             n * (share + 1) / shares, call.inclusive(), call.results());
    }
  }
};

Variant variant() {
  return {
      .id = "cpu/multiscan-parallel",
      .title = "private buckets for each core",
      .source = "OpenMP",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kBaseline,
      .params = {scan_axis()},
      // A share is reduced, the shares are scanned, a share is scanned.
      .depth = [](const Problem& p) -> std::uint64_t {
        return 2 * ceil_div(p.n, threads()) + threads();
      },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = threads() * p.buckets * p.element_bytes()};
          },
      .enqueue = instantiate<CpuMultiscanParallel, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_multiscan_parallel
