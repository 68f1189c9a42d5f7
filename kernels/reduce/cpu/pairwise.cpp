// cpu/pairwise: pairwise sum
//
// Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 4.2; one of the other
//   strategies that jradi note 4 points to.
// Idea: sum both halves, then add the sums; short runs are summed directly.
// Fixes: cpu/sequential's error bound, which grows with n: here it grows with log2(n), at no more
//   operations than the plain loop.
// Launch: the calling thread.
// Traffic: n elements read, one written.
// Preconditions: float sums only.
// Deviations: the tree ends at runs of 128 elements, which are summed in vector lanes, so that the
//   recursion costs next to nothing.

#include <algorithm>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_pairwise {

constexpr std::size_t kRun = 128;

template <class T>
T sum_of_run(const T* values, std::size_t n) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += values[i];
  return sum;
}

template <class T>
T pairwise_sum(const T* values, std::size_t n) {
  if (n <= kRun) return sum_of_run(values, n);
  // Whole runs on the left keep the number of levels at log2_ceil(runs).
  const std::size_t left = (ceil_div(n, kRun) + 1) / 2 * kRun;
  return pairwise_sum(values, left) + pairwise_sum(values + left, n - left);
}

struct CpuPairwise {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    *call.results() = pairwise_sum(call.values(), call.n());
  }
};

Variant variant() {
  return {
      .id = "cpu/pairwise",
      .title = "pairwise sum",
      .source = "Higham 4.2; jradi note 4",
      .fidelity = Fidelity::kBaseline,
      .depth = [](const Problem& p) -> std::uint64_t {
        return std::min(p.n, kRun) + log2_ceil(ceil_div(p.n, kRun));
      },
      .enqueue = instantiate_for<CpuPairwise, OpList<Sum>, float, double>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_pairwise
