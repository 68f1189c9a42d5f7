// fault/hang: a loop without end.

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_hang {

template <class T>
__global__ void hang_kernel(const volatile T* input, T* output) {
  // The input never changes, which only we know.
  while (input[0] == input[0]) {
  }
  *output = T{0};
}

struct Hang {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    on_one_thread(call.stream, &hang_kernel<T>, call.values(), call.results());
  }
};

Variant variant() { return fault<Hang>("fault/hang", "a loop without end"); }

}  // namespace reduce_bench::BACKEND::fault_hang
