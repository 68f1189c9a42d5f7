// The loops of cpu/multireduce-parallel, and of mpi/multireduce on each rank.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/api/operation.hpp"
#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// Into m results, by so many shares of the inputs with m `copies` each.
template <class Op, class T>
void multireduce_in_parallel(const T* values, const Label* labels, std::size_t n, std::size_t m,
                             std::size_t shares, T* copies, T* results) {
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
      T total = copies[bucket];
      for (std::size_t share = 1; share < shares; ++share)
        total = Op::combine(total, copies[share * m + bucket]);
      results[bucket] = total;
    }
  }
}

}  // namespace reduce_bench::BACKEND
