// fault/wrong-later: right in the checks before timing, wrong once it is timed.

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_wrong_later {

template <class T>
__global__ void wrong_later_kernel(const T* input, T* output, std::size_t n, T extra) {
  *output = Sum::combine(sum_of(input, n), extra);
}

struct WrongLater {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    static unsigned calls = 0;
    on_one_thread(call.stream, &wrong_later_kernel<T>, call.values(), call.results(), call.n(),
                  static_cast<T>(++calls > 5 ? 1 : 0));
  }
};

Variant variant() { return fault<WrongLater>("fault/wrong-later", "right at first"); }

}  // namespace reduce_bench::BACKEND::fault_wrong_later
