// fault/wrong: one more than the sum.

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_wrong {

template <class T>
__global__ void wrong_kernel(const T* input, T* output, std::size_t n) {
  *output = Sum::combine(sum_of(input, n), T{1});
}

struct Wrong {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    on_one_thread(call.stream, &wrong_kernel<T>, call.values(), call.results(), call.n());
  }
};

Variant variant() { return fault<Wrong>("fault/wrong", "one more than the sum"); }

}  // namespace reduce_bench::BACKEND::fault_wrong
