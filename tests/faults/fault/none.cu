// fault/none: the sum and no fault, for what must go on beside the others.

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_none {

template <class T>
__global__ void none_kernel(const T* input, T* output, std::size_t n) {
  *output = sum_of(input, n);
}

struct NoFault {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    on_one_thread(call.stream, &none_kernel<T>, call.values(), call.results(), call.n());
  }
};

Variant variant() { return fault<NoFault>("fault/none", "the sum and no fault"); }

}  // namespace reduce_bench::BACKEND::fault_none
