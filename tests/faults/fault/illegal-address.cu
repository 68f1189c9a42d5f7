// fault/illegal-address: reads where nothing is mapped.

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_illegal_address {

template <class T>
__global__ void illegal_address_kernel(const T* nowhere, T* output) {
  *output = *static_cast<const volatile T*>(nowhere);
}

struct IllegalAddress {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    // In the middle of nowhere: near the input there is memory.
    const T* nowhere =
        reinterpret_cast<const T*>(std::uintptr_t{1} << 45 | std::uintptr_t{1} << 12);
    on_one_thread(call.stream, &illegal_address_kernel<T>, nowhere, call.results());
  }
};

Variant variant() {
  return fault<IllegalAddress>("fault/illegal-address", "reads where nothing is mapped");
}

}  // namespace reduce_bench::BACKEND::fault_illegal_address
