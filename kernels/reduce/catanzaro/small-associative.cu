// catanzaro/small-associative: one work-group, offset doubling with a mask
//
// Source: Catanzaro, OpenCL Optimization Case Study: Simple Reductions (2010), the tree for
//   associative operators. jradi section 2 says that there are strategies for small arrays.
// Idea: the array fits one work-group. In the step with offset d every thread whose index has its
//   lower bits (mask 2d - 1) clear combines its value with that of its neighbour at distance d:
//   only adjacent ranges are combined.
// Fixes: the sequential loop, with log2(B) steps in place of n. The active threads thin out over
//   all warps, so every step keeps every warp busy.
// Launch: 1 block of B threads, B * sizeof(T) bytes of shared memory.
// Traffic: n elements read, one written.
// Preconditions: n <= B; threads beyond n hold the neutral element.
// Deviations: for any operator instead of the minimum. The kernel below is a port to CUDA of the
//   OpenCL C in the .cl file beside it. Order-preserving, so it also runs operators that do not
//   commute.

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::catanzaro_small_associative {

#ifdef REDUCE_BENCH_OPENCL
template <class T, class Op>
const auto kernel = kernel_of<T, Op, const T*, unsigned, T*>("catanzaro/small-associative");
#else
template <class T, class Op>
__global__ void kernel(const T* values, unsigned n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;

  partial[t] = t < n ? values[t] : Op::template identity<T>();
  __syncthreads();

  for (unsigned offset = 1; offset < blockDim.x; offset *= 2) {
    const unsigned mask = 2 * offset - 1;
    if ((t & mask) == 0) partial[t] = Op::combine(partial[t], partial[t + offset]);
    __syncthreads();
  }

  if (t == 0) *results = partial[0];
}
#endif

struct CatanzaroSmallAssociative {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    launch(kernel<T, Op>, {1, block, block * sizeof(T), call.stream}, call.values(),
           static_cast<unsigned>(call.n()), call.results());
  }
};

Variant variant() {
  return {
      .id = "catanzaro/small-associative",
      .title = "one work-group, offset doubling",
      .source = "Catanzaro 2010, associative tree",
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
      .enqueue = instantiate<CatanzaroSmallAssociative, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::catanzaro_small_associative
