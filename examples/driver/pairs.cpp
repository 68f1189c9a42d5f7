// mine/pairs: two accumulators, on the CPU

#include <reduce_bench_variant.hpp>

namespace reduce_bench::BACKEND::mine_pairs {

struct Pairs {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const T* values = call.values();
    T even = Op::template identity<T>(), odd = even;
    std::size_t i = 0;
    for (; i + 1 < call.n(); i += 2) {
      even = Op::combine(even, values[i]);
      odd = Op::combine(odd, values[i + 1]);
    }
    if (i < call.n()) even = Op::combine(even, values[i]);
    *call.results() = Op::combine(even, odd);
  }
};

Variant variant() {
  return {
      .id = "mine/pairs",
      .title = "two accumulators",
      .source = "the example of docs/plugins.md",
      .fidelity = Fidelity::kBeyond,
      .depth = [](const Problem& p) -> std::uint64_t { return p.n / 2 + 2; },
      .enqueue = instantiate<Pairs, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::mine_pairs

REDUCE_BENCH_VARIANT(mine_pairs)
