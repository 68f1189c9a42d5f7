// fault/slowable: the right sum, after passes over the input of which one build makes half as many
// again

#include "tests/faults/slowable.hpp"

#include "tests/faults/one_thread.hpp"

#ifndef SLOWABLE_PASSES
#define SLOWABLE_PASSES 20
#define SLOWABLE_KERNEL_SHARE 0
#endif

double reduce_bench::slowable_kernel_share() { return SLOWABLE_KERNEL_SHARE; }

namespace reduce_bench::BACKEND::fault_slowable {

struct FaultSlowable {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    for (int pass = 0; pass < SLOWABLE_PASSES; ++pass) {
      *call.results() = sum_of(call.values(), call.n());
      // Otherwise one pass would do for all.
      asm volatile("" : : : "memory");
    }
  }
};

Variant variant() { return fault<FaultSlowable>("fault/slowable", "many passes"); }

}  // namespace reduce_bench::BACKEND::fault_slowable
