// fault/nondeterministic: right at every other call.

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_nondeterministic {

template <class T>
__global__ void nondeterministic_kernel(const T* input, T* output, std::size_t n, unsigned call) {
  *output = Sum::combine(sum_of(input, n), static_cast<T>(call % 2));
}

struct Nondeterministic {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    static unsigned calls = 0;
    on_one_thread(call.stream, &nondeterministic_kernel<T>, call.values(), call.results(), call.n(),
                  calls++);
  }
};

Variant variant() {
  return fault<Nondeterministic>("fault/nondeterministic", "right at every other call");
}

}  // namespace reduce_bench::BACKEND::fault_nondeterministic
