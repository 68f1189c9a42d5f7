// mine/halves: an accumulator for each half of the values, on the CPU

#include <reduce_bench_variant.hpp>

namespace reduce_bench::BACKEND::mine_halves {

struct Halves {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const std::size_t half = call.n() / 2;
    const T *values = call.values(), *rest = values + half;
    T first = Op::template identity<T>(), second = first;
    for (std::size_t i = 0; i < half; ++i) {
      first = Op::combine(first, values[i]);
      second = Op::combine(second, rest[i]);
    }
    if (call.n() % 2 == 1) second = Op::combine(second, rest[half]);
    *call.results() = Op::combine(first, second);
  }
};

Variant variant() {
  return {
      .id = "mine/halves",
      .title = "two accumulators",
      .source = "the example of docs/plugins.md",
      .fidelity = Fidelity::kBeyond,
      .depth = [](const Problem& p) -> std::uint64_t { return p.n / 2 + 2; },
      .enqueue = instantiate<Halves, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::mine_halves

REDUCE_BENCH_VARIANT(mine_halves)
