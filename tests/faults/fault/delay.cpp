// fault/delay: the sum after a known time by the steady clock.

#include <chrono>

#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND {
namespace {

struct Delay {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::microseconds(call.params().number("delay_us"));
    *call.out() = sum_of(call.in(), call.n());
    while (Clock::now() < end) {
    }
  }
};

}  // namespace

Variant fault_delay() {
  Variant variant = fault<Delay>("fault/delay", "the sum after a known time");
  variant.params = {{"delay_us", "1000", {"100", "1000", "10000"}, "microseconds per call"}};
  return variant;
}

}  // namespace reduce_bench::BACKEND
