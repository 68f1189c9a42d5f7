// fault/flood: a right sum, and a gigabyte on standard output and error.

#include <cstdio>
#include <string>

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_flood {

template <class T>
__global__ void flood_kernel(const T* input, T* output, std::size_t n) {
  *output = sum_of(input, n);
}

struct Flood {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const std::string line(1023, '#');
    for (int i = 0; i < 1 << 19; ++i) {
      std::puts(line.c_str());
      std::fprintf(stderr, "%s\n", line.c_str());
    }
    on_one_thread(call.stream, &flood_kernel<T>, call.values(), call.results(), call.n());
  }
};

Variant variant() { return fault<Flood>("fault/flood", "prints a gigabyte"); }

}  // namespace reduce_bench::BACKEND::fault_flood
