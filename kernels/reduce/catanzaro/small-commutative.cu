// catanzaro/small-commutative: one work-group, halving
//
// Source: Catanzaro, OpenCL Optimization Case Study: Simple Reductions (2010), the tree for
//   commutative operators. jradi section 2 says that there are strategies for small arrays.
// Idea: the array fits one work-group. Thread t combines its element with the one B/2 places to
//   its right, then B/4, and so on: the active threads are always the first ones.
// Fixes: catanzaro/small-associative keeps every warp busy to the end; here whole warps retire,
//   and neighbouring threads touch neighbouring banks. The price is that the operator must
//   commute.
// Launch: 1 block of B threads, B * sizeof(T) bytes of shared memory.
// Traffic: n elements read, one written.
// Preconditions: n <= B; a commutative operator; threads beyond n hold the neutral element.
// Deviations: for any operator instead of the minimum. The kernel below is a port to CUDA of the
//   OpenCL C in the .cl file beside it. The tree is in work_groups.hpp, since the variants that
//   follow share it.

#include "kernels/reduce/catanzaro/work_groups.hpp"

namespace reduce_bench::BACKEND::catanzaro_small_commutative {

#ifdef REDUCE_BENCH_OPENCL
template <class T, class Op>
const auto kernel = kernel_of<T, Op, const T*, unsigned, T*>("catanzaro/small-commutative");
#else
template <class T, class Op>
__global__ void kernel(const T* values, unsigned n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;

  partial[t] = t < n ? values[t] : Op::template identity<T>();
  fold_halves<Op>(partial);

  if (t == 0) *results = partial[0];
}
#endif

struct CatanzaroSmallCommutative {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    launch(kernel<T, Op>, {1, block, block * sizeof(T), call.stream}, call.values(),
           static_cast<unsigned>(call.n()), call.results());
  }
};

Variant variant() {
  return {
      .id = "catanzaro/small-commutative",
      .title = "one work-group, halving",
      .source = "Catanzaro 2010, commutative tree",
      .fidelity = Fidelity::kAdapted,
      .params = {{"block",
                  "1024",
                  {"64", "128", "256", "512", "1024"},
                  "threads, and the largest n (AMD GPUs take at most 256)"}},
      .restriction = [](const Problem& p) -> std::string {
        if (p.n <= p.params.number("block")) return {};
        return "one work-group of " + std::to_string(p.params.number("block")) +
               " reduces one element per thread, not " + std::to_string(p.n);
      },
      .depth = [](const Problem& p) -> std::uint64_t {
        return log2_ceil(p.params.number("block"));
      },
      .enqueue = instantiate<CatanzaroSmallCommutative, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::catanzaro_small_commutative
