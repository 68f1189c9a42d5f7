// fault/abort: the host code calls abort, as a failed assertion does.

#include <cstdio>
#include <cstdlib>

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND {
namespace {

struct Abort {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>&) {
    std::fputs("assertion 'false' failed on purpose\n", stderr);
    std::abort();
  }
};

}  // namespace

Variant fault_abort() { return fault<Abort>("fault/abort", "calls abort"); }

}  // namespace reduce_bench::BACKEND
