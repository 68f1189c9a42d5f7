// fault/out-of-bounds: a right sum, and one element written beside the output.

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_out_of_bounds {

template <class T>
__global__ void out_of_bounds_kernel(const T* input, T* output, std::size_t n, int at) {
  *output = sum_of(input, n);
  output[at] = T{0};
}

struct OutOfBounds {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    on_one_thread(call.stream, &out_of_bounds_kernel<T>, call.values(), call.results(), call.n(),
                  call.params().is("side", "after") ? 1 : -1);
  }
};

Variant variant() {
  Variant variant =
      fault<OutOfBounds>("fault/out-of-bounds", "writes one element beside the output");
  variant.params = {{"side", "after", {"after", "before"}, "of the output"}};
  return variant;
}

}  // namespace reduce_bench::BACKEND::fault_out_of_bounds
