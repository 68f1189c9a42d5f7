// cpu/kahan: compensated sum
//
// Source: Kahan, Further remarks on reducing truncation errors (CACM 8(1), 1965); jradi note 4.
// Idea: beside the sum, keep what the last addition rounded away, and take it off the next element.
// Fixes: cpu/sequential's error bound, which grows with n: here it does not, until n nears 1 / u,
//   where u is the unit roundoff. The price is a chain of four additions per element.
// Launch: the calling thread.
// Traffic: n elements read, one written.
// Preconditions: float sums only; no reassociation by the compiler (no -ffast-math).
// Deviations: none.

#include <cmath>
#include <limits>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::cpu_kahan {

struct CpuKahan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.values();
    T sum = 0;
    T excess = 0;  // what `sum` holds too much
    for (std::size_t i = 0; i < call.n(); ++i) {
      const T corrected = values[i] - excess;
      const T next = sum + corrected;
      excess = (next - sum) - corrected;
      sum = next;
    }
    *call.results() = sum;
  }
};

/// Write each of the four operations with its own relative error of at most u, and let
/// D_i = sum_i - excess_i. Then D_i = D_{i-1} + x_i + e_i with, to second order,
///   |e_i| <= 2u |x_i| + 4u^2 |sum_i|,
/// because an error of the second addition cancels in D_i but for its product with the errors of
/// the two subtractions, and |excess_i| <= u |sum_i|. Summed over all i, and with
/// |sum_n - D_n| <= u |sum_n|, the error is at most (3 + 4nu) u sum|x|; one more u covers the terms
/// of higher order. Compare Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 4.3:
/// (2u + O(nu^2)) sum|x|.
std::uint64_t kahan_depth(const Problem& p) {
  const int digits = p.type == Type::kF32 ? std::numeric_limits<float>::digits
                                          : std::numeric_limits<double>::digits;
  const double unit_roundoff = std::ldexp(1.0, -digits);
  return 4 + static_cast<std::uint64_t>(std::ceil(4 * static_cast<double>(p.n) * unit_roundoff));
}

Variant variant() {
  return {
      .id = "cpu/kahan",
      .title = "compensated sum",
      .source = "Kahan 1965; jradi note 4",
      .fidelity = Fidelity::kBaseline,
      .depth = kahan_depth,
      .enqueue = instantiate_for<CpuKahan, OpList<Sum>, float, double>(),
  };
}

}  // namespace reduce_bench::BACKEND::cpu_kahan
