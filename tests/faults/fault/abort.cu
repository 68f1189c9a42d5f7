// fault/abort: the host code calls abort, as a failed assertion does.

#include <cstdio>
#include <cstdlib>

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_abort {

struct Abort {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>&) {
    std::fputs("assertion 'false' failed on purpose\n", stderr);
    std::abort();
  }
};

Variant variant() { return fault<Abort>("fault/abort", "calls abort"); }

}  // namespace reduce_bench::BACKEND::fault_abort
