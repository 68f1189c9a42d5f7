// fault/delay: the sum, and a known time by the clock of where it runs.

#include "tests/faults/clock.hpp"
#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_delay {

template <class T>
__global__ void delay_kernel(const T* input, T* output, std::size_t n, unsigned delay_us) {
  const unsigned long long end = clock_ns() + delay_us * 1000ull;
  *output = sum_of(input, n);
  while (clock_ns() < end) {
  }
}

struct Delay {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    on_one_thread(call.stream, &delay_kernel<T>, call.values(), call.results(), call.n(),
                  call.params().number("delay_us"));
  }
};

Variant variant() {
  Variant variant = fault<Delay>("fault/delay", "the sum after a known time");
  variant.params = {{"delay_us", "1000", {"1000", "10000"}, "microseconds per call"}};
  return variant;
}

}  // namespace reduce_bench::BACKEND::fault_delay
