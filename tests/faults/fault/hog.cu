// fault/hog: the host code takes memory without end.

#include <memory>
#include <vector>

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_hog {

struct Hog {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    // Not touched: the limit counts what is asked for, and the machine that tests has other work.
    std::vector<std::unique_ptr<std::byte[]>> held;
    while (call.results() != nullptr)
      held.push_back(std::unique_ptr<std::byte[]>(new std::byte[std::size_t{64} << 20]));
  }
};

Variant variant() { return fault<Hog>("fault/hog", "takes memory without end"); }

}  // namespace reduce_bench::BACKEND::fault_hog
